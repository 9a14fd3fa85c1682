// The counting pass: the statistics on the left of many cuts of one feature, in one pass over a block's rows.
//
// The cuts of a group of particles, sorted, divide the ranks into bins; a row adds to the statistics of its bin, and
// the running sums over bins are the left sides. The cost is one pass over the rows for any number of particles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "leaf_model.h"
#include "table.h"

namespace particletree {

// One feature's ranks in a block, contiguous, with their extent.
template <class Rank>
struct RankSlice {
  std::vector<Rank> ranks;
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  void load(const Rank* column, std::span<const std::uint32_t> rows) {
    ranks.resize(rows.size());
    Rank lowest = column[rows[0]];
    Rank highest = lowest;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Rank rank = column[rows[i]];
      ranks[i] = rank;
      lowest = std::min(lowest, rank);
      highest = std::max(highest, rank);
    }
    low = lowest;
    high = highest;
  }

  std::size_t n_ranks() const { return std::size_t{high} - low + 1; }

  // Are there few ranks for the number of rows, so that a table over ranks costs no more than a pass over rows?
  bool is_dense() const { return n_ranks() <= 2 * ranks.size() + 64; }
};

template <class Rank, LeafModel Leaf>
class CountingPass {
 public:
  using Statistic = typename Leaf::Statistic;
  using Observation = typename Leaf::Observation;

  explicit CountingPass(const Leaf& leaf) : leaf_(leaf) {}

  // Writes for each cut (increasing, distinct, within the slice) the statistics of the rows on its left and right. Both
  // are sums over rows: a difference from the block's sums would lose small weights beside large ones.
  void run(const RankSlice<Rank>& slice, std::span<const Observation> observations, std::span<const std::uint32_t> cuts,
           Statistic* left_sides, Statistic* right_sides) {
    const std::size_t width = leaf_.width();
    const std::size_t n_cuts = cuts.size();
    bins_.assign((n_cuts + 1) * width, Statistic{});
    if (slice.is_dense() && bins_.size() <= std::numeric_limits<std::uint32_t>::max()) {
      count_by_lookup(slice, observations, cuts);
    } else {
      count_by_search(slice, observations, cuts);
    }
    std::copy_n(bins_.begin(), width, left_sides);
    for (std::size_t i = width; i < n_cuts * width; ++i) left_sides[i] = left_sides[i - width] + bins_[i];
    std::copy_n(bins_.begin() + static_cast<std::ptrdiff_t>(n_cuts * width), width, right_sides + (n_cuts - 1) * width);
    for (std::size_t i = (n_cuts - 1) * width; i-- > 0;) right_sides[i] = right_sides[i + width] + bins_[i + width];
  }

 private:
  // Few distinct ranks for the number of rows: a table from rank to bin.
  void count_by_lookup(const RankSlice<Rank>& slice, std::span<const Observation> observations,
                       std::span<const std::uint32_t> cuts) {
    const std::size_t width = leaf_.width();
    bin_of_rank_.resize(slice.n_ranks());
    std::size_t rank = slice.low;
    for (std::size_t bin = 0; bin <= cuts.size(); ++bin) {
      const std::size_t last = bin < cuts.size() ? cuts[bin] : slice.high;
      for (; rank <= last; ++rank) bin_of_rank_[rank - slice.low] = static_cast<std::uint32_t>(bin * width);
    }
    for (std::size_t i = 0; i < observations.size(); ++i) {
      leaf_.add(&bins_[bin_of_rank_[slice.ranks[i] - slice.low]], observations[i]);
    }
  }

  void count_by_search(const RankSlice<Rank>& slice, std::span<const Observation> observations,
                       std::span<const std::uint32_t> cuts) {
    const std::size_t width = leaf_.width();
    if (cuts.size() <= 8) {  // comparing with all of them needs no branch
      for (std::size_t i = 0; i < observations.size(); ++i) {
        std::size_t bin = 0;
        for (std::uint32_t cut : cuts) bin += !goes_left(slice.ranks[i], cut);
        leaf_.add(&bins_[bin * width], observations[i]);
      }
      return;
    }
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const auto bin = std::lower_bound(cuts.begin(), cuts.end(), std::uint32_t{slice.ranks[i]}) - cuts.begin();
      leaf_.add(&bins_[static_cast<std::size_t>(bin) * width], observations[i]);
    }
  }

  const Leaf& leaf_;
  std::vector<Statistic> bins_;
  std::vector<std::uint32_t> bin_of_rank_;
};

}  // namespace particletree
