// The proposals: how the particles that consider a block decide on it, and what that does to their weights.
//
// With s the split probability, r = marginal(left) marginal(right) / marginal(block), a feature drawn uniformly among
// those that vary, its range in the block, and the gaps between its adjacent distinct values there:
//
//   proposal   draws                                                       weight is multiplied by
//   prior      split with probability s; cut uniform over the range        r if it split, else 1
//   empirical  split with probability s; gap uniform, cut uniform within   r * gap * (number of gaps) / range, else 1
//   optimal    every decision in proportion to prior * likelihood          the sum of those products
//
// All particles that consider a block are handled together: one pass over its rows per feature, whatever their number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block.h"
#include "counting.h"
#include "decision_table.h"
#include "leaf_model.h"
#include "random.h"
#include "split_prior.h"

namespace particletree {

enum class Proposal { prior, empirical, optimal };

// What one particle decides on one block.
struct Decision {
  std::uint32_t particle;
  BlockId block;
  bool splits = false;
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;  // rows of rank <= cut go left
  double threshold = 0.0;
  double log_range = 0.0;   // of the feature in the block
  double log_weight = 0.0;  // the factor on the particle's weight
  std::size_t sides = 0;    // where the evaluated sides of the cut stand
};

// The two sides of the cuts that were evaluated in a stage; decisions point into it.
template <class Statistic>
class EvaluatedCuts {
 public:
  explicit EvaluatedCuts(std::size_t width) : width_(width) {}

  void clear() {
    n_cuts_ = 0;  // the memory is kept for the next stage
  }

  // Room for `n` cuts more; returns the number of the first.
  std::size_t extend(std::size_t n) {
    const std::size_t first = n_cuts_;
    n_cuts_ += n;
    for (auto* sides : {&left_, &right_}) {
      sides->statistics.resize(n_cuts_ * width_);
      sides->log_marginals.resize(n_cuts_);
    }
    return first;
  }

  Statistic* left(std::size_t cut) { return &left_.statistics[cut * width_]; }
  Statistic* right(std::size_t cut) { return &right_.statistics[cut * width_]; }

  template <class Leaf>
  void evaluate(std::size_t cut, const Leaf& leaf) {
    left_.log_marginals[cut] = leaf.log_marginal(left(cut));
    right_.log_marginals[cut] = leaf.log_marginal(right(cut));
  }

  Side<Statistic> left_side(std::size_t cut) const { return left_.side(cut, width_); }
  Side<Statistic> right_side(std::size_t cut) const { return right_.side(cut, width_); }

 private:
  struct Sides {
    std::vector<Statistic> statistics;
    std::vector<double> log_marginals;

    Side<Statistic> side(std::size_t cut, std::size_t width) const {
      return {&statistics[cut * width], log_marginals[cut]};
    }
  };

  std::size_t width_;
  std::size_t n_cuts_ = 0;
  Sides left_, right_;
};

template <class Table, LeafModel Leaf, class Watch>
class Proposer {
 public:
  using Rank = typename Table::Rank;
  using Statistic = typename Leaf::Statistic;
  using Store = BlockStore<Table, Leaf>;

  Proposer(Proposal proposal, const Table& table, const Leaf& leaf, SplitPrior& prior, Store& blocks, Random& random,
           Watch& watch)
      : proposal_(proposal),
        table_(table),
        leaf_(leaf),
        prior_(prior),
        blocks_(blocks),
        random_(random),
        watch_(watch),
        counting_(leaf_),
        tables_(table_, leaf_),
        evaluated_(leaf.width()) {}

  void start_stage() { evaluated_.clear(); }

  // Decides for every particle of a group; all of them consider the same block, which can split.
  void decide(BlockId id, std::span<Decision> group) {
    if (proposal_ == Proposal::optimal) {
      draw_decisions(id, group);
    } else {
      draw_splits(id, group);
    }
    evaluate_splits(id);
  }

  Side<Statistic> left_side(const Decision& decision) const { return evaluated_.left_side(decision.sides); }
  Side<Statistic> right_side(const Decision& decision) const { return evaluated_.right_side(decision.sides); }

 private:
  // Prior and empirical: stop or split, and on which feature; the cut follows when the feature's range is known.
  void draw_splits(BlockId id, std::span<Decision> group) {
    splitting_.clear();
    const double split = prior_.at(blocks_[id].depth).split;
    for (Decision& decision : group) {
      decision.splits = random_.uniform() < split;
      if (decision.splits) splitting_.push_back(&decision);
    }
    if (splitting_.empty()) return;
    load_rows(id);
    const auto& varying = blocks_[id].varying;
    for (Decision* decision : splitting_) {
      decision->feature = varying[random_.below(static_cast<std::uint32_t>(varying.size()))];
    }
  }

  // Optimal: everything but the position within the gap, from the block's table.
  void draw_decisions(BlockId id, std::span<Decision> group) {
    splitting_.clear();
    Block& block = blocks_[id];
    const bool is_new = !block.decisions;
    if (is_new) {
      load_rows(id);
      block.decisions = tables_.make(block, blocks_.statistics(id), observations_, prior_.at(block.depth), watch_);
    }
    for (Decision& decision : group) {
      const std::size_t choice = block.decisions->categories.draw(random_);
      decision.log_weight = block.decisions->categories.log_total();
      decision.splits = choice > 0;
      if (!decision.splits) continue;
      splitting_.push_back(&decision);
      const Gap& gap = block.decisions->gaps[choice - 1];
      decision.feature = gap.feature;
      decision.cut = gap.low;
      decision.threshold = random_.between(table_.value(gap.feature, gap.low), table_.value(gap.feature, gap.high));
    }
    if (!is_new && !splitting_.empty()) load_rows(id);
  }

  void load_rows(BlockId id) {
    blocks_.ensure_rows(id);
    const auto& rows = blocks_[id].rows;
    observations_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) observations_[i] = leaf_.observe(rows[i]);
  }

  // Feature by feature, the sides of all cuts that the group has chosen.
  void evaluate_splits(BlockId id) {
    // Ties go by particle: decisions of a group stand in that order, so their addresses do.
    std::sort(splitting_.begin(), splitting_.end(), [](const Decision* a, const Decision* b) {
      return a->feature != b->feature ? a->feature < b->feature : a < b;
    });
    for (auto first = splitting_.begin(); first != splitting_.end();) {
      const auto last = std::find_if(first, splitting_.end(),
                                     [&](const Decision* decision) { return decision->feature != (*first)->feature; });
      slice_.load(table_.column((*first)->feature), blocks_[id].rows);
      draw_cuts(std::span(first, last));
      evaluate_cuts(id, std::span(first, last));
      watch_.breathe();
      first = last;
    }
  }

  void draw_cuts(std::span<Decision*> decisions) {
    const std::uint32_t feature = decisions[0]->feature;
    const double low = table_.value(feature, slice_.low);
    const double high = table_.value(feature, slice_.high);
    const double log_range = log_length(low, high);
    for (Decision* decision : decisions) decision->log_range = log_range;
    if (proposal_ == Proposal::prior) draw_cuts_over_range(decisions, low, high);
    if (proposal_ == Proposal::empirical) draw_cuts_within_gaps(decisions, log_range);
  }

  void draw_cuts_over_range(std::span<Decision*> decisions, double low, double high) {
    for (Decision* decision : decisions) {
      decision->threshold = random_.between(low, high);
      decision->cut = table_.rank_at_or_below(decision->feature, decision->threshold);
    }
  }

  void draw_cuts_within_gaps(std::span<Decision*> decisions, double log_range) {
    const std::uint32_t feature = decisions[0]->feature;
    find_distinct_ranks();
    const auto n_gaps = static_cast<std::uint32_t>(distinct_.size() - 1);
    for (Decision* decision : decisions) {
      const std::uint32_t gap = random_.below(n_gaps);
      const double from = table_.value(feature, distinct_[gap]);
      const double to = table_.value(feature, distinct_[gap + 1]);
      decision->cut = distinct_[gap];
      decision->threshold = random_.between(from, to);
      decision->log_weight = log_length(from, to) - log_range + std::log(static_cast<double>(n_gaps));
    }
  }

  void find_distinct_ranks() {
    distinct_.clear();
    if (slice_.is_dense()) {
      present_.assign(slice_.n_ranks(), 0);
      for (const Rank rank : slice_.ranks) present_[rank - slice_.low] = 1;
      for (std::uint32_t i = 0; i < present_.size(); ++i) {
        if (present_[i]) distinct_.push_back(slice_.low + i);
      }
    } else {
      distinct_.assign(slice_.ranks.begin(), slice_.ranks.end());
      std::sort(distinct_.begin(), distinct_.end());
      distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    }
  }

  // One counting pass for all cuts of one feature, then their marginals.
  void evaluate_cuts(BlockId id, std::span<Decision*> decisions) {
    std::sort(decisions.begin(), decisions.end(), [](const Decision* a, const Decision* b) { return a->cut < b->cut; });
    cuts_.clear();
    for (const Decision* decision : decisions) {
      if (cuts_.empty() || cuts_.back() != decision->cut) cuts_.push_back(decision->cut);
    }
    const std::size_t first = evaluated_.extend(cuts_.size());
    counting_.run(slice_, std::span<const typename Leaf::Observation>(observations_), cuts_, evaluated_.left(first),
                  evaluated_.right(first));
    for (std::size_t i = 0; i < cuts_.size(); ++i) evaluated_.evaluate(first + i, leaf_);
    std::size_t i = 0;
    for (Decision* decision : decisions) {
      while (cuts_[i] != decision->cut) ++i;
      decision->sides = first + i;
      if (proposal_ != Proposal::optimal) decision->log_weight += log_ratio(id, decision->sides);
    }
  }

  double log_ratio(BlockId id, std::size_t sides) {
    return evaluated_.left_side(sides).log_marginal + evaluated_.right_side(sides).log_marginal -
           blocks_[id].log_marginal;
  }

  Proposal proposal_;
  const Table& table_;
  const Leaf& leaf_;
  SplitPrior& prior_;
  Store& blocks_;
  Random& random_;
  Watch& watch_;
  CountingPass<Rank, Leaf> counting_;
  DecisionTableMaker<Table, Leaf> tables_;
  EvaluatedCuts<Statistic> evaluated_;
  RankSlice<Rank> slice_;
  std::vector<typename Leaf::Observation> observations_;
  std::vector<Decision*> splitting_;
  std::vector<std::uint8_t> present_;
  std::vector<std::uint32_t> distinct_;
  std::vector<std::uint32_t> cuts_;
};

}  // namespace particletree
