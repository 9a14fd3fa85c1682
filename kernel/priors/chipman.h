// The prior of Chipman, George & McCulloch (1998), which is the paper's: a block at depth d splits with probability
//
//   s = alpha / (1 + d)^beta,
//
// within limits: a block at the largest depth, or with fewer than a number of rows, stops as if its rows were identical.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernel/require.h"
#include "kernel/tree_prior.h"

namespace particletree {

class ChipmanPrior final : public TreePrior {
 public:
  ChipmanPrior(double alpha, double beta, double max_depth, double min_rows, FeatureWeights weights)
      : TreePrior(std::move(weights)),
        alpha_(alpha),
        beta_(beta),
        max_depth_(rounded_up(max_depth)),
        min_rows_(rounded_up(min_rows)) {
    for (std::size_t depth = 0; depth < n_prepared; ++depth) prepared_.push_back(at_depth(depth));
  }

  bool allows(const BlockFacts& block) const override { return block.depth < max_depth_ && block.n_rows >= min_rows_; }

  SplitLaw at(const BlockFacts& block) const override {
    return block.depth < n_prepared ? prepared_[block.depth] : at_depth(block.depth);
  }

 private:
  static constexpr std::size_t n_prepared = 64;  // depths

  // The smallest integer that is not below a limit: every block is asked, and integers compare sooner than doubles.
  static std::size_t rounded_up(double limit) {
    constexpr double largest = std::numeric_limits<std::uint32_t>::max();  // more than depths and rows can be
    return static_cast<std::size_t>(std::ceil(std::min(limit, largest)));
  }

  SplitLaw at_depth(std::size_t depth) const {
    const double split = alpha_ / std::pow(1.0 + static_cast<double>(depth), beta_);
    return {split, std::log(split), std::log1p(-split)};
  }

  double alpha_, beta_;
  std::size_t max_depth_, min_rows_;
  std::vector<SplitLaw> prepared_;
};

// The parameters are alpha, beta, the largest depth (infinite if there is none) and the fewest rows of a split.
inline std::shared_ptr<const TreePrior> make_chipman_prior(std::span<const double> parameters, FeatureWeights weights) {
  require(parameters.size() == 4, "the parameters must be alpha, beta, the largest depth and the fewest rows");
  require(parameters[0] > 0.0 && parameters[0] < 1.0, "alpha must be strictly between 0 and 1");
  require(parameters[1] >= 0.0 && std::isfinite(parameters[1]), "beta must be finite and at least 0");
  require(parameters[2] >= 0.0 && parameters[3] >= 0.0, "the limits must be at least 0");
  return std::make_shared<const ChipmanPrior>(parameters[0], parameters[1], parameters[2], parameters[3],
                                              std::move(weights));
}

}  // namespace particletree
