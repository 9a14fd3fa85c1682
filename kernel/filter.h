// The particle filter for one island: Algorithm 1 of the paper on shared blocks.
//
// A stage has four steps: propose (lineages of equal particles become candidates: each considers a block, stops or
// splits, and its weight changes), resample (if the effective sample size is low: draw the number of offspring of each
// candidate), commit (the survivors' splits become records and their children blocks), tidy (free what no survivor
// holds, from time to time). Child blocks are made only for particles that survive.
//
// There are two differences from Algorithm 1, neither of which changes what is estimated: a block whose rows are all
// identical is recognised when it is made and needs no stage to stop, and there is no resampling after the last
// decision, where it would only add noise.
//
// The conditional filter (retained.h) has the same stages: the last lineage is the retained particle, a single copy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block.h"
#include "genealogy.h"
#include "leaf_model.h"
#include "particle.h"
#include "proposals.h"
#include "proposer.h"
#include "random.h"
#include "resampling.h"
#include "retained.h"
#include "table.h"
#include "tree_prior.h"
#include "tree_writer.h"
#include "trees.h"
#include "watch.h"

namespace particletree {

struct FilterSettings {
  std::size_t n_particles;
  ProposalKind proposal;
  std::uint32_t n_candidates;  // rules per particle, for a proposal that chooses among them
  Expansion expansion;
  Priority priority;
  Resampling resampling;
  double ess_threshold;
  std::size_t max_stages;
  std::size_t cache_bytes;  // memory for the rows of blocks; 0: the default of `BlockStore`
};

// The trace of a stage, for diagnostics.
struct StageTrace {
  double ess;
  bool resampled;
  std::uint32_t n_blocks;
  double log_evidence;
};

struct Island {
  Trees trees;
  double log_evidence = 0.0;
  std::vector<StageTrace> trace;
  Genealogy genealogy;
  bool truncated = false;  // max_stages was reached before the last decision
};

template <class Table, LeafModel Leaf>
class Filter {
 public:
  // On all rows, or on a region.
  Filter(const Table& table, const Leaf& leaf, const TreePrior& prior, const FilterSettings& settings, Random& random,
         Watch& watch, const Region* region = nullptr)
      : table_(table),
        leaf_(leaf),
        prior_(prior),
        settings_(settings),
        random_(random),
        watch_(watch),
        blocks_(table_, leaf_, prior_, settings.cache_bytes, region),
        queues_(settings.priority, blocks_),
        proposer_(settings.proposal, settings.n_candidates, table_, leaf_, prior_, blocks_, random_, watch_),
        log_evidence_(blocks_[Store::root].log_marginal) {
    Lineage all;
    all.copies = static_cast<std::uint32_t>(settings.n_particles);
    if (blocks_[Store::root].can_split) queues_.push(all.queue, Store::root);
    lineages_.push_back(all);
  }

  Filter(const Filter&) = delete;  // its parts hold references to each other
  Filter& operator=(const Filter&) = delete;

  // All stages, and what is recorded of them.
  Island run() {
    Island island;
    while (!is_done() && island.trace.size() < settings_.max_stages) {
      island.trace.push_back(step());
      if (island.trace.back().resampled) island.genealogy.add_generation(lineages_);
      watch_.stage(island.trace.size(), island.trace.back().ess);
    }
    island.truncated = !is_done();
    island.genealogy.add_generation(lineages_);
    collect(island);
    return island;
  }

  // Whether every particle has decided on all its blocks.
  bool is_done() const {
    return std::all_of(lineages_.begin(), lineages_.end(),
                       [](const Lineage& lineage) { return lineage.queue.size == 0; });
  }

  // One stage.
  StageTrace step() {
    const std::uint32_t n_blocks = propose();
    const Weights weights = weigh(candidates_);
    const bool low =
        weights.effective_sample_size() < settings_.ess_threshold * static_cast<double>(settings_.n_particles);
    const bool resampled = low && any_pending_after();
    const double log_evidence = log_evidence_ + weights.log_mean();
    if (resampled) {
      resample_candidates(weights);
      log_evidence_ = log_evidence;
    }
    commit();
    tidy();
    return {weights.effective_sample_size(), resampled, n_blocks, log_evidence};
  }

  // A tree drawn by the final weights.
  DecisionTree grow() {
    while (!is_done()) step();
    const Weights weights = weigh(lineages_);
    double point = random_.uniform();
    std::size_t drawn = 0;
    while (drawn + 1 < lineages_.size() && point >= weights.normalised()[drawn]) point -= weights.normalised()[drawn++];
    return decisions_of(lineages_[drawn].last_split);
  }

  // The conditional filter: one of the particles is retained and replays a tree. Returns a tree drawn by the final
  // weights, or nothing if it is equal to the replayed one. Blocks must be considered in the order of their age in the
  // particle's own tree: ties of another priority would be broken by the age of shared blocks, which depends on which
  // particle is retained.
  std::optional<DecisionTree> regrow(const DecisionTree& tree) {
    --lineages_.back().copies;
    lineages_.push_back(lineages_.back());
    lineages_.back().queue = queues_.copy(lineages_.back().queue);
    lineages_.back().copies = 1;
    retained_.emplace(tree, lineages_.size() - 1);
    proposer_.make_conditional();
    while (!is_done()) step();
    const std::size_t drawn = retained_->draw(lineages_, weigh(lineages_), random_);
    if (records_.are_equal(lineages_[drawn].last_split, lineages_.back().last_split)) return std::nullopt;
    return decisions_of(lineages_[drawn].last_split);
  }

 private:
  using Store = BlockStore<Table, Leaf>;

  template <class Groups>
  static Weights weigh(const Groups& groups) {
    return Weights(
        groups.size(), [&](std::size_t i) { return groups[i].log_weight; },
        [&](std::size_t i) { return groups[i].copies; });
  }

  // After this stage's decisions: a split makes two blocks, of which some may be unable to split.
  bool any_pending_after() const {
    return !is_done() || std::any_of(candidates_.begin(), candidates_.end(),
                                     [](const Candidate& candidate) { return candidate.draft != no_draft; });
  }

  // Every lineage considers its next block, or its whole layer block by block, and becomes one or more candidates.
  // Returns the number of blocks considered.
  std::uint32_t propose() {
    ++stage_;
    proposer_.start_stage();
    candidates_.resize(lineages_.size());
    for (std::uint32_t i = 0; i < lineages_.size(); ++i) {
      candidates_[i] = {i, lineages_[i].copies, no_draft, lineages_[i].log_weight};
    }
    std::uint32_t n_blocks = 0;
    std::uint32_t n_considered = 0;
    do {
      n_blocks += consider(n_considered++);
    } while (settings_.expansion == Expansion::layer && is_longer_than(n_considered));
    for (Lineage& lineage : lineages_) queues_.take(lineage.queue, std::min(n_considered, lineage.queue.size));
    return n_blocks;
  }

  bool is_longer_than(std::uint32_t n) const {
    return std::any_of(lineages_.begin(), lineages_.end(),
                       [&](const Lineage& lineage) { return lineage.queue.size > n; });
  }

  // All candidates decide on the block at one place of their queues; those with a shorter queue stay unchanged.
  std::uint32_t consider(std::uint32_t place) {
    group_by_block(place);
    std::uint32_t n_new = 0;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      Block& block = blocks_[groups_[group].block];
      n_new += std::exchange(block.seen, stage_) != stage_;
      const std::size_t first = group == 0 ? 0 : groups_[group - 1].end;
      const auto candidates = std::span(grouped_).subspan(first, groups_[group].end - first);
      const Decision* replayed = retained_ ? retained_->decide(groups_[group].block, candidates) : nullptr;
      proposer_.decide(groups_[group].block, candidates, outcomes_, replayed);
      blocks_.trim();
    }
    candidates_.swap(outcomes_);
    return n_new;
  }

  // Groups the candidates by the block that they consider, blocks in order of first occurrence. Those that consider
  // none are appended to the outcomes.
  void group_by_block(std::uint32_t place) {
    ++round_;
    groups_.clear();
    outcomes_.clear();
    for (const Candidate& candidate : candidates_) {
      const Queue& queue = lineages_[candidate.lineage].queue;
      if (queue.size <= place) {
        outcomes_.push_back(candidate);
        continue;
      }
      const BlockId id = queues_[queue][place];
      Block& block = blocks_[id];
      if (std::exchange(block.considered, round_) != round_) {
        block.group = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({id, 0});
      }
      ++groups_[block.group].end;
    }
    std::size_t end = 0;
    for (Group& group : groups_) group.end = std::exchange(end, end + group.end);  // temporarily its start
    grouped_.resize(end);
    for (const Candidate& candidate : candidates_) {
      const Queue& queue = lineages_[candidate.lineage].queue;
      if (queue.size > place) grouped_[groups_[blocks_[queues_[queue][place]].group].end++] = candidate;
    }
  }

  void resample_candidates(const Weights& weights) {
    const std::size_t n_drawn = settings_.n_particles - (retained_ ? 1 : 0);
    const Resampling scheme = retained_ ? RetainedParticle::resampling : settings_.resampling;
    const std::vector<std::uint32_t> offspring = resample(weights.normalised(), n_drawn, scheme, random_);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      candidates_[i].copies = offspring[i];
      candidates_[i].log_weight = 0.0;
    }
    if (retained_) retained_->survive(candidates_);
  }

  // The survivors become lineages.
  void commit() {
    survivors_.clear();
    if (retained_) retained_->move_to_end(candidates_);
    for (const Candidate& candidate : candidates_) {
      if (candidate.copies == 0) continue;
      const Lineage& from = lineages_[candidate.lineage];
      survivors_.push_back({from.last_split, from.queue, candidate.copies, candidate.log_weight, from.ancestor});
      if (candidate.draft != no_draft || retained_) record(candidate.draft, survivors_.back());
    }
    lineages_.swap(survivors_);
    if (retained_) follow_retained(candidates_.back().draft);
  }

  // The splits of this stage become records, in the order in which they were made.
  void record(std::uint32_t last, Lineage& lineage) {
    list_splits(last);
    lineage.queue = queues_.copy(lineage.queue);
    for (auto split = splits_.rbegin(); split != splits_.rend(); ++split) {
      const Draft& draft = proposer_.draft(*split);
      EvaluatedCut& cut = proposer_.cut(draft);
      if (cut.children == no_block) {
        cut.children = blocks_.children(cut.block, draft.rule, cut.division, proposer_.sides(draft));
      }
      lineage.last_split = records_.add({lineage.last_split, cut.children, draft.rule, cut.log_prior});
      for (const BlockId child : {cut.children, cut.children + 1}) {
        if (blocks_[child].can_split) queues_.push(lineage.queue, child);
      }
    }
  }

  // The drafts of a stage, the last one first.
  void list_splits(std::uint32_t last) {
    splits_.clear();
    for (; last != no_draft; last = proposer_.draft(last).previous) splits_.push_back(last);
  }

  // The retained particle's node of the tree for each child of its last splits.
  void follow_retained(std::uint32_t last_draft) {
    list_splits(last_draft);
    for (std::uint32_t split : splits_) {
      const EvaluatedCut& cut = proposer_.cut(proposer_.draft(split));
      retained_->follow(cut.block, cut.children);
    }
    retained_->become_last_of(lineages_.size());
  }

  DecisionTree decisions_of(RecordId last) const {
    std::vector<RecordId> splits;
    records_.for_each_before(last, [&](RecordId split) { splits.push_back(split); });
    std::unordered_map<BlockId, std::uint32_t> node_of{{Store::root, 0}};
    DecisionTree tree(1);
    for (auto split = splits.rbegin(); split != splits.rend(); ++split) {
      const Record& record = records_[*split];
      const auto left = static_cast<std::uint32_t>(tree.size());
      tree[node_of[blocks_.pair_of(record.left).parent]] = {{true, record.rule.feature, record.rule}, left, left + 1};
      node_of[record.left] = left;
      node_of[record.left + 1] = left + 1;
      tree.resize(tree.size() + 2);
    }
    return tree;
  }

  // Mark and sweep: frees what no lineage holds, whenever the size has doubled since the last time.
  void tidy() {
    queues_.tidy(lineages_);
    if (records_.size() + blocks_.n_pairs() < next_sweep_) return;
    for (const Lineage& lineage : lineages_) {
      records_.hold(lineage.last_split, [&](const Record& record) { blocks_.hold(record.left); });
    }
    records_.keep_only_held();
    blocks_.keep_only_held();
    next_sweep_ = 2 * (records_.size() + blocks_.n_pairs()) + smallest_sweep;
  }

  // The lineages as weighted trees; those that differ only in the blocks still to consider are the same tree.
  void collect(Island& island) {
    const Weights weights = weigh(lineages_);
    island.log_evidence = log_evidence_ + weights.log_mean();
    std::unordered_map<RecordId, std::size_t> tree_of_record;
    std::vector<RecordId> trees;
    std::vector<std::size_t> tree_of_lineage;
    for (const Lineage& lineage : lineages_) {
      const auto [entry, is_new] = tree_of_record.try_emplace(lineage.last_split, trees.size());
      if (is_new) trees.push_back(lineage.last_split);
      tree_of_lineage.push_back(entry->second);
    }
    TreeWriter(table_, leaf_, prior_, blocks_, records_, watch_, island.trees).write(trees);
    for (std::size_t i = 0; i < lineages_.size(); ++i) {
      island.trees.weights[tree_of_lineage[i]] += weights.normalised()[i];
    }
  }

  struct Group {
    BlockId block;
    std::size_t end;  // of its candidates in `grouped_`
  };
  static constexpr std::size_t smallest_sweep = 1024;

  Table table_;
  const Leaf& leaf_;
  const TreePrior& prior_;
  FilterSettings settings_;
  Random& random_;
  Watch& watch_;
  Store blocks_;
  RecordStore records_;
  Queues<Store> queues_;
  Proposer<Table, Leaf> proposer_;
  std::vector<Lineage> lineages_, survivors_;
  std::vector<Candidate> candidates_, grouped_, outcomes_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> splits_;
  double log_evidence_;
  std::optional<RetainedParticle> retained_;  // of a conditional filter
  std::uint64_t stage_ = 0;
  std::uint64_t round_ = 0;
  std::size_t next_sweep_ = smallest_sweep;
};

}  // namespace particletree
