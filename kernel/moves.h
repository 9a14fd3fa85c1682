// Which move a chain proposes, for a single tree (chain.h) and for the trees of a sum (additive/sum_of_trees.h).
//
// Each move has a weight, which is 0 if the tree does not allow the move. So the probability m of a move depends on the
// tree, and is part of the acceptance ratio (Chipman, George & McCulloch 1998).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

#include "random.h"

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

  // After a leaf becomes a split, some of whose children can be split; if its parent was prunable, it no longer is.
  TreeNumbers after_grow(std::size_t n_that_can_split, bool replaces_parent) const {
    return {n_growable + n_that_can_split - 1, n_splits + 1, n_prunable + 1 - replaces_parent};
  }

  // After such a split becomes a leaf.
  TreeNumbers after_prune(std::size_t n_that_can_split, bool restores_parent) const {
    return {n_growable + 1 - n_that_can_split, n_splits - 1, n_prunable - 1 + restores_parent};
  }
};

class MoveLaw {
 public:
  explicit MoveLaw(const std::array<double, n_moves>& weights) : weights_(weights) {}

  // log m: the probability of a move in a tree with these numbers.
  double log_probability(Move move, const TreeNumbers& numbers) const {
    const auto weights = allowed(numbers);
    return std::log(weights[place_of(move)] / std::accumulate(weights.begin(), weights.end(), 0.0));
  }

  // Nothing if no move is possible: all rows are identical.
  std::optional<Move> draw(const TreeNumbers& numbers, Random& random) const {
    const auto weights = allowed(numbers);
    double point = random.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
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

  // log [m_prune(T') / W(T')] - log [m_grow(T) / G(T)] for a tree T and the tree T' that it grows to.
  double log_way_back(const TreeNumbers& before, const TreeNumbers& after) const {
    return log_probability(Move::prune, after) - std::log(static_cast<double>(after.n_prunable)) -
           log_probability(Move::grow, before) + std::log(static_cast<double>(before.n_growable));
  }

 private:
  std::array<double, n_moves> allowed(const TreeNumbers& numbers) const {
    return {numbers.n_growable > 0 ? weights_[0] : 0.0, numbers.n_splits > 0 ? weights_[1] : 0.0,
            numbers.n_splits > 0 ? weights_[2] : 0.0, numbers.n_splits > 1 ? weights_[3] : 0.0};
  }

  std::array<double, n_moves> weights_;
};

}  // namespace particletree
