// The kernel's options by name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "../any_table.h"
#include "../particle.h"
#include "../proposals.h"
#include "../resampling.h"
#include "../tree_prior.h"
#include "arrays.h"

namespace particletree {

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

inline std::shared_ptr<const TreePrior> make_prior(const std::string& name, std::span<const double> parameters,
                                                   FeatureWeights weights) {
  for (const NamedPrior& prior : priors()) {
    if (name == prior.name) return prior.make(parameters, std::move(weights));
  }
  std::string message = "unknown prior: " + name + "; this build of the kernel has";
  for (const NamedPrior& prior : priors()) message += std::string(" ") + prior.name;
  throw nb::value_error(message.c_str());
}

// The table for a prior with these weights of its features.
inline AnyTable table_for(const FeatureWeights& weights, const AnyTable::Ranks& ranks, std::span<const double> values,
                          std::span<const std::int64_t> offsets, std::span<const std::uint32_t> n_levels) {
  AnyTable table(ranks, values, offsets, n_levels);
  require(weights.are_equal() || weights.size() == ranks.n_features, "there must be a weight for each feature");
  if (weights.positive(ranks.n_features).size() < ranks.n_features) table.allow_identical_rows();
  return table;
}

}  // namespace particletree
