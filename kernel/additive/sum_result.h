// The settings and the result of a chain of sums of trees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../filter.h"
#include "../moves.h"
#include "../node.h"

namespace particletree {

struct SumSettings {
  std::size_t n_trees;
  bool is_probit;
  double offset;  // of the latent normals
  double value_sd;
  double noise_df;  // 0: the noise is known
  double noise_scale;
  double noise_sd;  // to start from
  std::size_t n_start;
  std::size_t n_before;  // sweeps of the chain in earlier runs, for the trace
  std::size_t n_iterations;
  std::size_t burn_in;
  std::size_t thin;
  std::array<double, n_moves> move_weights;  // of grow, prune, change and swap, of which the last is not used
  double regrow_share;
  std::size_t most_nodes;  // of a tree
  FilterSettings filter;
};

// The state of a chain of sums, from which it can be continued.
struct SumState {
  std::vector<Node> nodes;  // of all trees, concatenated, each in preorder
  std::vector<std::int64_t> starts;
  std::vector<double> values;  // of the leaves, in the same order
  std::vector<double> latent;
  double noise_sd = 0.0;
};

struct SumTrace {
  std::uint32_t iteration;
  double noise_sd;
  double log_likelihood;
  std::uint32_t n_leaves;
  float seconds;
};

struct SumResult {
  std::vector<Node> nodes;                 // of the distinct trees, each in preorder
  std::vector<std::int64_t> starts{0};     // of each distinct tree, and the end
  std::vector<std::int32_t> structure_of;  // draw by draw, tree by tree
  std::vector<double> values;              // of the leaves, draw by draw, tree by tree
  std::vector<SumTrace> trace;
  std::array<std::uint64_t, n_moves + 2> n_proposed{}, n_accepted{};  // moves (moves.h), and trees grown at the start
  SumState state;
};

}  // namespace particletree
