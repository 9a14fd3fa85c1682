// Predictions of sums of trees: for each draw of the posterior the sum of its trees at some rows.
//
// Trees of a sum are small, so rows are not sent down a tree one by one: for a batch of rows, every split selects
// between the values of its two sides, from the leaves up, several rows per instruction (choose.cpp). Draws share
// structures: a tree that did not change from one draw to the next differs only in its leaf values, and for a mean over
// draws those values are added first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../node.h"
#include "../rule.h"
#include "choose.h"

namespace particletree {

// Trees of many draws, in the form of SumResult, not owned.
struct SumDraws {
  std::span<const Node> nodes;
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> structure_of;
  std::span<const double> values;
  std::size_t n_trees;
  std::vector<std::size_t> n_leaves;     // of each structure
  std::vector<std::size_t> first_value;  // of each tree of each draw

  std::size_t n_draws() const { return n_trees == 0 ? 0 : structure_of.size() / n_trees; }
  std::size_t structure_of_tree(std::size_t draw, std::size_t tree) const {
    return static_cast<std::size_t>(structure_of[draw * n_trees + tree]);
  }
  std::span<const Node> structure(std::size_t i) const {
    return nodes.subspan(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(starts[i + 1] - starts[i]));
  }
  const double* values_of(std::size_t draw, std::size_t tree) const {
    return &values[first_value[draw * n_trees + tree]];
  }
};

// A batch of rows, column by column, and the values of trees at them.
class RowBatch {
 public:
  static constexpr std::size_t size = 512;

  explicit RowBatch(std::size_t n_features)
      : n_features_(n_features), columns_(size * n_features), left_(size), right_(size) {}

  std::size_t n_rows() const { return n_; }

  void load(const double* X, std::size_t n) {
    n_ = n;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t f = 0; f < n_features_; ++f) columns_[f * size + i] = X[i * n_features_ + f];
    }
  }

  // Adds the value of a tree with these leaf values at each row.
  //
  // Nodes are visited from the last to the first, so that the sides of a split come before it, and wait on a stack:
  // trees may be thousands of levels deep, so nothing is recursive.
  void add(std::span<const Node> tree, const double* values, double* sums) {
    for (std::size_t number = tree.size(); number-- > 0;) {
      const Node& node = tree[number];
      if (node.is_leaf()) {
        waiting_.push_back({true, values[node.block]});
      } else {
        const Side left = take(), right = take();
        decide(node, left, right);
      }
    }
    const Side whole = take();
    const double* said = values_of(whole, n_buffers_, left_);
    for (std::size_t i = 0; i < n_; ++i) sums[i] += said[i];
  }

 private:
  // The values below a node: the same for all rows, or in a buffer. The sides that wait have the buffers in their order.
  struct Side {
    bool is_number = true;
    double number = 0.0;
  };

  Side take() {
    const Side side = waiting_.back();
    waiting_.pop_back();
    n_buffers_ -= !side.is_number;
    return side;
  }

  // The side was taken, so that its buffer is free, but not used yet.
  const double* values_of(const Side& side, std::size_t place, std::vector<double>& numbers) {
    if (!side.is_number) return buffers_[place].data();
    std::fill_n(numbers.data(), n_, side.number);
    return numbers.data();
  }

  void decide(const Node& node, const Side& left, const Side& right) {
    while (buffers_.size() < n_buffers_ + 3) buffers_.emplace_back(size);
    std::vector<double>& out = buffers_[n_buffers_ + 2];
    if (left.is_number && right.is_number && !node.rule.is_set()) {
      choose_by_cut(column(node), node.rule.threshold, node.rule.kind == RuleKind::cut_missing_left, left.number,
                    right.number, n_, out.data());
    } else {
      const double* on_right = values_of(right, n_buffers_, right_);
      const double* on_left = values_of(left, n_buffers_ + !right.is_number, left_);
      choose(node, on_left, on_right, out.data());
    }
    buffers_[n_buffers_++].swap(out);
    waiting_.push_back({false});
  }

  void choose(const Node& node, const double* left, const double* right, double* out) {
    if (node.rule.is_set()) {
      with_side_of_values(node.rule, [&, values = column(node)](auto goes_left) {
        for (std::size_t i = 0; i < n_; ++i) out[i] = goes_left(values[i]) ? left[i] : right[i];
      });
    } else {
      choose_by_cut(column(node), node.rule.threshold, node.rule.kind == RuleKind::cut_missing_left, left, right, n_,
                    out);
    }
  }

  const double* column(const Node& node) const { return &columns_[static_cast<std::size_t>(node.feature) * size]; }

  std::size_t n_features_, n_ = 0;
  std::vector<double> columns_;
  std::vector<Side> waiting_;
  std::vector<std::vector<double>> buffers_;  // the first `n_buffers_` belong to sides that wait
  std::size_t n_buffers_ = 0;
  std::vector<double> left_, right_;  // a number, for every row
};

// The value of a tree with these leaf values at one row, which follows its path: for a single row this is quicker than
// a batch.
inline double value_at_row(std::span<const Node> tree, const double* values, const double* row) {
  const Node* node = tree.data();
  while (!node->is_leaf())
    node = &tree[static_cast<std::size_t>(goes_left(row[node->feature], node->rule) ? node->left : node->right)];
  return values[node->block];
}

// Calls use(batch, first row) for each batch of rows.
template <class Use>
void for_each_batch(const double* X, std::size_t n_rows, std::size_t n_features, Use use) {
  RowBatch batch(n_features);
  for (std::size_t row = 0; row < n_rows; row += RowBatch::size) {
    batch.load(X + row * n_features, std::min(RowBatch::size, n_rows - row));
    use(batch, row);
  }
}

// The sum of the trees of each draw from `first` to before `last`: out[row * (last - first) + draw - first].
template <class Watch>
void predict_sums(const SumDraws& draws, const double* X, std::size_t n_rows, std::size_t n_features, std::size_t first,
                  std::size_t last, double* out, Watch& watch) {
  if (n_rows == 1) {
    for (std::size_t draw = first; draw < last; ++draw) {
      double sum = 0.0;
      for (std::size_t tree = 0; tree < draws.n_trees; ++tree) {
        sum += value_at_row(draws.structure(draws.structure_of_tree(draw, tree)), draws.values_of(draw, tree), X);
      }
      out[draw - first] = sum;
      watch.check_interrupt(draws.n_trees);
    }
    return;
  }
  std::vector<double> sums(RowBatch::size);
  for_each_batch(X, n_rows, n_features, [&](RowBatch& batch, std::size_t row) {
    for (std::size_t draw = first; draw < last; ++draw) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::size_t tree = 0; tree < draws.n_trees; ++tree) {
        batch.add(draws.structure(draws.structure_of_tree(draw, tree)), draws.values_of(draw, tree), sums.data());
      }
      for (std::size_t i = 0; i < batch.n_rows(); ++i) out[(row + i) * (last - first) + draw - first] = sums[i];
      watch.check_interrupt(draws.n_trees * RowBatch::size);
    }
  });
}

// The leaf values of each structure, summed over the draws that have it: structure after structure.
inline std::vector<double> total_values(const SumDraws& draws) {
  std::vector<std::size_t> first_leaf{0};
  for (const std::size_t n : draws.n_leaves) first_leaf.push_back(first_leaf.back() + n);
  std::vector<double> totals(first_leaf.back());
  for (std::size_t draw = 0; draw < draws.n_draws(); ++draw) {
    for (std::size_t tree = 0; tree < draws.n_trees; ++tree) {
      const double* values = draws.values_of(draw, tree);
      const std::size_t structure = draws.structure_of_tree(draw, tree);
      double* total = &totals[first_leaf[structure]];
      for (std::size_t leaf = 0; leaf < draws.n_leaves[structure]; ++leaf) total[leaf] += values[leaf];
    }
  }
  return totals;
}

// The mean over all draws of the sum of their trees, from the `total_values` of the draws.
template <class Watch>
void predict_mean_of_sums(const SumDraws& draws, std::span<const double> totals, const double* X, std::size_t n_rows,
                          std::size_t n_features, double* out, Watch& watch) {
  if (n_rows == 1) {
    double sum = 0.0;
    const double* values = totals.data();
    for (std::size_t i = 0; i < draws.n_leaves.size(); values += draws.n_leaves[i++]) {
      sum += value_at_row(draws.structure(i), values, X);
    }
    out[0] = sum / static_cast<double>(draws.n_draws());
    return;
  }
  std::vector<double> sums(RowBatch::size);
  for_each_batch(X, n_rows, n_features, [&](RowBatch& batch, std::size_t row) {
    std::fill(sums.begin(), sums.end(), 0.0);
    const double* values = totals.data();
    for (std::size_t i = 0; i < draws.n_leaves.size(); values += draws.n_leaves[i++]) {
      batch.add(draws.structure(i), values, sums.data());
      watch.check_interrupt(RowBatch::size);
    }
    for (std::size_t i = 0; i < batch.n_rows(); ++i) out[row + i] = sums[i] / static_cast<double>(draws.n_draws());
  });
}

}  // namespace particletree
