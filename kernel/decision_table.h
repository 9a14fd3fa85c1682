// Every decision on a block with its posterior weight: what the optimal proposal draws from (paper, section 3.1).
//
// Divided by the block's own marginal, stopping weighs (1 - s) and a cut in a gap of feature f weighs
//
//   s / |D| * (gap / range) * r,    r = marginal(left) marginal(right) / marginal(block).
//
// A cut sweeps over each sorted feature; moving one row across it updates r in O(1).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "block.h"
#include "counting.h"
#include "instruction_sets.h"
#include "leaf_model.h"
#include "tree_prior.h"

namespace particletree {

// Sorts the rows of a slice by rank.
template <class Rank>
class RankSorter {
 public:
  struct Entry {
    std::uint32_t rank;
    std::uint32_t index;  // position in the slice
  };

  const std::vector<Entry>& sort(const RankSlice<Rank>& slice) {
    entries_.resize(slice.ranks.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i] = {slice.ranks[i], static_cast<std::uint32_t>(i)};
    if (entries_.size() < 64) {
      std::sort(entries_.begin(), entries_.end(),
                [](const Entry& a, const Entry& b) { return std::pair(a.rank, a.index) < std::pair(b.rank, b.index); });
    } else {
      for (int shift = 0; shift < 32 && (slice.high - slice.low) >> shift > 0; shift += 8)
        sort_by_byte(slice.low, shift);
    }
    return entries_;
  }

 private:
  void sort_by_byte(std::uint32_t low, int shift) {
    std::array<std::uint32_t, 256> starts{};
    for (const Entry& entry : entries_) ++starts[(entry.rank - low) >> shift & 255];
    std::uint32_t start = 0;
    for (auto& count : starts) start += std::exchange(count, start);
    spare_.resize(entries_.size());
    for (const Entry& entry : entries_) spare_[starts[(entry.rank - low) >> shift & 255]++] = entry;
    entries_.swap(spare_);
  }

  std::vector<Entry> entries_;
  std::vector<Entry> spare_;
};

template <class Table, LeafModel Leaf>
class DecisionTableMaker {
 public:
  using Rank = typename Table::Rank;

  DecisionTableMaker(const Table& table, const Leaf& leaf) : table_(table), leaf_(leaf) {}

  template <class Watch>
  std::unique_ptr<DecisionTable> make(const BlockRows<Leaf>& block, double log_marginal,
                                      std::span<const std::uint32_t> rows, const std::vector<std::uint32_t>& varying,
                                      TreePrior& prior, std::size_t depth, Watch& watch) {
    gaps_.clear();
    best_ = prior.at(depth).log_stop;
    log_weights_.assign(1, best_);
    const double log_choice = prior.log_choice(depth, varying.size());
    for (std::uint32_t feature : varying) {
      slice_.load(table_.column(feature), rows);
      sweep_feature(feature, block, log_marginal, log_choice);
      watch.check_interrupt(10 * rows.size());
    }
    drop_negligible();
    return std::make_unique<DecisionTable>(DecisionTable{Categories(log_weights_), gaps_});
  }

 private:
  // A weight this far below the largest (in logs) is lost in the rounding of the sum, however many there are.
  static constexpr double negligible = 60.0;

  void sweep_feature(std::uint32_t feature, const BlockRows<Leaf>& block, double log_marginal, double log_choice) {
    const auto& order = sorter_.sort(slice_);
    const FeatureRules<Table> rules(table_, feature, slice_);
    const auto observation_at = [&](std::size_t i) { return block.observations[order[i].index]; };
    leaf_.start(sweep_, block.statistics, order.size(), observation_at);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      expect_value(feature, order, i + 16);
      leaf_.move(sweep_, observation_at(i));
      if (order[i].rank == order[i + 1].rank) continue;
      const double log_bound = log_choice + sweep_.log_marginal() - log_marginal;  // the gap's share is below 1
      if (log_bound < best_ - negligible) continue;
      const Gap gap{feature, order[i].rank, order[i + 1].rank};
      const double log_weight = log_bound + log_volume(gap, table_) + rules.log_density({feature, gap.low});
      best_ = std::max(best_, log_weight);
      gaps_.push_back(gap);
      log_weights_.push_back(log_weight);
    }
  }

  // Where distinct values are many, a row's value is far from the last one's in memory, and the sweep would wait for it.
  void expect_value(std::uint32_t feature, const std::vector<typename RankSorter<Rank>::Entry>& order, std::size_t i) {
    if constexpr (sizeof(Rank) == 4) {
      if (i < order.size()) PARTICLETREE_PREFETCH(table_.values + table_.offsets[feature] + order[i].rank);
    }
  }

  // What was kept before a much better cut was found.
  void drop_negligible() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
      if (log_weights_[i + 1] < best_ - negligible) continue;
      gaps_[kept] = gaps_[i];
      log_weights_[++kept] = log_weights_[i + 1];
    }
    gaps_.resize(kept);
    log_weights_.resize(kept + 1);
  }

  const Table& table_;
  const Leaf& leaf_;
  RankSlice<Rank> slice_;
  RankSorter<Rank> sorter_;
  typename Leaf::Sweep sweep_;
  std::vector<Gap> gaps_;
  std::vector<double> log_weights_;
  double best_ = 0.0;
};

}  // namespace particletree
