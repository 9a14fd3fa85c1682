// The contract of a prior over trees: how probable it is that a block splits, and by which feature (paper, section 2).
//
// A block whose rows agree in every feature with a positive weight cannot split. Any other block that the prior allows to
// split does so with probability s, which may depend on what BlockFacts has, and by a feature that varies in the block,
// drawn in proportion to the features' weights. The rule is drawn from those of the feature (feature_rules.h). So the log
// density of a split is
//
//   log s + log [w_f / (sum of w over the features that vary)] + log density of the rule among those of the feature.
//
// A prior may have a measure on questions (measure.h). Then a feature's weight in a block is its mass there, s may depend
// on the sum of these masses, and cuts are uniform on the features' unit scales.
//
// A prior is one header in priors/, named in the list PRIORS of CMakeLists.txt; priors.cpp is their registry. The
// samplers ask it through virtual functions, once per decision on a block and never per row: another prior compiles no
// sampler again. It is immutable and shared by all runs, so its functions must be safe to call from several threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "measure.h"
#include "random.h"
#include "require.h"

namespace particletree {

// What a prior may know of a block. With a measure: `mass` is that of the questions which separate its rows.
struct BlockFacts {
  std::size_t depth;
  std::size_t n_rows;
  double mass = 0.0;
};

// The law of the first part of a decision.
struct SplitLaw {
  double split;      // s
  double log_split;  // log s
  double log_stop;   // log(1 - s)
};

// The features that vary in a block, in increasing order, with their relative prior probabilities.
struct Varying {
  std::vector<std::uint32_t> features;
  std::vector<double> weights;  // none if all are equal
  double total = 0.0;           // of the weights; the number of features if all are equal

  bool are_equal() const { return weights.empty(); }
  std::size_t n_bytes() const {
    return features.capacity() * sizeof(std::uint32_t) + weights.capacity() * sizeof(double);
  }

  double log_weight(std::uint32_t feature) const {
    if (are_equal()) return 0.0;
    return std::log(weights[static_cast<std::size_t>(std::ranges::lower_bound(features, feature) - features.begin())]);
  }

  std::uint32_t draw(Random& random) const {
    if (are_equal()) return features[random.below(static_cast<std::uint32_t>(features.size()))];
    double point = random.uniform() * total;
    std::size_t i = 0;
    while (i + 1 < features.size() && point >= weights[i]) point -= weights[i++];
    return features[i];
  }
};

// The weights of the features in every block, unless the prior has a measure. A feature of weight zero is never used.
class FeatureWeights {
 public:
  FeatureWeights() = default;  // equal

  // One weight per feature; none if all are equal.
  explicit FeatureWeights(std::span<const double> weights) : weights_(weights.begin(), weights.end()) {
    double total = 0.0;
    for (const double weight : weights_) {
      require(weight >= 0.0 && std::isfinite(weight), "the weights of features must be finite and at least 0");
      total += weight;
    }
    require(weights_.empty() || (total > 0.0 && std::isfinite(total)), "a feature must have a positive weight");
  }

  bool are_equal() const { return weights_.empty(); }
  std::size_t size() const { return weights_.size(); }

  // The features that trees can use.
  std::vector<std::uint32_t> positive(std::size_t n_features) const {
    std::vector<std::uint32_t> features(n_features);
    std::iota(features.begin(), features.end(), 0u);
    if (!are_equal()) std::erase_if(features, [&](std::uint32_t feature) { return weights_[feature] == 0.0; });
    return features;
  }

  // Some features with their weights.
  Varying of(std::vector<std::uint32_t> features) const {
    Varying found;
    found.features = std::move(features);
    if (are_equal()) {
      found.total = static_cast<double>(found.features.size());
      return found;
    }
    for (const std::uint32_t feature : found.features) {
      found.weights.push_back(weights_[feature]);
      found.total += weights_[feature];
    }
    return found;
  }

 private:
  std::vector<double> weights_;
};

class TreePrior {
 public:
  explicit TreePrior(FeatureWeights weights, std::shared_ptr<const Measure> measure = nullptr)
      : weights_(std::move(weights)), measure_(std::move(measure)) {}
  virtual ~TreePrior() = default;
  TreePrior(const TreePrior&) = delete;
  TreePrior& operator=(const TreePrior&) = delete;

  // Whether a block may split if its rows differ; if not, it stops with probability 1.
  virtual bool allows(const BlockFacts& block) const = 0;

  // The probabilities that a block splits or stops, given that it can split.
  virtual SplitLaw at(const BlockFacts& block) const = 0;

  const FeatureWeights& weights() const { return weights_; }
  const std::shared_ptr<const Measure>& measure() const { return measure_; }  // null: none

  // The log probability that a block in which these features vary splits by one of them, divided by its weight.
  double log_choice(const BlockFacts& block, const Varying& varying) const {
    return at(block).log_split - std::log(varying.total);
  }

  // The log density of a rule, given that the block splits, from its log density among the rules of its feature.
  static double log_rule(std::uint32_t feature, const Varying& varying, double log_density) {
    return varying.log_weight(feature) - std::log(varying.total) + log_density;
  }

 private:
  FeatureWeights weights_;
  std::shared_ptr<const Measure> measure_;
};

using PriorMaker = std::shared_ptr<const TreePrior>(std::span<const double> parameters, FeatureWeights weights);

// The priors by name, in the order of CMakeLists.txt: the list PRIORS, and those from outside the repository.
struct NamedPrior {
  const char* name;
  PriorMaker* make;
};
std::span<const NamedPrior> priors();

}  // namespace particletree
