// The input of a conditional filter: the rows that a subtree divides, and the subtree that one particle replays.
//
// The conditional filter is the kernel of particle Gibbs (Andrieu, Doucet & Holenstein 2010). One particle is
// *retained*: it takes the decisions of a given tree in the order in which the filter considers them, survives every
// resampling, and is weighted like all others. A tree drawn by the final weights then leaves the posterior invariant,
// for any number of particles, because all other particles are drawn from their distribution given the retained one. If
// particles are independent given their common past, this is their usual distribution; if they share draws (candidate
// rules), the draws are made given the one that the retained particle has taken. The headers of the proposals explain
// how.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pair_index.h"
#include "rule.h"
#include "tree_prior.h"

namespace particletree {

// The rows of a filter's root, in increasing order, with its depth and the features that vary in them.
struct Region {
  std::span<const std::uint32_t> rows;
  std::uint32_t depth = 0;
  const Varying* varying = nullptr;
};

// A decision of the retained particle: to stop, or to split by a rule.
struct Decision {
  bool is_split = false;
  std::uint32_t feature = 0;
  ValueRule rule{};
};

// A node of a tree that is replayed or was drawn: its decision, and the indices of its children in a list whose first
// node is the root.
struct DecisionNode : Decision {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

using DecisionTree = std::vector<DecisionNode>;

// The tree that the retained particle replays, and its node for each block of that particle.
class ReplayedTree {
 public:
  explicit ReplayedTree(const DecisionTree& tree) : tree_(tree), node_of_(1, 0) {}

  const Decision& decision(BlockId block) const { return tree_[node_of_[block]]; }

  // The particle has split a block as the tree does; `left` is the left child, the right one has the next number.
  void follow(BlockId block, BlockId left) {
    const DecisionNode& node = tree_[node_of_[block]];
    if (node_of_.size() < left + 2) node_of_.resize(left + 2, 0);
    node_of_[left] = node.left;
    node_of_[left + 1] = node.right;
  }

 private:
  const DecisionTree& tree_;
  std::vector<std::uint32_t> node_of_;
};

}  // namespace particletree
