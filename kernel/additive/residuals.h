// The residuals of a sum of trees: r_i, the target minus all trees, for every row.
//
// The target of one tree at a row is r_i plus the value of its own leaf. When a tree has new values, one pass updates
// the residuals and sums them over the leaves of the next tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../rule.h"
#include "row_loops.h"
#include "sum_tree.h"

namespace particletree {

template <class Table>
class Residuals {
 public:
  using Tree = SumTree<Table>;
  using NodeId = typename Tree::NodeId;
  using Side = typename Tree::Side;

  // Without weights every row counts once.
  Residuals(const Table& table, std::span<const double> weights)
      : table_(table),
        weights_(weights),
        numbers_(whole_registers(table.n_rows), 0.0f),
        is_left_(whole_registers(table.n_rows), 0),
        no_tree_(Side{.n_rows = static_cast<std::uint32_t>(table.n_rows)}),
        deltas_(1, 0.0f) {}

  double operator[](std::size_t row) const { return static_cast<double>(numbers_[row]); }
  void set(std::size_t row, double number) { numbers_[row] = static_cast<float>(number); }
  double weight(std::size_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  bool has_weights() const { return !weights_.empty(); }

  double sum_of_squares() const {
    double sum = 0.0;
    for (std::size_t row = 0; row < table_.n_rows; ++row) sum += weight(row) * (*this)[row] * (*this)[row];
    return sum;
  }

  // Records the new value of a leaf.
  void note(const Tree& tree, NodeId leaf, double old_value, double value) {
    if (deltas_.size() < tree.n_nodes()) deltas_.resize(tree.n_nodes());
    deltas_[leaf] = static_cast<float>(old_value - value);
  }

  // Updates the residuals with the new values of one tree, and sums them over the leaves of the next.
  void settle(const Tree* before, Tree* next) {
    if (!before) deltas_[0] = 0.0f;
    const LeavesOfRows old = (before ? *before : no_tree_).leaves_of_rows();
    const LeavesOfRows fresh = (next ? *next : no_tree_).leaves_of_rows();
    sums_.assign(fresh.n_nodes, 0.0);
    if (has_weights()) {
      settle_rows_with_weights(numbers_.data(), weights_.data(), table_.n_rows, old, deltas_.data(), fresh,
                               sums_.data());
    } else {
      settle_rows(numbers_.data(), table_.n_rows, old, deltas_.data(), fresh, sums_.data());
    }
    if (!next) return;
    for (const NodeId id : next->leaves()) {
      auto& leaf = (*next)[id];
      leaf.sum = sums_[id] + leaf.weight * leaf.value;  // without this tree
    }
  }

  // Marks which rows a rule sends left, for the functions below.
  void mark(const Rule& rule) {
    using Rank = typename Table::Rank;
    const Rank* ranks = table_.column(rule.feature);
    if (!rule.is_set() && rule.first == 0) {
      return mark_left(ranks, static_cast<Rank>(rule.cut), is_left_.data(), table_.n_rows);
    }
    with_side_of_ranks(rule, [&](auto goes_left) {
      for (std::size_t row = 0; row < table_.n_rows; ++row) is_left_[row] = goes_left(ranks[row]);
    });
  }
  const std::uint8_t* is_left() const { return is_left_.data(); }

  // Adds the rows of a leaf on either side, and their residuals without this tree.
  void add_to_sides(const Tree& tree, NodeId id, Side& left, Side& right) const {
    const auto& leaf = tree[id];
    if (has_weights()) return add_to_sides_with_weights(tree, id, left, right);
    const SideSums sums =
        add_sides(numbers_.data(), tree.leaf_of_row(), static_cast<LeafId>(id), is_left_.data(), table_.n_rows);
    add_to_side(left, sums.n_left, sums.n_left, sums.left + sums.n_left * leaf.value);
    const std::uint32_t n_right = leaf.n_rows - sums.n_left;
    add_to_side(right, n_right, n_right, sums.right + n_right * leaf.value);
  }

  // The subtree below a node becomes one leaf, with the value of its first leaf.
  void merge(Tree& tree, NodeId top) {
    NodeId first = top;
    while (!tree[first].is_leaf()) first = tree[first].left;
    const double value = tree[first].value;
    tree.for_each_leaf(
        [&](const auto& leaf) {
          if (leaf.value == value) return;
          add_to_leaf(numbers_.data(), tree.leaf_of_row(), tree.id_of(leaf), static_cast<float>(leaf.value - value),
                      table_.n_rows);
        },
        top);
    tree.merge(top, value);
  }

 private:
  static void add_to_side(Side& side, std::uint32_t n_rows, double weight, double sum) {
    side.n_rows += n_rows;
    side.weight += weight;
    side.sum += sum;
  }

  void add_to_sides_with_weights(const Tree& tree, NodeId id, Side& left, Side& right) const {
    const LeafId* leaf_of_row = tree.leaf_of_row();
    for (std::size_t row = 0; row < table_.n_rows; ++row) {
      if (leaf_of_row[row] != id) continue;
      add_to_side(is_left_[row] ? left : right, 1, weights_[row], weights_[row] * ((*this)[row] + tree[id].value));
    }
  }

  const Table& table_;
  std::span<const double> weights_;
  std::vector<float> numbers_;
  std::vector<std::uint8_t> is_left_;
  Tree no_tree_;               // one leaf, if there is no tree before or after
  std::vector<float> deltas_;  // of the leaves of the present tree
  std::vector<double> sums_;   // of the nodes of the next tree
};

}  // namespace particletree
