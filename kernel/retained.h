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

#include "rule.h"

namespace particletree {

// The rows of a filter's root, in increasing order, with its depth and the features that vary in them.
struct Region {
  std::span<const std::uint32_t> rows;
  std::uint32_t depth = 0;
  const std::vector<std::uint32_t>* varying = nullptr;
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

}  // namespace particletree
