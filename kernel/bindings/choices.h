// The kernel's options by name.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "../any_table.h"
#include "../filter.h"
#include "../moves.h"
#include "../particle.h"
#include "../proposals.h"
#include "../resampling.h"
#include "../tree_prior.h"
#include "arrays.h"

namespace particletree {

// Settings that Python passes by name. A name that is not asked for is an error: misspelled, or of another sampler.
class NamedSettings {
 public:
  explicit NamedSettings(nb::kwargs given) : given_(std::move(given)) {}

  bool has(const char* name) const { return given_.contains(name); }

  template <class T>
  T get(const char* name) {
    if (!has(name)) throw nb::type_error((std::string("the setting ") + name + " is missing").c_str());
    known_.emplace_back(name);
    try {
      return nb::cast<T>(given_[name]);
    } catch (const std::bad_cast&) {
      throw nb::type_error((std::string("the setting ") + name +
                            " has a value of a wrong type or range: " + nb::repr(given_[name]).c_str())
                               .c_str());
    }
  }

  template <class T>
  T get(const char* name, T otherwise) {
    if (has(name)) return get<T>(name);
    known_.emplace_back(name);
    return otherwise;
  }

  void check_all_known() const {
    for (const auto& [name, value] : given_) {
      const auto text = nb::cast<std::string>(name);
      if (std::ranges::find(known_, text) != known_.end()) continue;
      std::string message = "unknown setting: " + text + "; those that are used here are";
      for (const std::string& known : known_) message += " " + known;
      throw nb::type_error(message.c_str());
    }
  }

 private:
  nb::kwargs given_;
  std::vector<std::string> known_;
};

inline Resampling resampling_named(const std::string& name) {
  return choose<Resampling>(name, {{"multinomial", Resampling::multinomial},
                                   {"systematic", Resampling::systematic},
                                   {"stratified", Resampling::stratified},
                                   {"residual", Resampling::residual}});
}

inline Expansion expansion_named(const std::string& name) {
  return choose<Expansion>(name, {{"node", Expansion::node}, {"layer", Expansion::layer}});
}

inline Priority priority_named(const std::string& name) {
  return choose<Priority>(name, {{"oldest", Priority::oldest}, {"likelihood", Priority::likelihood}});
}

inline ProposalKind proposal_named(const std::string& name) {
  for (const NamedProposal& proposal : named_proposals) {
    if (name == proposal.name) return proposal.kind;
  }
  throw nb::value_error(("unknown proposal: " + name).c_str());
}

// The settings of the conditional filter of a Markov chain (retained.h).
inline FilterSettings conditional_filter(NamedSettings& settings) {
  const FilterSettings filter{.n_particles = settings.get<std::size_t>("n_particles"),
                              .proposal = proposal_named(settings.get<std::string>("proposal")),
                              .n_candidates = settings.get<std::uint32_t>("n_candidates"),
                              .expansion = expansion_named(settings.get<std::string>("expansion", "node")),
                              .priority = Priority::oldest,
                              .resampling = Resampling::multinomial,
                              .ess_threshold = settings.get<double>("ess_threshold"),
                              .max_stages = std::numeric_limits<std::size_t>::max(),
                              .cache_bytes = 0};
  require(filter.n_particles >= 2, "a conditional filter needs at least two particles");
  return filter;
}

// The weights of grow, prune, change and swap. Written so that the condition is false for NaN.
inline std::array<double, n_moves> move_weights(NamedSettings& settings) {
  const auto given = settings.get<Vector<double>>("move_weights");
  require(given.size() == n_moves, "there must be four weights of moves");
  std::array<double, n_moves> weights;
  std::copy_n(given.data(), n_moves, weights.begin());
  require(std::ranges::all_of(weights, [](double w) { return w >= 0.0 && std::isfinite(w); }),
          "the weights of moves must be finite and at least 0");
  return weights;
}

inline std::shared_ptr<const TreePrior> make_prior(const std::string& name, std::span<const double> parameters,
                                                   FeatureWeights weights) {
  for (const NamedPrior& prior : priors()) {
    if (name == prior.name) return prior.make(parameters, std::move(weights));
  }
  std::string message = "unknown prior: " + name + "; this build of the kernel has";
  for (const NamedPrior& prior : priors()) message += std::string(" ") + prior.name;
  throw nb::value_error(message.c_str());
}

// The table for a prior.
inline AnyTable table_for(const TreePrior& prior, const AnyTable::Ranks& ranks, std::span<const double> values,
                          std::span<const std::int64_t> offsets, std::span<const std::uint32_t> n_levels) {
  AnyTable table(ranks, values, offsets, n_levels);
  const FeatureWeights& weights = prior.weights();
  require(weights.are_equal() || weights.size() == ranks.n_features, "there must be a weight for each feature");
  if (weights.positive(ranks.n_features).size() < ranks.n_features) table.allow_identical_rows();
  if (prior.measure()) table.draw_from(prior.measure());
  return table;
}

}  // namespace particletree
