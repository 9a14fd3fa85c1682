// Predictions of sums of trees: for each draw of the posterior the sum of its trees at some rows.
//
// Trees of a sum are small, so rows are not sent down a tree one by one: for a batch of rows, every split selects
// between the values of its two sides, from the leaves up, several rows per instruction (choose.cpp). Few rows follow
// their paths instead (compiled_sums.h). Draws share structures: a tree that did not change from one draw to the next
// differs only in its leaf values, and for a mean over draws those values are added first. The trees of a draw are
// added in their order in either way, so a prediction does not depend on the number of rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "../node.h"
#include "../rule.h"
#include "../watch.h"
#include "choose.h"
#include "compiled_sums.h"

namespace particletree {

// Trees of many draws, in the form of SumResult, not owned.
struct SumDraws {
  std::span<const Node> nodes;
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> structure_of;
  std::span<const double> values;
  std::size_t n_trees;
  std::vector<std::size_t> first_value;  // of each tree of each draw

  std::size_t n_structures() const { return starts.size() - 1; }
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

  // A structure with n splits has n + 1 leaves: the numbers of those of all structures before one.
  std::size_t first_split(std::size_t i) const { return (static_cast<std::size_t>(starts[i]) - i) / 2; }
  std::size_t first_leaf(std::size_t i) const { return first_split(i) + i; }
  std::size_t n_splits(std::size_t i) const { return first_split(i + 1) - first_split(i); }
  std::size_t n_leaves(std::size_t i) const { return n_splits(i) + 1; }
};

// A batch of rows, column by column, and the values of trees at them.
class RowBatch {
 public:
  static constexpr std::size_t size = 512;

  // Only the columns that a tree splits on are copied.
  RowBatch(const SumDraws& draws, std::size_t n_features) : n_features_(n_features), place_(n_features, unused) {
    for (const Node& node : draws.nodes) {
      if (node.is_leaf() || place_[static_cast<std::size_t>(node.feature)] != unused) continue;
      place_[static_cast<std::size_t>(node.feature)] = size * features_.size();
      features_.push_back(static_cast<std::size_t>(node.feature));
    }
    columns_.resize(size * features_.size());
  }

  std::size_t n_rows() const { return n_; }

  void load(const double* X, std::size_t n) {
    n_ = n;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < features_.size(); ++c) columns_[c * size + i] = X[i * n_features_ + features_[c]];
    }
  }

  // Adds the value of a tree with these leaf values at each row.
  void add(std::span<const Node> tree, const double* values, double* sums) {
    double* said = evaluate(tree, values);
    for (std::size_t i = 0; i < n_; ++i) sums[i] += said[i];
    unused_.push_back(said);
  }

 private:
  // The values of a subtree at the rows; a leaf has one value for all of them.
  struct Subtree {
    double* values;  // null if it is a leaf
    double value;
  };

  // In preorder, children come after their parent: from the last node to the first, each split finds its two sides on
  // top of the stack, the left one uppermost. A recursion would overflow: a tree can be as deep as it has splits.
  double* evaluate(std::span<const Node> tree, const double* values) {
    for (std::size_t i = tree.size(); i-- > 0;) {
      if (tree[i].is_leaf()) {
        waiting_.push_back({nullptr, values[tree[i].block]});
      } else {
        const Subtree left = pop(), right = pop();
        waiting_.push_back({choose(tree[i], left, right), 0.0});
      }
    }
    return spread(pop());
  }

  Subtree pop() {
    const Subtree top = waiting_.back();
    waiting_.pop_back();
    return top;
  }

  double* choose(const Node& node, const Subtree& left, const Subtree& right) {
    const double* column = &columns_[place_[static_cast<std::size_t>(node.feature)]];
    const bool is_missing_left = node.rule.kind() == RuleKind::cut_missing_left;
    double* out = buffer();
    if (!left.values && !right.values && !node.rule.is_set()) {
      choose_by_cut(column, node.rule.threshold(), is_missing_left, left.value, right.value, n_, out);
      return out;
    }
    double *on_left = spread(left), *on_right = spread(right);
    if (node.rule.is_set()) {
      with_side_of_values(node.rule, [&](auto goes_left) {
        for (std::size_t i = 0; i < n_; ++i) out[i] = goes_left(column[i]) ? on_left[i] : on_right[i];
      });
    } else {
      choose_by_cut(column, node.rule.threshold(), is_missing_left, on_left, on_right, n_, out);
    }
    unused_.insert(unused_.end(), {on_left, on_right});
    return out;
  }

  double* spread(const Subtree& subtree) {
    if (subtree.values) return subtree.values;
    double* out = buffer();
    std::fill_n(out, n_, subtree.value);
    return out;
  }

  double* buffer() {
    if (unused_.empty()) unused_.push_back(buffers_.emplace_back(size).data());
    double* taken = unused_.back();
    unused_.pop_back();
    return taken;
  }

  static constexpr std::size_t unused = std::numeric_limits<std::size_t>::max();

  std::size_t n_features_, n_ = 0;
  std::vector<std::size_t> features_;  // those that are split on
  std::vector<std::size_t> place_;     // of each feature in columns_
  std::vector<double> columns_;
  std::vector<Subtree> waiting_;              // for their parent
  std::vector<std::vector<double>> buffers_;  // separate allocations: a new one does not move the others
  std::vector<double*> unused_;
};

// For so few rows it is quicker to follow the path of each.
inline constexpr std::size_t few_rows = 4;

// Calls use(batch, first row) for each batch of rows.
template <class Use>
void for_each_batch(const SumDraws& draws, const double* X, std::size_t n_rows, std::size_t n_features, Use use) {
  RowBatch batch(draws, n_features);
  for (std::size_t row = 0; row < n_rows; row += RowBatch::size) {
    batch.load(X + row * n_features, std::min(RowBatch::size, n_rows - row));
    use(batch, row);
  }
}

// The sum of the trees of each draw from `first` to before `last`: out[row * (last - first) + draw - first].
inline void predict_sums(const SumDraws& draws, const double* X, std::size_t n_rows, std::size_t n_features,
                         std::size_t first, std::size_t last, double* out, SignalWatch& watch) {
  std::vector<double> sums(RowBatch::size);
  for_each_batch(draws, X, n_rows, n_features, [&](RowBatch& batch, std::size_t row) {
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

// The same for few rows: each follows its path in every structure once, whatever the number of draws that have it.
inline void predict_sums_at_few(const SumDraws& draws, const CompiledSums& compiled, const double* X,
                                std::size_t n_rows, std::size_t n_features, std::size_t first, std::size_t last,
                                double* out, SignalWatch& watch) {
  constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t row = 0; row < n_rows; ++row) {
    const CompiledSums::Answers answers = compiled.answers(X + row * n_features);
    std::vector<std::uint32_t> leaf_of(draws.n_structures(), unknown);
    for (std::size_t draw = first; draw < last; ++draw) {
      double sum = 0.0;
      for (std::size_t tree = 0; tree < draws.n_trees; ++tree) {
        const std::size_t i = draws.structure_of_tree(draw, tree);
        if (leaf_of[i] == unknown) {
          leaf_of[i] = static_cast<std::uint32_t>(compiled.leaf(draws.first_split(i), draws.n_splits(i), answers));
        }
        sum += draws.values_of(draw, tree)[leaf_of[i]];
      }
      *out++ = sum;
      watch.check_interrupt(draws.n_trees);
    }
  }
}

// The leaf values of each structure, summed over the draws that have it: structure after structure.
inline std::vector<double> total_values(const SumDraws& draws) {
  std::vector<double> totals(draws.first_leaf(draws.n_structures()));
  for (std::size_t draw = 0; draw < draws.n_draws(); ++draw) {
    for (std::size_t tree = 0; tree < draws.n_trees; ++tree) {
      const double* values = draws.values_of(draw, tree);
      const std::size_t structure = draws.structure_of_tree(draw, tree);
      double* total = &totals[draws.first_leaf(structure)];
      for (std::size_t leaf = 0; leaf < draws.n_leaves(structure); ++leaf) total[leaf] += values[leaf];
    }
  }
  return totals;
}

// The mean over all draws of the sum of their trees, from the `total_values` of the draws.
inline void predict_mean_of_sums(const SumDraws& draws, std::span<const double> totals, const double* X,
                                 std::size_t n_rows, std::size_t n_features, double* out, SignalWatch& watch) {
  std::vector<double> sums(RowBatch::size);
  for_each_batch(draws, X, n_rows, n_features, [&](RowBatch& batch, std::size_t row) {
    std::fill(sums.begin(), sums.end(), 0.0);
    const double* values = totals.data();
    for (std::size_t i = 0; i < draws.n_structures(); values += draws.n_leaves(i++)) {
      batch.add(draws.structure(i), values, sums.data());
      watch.check_interrupt(RowBatch::size);
    }
    for (std::size_t i = 0; i < batch.n_rows(); ++i) out[row + i] = sums[i] / static_cast<double>(draws.n_draws());
  });
}

// The same for few rows.
inline void predict_mean_at_few(const SumDraws& draws, const CompiledSums& compiled, std::span<const double> totals,
                                const double* X, std::size_t n_rows, std::size_t n_features, double* out,
                                SignalWatch& watch) {
  for (std::size_t row = 0; row < n_rows; ++row) {
    const CompiledSums::Answers answers = compiled.answers(X + row * n_features);
    double sum = 0.0;
    for (std::size_t i = 0, split = 0; i < draws.n_structures(); ++i) {  // its first leaf has the number split + i
      const std::size_t n_splits = draws.n_splits(i);
      sum += totals[split + i + compiled.leaf(split, n_splits, answers)];
      split += n_splits;
    }
    out[row] = sum / static_cast<double>(draws.n_draws());
    watch.check_interrupt(draws.n_structures());
  }
}

}  // namespace particletree
