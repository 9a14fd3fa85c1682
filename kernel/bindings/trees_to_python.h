// Trees as Python gets them.
#pragma once

#include <cstddef>
#include <utility>

#include "../trees.h"
#include "arrays.h"

namespace particletree {

// The trees of an island or a chain by the names of their arrays.
inline nb::dict to_dict(Trees&& trees, std::size_t n_classes) {
  nb::dict result;
  const std::size_t n_blocks = trees.counts.size() / n_classes;
  result["offsets"] = to_numpy(std::move(trees.offsets));
  result["feature"] = to_numpy(std::move(trees.feature));
  result["threshold"] = to_numpy(std::move(trees.threshold));
  result["gap_low"] = to_numpy(std::move(trees.gap_low));
  result["gap_high"] = to_numpy(std::move(trees.gap_high));
  result["left"] = to_numpy(std::move(trees.left));
  result["right"] = to_numpy(std::move(trees.right));
  result["block"] = to_numpy(std::move(trees.block));
  result["counts"] = to_numpy(std::move(trees.counts), {n_blocks, n_classes});
  result["weights"] = to_numpy(std::move(trees.weights));
  result["log_likelihoods"] = to_numpy(std::move(trees.log_likelihoods));
  result["log_priors"] = to_numpy(std::move(trees.log_priors));
  return result;
}

}  // namespace particletree
