// Counting: the statistics on both sides of many cuts of one feature, from the ranks of a block's rows.
//
// There are two methods, which give the same sums. *Comparing* takes the cuts one by one. Rows are sorted by label, so
// a class is a range of them, and counting a class's rows on the left of a cut is a loop of comparisons that does not
// read the labels: a processor does 8 to 64 at a time. *Binning* takes all cuts in one pass: sorted, they divide the
// ranks into bins, a row adds to the statistics of its bin, and cumulative sums over bins are the sides of the cuts.
// The first is faster for few cuts, the second for many. Sums other than counts cannot be vectorised like this, and are
// compared only if there is a single cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "instruction_sets.h"
#include "leaf_model.h"
#include "rank_loops.h"
#include "rule.h"
#include "table.h"

namespace particletree {

// Unrolled by eight, because the loop overhead would cost as much as a load.
template <class Rank>
PARTICLETREE_INLINE void gather(const Rank* column, const std::uint32_t* rows, std::size_t n, Rank* ranks) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) ranks[i + j] = column[rows[i + j]];
  }
  for (; i < n; ++i) ranks[i] = column[rows[i]];
}

// One feature's ranks in a block, contiguous, with their extent.
template <class Rank>
class RankSlice : public Extent {
 public:
  std::span<const Rank> ranks;

  template <class Table>
  void load(const Table& table, std::uint32_t feature, std::span<const std::uint32_t> rows) {
    if (buffer_.size() < rows.size()) buffer_.resize(rows.size());
    gather(table.column(feature), rows.data(), rows.size(), buffer_.data());
    set(table, feature, {buffer_.data(), rows.size()});
  }

  // For all rows: the column itself.
  template <class Table>
  void load_all(const Table& table, std::uint32_t feature) {
    set(table, feature, {table.column(feature), table.n_rows});
  }

  std::size_t n_ranks() const { return std::size_t{high} - low + 1; }

  // Whether there are few ranks for the number of rows, so that a table over ranks costs no more than a pass over rows.
  bool is_dense() const { return n_ranks() <= 2 * ranks.size() + 64; }

 private:
  template <class Table>
  void set(const Table& table, std::uint32_t feature, std::span<const Rank> all) {
    ranks = all;
    Rank lowest, highest;
    find_extent(ranks.data(), ranks.size(), lowest, highest);
    low = lowest;
    high = highest;
    complete(table, feature, ranks);
  }

  std::vector<Rank> buffer_;
};

// A block for the counting passes: its statistics and, if counting needs them, its rows' observations.
template <LeafModel Leaf>
struct BlockRows {
  const typename Leaf::Statistic* statistics;
  std::span<const typename Leaf::Observation> observations;
  std::size_t n_rows;
};

// Adds each row of a block to the statistics of its cell, which is a function of its rank.
template <class Rank, LeafModel Leaf, class CellOf>
void fill_cells(const Leaf& leaf, const RankSlice<Rank>& slice, const BlockRows<Leaf>& block, CellOf cell_of,
                typename Leaf::Statistic* cells) {
  const std::size_t width = leaf.width();
  if constexpr (Leaf::counts_stretches) {
    std::size_t i = 0;
    for (std::size_t k = 0; k < width; ++k) {
      for (const std::size_t end = i + block.statistics[k]; i < end; ++i) ++cells[cell_of(slice.ranks[i]) * width + k];
    }
  } else {
    for (std::size_t i = 0; i < block.n_rows; ++i) {
      leaf.add(&cells[cell_of(slice.ranks[i]) * width], block.observations[i]);
    }
  }
}

template <class Rank, LeafModel Leaf>
class CutCounter {
 public:
  using Statistic = typename Leaf::Statistic;

  explicit CutCounter(const Leaf& leaf) : leaf_(leaf) {}

  // Whether it is cheaper to compare with each of some cuts than to put the rows into bins.
  bool should_compare(std::size_t n_cuts) const {
    if constexpr (Leaf::counts_stretches) return n_cuts <= 32 / sizeof(Rank);
    return n_cuts == 1;  // two bins, without a table from ranks to bins
  }

  // Writes the statistics of the rows on the left and on the right of one cut.
  void compare(const RankSlice<Rank>& slice, const BlockRows<Leaf>& block, std::uint32_t cut, Statistic* left,
               Statistic* right) const {
    if constexpr (Leaf::counts_stretches) {
      count_stretches(slice.ranks.data(), block.statistics, leaf_.width(), static_cast<Rank>(cut), left);
      for (std::size_t k = 0; k < leaf_.width(); ++k) right[k] = block.statistics[k] - left[k];
    } else {
      std::fill_n(left, leaf_.width(), Statistic{});
      std::fill_n(right, leaf_.width(), Statistic{});
      Statistic* const sides[] = {right, left};
      for (std::size_t i = 0; i < block.n_rows; ++i) {
        leaf_.add(sides[slice.ranks[i] <= cut], block.observations[i]);
      }
    }
  }

  // Prepares bins for some cuts, in any order, within the slice, and returns the number of distinct ones.
  std::size_t set_bins(const RankSlice<Rank>& slice, std::span<const std::uint32_t> cuts) {
    low_ = slice.low;
    has_bin_of_each_rank_ = slice.is_dense();
    return n_cuts_ = has_bin_of_each_rank_ ? set_bin_of_each_rank(slice, cuts) : set_guide(slice, cuts);
  }

  // The index of a cut among the distinct ones, in increasing order; for a rank, that of its bin.
  std::uint32_t bin(std::uint32_t rank) const {
    if (has_bin_of_each_rank_) return bins_of_ranks_[rank - low_];
    std::uint32_t bin = bins_of_ranks_[(rank - low_) >> shift_];
    while (sorted_cuts_[bin] < rank) ++bin;
    return bin;
  }

  // Writes for each distinct cut, in increasing order, the statistics of the rows on its left and right. Both are sums
  // over rows: in a difference from the block's sums, small weights would be lost to rounding.
  void count(const RankSlice<Rank>& slice, const BlockRows<Leaf>& block, Statistic* lefts, Statistic* rights) {
    const std::size_t width = leaf_.width();
    bins_.assign((n_cuts_ + 1) * width, Statistic{});
    fill_bins(slice, block);
    std::copy_n(bins_.begin(), width, lefts);
    for (std::size_t i = width; i < n_cuts_ * width; ++i) lefts[i] = lefts[i - width] + bins_[i];
    std::copy_n(bins_.begin() + static_cast<std::ptrdiff_t>(n_cuts_ * width), width, rights + (n_cuts_ - 1) * width);
    for (std::size_t i = (n_cuts_ - 1) * width; i-- > 0;) rights[i] = rights[i + width] + bins_[i + width];
  }

 private:
  // The kind of table from ranks to bins is tested once for all rows.
  void fill_bins(const RankSlice<Rank>& slice, const BlockRows<Leaf>& block) {
    if (has_bin_of_each_rank_) {
      const auto bin_of = [bins = bins_of_ranks_.data(), low = low_](std::uint32_t rank) { return bins[rank - low]; };
      fill_cells(leaf_, slice, block, bin_of, bins_.data());
    } else {
      fill_cells(leaf_, slice, block, [this](std::uint32_t rank) { return bin(rank); }, bins_.data());
    }
  }

  std::size_t set_bin_of_each_rank(const RankSlice<Rank>& slice, std::span<const std::uint32_t> cuts) {
    bins_of_ranks_.assign(slice.n_ranks() + 1, 0);
    for (std::uint32_t cut : cuts) bins_of_ranks_[cut - low_ + 1] = 1;  // the rank after a cut begins a bin
    for (std::size_t i = 1; i <= slice.n_ranks(); ++i) bins_of_ranks_[i] += bins_of_ranks_[i - 1];
    return bins_of_ranks_.back();
  }

  // If there are many ranks, they are grouped in runs of 2^shift; the search starts at the bin of a run's first rank.
  std::size_t set_guide(const RankSlice<Rank>& slice, std::span<const std::uint32_t> cuts) {
    sorted_cuts_.assign(cuts.begin(), cuts.end());
    std::sort(sorted_cuts_.begin(), sorted_cuts_.end());
    sorted_cuts_.erase(std::unique(sorted_cuts_.begin(), sorted_cuts_.end()), sorted_cuts_.end());
    const std::size_t n_cuts = sorted_cuts_.size();
    sorted_cuts_.push_back(std::numeric_limits<std::uint32_t>::max());
    shift_ = 0;
    while (slice.n_ranks() >> shift_ > 4 * n_cuts + 64) ++shift_;
    bins_of_ranks_.resize((slice.n_ranks() >> shift_) + 1);
    std::uint32_t bin = 0;
    for (std::size_t run = 0; run < bins_of_ranks_.size(); ++run) {
      while (sorted_cuts_[bin] < low_ + (run << shift_)) ++bin;
      bins_of_ranks_[run] = bin;
    }
    return n_cuts;
  }

  const Leaf& leaf_;
  std::uint32_t low_ = 0;
  std::size_t n_cuts_ = 0;
  bool has_bin_of_each_rank_ = false;
  int shift_ = 0;
  std::vector<std::uint32_t> bins_of_ranks_;  // of each rank, or of the first of each run of ranks
  std::vector<std::uint32_t> sorted_cuts_;    // and a last one above all ranks
  std::vector<Statistic> bins_;
};

}  // namespace particletree
