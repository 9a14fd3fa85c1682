// A prior that is not part of the package: a block of n rows splits with probability s = n / (n + half), whatever its
// depth. The parameter is `half`, the number of rows at which a block splits with probability 1/2.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "kernel/require.h"
#include "kernel/tree_prior.h"

namespace particletree {

class ByRowsPrior final : public TreePrior {
 public:
  ByRowsPrior(double half, FeatureWeights weights) : TreePrior(std::move(weights)), half_(half) {}

  bool allows(const BlockFacts&) const override { return true; }

  SplitLaw at(const BlockFacts& block) const override {
    const double split = static_cast<double>(block.n_rows) / (static_cast<double>(block.n_rows) + half_);
    return {split, std::log(split), std::log1p(-split)};
  }

 private:
  double half_;
};

inline std::shared_ptr<const TreePrior> make_by_rows_prior(std::span<const double> parameters, FeatureWeights weights) {
  require(parameters.size() == 1 && parameters[0] > 0.0, "the parameter must be one positive number of rows");
  return std::make_shared<const ByRowsPrior>(parameters[0], std::move(weights));
}

}  // namespace particletree
