// Weighted trees whose nodes are shared, and the walk down one of them. compiled_forest.h walks down all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "node.h"

namespace particletree {

struct ForestView {
  std::span<const Node> nodes;  // children before their parent
  std::span<const std::int32_t> roots;
};

// Which side of a cut a row is on, by its value; table.h says the same of ranks.
inline bool goes_left(double value, double threshold) { return value <= threshold; }

// The block of the leaf that a row falls into.
inline std::int32_t leaf_block(const ForestView& forest, std::size_t tree, const double* x) {
  const Node* node = &forest.nodes[forest.roots[tree]];
  while (!node->is_leaf()) {
    node = &forest.nodes[goes_left(x[node->feature], node->threshold) ? node->left : node->right];
  }
  return node->block;
}

}  // namespace particletree
