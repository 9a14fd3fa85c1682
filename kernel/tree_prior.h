// The contract of a prior over trees: how probable it is that a block splits, and by which feature (paper, section 2).
//
// A block whose rows agree in every feature with a positive weight cannot split. Any other block that the prior allows to
// split does so with probability s, which may depend on what BlockFacts has, and by a feature that varies in the block,
// drawn in proportion to the features' weights. The rule is drawn from those of the feature (feature_rules.h). So the log
// density of a split is
//
//   log s + log [w_f / (sum of w over the features that vary)] + log density of the rule among those of the feature.
//
// A prior is one header in priors/, named in the list PRIORS of CMakeLists.txt; priors.cpp is their registry. The
// samplers ask it through virtual functions, once per decision on a block and never per row: another prior compiles no
// sampler again. It is immutable and shared by all runs, so its functions must be safe to call from several threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "random.h"
#include "require.h"

namespace particletree {

// What a prior may know of a block.
struct BlockFacts {
  std::size_t depth;
  std::size_t n_rows;
};

// The law of the first part of a decision.
struct SplitLaw {
  double split;      // s
  double log_split;  // log s
  double log_stop;   // log(1 - s)
};

// The relative prior probabilities of the features that vary in a block. A feature of weight zero is never used.
class FeatureWeights {
 public:
  FeatureWeights() = default;  // equal

  // One weight per feature; none if all are equal.
  explicit FeatureWeights(std::span<const double> weights) : weights_(weights.begin(), weights.end()) {
    double total = 0.0;
    for (const double weight : weights_) {
      require(weight >= 0.0 && std::isfinite(weight), "the weights of features must be finite and at least 0");
      total += weight;
      logs_.push_back(std::log(weight));
    }
    require(weights_.empty() || (total > 0.0 && std::isfinite(total)), "a feature must have a positive weight");
  }

  bool are_equal() const { return weights_.empty(); }
  std::size_t size() const { return weights_.size(); }
  double operator[](std::uint32_t feature) const { return are_equal() ? 1.0 : weights_[feature]; }
  double log(std::uint32_t feature) const { return are_equal() ? 0.0 : logs_[feature]; }

  // The features that trees can use.
  std::vector<std::uint32_t> positive(std::size_t n_features) const {
    std::vector<std::uint32_t> features(n_features);
    std::iota(features.begin(), features.end(), 0u);
    if (!are_equal()) std::erase_if(features, [&](std::uint32_t feature) { return weights_[feature] == 0.0; });
    return features;
  }

  double total(std::span<const std::uint32_t> varying) const {
    if (are_equal()) return static_cast<double>(varying.size());
    return std::accumulate(varying.begin(), varying.end(), 0.0,
                           [&](double sum, std::uint32_t feature) { return sum + weights_[feature]; });
  }

  std::uint32_t draw(std::span<const std::uint32_t> varying, Random& random) const {
    if (are_equal()) return varying[random.below(static_cast<std::uint32_t>(varying.size()))];
    double point = random.uniform() * total(varying);
    std::size_t i = 0;
    while (i + 1 < varying.size() && point >= weights_[varying[i]]) point -= weights_[varying[i++]];
    return varying[i];
  }

 private:
  std::vector<double> weights_, logs_;
};

class TreePrior {
 public:
  explicit TreePrior(FeatureWeights weights) : weights_(std::move(weights)) {}
  virtual ~TreePrior() = default;
  TreePrior(const TreePrior&) = delete;
  TreePrior& operator=(const TreePrior&) = delete;

  // Whether a block may split if its rows differ; if not, it stops with probability 1.
  virtual bool allows(const BlockFacts& block) const = 0;

  // The probabilities that a block splits or stops, given that it can split.
  virtual SplitLaw at(const BlockFacts& block) const = 0;

  const FeatureWeights& weights() const { return weights_; }

  // The log probability that a block in which these features vary splits by one of them, divided by its weight.
  double log_choice(const BlockFacts& block, std::span<const std::uint32_t> varying) const {
    return at(block).log_split - std::log(weights_.total(varying));
  }

  // The log density of a rule, given that the block splits, from its log density among the rules of its feature.
  double log_rule(std::uint32_t feature, std::span<const std::uint32_t> varying, double log_density) const {
    return weights_.log(feature) - std::log(weights_.total(varying)) + log_density;
  }

 private:
  FeatureWeights weights_;
};

using PriorMaker = std::shared_ptr<const TreePrior>(std::span<const double> parameters, FeatureWeights weights);

// The priors by name, in the order of CMakeLists.txt: the list PRIORS, and those from outside the repository.
struct NamedPrior {
  const char* name;
  PriorMaker* make;
};
std::span<const NamedPrior> priors();

}  // namespace particletree
