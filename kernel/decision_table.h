// Every decision on a block with its posterior weight, from which the optimal proposal draws (paper, section 3.1).
//
// Divided by the block's own marginal, stopping has weight (1 - s) and a cut in a gap of feature f has weight
//
//   s / |D| * (gap / range) * r,    r = marginal(left) marginal(right) / marginal(block).
//
// A cut sweeps over each sorted feature; moving one row across it updates r in O(1). If values are missing, one sweep
// has the missing rows on the left from its start, and one has them on the right, alone at its end: the rule "missing
// or not". For a categorical feature all 2^k - 2 sets of the k levels in the block are listed, up to
// `most_levels_to_list`; with more levels `n_sets_drawn` sets from the prior represent all of them, each with an equal
// share of the prior. Their sum has the right mean, so that particles stay properly weighted; such a table is not
// reused (see lookahead.h). If a retained particle takes one of the sets, that set is the one drawn in its part of the
// prior.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "block.h"
#include "cells.h"
#include "counting.h"
#include "feature_rules.h"
#include "instruction_sets.h"
#include "leaf_model.h"
#include "tree_prior.h"
#include "watch.h"

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
    const std::uint32_t low = slice.has_missing ? 0 : slice.low;
    entries_.resize(slice.ranks.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i] = {slice.ranks[i], static_cast<std::uint32_t>(i)};
    if (entries_.size() < 64) {
      std::sort(entries_.begin(), entries_.end(),
                [](const Entry& a, const Entry& b) { return std::pair(a.rank, a.index) < std::pair(b.rank, b.index); });
    } else {
      for (int shift = 0; shift < 32 && (slice.high - low) >> shift > 0; shift += 8) sort_by_byte(low, shift);
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

inline constexpr std::size_t most_levels_to_list = 10;
inline constexpr std::uint32_t n_sets_drawn = 1024;

template <class Table, LeafModel Leaf>
class DecisionTableMaker {
 public:
  using Rank = typename Table::Rank;
  using Rules = FeatureRules<Table>;

  DecisionTableMaker(const Table& table, const Leaf& leaf) : table_(table), leaf_(leaf), cells_(leaf) {}

  std::unique_ptr<DecisionTable> make(const BlockRows<Leaf>& block, double log_marginal,
                                      std::span<const std::uint32_t> rows, const Varying& varying,
                                      const TreePrior& prior, const BlockFacts& facts, const Decision* retained,
                                      Random& random, Watch& watch) {
    rules_.clear();
    is_drawn_ = false;
    best_ = prior.at(facts).log_stop;
    const double log_choice = prior.log_choice(facts, varying);
    log_weights_.assign(1, best_);
    log_marginal_ = log_marginal;
    for (std::uint32_t feature : varying.features) {
      slice_.load(table_, feature, rows);
      const Rules rules(table_, feature, slice_);
      log_choice_ = log_choice + varying.log_weight(feature);
      if (!rules.is_categorical()) {
        sweep_numbers(rules, block);
      } else if (slice_.levels.size() <= most_levels_to_list) {
        list_sets(rules, block);
      } else {
        draw_sets(rules, block, retained, random);
      }
      watch.check_interrupt(10 * rows.size());
    }
    drop_negligible();
    return std::make_unique<DecisionTable>(DecisionTable{Categories(log_weights_), rules_, is_drawn_});
  }

 private:
  // Weights this far below the largest (in logs) are lost in the rounding of the sum, however many there are.
  static constexpr double negligible = 60.0;

  using Entry = typename RankSorter<Rank>::Entry;
  using Statistic = typename Leaf::Statistic;
  using Kind = RuleClass::Kind;

  void sweep_numbers(const Rules& rules, const BlockRows<Leaf>& block) {
    const std::vector<Entry>& order = sorter_.sort(slice_);
    if (!slice_.has_missing) return sweep(rules, block, order, 0, order.size(), Kind::cut_coin);
    const auto first = std::find_if(order.begin(), order.end(), [](const Entry& entry) { return entry.rank > 0; });
    const auto n_missing = static_cast<std::size_t>(first - order.begin());
    sweep(rules, block, order, n_missing, order.size(), Kind::cut_missing_left);
    rotated_.assign(first, order.end());
    rotated_.insert(rotated_.end(), order.begin(), first);
    sweep(rules, block, rotated_, 0, order.size() - n_missing, Kind::cut_missing_right);
  }

  // Moves rows to the left in the given order, in which those with a number are the entries [first, last).
  void sweep(const Rules& rules, const BlockRows<Leaf>& block, const std::vector<Entry>& order, std::size_t first,
             std::size_t last, Kind kind) {
    const std::uint32_t feature = rules.feature();
    const auto observation_at = [&](std::size_t i) { return block.observations[order[i].index]; };
    leaf_.start(sweep_, block.statistics, order.size(), observation_at);
    for (std::size_t i = 0; i < first; ++i) leaf_.move(sweep_, observation_at(i));
    const double log_density = slice_.varies() ? rules.log_density({}) : 0.0;
    for (std::size_t i = first; i + 1 < last; ++i) {
      expect_value(feature, order, i + 16);
      leaf_.move(sweep_, observation_at(i));
      if (order[i].rank == order[i + 1].rank) continue;
      const double log_bound = log_choice_ + sweep_.log_marginal() - log_marginal_;  // the gap's share is below 1
      if (log_bound < best_ - negligible) continue;
      const RuleClass cuts{feature, kind, order[i].rank, order[i + 1].rank};
      add(cuts, log_bound + log_volume(cuts, table_) + log_density);
    }
    if (last == order.size()) return;
    leaf_.move(sweep_, observation_at(last - 1));
    const double log_share = log_choice_ + sweep_.log_marginal() - log_marginal_;
    add({feature, Kind::presence, 0, 0}, log_share + rules.log_density(presence_rule(table_, feature)));
    if (!table_.measure) return;
    const RuleClass below{feature, Kind::cut_below, slice_.low - 1, slice_.low};
    const RuleClass above{feature, Kind::cut_above, slice_.high, slice_.high};
    for (const RuleClass& cuts : {below, above}) {
      const auto [from, to] = units_of(cuts, table_);
      add(cuts, log_share + std::log(to - from) + rules.log_density({}));
    }
  }

  void add(const RuleClass& rules, double log_weight) {
    best_ = std::max(best_, log_weight);
    rules_.push_back(rules);
    log_weights_.push_back(log_weight);
  }

  // Lists each set together with its complement, because each sum over levels is needed for both.
  void list_sets(const Rules& rules, const BlockRows<Leaf>& block) {
    cells_.count_levels(slice_, block);
    const std::size_t n_sets = std::size_t{1} << slice_.levels.size(), width = leaf_.width();
    sums_.assign(n_sets * width, Statistic{});
    log_marginals_.resize(n_sets);
    for (std::size_t set = 1; set < n_sets; ++set) {
      const std::size_t rest = set & (set - 1);
      const Statistic* level = cells_.cell(static_cast<std::size_t>(std::countr_zero(set)));
      for (std::size_t k = 0; k < width; ++k) sums_[set * width + k] = sums_[rest * width + k] + level[k];
      log_marginals_[set] = leaf_.log_marginal(&sums_[set * width]);
    }
    const double log_share = log_choice_ - log_marginal_ + rules.log_density({});
    for (std::size_t set = 1; set + 1 < n_sets; ++set) {
      add(RuleClass::set_of_levels(rules.feature(), set),
          log_share + log_marginals_[set] + log_marginals_[n_sets - 1 - set]);
    }
  }

  void draw_sets(const Rules& rules, const BlockRows<Leaf>& block, const Decision* retained, Random& random) {
    is_drawn_ = true;
    cells_.count_levels(slice_, block);
    sums_.resize(2 * leaf_.width());
    Statistic *left = sums_.data(), *right = left + leaf_.width();
    const double log_share = log_choice_ - log_marginal_ - std::log(static_cast<double>(n_sets_drawn));
    const std::optional<Rule> taken = retained && retained->is_split && retained->feature == rules.feature()
                                          ? rules.with(retained->rule)
                                          : std::nullopt;
    const double place_taken = taken ? rules.place_of(*taken, random) * n_sets_drawn : -1.0;
    for (std::uint32_t i = 0; i < n_sets_drawn; ++i) {
      const bool is_taken = i <= place_taken && place_taken < i + 1.0;
      const Rule rule = is_taken ? *taken : rules.at((i + random.uniform()) / n_sets_drawn, random);
      cells_.add_up(slice_, rule, left, right);
      add(RuleClass::set_of_levels(rules.feature(), rule.word()),
          log_share + leaf_.log_marginal(left) + leaf_.log_marginal(right));
    }
  }

  // Prefetches a value: with many distinct values, successive values are far apart in memory.
  void expect_value(std::uint32_t feature, const std::vector<Entry>& order, std::size_t i) {
    if constexpr (sizeof(Rank) == 4) {
      if (i < order.size()) PARTICLETREE_PREFETCH(table_.values + table_.offsets[feature] + order[i].rank);
    }
  }

  // Drops entries that were kept before a much better cut was found.
  void drop_negligible() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (log_weights_[i + 1] < best_ - negligible) continue;
      rules_[kept] = rules_[i];
      log_weights_[++kept] = log_weights_[i + 1];
    }
    rules_.resize(kept);
    log_weights_.resize(kept + 1);
  }

  const Table& table_;
  const Leaf& leaf_;
  RankSlice<Rank> slice_;
  RankSorter<Rank> sorter_;
  CellCounter<Rank, Leaf> cells_;
  typename Leaf::Sweep sweep_;
  std::vector<Entry> rotated_;  // the order of a feature, with the missing rows at its end
  std::vector<Statistic> sums_;
  std::vector<double> log_marginals_;
  std::vector<RuleClass> rules_;
  std::vector<double> log_weights_;
  double log_choice_ = 0.0;    // of a split by the feature
  double log_marginal_ = 0.0;  // of the block
  double best_ = 0.0;
  bool is_drawn_ = false;
};

}  // namespace particletree
