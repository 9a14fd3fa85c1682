// A Mondrian process whose cells are killed at a constant rate: while questions arrive at the rate of a measure
// (measure.h), a cell becomes a leaf at the rate gamma. So a block splits with probability
//
//   s = |S| / (gamma + |S|),    |S| the mass of the questions that separate its rows,
//
// by one of these questions, in proportion to the measure. This prior is coherent: the law of the trees of some rows is
// that of the trees of more rows, restricted to them. Limits on depth or rows would break that.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "kernel/measure.h"
#include "kernel/require.h"
#include "kernel/tree_prior.h"

namespace particletree {

class MondrianPrior final : public TreePrior {
 public:
  MondrianPrior(double rate, FeatureWeights weights, std::shared_ptr<const Measure> measure)
      : TreePrior(std::move(weights), std::move(measure)), rate_(rate) {}

  bool allows(const BlockFacts&) const override { return true; }

  SplitLaw at(const BlockFacts& block) const override {
    const double log_total = std::log(rate_ + block.mass);
    return {block.mass / (rate_ + block.mass), std::log(block.mass) - log_total, std::log(rate_) - log_total};
  }

 private:
  double rate_;
};

// The parameters are the rate, and the numbers of the measure.
inline std::shared_ptr<const TreePrior> make_mondrian_prior(std::span<const double> parameters,
                                                            FeatureWeights weights) {
  require(parameters.size() > 1, "the parameters must be the rate and a measure");
  require(parameters[0] > 0.0 && std::isfinite(parameters[0]), "the rate must be finite and above 0");
  return std::make_shared<const MondrianPrior>(parameters[0], std::move(weights),
                                               std::make_shared<const Measure>(Measure::of(parameters.subspan(1))));
}

}  // namespace particletree
