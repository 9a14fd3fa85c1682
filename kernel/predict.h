// Weighted trees in flat arrays, and the walk down one of them. compiled_forest.h walks down all at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rule.h"

namespace particletree {

struct ForestView {
  const std::int64_t* offsets;
  std::size_t n_trees;
  const std::int32_t* feature;
  const double* threshold;
  const std::int32_t* left;
  const std::int32_t* right;
  const std::int32_t* block;
};

// The block of the leaf that a row falls into.
inline std::int32_t leaf_block(const ForestView& forest, std::size_t tree, const double* x) {
  std::int64_t node = forest.offsets[tree];
  const std::int64_t root = node;
  while (forest.feature[node] >= 0) {
    node = root + (goes_left(x[forest.feature[node]], forest.threshold[node]) ? forest.left[node] : forest.right[node]);
  }
  return forest.block[node];
}

}  // namespace particletree
