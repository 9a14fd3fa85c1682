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
// All particles that consider a block are handled together: its rows are read once per feature, whatever their number.
// Copies of a particle that stop stay together; each copy that splits goes its own way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "block.h"
#include "counting.h"
#include "decision_table.h"
#include "leaf_model.h"
#include "random.h"
#include "rule.h"
#include "tree_prior.h"

namespace particletree {

enum class Proposal { prior, empirical, optimal };

// Equal particles on their way through a stage: a lineage and what it has decided so far.
struct Candidate {
  std::uint32_t lineage;
  std::uint32_t copies;
  std::uint32_t draft;  // the last split of this stage, or `no_draft`
  double log_weight;
};

// A split that becomes a record if the particle survives.
struct Draft {
  std::uint32_t previous;
  std::uint32_t cut;  // the number of the evaluated cut
  double threshold;
};
inline constexpr std::uint32_t no_draft = std::numeric_limits<std::uint32_t>::max();

// A cut whose sides are known.
struct EvaluatedCut {
  BlockId block;
  RankRule rule;
  double log_prior;  // of the split: log of s / (number of varying features * range)
  double log_left;   // marginals
  double log_right;
  BlockId children = no_block;  // the left one, as soon as a particle needs it
};

// The cuts that were evaluated in a stage, with the statistics of their sides.
template <LeafModel Leaf>
class EvaluatedCuts {
 public:
  using Statistic = typename Leaf::Statistic;

  explicit EvaluatedCuts(const Leaf& leaf) : leaf_(leaf) {}

  EvaluatedCut& operator[](std::size_t i) { return cuts_[i]; }
  std::size_t size() const { return cuts_.size(); }
  void clear() { cuts_.clear(); }  // the memory is kept for the next stage

  // Room for some cuts more, alike so far; returns the number of the first.
  std::uint32_t extend(std::size_t n, const EvaluatedCut& like) {
    const std::size_t first = cuts_.size();
    cuts_.resize(first + n, like);
    const std::size_t size = cuts_.size() * leaf_.width();
    if (lefts_.size() < size) {
      lefts_.resize(2 * size);
      rights_.resize(2 * size);
    }
    return static_cast<std::uint32_t>(first);
  }

  Statistic* left(std::size_t i) { return &lefts_[i * leaf_.width()]; }
  Statistic* right(std::size_t i) { return &rights_[i * leaf_.width()]; }

  void evaluate(std::size_t i) {
    cuts_[i].log_left = leaf_.log_marginal(left(i));
    cuts_[i].log_right = leaf_.log_marginal(right(i));
  }

  Sides<Statistic> sides(std::size_t i) { return {left(i), right(i), cuts_[i].log_left, cuts_[i].log_right}; }

 private:
  const Leaf& leaf_;
  std::vector<EvaluatedCut> cuts_;
  std::vector<Statistic> lefts_, rights_;
};

template <class Table, LeafModel Leaf, class Watch>
class Proposer {
 public:
  using Rank = typename Table::Rank;
  using Statistic = typename Leaf::Statistic;
  using Store = BlockStore<Table, Leaf>;

  Proposer(Proposal proposal, const Table& table, const Leaf& leaf, TreePrior& prior, Store& blocks, Random& random,
           Watch& watch)
      : proposal_(proposal),
        table_(table),
        leaf_(leaf),
        prior_(prior),
        blocks_(blocks),
        random_(random),
        watch_(watch),
        counter_(leaf_),
        tables_(table_, leaf_),
        cuts_(leaf_),
        n_draws_of_feature_(table.n_features, 0) {}

  void start_stage() {
    cuts_.clear();
    drafts_.clear();
  }

  // Decides for candidates that all consider the same block, which can split; appends what becomes of them.
  void decide(BlockId id, std::span<const Candidate> group, std::vector<Candidate>& outcomes) {
    draws_.clear();
    if (proposal_ == Proposal::optimal) {
      draw_decisions(id, group, outcomes);
    } else {
      draw_splits(id, group, outcomes);
    }
    if (draws_.empty()) return;
    load_rows(id);
    log_choice_ = prior_.log_choice(blocks_[id].depth, blocks_.varying(id).size());
    sort_draws_by_feature();
    for (std::size_t first = 0; first < by_feature_.size();) {
      const std::size_t n = std::exchange(n_draws_of_feature_[draws_[by_feature_[first]].rule.feature], 0);
      split_on_feature(id, std::span(by_feature_).subspan(first, n));
      first += n;
    }
    add_split(group, outcomes);
  }

  const Draft& draft(std::uint32_t i) const { return drafts_[i]; }
  EvaluatedCut& cut(const Draft& draft) { return cuts_[draft.cut]; }
  Sides<Statistic> sides(const Draft& draft) { return cuts_.sides(draft.cut); }

 private:
  // A copy that splits.
  struct Draw {
    std::uint32_t member;  // of the group
    Rule rule{};
    std::uint32_t evaluated = 0;  // the number of the evaluated cut
    double log_weight = 0.0;      // the factor on the particle's weight
  };

  // Prior and empirical: stop or split, and on which feature; the cut follows when the feature's range is known.
  void draw_splits(BlockId id, std::span<const Candidate> group, std::vector<Candidate>& outcomes) {
    const double split = prior_.at(blocks_[id].depth).split;
    for (std::uint32_t member = 0; member < group.size(); ++member) {
      const Candidate& candidate = group[member];
      const std::uint32_t n_splits = random_.successes(candidate.copies, split);
      add_stopped(candidate, candidate.copies - n_splits, 0.0, outcomes);
      draws_.resize(draws_.size() + n_splits, Draw{member});
    }
    if (draws_.empty()) return;
    const auto& varying = blocks_.varying(id);
    for (Draw& draw : draws_) draw.rule.feature = TreePrior::draw_feature(varying, random_);
  }

  // Optimal: everything from the block's table.
  void draw_decisions(BlockId id, std::span<const Candidate> group, std::vector<Candidate>& outcomes) {
    const DecisionTable& table = decision_table(id);
    const double log_weight = table.categories.log_total();
    for (std::uint32_t member = 0; member < group.size(); ++member) {
      std::uint32_t n_stopped = 0;
      for (std::uint32_t copy = 0; copy < group[member].copies; ++copy) {
        const std::size_t choice = table.categories.draw(random_);
        if (choice == 0) {
          ++n_stopped;
          continue;
        }
        const Gap& gap = table.gaps[choice - 1];
        const double threshold =
            random_.between(table_.value(gap.feature, gap.low), table_.value(gap.feature, gap.high));
        draws_.push_back({member, {{gap.feature, gap.low}, threshold}, 0, log_weight});
      }
      add_stopped(group[member], n_stopped, log_weight, outcomes);
    }
  }

  const DecisionTable& decision_table(BlockId id) {
    auto& table = blocks_.decisions(id);
    if (!table) {
      load_rows(id);
      table = tables_.make(rows_, blocks_[id].log_marginal, blocks_.rows(id), blocks_.varying(id), prior_,
                           blocks_[id].depth, watch_);
      blocks_.count_decisions(id);
    }
    return *table;
  }

  static void add_stopped(const Candidate& from, std::uint32_t copies, double log_weight,
                          std::vector<Candidate>& outcomes) {
    if (copies > 0) outcomes.push_back({from.lineage, copies, from.draft, from.log_weight + log_weight});
  }

  // Each copy that splits goes its own way.
  void add_split(std::span<const Candidate> group, std::vector<Candidate>& outcomes) {
    const std::size_t first_outcome = outcomes.size();
    const std::size_t first_draft = drafts_.size();
    outcomes.resize(first_outcome + draws_.size());
    drafts_.resize(first_draft + draws_.size());
    for (std::size_t i = 0; i < draws_.size(); ++i) {
      const Draw& draw = draws_[i];
      const Candidate& from = group[draw.member];
      const auto draft = static_cast<std::uint32_t>(first_draft + i);
      outcomes[first_outcome + i] = {from.lineage, 1, draft, from.log_weight + draw.log_weight};
      drafts_[draft] = {from.draft, draw.evaluated, draw.rule.threshold};
    }
  }

  void load_rows(BlockId id) {
    const auto rows = blocks_.rows(id);
    if (!Leaf::counts_stretches || proposal_ == Proposal::optimal) {
      observations_.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) observations_[i] = leaf_.observe(rows[i]);
    }
    rows_ = {blocks_.statistics(id), observations_, rows.size()};
  }

  // Draws of the same feature stand together; features in the order in which they were first drawn.
  void sort_draws_by_feature() {
    features_.clear();
    for (const Draw& draw : draws_) {
      if (n_draws_of_feature_[draw.rule.feature]++ == 0) features_.push_back(draw.rule.feature);
    }
    first_of_feature_.resize(table_.n_features);
    std::uint32_t first = 0;
    for (std::uint32_t f : features_) {
      first_of_feature_[f] = first;
      first += n_draws_of_feature_[f];
    }
    by_feature_.resize(draws_.size());
    for (std::uint32_t i = 0; i < draws_.size(); ++i) by_feature_[first_of_feature_[draws_[i].rule.feature]++] = i;
  }

  // The cuts of all draws of one feature, and their sides.
  void split_on_feature(BlockId id, std::span<const std::uint32_t> chosen) {
    const std::uint32_t feature = draws_[chosen[0]].rule.feature;
    load_slice(id, feature);
    const double low = table_.value(feature, slice_.low);
    const double high = table_.value(feature, slice_.high);
    const double log_range = log_length(low, high);
    if (proposal_ == Proposal::prior) draw_cuts_over_range(chosen);
    if (proposal_ == Proposal::empirical) draw_cuts_within_gaps(chosen, log_range);
    evaluate_cuts(chosen, {id, {feature, 0}, log_choice_ - log_range, 0.0, 0.0});
    if (proposal_ == Proposal::optimal) return;
    for (std::uint32_t i : chosen) {
      const EvaluatedCut& cut = cuts_[draws_[i].evaluated];
      draws_[i].log_weight += cut.log_left + cut.log_right - blocks_[id].log_marginal;
    }
  }

  void load_slice(BlockId id, std::uint32_t feature) {
    if (id == Store::root) {
      slice_.load_all(table_.column(feature), table_.n_rows);
    } else {
      slice_.load(table_.column(feature), blocks_.rows(id));
    }
    watch_.check_interrupt(slice_.ranks.size());
  }

  void draw_cuts_over_range(std::span<const std::uint32_t> chosen) {
    for (std::uint32_t i : chosen) {
      Rule& rule = draws_[i].rule;
      rule = TreePrior::draw_cut(table_, rule.feature, slice_.low, slice_.high, random_);
    }
  }

  void draw_cuts_within_gaps(std::span<const std::uint32_t> chosen, double log_range) {
    const std::uint32_t feature = draws_[chosen[0]].rule.feature;
    find_distinct_ranks();
    const auto n_gaps = static_cast<std::uint32_t>(distinct_.size() - 1);
    for (std::uint32_t i : chosen) {
      const std::uint32_t gap = random_.below(n_gaps);
      const double from = table_.value(feature, distinct_[gap]);
      const double to = table_.value(feature, distinct_[gap + 1]);
      draws_[i].rule.cut = distinct_[gap];
      draws_[i].rule.threshold = random_.between(from, to);
      draws_[i].log_weight = log_length(from, to) - log_range + std::log(static_cast<double>(n_gaps));
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

  void evaluate_cuts(std::span<const std::uint32_t> chosen, const EvaluatedCut& like) {
    if (counter_.should_compare(chosen.size())) {
      compare_cuts(chosen, like);
    } else {
      bin_cuts(chosen, like);
    }
  }

  void compare_cuts(std::span<const std::uint32_t> chosen, const EvaluatedCut& like) {
    const auto first = static_cast<std::uint32_t>(cuts_.size());
    for (std::uint32_t i : chosen) {
      std::uint32_t known = first;
      while (known < cuts_.size() && cuts_[known].rule.cut != draws_[i].rule.cut) ++known;
      draws_[i].evaluated = known;
      if (known < cuts_.size()) continue;
      cuts_.extend(1, like);
      cuts_[known].rule.cut = draws_[i].rule.cut;
      counter_.compare(slice_, rows_, draws_[i].rule.cut, cuts_.left(known), cuts_.right(known));
      cuts_.evaluate(known);
    }
  }

  void bin_cuts(std::span<const std::uint32_t> chosen, const EvaluatedCut& like) {
    chosen_cuts_.resize(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen_cuts_[i] = draws_[chosen[i]].rule.cut;
    const std::size_t n = counter_.set_bins(slice_, chosen_cuts_);
    const std::uint32_t first = cuts_.extend(n, like);
    counter_.count(slice_, rows_, cuts_.left(first), cuts_.right(first));
    for (std::uint32_t i : chosen) {
      draws_[i].evaluated = first + counter_.bin(draws_[i].rule.cut);
      cuts_[draws_[i].evaluated].rule.cut = draws_[i].rule.cut;
    }
    for (std::size_t i = 0; i < n; ++i) cuts_.evaluate(first + i);
  }

  Proposal proposal_;
  const Table& table_;
  const Leaf& leaf_;
  TreePrior& prior_;
  Store& blocks_;
  Random& random_;
  Watch& watch_;
  CutCounter<Rank, Leaf> counter_;
  DecisionTableMaker<Table, Leaf> tables_;
  EvaluatedCuts<Leaf> cuts_;
  std::vector<Draft> drafts_;
  RankSlice<Rank> slice_;
  BlockRows<Leaf> rows_{};
  double log_choice_ = 0.0;  // log of s / (number of varying features)
  std::vector<typename Leaf::Observation> observations_;
  std::vector<Draw> draws_;
  std::vector<std::uint32_t> features_;
  std::vector<std::uint32_t> n_draws_of_feature_;  // zero but while draws are sorted
  std::vector<std::uint32_t> first_of_feature_;
  std::vector<std::uint32_t> by_feature_;  // numbers of draws
  std::vector<std::uint32_t> chosen_cuts_;
  std::vector<std::uint8_t> present_;
  std::vector<std::uint32_t> distinct_;
};

}  // namespace particletree
