// Traversal of a compiled forest, one batch of rows at a time.
//
// At each cut the rows of the batch that reach it are partitioned: one comparison per row, without a branch that could
// be mispredicted, and the cut is read once for all of them. The junctions of a row, and their order, depend on the row
// alone, so that its result has the same bits whatever the other rows of the batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "compiled_forest.h"

namespace particletree {

// Rows in C order. A missing value of a column of numbers is NaN; a level of a categorical one is its number.
struct RowsView {
  const double* values;
  std::size_t n_rows;
  std::size_t n_features;
};

class BatchWalk {
 public:
  explicit BatchWalk(const CompiledForest& forest) : forest_(forest) {}

  // Calls visit(junction, rows) for each junction with leaves and the rows, counted from `first`, that pass through it.
  template <class Visit>
  void run(const RowsView& X, std::size_t first, std::size_t n_rows, Visit visit) {
    load(X, first, n_rows);
    enter(0, 0, n_rows, visit);
    while (!path_.empty()) {
      Step& step = path_.back();
      const std::uint32_t cut = step.next_cut++;
      const std::size_t begin = step.begin, end = step.end;
      if (step.next_cut == step.end_cut) path_.pop_back();
      const std::size_t middle = part(cut, begin, end);
      if (middle < end) enter(CompiledForest::right_of(cut), middle, end, visit);
      if (begin < middle) enter(CompiledForest::left_of(cut), begin, middle, visit);
    }
  }

 private:
  // A junction whose cuts the rows [begin, end) have still to follow. Both sides of one cut are finished before the
  // next cut partitions the same rows again.
  struct Step {
    std::size_t begin, end;
    std::uint32_t next_cut, end_cut;
  };

  // Copies only the features that are cut, column by column, because the traversal reads many rows of one feature at a
  // time.
  void load(const RowsView& X, std::size_t first, std::size_t n_rows) {
    n_rows_ = n_rows;
    columns_.resize(forest_.features.size() * n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
      const double* x = X.values + (first + row) * X.n_features;
      for (std::size_t c = 0; c < forest_.features.size(); ++c) columns_[c * n_rows + row] = x[forest_.features[c]];
    }
    rows_.resize(n_rows);
    others_.resize(n_rows);
    std::iota(rows_.begin(), rows_.end(), 0U);
  }

  template <class Visit>
  void enter(std::uint32_t number, std::size_t begin, std::size_t end, Visit& visit) {
    const CompiledForest::Junction& junction = forest_.junctions[number];
    if (junction.n_leaves > 0) visit(number, std::span<const std::uint32_t>(&rows_[begin], end - begin));
    if (junction.n_cuts > 0) {
      path_.push_back({begin, end, junction.first_cut, junction.first_cut + junction.n_cuts});
    }
  }

  // Moves those of the rows [begin, end) that go left to the front, and returns where the others start.
  std::size_t part(std::uint32_t number, std::size_t begin, std::size_t end) {
    const CompiledForest::Cut cut = forest_.cuts[number];
    const double* column = &columns_[cut.column * n_rows_];
    return with_side_of_values(cut.rule, [this, column, begin, end](auto goes_left) {
      std::uint32_t *rows = rows_.data(), *others = others_.data();
      std::size_t middle = begin, n_others = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t row = rows[i];
        const bool is_left = goes_left(column[row]);
        rows[middle] = row;
        others[n_others] = row;
        middle += is_left;
        n_others += !is_left;
      }
      std::copy_n(others, n_others, rows + middle);
      return middle;
    });
  }

  const CompiledForest& forest_;
  std::size_t n_rows_ = 0;
  std::vector<double> columns_;
  std::vector<std::uint32_t> rows_;    // a permutation of the batch
  std::vector<std::uint32_t> others_;  // room for those that go right
  std::vector<Step> path_;
};

// The number of rows for which the batch's columns fit into the processor's cache.
inline std::size_t batch_size(const CompiledForest& forest) {
  constexpr std::size_t n_values = 1 << 15, most = 2048, least = 16;
  return std::clamp(n_values / std::max<std::size_t>(1, forest.features.size()), least, most);
}

// Adds to out[row * width + k] the weighted sum over trees of leaf_means[block * width + k].
inline void add_means(const CompiledForest& forest, const RowsView& X, const double* leaf_means, std::size_t width,
                      double* out) {
  BatchWalk walk(forest);
  const std::size_t step = batch_size(forest);
  for (std::size_t first = 0; first < X.n_rows; first += step) {
    double* batch = out + first * width;
    const auto add = [&](double weight, const double* values, std::span<const std::uint32_t> rows) {
      for (const std::uint32_t row : rows) {
        double* sum = batch + row * width;
        for (std::size_t k = 0; k < width; ++k) sum[k] += weight * values[k];
      }
    };
    walk.run(X, first, std::min(step, X.n_rows - first), [&](std::uint32_t number, const auto& rows) {
      const CompiledForest::Junction& junction = forest.junctions[number];
      if (junction.sum != CompiledForest::no_sum) return add(1.0, &forest.sums[junction.sum * width], rows);
      for (const CompiledForest::Leaf& leaf : forest.leaves_of(junction)) {
        add(leaf.weight, leaf_means + leaf.block * width, rows);
      }
    });
  }
}

}  // namespace particletree
