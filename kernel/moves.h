// The moves of a chain and the probabilities with which they are accepted, for a single tree (chain.h) and for the
// trees of a sum (additive/sum_of_trees.h): the sampler of Chipman, George & McCulloch (1998).
//
// A move is proposed and accepted with probability min(1, A). Writing pi for prior * likelihood, m(T) for the
// probability of the move in a tree T (each has a weight, which is 0 if the tree does not allow the move), and q for
// the rest of the proposal,
//
//   A = pi(T') m'(T') q(T' -> T) / (pi(T) m(T) q(T -> T')).
//
//   grow    a leaf that can split, uniformly among G(T); its rule from the prior, so that its density cancels:
//
//             A = s / (1 - s) * product of (1 - s) of the children that can split * r * [m_prune(T') / W(T')] /
//                 [m_grow(T) / G(T)],   r = marginal(left) * marginal(right) / marginal(leaf)
//
//   prune   a split whose children are both leaves, uniformly among W(T), becomes a leaf: the reverse of grow, with A
//           inverted
//   change  a split gets a new rule from the prior
//   swap    a split exchanges rules with its parent
//
// Change and swap keep the number of splits and are as probable from T' as from T, but for m'(T') / m(T): A is this and
// the ratio of pi without the densities that cancel.
//
// With a fixed probability an iteration is a step of particle Gibbs instead, which is always accepted: the subtree
// below a block is *regrown* by a conditional filter (retained.h).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

#include "random.h"
#include "tree_prior.h"

namespace particletree {

// Traces have the numbers; their names are MOVES in _posterior/runs/traces.py.
enum class Move : std::uint8_t { grow, prune, change, swap, regrow };

// The moves that are accepted or not. Their weights are in this order.
inline constexpr std::array weighted_moves{Move::grow, Move::prune, Move::change, Move::swap};
inline constexpr std::size_t n_moves = weighted_moves.size();

// The place of a move in a list of all moves, of which the first are those with a weight.
constexpr std::size_t place_of(Move move) { return static_cast<std::size_t>(move); }
static_assert(place_of(weighted_moves[0]) == 0 && place_of(weighted_moves[1]) == 1 &&
              place_of(weighted_moves[2]) == 2 && place_of(weighted_moves[3]) == 3 &&
              place_of(Move::regrow) == n_moves);

// The numbers of nodes to which each move applies.
struct TreeNumbers {
  std::size_t n_growable = 0;  // G: leaves that can be split
  std::size_t n_splits = 0;
  std::size_t n_prunable = 0;  // W: splits whose children are leaves
};

// What the ratio of a move asks of a node.
struct NodeTerms {
  BlockFacts facts;
  bool can_split;
  double log_marginal;
};

class Moves {
 public:
  // The share is that of particle Gibbs among the iterations.
  Moves(const TreePrior& prior, const std::array<double, n_moves>& weights, double regrow_share, Random& random)
      : prior_(prior), weights_(weights), regrow_share_(regrow_share), random_(random) {}

  // The next move; nothing if none is possible: all rows are identical.
  std::optional<Move> draw(const TreeNumbers& numbers) const {
    if (regrow_share_ > 0.0 && random_.uniform() < regrow_share_) return Move::regrow;
    const auto weights = allowed(numbers);
    double point = random_.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
    std::optional<Move> move;
    for (const Move each : weighted_moves) {
      const double weight = weights[place_of(each)];
      if (weight == 0.0) continue;
      move = each;
      if (point < weight) break;
      point -= weight;
    }
    return move;
  }

  // Whether a leaf of a tree with these numbers becomes a split with these children; `replaces_parent` if its parent is
  // prunable until then.
  bool accept_grow(const NodeTerms& leaf, const NodeTerms& left, const NodeTerms& right, const TreeNumbers& before,
                   bool replaces_parent) const {
    const std::size_t n_that_can_split = std::size_t{left.can_split} + right.can_split;
    const TreeNumbers after{before.n_growable + n_that_can_split - 1, before.n_splits + 1,
                            before.n_prunable + 1 - replaces_parent};
    return accept(log_growth(leaf, left, right, before, after));
  }

  // Whether a split with these children becomes a leaf.
  bool accept_prune(const NodeTerms& split, const NodeTerms& left, const NodeTerms& right,
                    const TreeNumbers& before) const {
    const std::size_t n_that_can_split = std::size_t{left.can_split} + right.can_split;
    const TreeNumbers after{before.n_growable + 1 - n_that_can_split, before.n_splits - 1};  // prunable: not asked
    return accept(-log_growth(split, left, right, after, before));
  }

  // Whether rules change or are swapped, from the log ratio of pi without what cancels.
  bool accept_rules(Move move, double log_ratio, const TreeNumbers& before, const TreeNumbers& after) const {
    return accept(log_ratio + log_probability(move, after) - log_probability(move, before));
  }

  // The factor of pi of a leaf.
  double log_leaf(const NodeTerms& leaf) const { return leaf.log_marginal + log_stop(leaf); }

 private:
  // log A of a leaf that becomes a split: the tree's numbers are `small` before and `large` after.
  double log_growth(const NodeTerms& node, const NodeTerms& left, const NodeTerms& right, const TreeNumbers& small,
                    const TreeNumbers& large) const {
    const SplitLaw here = prior_.at(node.facts);
    const double log_ratio = here.log_split - here.log_stop + (log_stop(left) + log_stop(right)) + left.log_marginal +
                             right.log_marginal - node.log_marginal;
    const double log_way_back = log_probability(Move::prune, large) - std::log(static_cast<double>(large.n_prunable)) -
                                log_probability(Move::grow, small) + std::log(static_cast<double>(small.n_growable));
    return log_ratio + log_way_back;
  }

  bool accept(double log_ratio) const { return std::log(random_.uniform()) < log_ratio; }

  double log_stop(const NodeTerms& leaf) const { return leaf.can_split ? prior_.at(leaf.facts).log_stop : 0.0; }

  // log m: the probability of a move in a tree with these numbers.
  double log_probability(Move move, const TreeNumbers& numbers) const {
    const auto weights = allowed(numbers);
    return std::log(weights[place_of(move)] / std::accumulate(weights.begin(), weights.end(), 0.0));
  }

  std::array<double, n_moves> allowed(const TreeNumbers& numbers) const {
    return {numbers.n_growable > 0 ? weights_[0] : 0.0, numbers.n_splits > 0 ? weights_[1] : 0.0,
            numbers.n_splits > 0 ? weights_[2] : 0.0, numbers.n_splits > 1 ? weights_[3] : 0.0};
  }

  const TreePrior& prior_;
  std::array<double, n_moves> weights_;
  double regrow_share_;
  Random& random_;
};

}  // namespace particletree
