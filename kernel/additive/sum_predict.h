// Predictions of sums of trees: for each draw of the posterior the sum of its trees at some rows.
//
// Draws share structures: a tree that was not changed from one draw to the next differs in its leaf values alone. So rows are
// sent through a structure once for all draws in a row that have it, a batch of rows at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../node.h"
#include "../rule.h"

namespace particletree {

// Trees of many draws, as SumResult has them; it does not own them.
struct SumDraws {
  std::span<const Node> nodes;
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> structure_of;
  std::span<const double> values;
  std::size_t n_trees;
  std::vector<std::size_t> n_leaves;     // of each structure
  std::vector<std::size_t> first_value;  // of each tree of each draw

  std::size_t n_draws() const { return n_trees == 0 ? 0 : structure_of.size() / n_trees; }
  std::span<const Node> structure(std::size_t i) const {
    return nodes.subspan(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(starts[i + 1] - starts[i]));
  }
};

class SumWalk {
 public:
  static constexpr std::size_t batch = 512;

  SumWalk(const SumDraws& draws, const double* X, std::size_t n_rows, std::size_t n_features)
      : draws_(draws), X_(X), n_rows_(n_rows), n_features_(n_features), columns_(batch * n_features), leaf_(batch) {}

  // Calls use(tree, first draw, end of draws) for every tree and run of draws from `first` to before `last` with the same
  // structure, after leaf() has been made for the rows from `row` on.
  template <class Use>
  void visit(std::size_t row, std::size_t first, std::size_t last, Use use) {
    load(row);
    for (std::size_t tree = 0; tree < draws_.n_trees; ++tree) {
      for (std::size_t draw = first; draw < last;) {
        const std::int32_t structure = draws_.structure_of[draw * draws_.n_trees + tree];
        std::size_t end = draw + 1;
        while (end < last && draws_.structure_of[end * draws_.n_trees + tree] == structure) ++end;
        find_leaves(draws_.structure(static_cast<std::size_t>(structure)));
        use(tree, draw, end);
        draw = end;
      }
    }
  }

  std::size_t n_in_batch() const { return n_; }
  const std::uint32_t* leaf() const { return leaf_.data(); }

 private:
  // The rows of a batch, column by column.
  void load(std::size_t row) {
    n_ = std::min(batch, n_rows_ - row);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t f = 0; f < n_features_; ++f) columns_[f * batch + i] = X_[(row + i) * n_features_ + f];
    }
  }

  void find_leaves(std::span<const Node> tree) {
    if (tree.size() == 1) {
      std::fill_n(leaf_.begin(), n_, 0u);
      return;
    }
    // Node by node from the root: the rows at a node are a stretch of `order_`, and those of its children parts of it.
    order_.resize(n_);
    for (std::uint32_t i = 0; i < n_; ++i) order_[i] = i;
    send(tree, 0, 0, n_);
  }

  void send(std::span<const Node> tree, std::size_t number, std::size_t first, std::size_t end) {
    const Node& node = tree[number];
    if (node.is_leaf()) {
      for (std::size_t i = first; i < end; ++i) leaf_[order_[i]] = static_cast<std::uint32_t>(node.block);
      return;
    }
    const double* column = &columns_[static_cast<std::size_t>(node.feature) * batch];
    aside_.resize(n_ + 1);
    const std::size_t middle = with_side_of_values(node.rule, [&](auto goes_left) {
      std::uint32_t* left = &order_[first];
      std::uint32_t* right = aside_.data();
      for (std::size_t i = first; i < end; ++i) {
        const std::uint32_t row = order_[i];
        const bool is_left = goes_left(column[row]);
        *left = row;
        *right = row;
        left += is_left;
        right += !is_left;
      }
      std::copy(aside_.data(), right, left);
      return static_cast<std::size_t>(left - order_.data());
    });
    if (middle > first) send(tree, static_cast<std::size_t>(node.left), first, middle);
    if (end > middle) send(tree, static_cast<std::size_t>(node.right), middle, end);
  }

  const SumDraws& draws_;
  const double* X_;
  std::size_t n_rows_, n_features_, n_ = 0;
  std::vector<double> columns_;
  std::vector<std::uint32_t> leaf_, order_, aside_;
};

// The sum of the trees of each draw from `first` to before `last`: out[row * (last - first) + draw - first].
template <class Watch>
void predict_sums(const SumDraws& draws, const double* X, std::size_t n_rows, std::size_t n_features, std::size_t first,
                  std::size_t last, double* out, Watch& watch) {
  SumWalk walk(draws, X, n_rows, n_features);
  std::vector<double> sums((last - first) * SumWalk::batch);  // draw by draw
  for (std::size_t row = 0; row < n_rows; row += SumWalk::batch) {
    std::fill(sums.begin(), sums.end(), 0.0);
    walk.visit(row, first, last, [&](std::size_t tree, std::size_t draw, std::size_t end) {
      for (; draw < end; ++draw) {
        const double* values = &draws.values[draws.first_value[draw * draws.n_trees + tree]];
        double* sum = &sums[(draw - first) * SumWalk::batch];
        for (std::size_t i = 0; i < walk.n_in_batch(); ++i) sum[i] += values[walk.leaf()[i]];
      }
      watch.check_interrupt((end - first) * SumWalk::batch);
    });
    for (std::size_t i = 0; i < walk.n_in_batch(); ++i) {
      double* of_row = out + (row + i) * (last - first);
      for (std::size_t draw = 0; draw < last - first; ++draw) of_row[draw] = sums[draw * SumWalk::batch + i];
    }
  }
}

// The mean over all draws of the sum of their trees.
template <class Watch>
void predict_mean_of_sums(const SumDraws& draws, const double* X, std::size_t n_rows, std::size_t n_features,
                          double* out, Watch& watch) {
  SumWalk walk(draws, X, n_rows, n_features);
  std::vector<double> total;  // of the values of each leaf, over draws with the same structure
  const auto n_draws = static_cast<double>(draws.n_draws());
  std::fill_n(out, n_rows, 0.0);
  for (std::size_t row = 0; row < n_rows; row += SumWalk::batch) {
    walk.visit(row, 0, draws.n_draws(), [&](std::size_t tree, std::size_t draw, std::size_t end) {
      const auto structure = static_cast<std::size_t>(draws.structure_of[draw * draws.n_trees + tree]);
      total.assign(draws.n_leaves[structure], 0.0);
      for (; draw < end; ++draw) {
        const double* values = &draws.values[draws.first_value[draw * draws.n_trees + tree]];
        for (std::size_t leaf = 0; leaf < total.size(); ++leaf) total[leaf] += values[leaf];
      }
      for (std::size_t i = 0; i < walk.n_in_batch(); ++i) out[row + i] += total[walk.leaf()[i]];
      watch.check_interrupt(2 * SumWalk::batch);
    });
    for (std::size_t i = 0; i < walk.n_in_batch(); ++i) out[row + i] /= n_draws;
  }
}

}  // namespace particletree
