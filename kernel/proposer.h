// The part that all proposals share: particles that consider the same block decide on it together.
//
// The block's rows are read once per feature, whatever the number of particles. Copies of a particle that stop stay
// together, and so do those that take the same rule. How a decision is drawn and how it changes the weight is up to the
// proposal (proposal.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "block.h"
#include "cells.h"
#include "counting.h"
#include "leaf_model.h"
#include "proposal.h"
#include "proposals.h"
#include "random.h"
#include "rule.h"
#include "tree_prior.h"
#include "watch.h"

namespace particletree {

// A split that becomes a record if the particle survives.
struct Draft {
  std::uint32_t previous;
  std::uint32_t cut;  // the index of the evaluated cut
  Rule rule;
};
inline constexpr std::uint32_t no_draft = std::numeric_limits<std::uint32_t>::max();

// A cut with the marginals of its sides.
struct EvaluatedCut {
  BlockId block;
  std::uint64_t division = 0;  // identifies how the rows are divided (cells.h); 0 or a rank for plain cuts of numbers
  double log_prior = 0.0;      // the log density of the split (tree_prior.h)
  double log_left = 0.0;       // marginals
  double log_right = 0.0;
  BlockId children = no_block;  // the left one, made when a particle needs it
};

// The cuts that were evaluated in a stage, with the statistics of their sides.
template <LeafModel Leaf>
class EvaluatedCuts {
 public:
  using Statistic = typename Leaf::Statistic;

  explicit EvaluatedCuts(const Leaf& leaf) : leaf_(leaf) {}

  EvaluatedCut& operator[](std::size_t i) { return cuts_[i]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(cuts_.size()); }
  void clear() { cuts_.clear(); }  // the memory is kept for the next stage

  // Adds room for n cuts of a block; returns the index of the first.
  std::uint32_t extend(std::size_t n, BlockId block) {
    const std::size_t first = cuts_.size();
    cuts_.resize(first + n, EvaluatedCut{block});
    const std::size_t size = cuts_.size() * leaf_.width();
    if (lefts_.size() < size) {
      lefts_.resize(2 * size);
      rights_.resize(2 * size);
    }
    return static_cast<std::uint32_t>(first);
  }

  // Makes room to look up so many divisions of the next feature, and forgets those of the last one.
  void expect_divisions(std::size_t n) { places_.assign(std::bit_ceil(2 * n), nowhere); }

  struct Place {
    std::uint32_t index;
    bool is_new;  // the statistics are to be filled in
  };

  // The same without hashes, for few divisions: the first cut of the feature is at `first`.
  Place find_or_add_few(std::uint32_t first, std::uint64_t division, BlockId block) {
    for (std::uint32_t i = first; i < cuts_.size(); ++i) {
      if (cuts_[i].division == division) return {i, false};
    }
    const std::uint32_t added = extend(1, block);
    cuts_.back().division = division;
    return {added, true};
  }

  // The cut of a feature that divides a block in this way: found by its hash, with linear probing, because there can be
  // as many as particles.
  Place find_or_add(std::uint64_t division, BlockId block) {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = mix_bits(division) & mask;
    for (; places_[at] != nowhere; at = (at + 1) & mask) {
      if (cuts_[places_[at]].division == division) return {places_[at], false};
    }
    places_[at] = extend(1, block);
    cuts_.back().division = division;
    return {places_[at], true};
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
  static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> places_;  // of the divisions of a feature, at most half full
};

template <class Table, LeafModel Leaf>
class Proposer {
 public:
  using Rank = typename Table::Rank;
  using Statistic = typename Leaf::Statistic;
  using Store = BlockStore<Table, Leaf>;

  Proposer(ProposalKind proposal, std::uint32_t n_candidates, const Table& table, const Leaf& leaf,
           const TreePrior& prior, Store& blocks, Random& random, Watch& watch)
      : proposal_(make_proposal<Table, Leaf>(proposal, {table, leaf, prior, blocks, random, watch, n_candidates})),
        table_(table),
        leaf_(leaf),
        prior_(prior),
        blocks_(blocks),
        watch_(watch),
        counter_(leaf_),
        cells_(leaf_),
        cuts_(leaf_),
        n_draws_of_feature_(table.n_features, 0) {}

  void make_conditional() { proposal_->make_conditional(); }

  void start_stage() {
    cuts_.clear();
    drafts_.clear();
  }

  // Decides for candidates that all consider the same block, which can split; appends the outcomes. The last one
  // replays a decision, if there is one to replay.
  void decide(BlockId id, std::span<const Candidate> group, std::vector<Candidate>& outcomes,
              const Decision* retained = nullptr) {
    draws_.clear();
    proposal_->set_retained(retained);
    proposal_->draw(id, group, draws_, outcomes);
    if (draws_.empty()) return;
    const Loan rows = blocks_.rows(id);
    const Loan varying = blocks_.varying(id);
    load_observations(id, *rows);
    log_choice_ = prior_.log_choice(blocks_.facts(id), *varying);
    sort_draws_by_feature();
    for (std::size_t first = 0; first < by_feature_.size();) {
      const std::size_t n = std::exchange(n_draws_of_feature_[draws_[by_feature_[first]].rule.feature], 0);
      split_on_feature(id, *rows, *varying, std::span(by_feature_).subspan(first, n));
      first += n;
    }
    proposal_->choose(id, group, draws_, outcomes);
    add_split(group, outcomes);
  }

  const Draft& draft(std::uint32_t i) const { return drafts_[i]; }
  EvaluatedCut& cut(const Draft& draft) { return cuts_[draft.cut]; }
  Sides<Statistic> sides(const Draft& draft) { return cuts_.sides(draft.cut); }

 private:
  void add_split(std::span<const Candidate> group, std::vector<Candidate>& outcomes) {
    const std::size_t first_outcome = outcomes.size();
    const std::size_t first_draft = drafts_.size();
    outcomes.resize(first_outcome + draws_.size());
    drafts_.resize(first_draft + draws_.size());
    for (std::size_t i = 0; i < draws_.size(); ++i) {
      const Draw& draw = draws_[i];
      const Candidate& from = group[draw.member];
      const auto draft = static_cast<std::uint32_t>(first_draft + i);
      outcomes[first_outcome + i] = {from.lineage, draw.copies, draft, from.log_weight + draw.log_weight};
      drafts_[draft] = {from.draft, draw.evaluated, draw.rule};
    }
  }

  void load_observations(BlockId id, const std::vector<std::uint32_t>& rows) {
    if constexpr (!Leaf::counts_stretches) {
      observations_.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) observations_[i] = leaf_.observe(rows[i]);
    }
    rows_ = {blocks_.statistics(id), observations_, rows.size()};
  }

  // Groups the draws by feature; features in the order in which they were first drawn.
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

  // Draws and evaluates the rules of all draws of one feature.
  void split_on_feature(BlockId id, const std::vector<std::uint32_t>& rows, const Varying& varying,
                        std::span<const std::uint32_t> chosen) {
    const std::uint32_t feature = draws_[chosen[0]].rule.feature;
    if (blocks_.is_whole(id)) {
      slice_.load_all(table_, feature);
    } else {
      slice_.load(table_, feature, rows);
    }
    watch_.check_interrupt(rows.size());
    const FeatureRules<Table> rules(table_, feature, slice_);
    proposal_->draw_rules(rules, slice_, chosen, draws_);
    evaluate(rules, chosen, id);
    const double log_choice = log_choice_ + varying.log_weight(feature);
    for (std::uint32_t i : chosen) {
      EvaluatedCut& cut = cuts_[draws_[i].evaluated];
      cut.log_prior = log_choice + rules.log_density(draws_[i].rule);
      draws_[i].log_ratio = cut.log_left + cut.log_right - blocks_[id].log_marginal;
    }
    proposal_->weigh(chosen, draws_);
  }

  void evaluate(const FeatureRules<Table>& rules, std::span<const std::uint32_t> chosen, BlockId id) {
    if (rules.is_categorical() || slice_.has_missing) {
      add_up_cells(chosen, id);
    } else if (counter_.should_compare(chosen.size())) {
      compare_cuts(chosen, id);
    } else {
      bin_cuts(chosen, id);
    }
  }

  void count_cells(std::span<const std::uint32_t> chosen) {
    if (!slice_.has_missing) return cells_.count_levels(slice_, rows_);
    chosen_cuts_.clear();
    for (std::uint32_t i : chosen) {
      if (slice_.has_inside(draws_[i].rule)) chosen_cuts_.push_back(draws_[i].rule.cut);
    }
    cells_.count_with_missing(slice_, rows_, chosen_cuts_);
  }

  // The sides of rules as sums over cells, once for all rules that divide the rows alike.
  PARTICLETREE_RARE void add_up_cells(std::span<const std::uint32_t> chosen, BlockId id) {
    count_cells(chosen);
    cuts_.expect_divisions(chosen.size());
    for (std::uint32_t i : chosen) {
      const Rule& rule = draws_[i].rule;
      const auto [index, is_new] = cuts_.find_or_add(cells_.division(slice_, rule), id);
      draws_[i].evaluated = index;
      if (!is_new) continue;
      cells_.add_up(slice_, rule, cuts_.left(index), cuts_.right(index));
      cuts_.evaluate(index);
    }
  }

  void compare_cuts(std::span<const std::uint32_t> chosen, BlockId id) {
    const std::uint32_t first = cuts_.size();
    for (std::uint32_t i : chosen) {
      const std::uint32_t cut = draws_[i].rule.cut;
      const auto [index, is_new] = cuts_.find_or_add_few(first, cut, id);
      draws_[i].evaluated = index;
      if (!is_new) continue;
      counter_.compare(slice_, rows_, cut, cuts_.left(index), cuts_.right(index));
      cuts_.evaluate(index);
    }
  }

  void bin_cuts(std::span<const std::uint32_t> chosen, BlockId id) {
    chosen_cuts_.resize(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen_cuts_[i] = draws_[chosen[i]].rule.cut;
    const std::size_t n = counter_.set_bins(slice_, chosen_cuts_);
    const std::uint32_t first = cuts_.extend(n, id);
    counter_.count(slice_, rows_, cuts_.left(first), cuts_.right(first));
    for (std::uint32_t i : chosen) {
      draws_[i].evaluated = first + counter_.bin(draws_[i].rule.cut);
    }
    for (std::size_t i = 0; i < n; ++i) cuts_.evaluate(first + i);
  }

  std::unique_ptr<Proposal<Table, Leaf>> proposal_;
  const Table& table_;
  const Leaf& leaf_;
  const TreePrior& prior_;
  Store& blocks_;
  Watch& watch_;
  CutCounter<Rank, Leaf> counter_;
  CellCounter<Rank, Leaf> cells_;
  EvaluatedCuts<Leaf> cuts_;
  std::vector<Draft> drafts_;
  RankSlice<Rank> slice_;
  BlockRows<Leaf> rows_{};
  double log_choice_ = 0.0;  // of a split by a feature of weight 1
  std::vector<typename Leaf::Observation> observations_;
  std::vector<Draw> draws_;
  std::vector<std::uint32_t> features_;
  std::vector<std::uint32_t> n_draws_of_feature_;  // zero except while draws are sorted
  std::vector<std::uint32_t> first_of_feature_;
  std::vector<std::uint32_t> by_feature_;  // numbers of draws
  std::vector<std::uint32_t> chosen_cuts_;
};

}  // namespace particletree
