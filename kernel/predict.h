// Predictions of weighted trees in flat arrays.
#pragma once

#include <cstddef>
#include <cstdint>

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

// Which side of a cut a row is on, by its value; table.h says the same of ranks.
inline bool goes_left(double value, double threshold) { return value <= threshold; }

// The block of the leaf that a row falls into.
inline std::int32_t leaf_block(const ForestView& forest, std::size_t tree, const double* x) {
  std::int64_t node = forest.offsets[tree];
  const std::int64_t root = node;
  while (forest.feature[node] >= 0) {
    node = root + (goes_left(x[forest.feature[node]], forest.threshold[node]) ? forest.left[node] : forest.right[node]);
  }
  return forest.block[node];
}

// Adds to out[row * width + k] the weighted sum over trees of values[block * width + k].
// Rows go in batches that fit the cache, so that a tree is walked by many rows while it is there.
inline void weighted_mean(const ForestView& forest, const double* weights, const double* X, std::size_t n_rows,
                          std::size_t n_features, const double* values, std::size_t width, double* out) {
  constexpr std::size_t batch = 256;
  for (std::size_t start = 0; start < n_rows; start += batch) {
    const std::size_t stop = start + batch < n_rows ? start + batch : n_rows;
    for (std::size_t tree = 0; tree < forest.n_trees; ++tree) {
      for (std::size_t row = start; row < stop; ++row) {
        const auto block = static_cast<std::size_t>(leaf_block(forest, tree, X + row * n_features));
        for (std::size_t k = 0; k < width; ++k) out[row * width + k] += weights[tree] * values[block * width + k];
      }
    }
  }
}

}  // namespace particletree
