// Weighted trees with shared nodes, and the traversal of one of them. compiled_forest.h traverses all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "node.h"
#include "rule.h"

namespace particletree {

struct ForestView {
  std::span<const Node> nodes;  // children before their parent
  std::span<const std::int32_t> roots;
};

// The block of the leaf that a row falls into.
inline std::int32_t leaf_block(const ForestView& forest, std::size_t tree, const double* x) {
  const Node* node = &forest.nodes[forest.roots[tree]];
  while (!node->is_leaf()) {
    node = &forest.nodes[goes_left(x[node->feature], node->rule) ? node->left : node->right];
  }
  return node->block;
}

}  // namespace particletree
