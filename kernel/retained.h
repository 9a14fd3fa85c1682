// What a conditional filter is given: the part of the data that a subtree divides, and the subtree that one particle replays.
//
// The conditional filter is the kernel of particle Gibbs (Andrieu, Doucet & Holenstein 2010). One particle is *retained*: it
// takes the decisions of a given tree in the order in which the filter meets them, survives every resampling, and is weighted
// like all others. A tree drawn by the final weights then leaves the posterior invariant, for any number of particles, because
// all other particles are drawn from their law given the retained one. Where particles are independent given their common
// past that is what they would do anyway; where they share draws (candidate rules), the draws are made given what the
// retained particle has taken of them. The headers concerned say how.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "random.h"
#include "rule.h"

namespace particletree {

// Rows in increasing order that are the root of a filter, at a depth, with the features that vary in them.
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

// A node of a tree that is replayed or was drawn: its decision, and the numbers of its children in a list whose first node
// is the root.
struct DecisionNode : Decision {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

using DecisionTree = std::vector<DecisionNode>;

// The largest number of rows of a block to regrow, its log uniform between those of 2 and of e times all rows: blocks of all
// sizes are chosen about alike, the whole table among them.
inline std::size_t draw_block_size(std::size_t n_rows, Random& random) {
  const double low = std::log(2.0), high = 1.0 + std::log(static_cast<double>(n_rows));
  return static_cast<std::size_t>(std::exp(low + random.uniform() * (high - low)));
}

}  // namespace particletree
