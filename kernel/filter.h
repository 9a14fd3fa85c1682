// The particle filter for one island: Algorithm 1 of the paper on shared blocks.
//
// A stage is a few verbs: consider (which block each particle looks at), propose (stop or split, and the factor on the
// weight), resample (when the effective sample size is low: how many offspring each particle has), commit (the
// survivors' splits become records and their children blocks), settle (blocks that nobody waits for give up their rows),
// multiply (copies of the survivors replace the dead). Children come into being only for particles that survive.
//
// Two departures from the letter of Algorithm 1, neither of which changes what is estimated: a block whose rows are
// all identical is known when it is made and takes no stage of its own to stop, and nothing is resampled after the
// last decision, where it could only add noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block.h"
#include "leaf_model.h"
#include "particle.h"
#include "proposal.h"
#include "random.h"
#include "resampling.h"
#include "split_prior.h"
#include "table.h"
#include "trees.h"

namespace particletree {

struct FilterSettings {
  std::size_t n_particles;
  Proposal proposal;
  Expansion expansion;
  Priority priority;
  Resampling resampling;
  double ess_threshold;
  std::size_t max_stages;
};

// What a stage looked like, for people to read.
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
  bool truncated = false;  // max_stages came before the last decision
};

template <class Table, LeafModel Leaf, class Watch>
class Filter {
 public:
  Filter(const Table& table, const Leaf& leaf, SplitPrior prior, const FilterSettings& settings, Random& random,
         Watch& watch)
      : table_(table),
        leaf_(leaf),
        prior_(std::move(prior)),
        settings_(settings),
        random_(random),
        watch_(watch),
        blocks_(table_, leaf_),
        records_(blocks_),
        proposer_(settings.proposal, table_, leaf_, prior_, blocks_, random_, watch_),
        particles_(settings.n_particles),
        log_weights_(settings.n_particles, 0.0),
        log_evidence_(blocks_[Store::root].log_marginal) {
    for (Particle& particle : particles_) enqueue(particle, Store::root);
  }

  Filter(const Filter&) = delete;  // its parts hold references to each other
  Filter& operator=(const Filter&) = delete;

  Island run() {
    Island island;
    std::size_t n_stages = 0;
    while (somebody_is_waiting()) {
      if (n_stages++ == settings_.max_stages) {
        island.truncated = true;
        break;
      }
      const std::size_t n_blocks = consider();
      propose();
      const Weights weights(log_weights_);
      const bool low =
          weights.effective_sample_size() < settings_.ess_threshold * static_cast<double>(particles_.size());
      const bool resampled = low && somebody_will_wait();
      const double log_evidence = log_evidence_ + weights.log_mean();
      std::vector<std::uint32_t> offspring(particles_.size(), 1);
      if (resampled) {
        offspring = resample(weights.normalised(), settings_.resampling, random_);
        log_evidence_ = log_evidence;
        std::fill(log_weights_.begin(), log_weights_.end(), 0.0);
      }
      commit(offspring);
      settle();
      if (resampled) multiply(offspring);
      island.trace.push_back(
          {weights.effective_sample_size(), resampled, static_cast<std::uint32_t>(n_blocks), log_evidence});
      watch_.stage(n_stages, weights.effective_sample_size());
    }
    collect(island);
    return island;
  }

 private:
  using Store = BlockStore<Table, Leaf>;

  bool somebody_is_waiting() const {
    return std::any_of(particles_.begin(), particles_.end(),
                       [](const Particle& particle) { return !particle.queue.empty(); });
  }

  // After this stage's decisions: a split makes two blocks, of which some may be unable to split.
  bool somebody_will_wait() const {
    return somebody_is_waiting() ||
           std::any_of(decisions_.begin(), decisions_.end(), [](const Decision& decision) { return decision.splits; });
  }

  // Takes the next block (or the whole layer) of every particle, and sorts the decisions to be made by block.
  std::size_t consider() {
    const bool whole_layer = settings_.expansion == Expansion::layer;
    candidates_.clear();
    for (std::uint32_t p = 0; p < particles_.size(); ++p) {
      Queue& queue = particles_[p].queue;
      for (bool more = !queue.empty(); more; more = whole_layer && !queue.empty()) {
        candidates_.push_back(std::uint64_t{queue.pop(settings_.priority, blocks_)} << 32 | p);
      }
      if (queue.empty()) queue.clear();
    }
    std::sort(candidates_.begin(), candidates_.end());
    decisions_.clear();
    for (const std::uint64_t candidate : candidates_) {
      const auto block = static_cast<BlockId>(candidate >> 32);
      decisions_.push_back({.particle = static_cast<std::uint32_t>(candidate), .block = block});
    }
    std::size_t n_blocks = 0;
    for_each_group([&](BlockId, std::span<Decision>) { ++n_blocks; });
    return n_blocks;
  }

  // Calls visit(block, its decisions) for each block that is considered in this stage.
  template <class Visit>
  void for_each_group(Visit visit) {
    for (auto first = decisions_.begin(); first != decisions_.end();) {
      const auto last = std::find_if(first, decisions_.end(),
                                     [&](const Decision& decision) { return decision.block != first->block; });
      visit(first->block, std::span(first, last));
      first = last;
    }
  }

  void propose() {
    proposer_.start_stage();
    for_each_group([&](BlockId id, std::span<Decision> group) { proposer_.decide(id, group); });
    for (const Decision& decision : decisions_) log_weights_[decision.particle] += decision.log_weight;
  }

  // The survivors' splits become records.
  void commit(const std::vector<std::uint32_t>& offspring) {
    for (const Decision& decision : decisions_) {
      if (decision.splits && offspring[decision.particle] > 0) apply(decision);
    }
  }

  // The blocks of this stage have been considered.
  void settle() {
    for (const Decision& decision : decisions_) stop_waiting(decision.block);
  }

  // Copies of the survivors take the places of the dead.
  void multiply(const std::vector<std::uint32_t>& offspring) {
    std::uint32_t place = 0;
    for (std::uint32_t p = 0; p < particles_.size(); ++p) {
      if (offspring[p] < 2) continue;
      const Particle& survivor = particles_[p];
      records_.hold(survivor.last_split, offspring[p] - 1);
      for (BlockId id : survivor.queue) blocks_[id].n_pending += offspring[p] - 1;
      for (std::uint32_t copy = 1; copy < offspring[p]; ++copy) {
        while (offspring[place] > 0) ++place;
        replace(particles_[place++], survivor);
      }
    }
  }

  void apply(const Decision& decision) {
    Particle& particle = particles_[decision.particle];
    const Children children = blocks_.children(decision.block, decision.feature, decision.cut,
                                               proposer_.left_side(decision), proposer_.right_side(decision));
    const Block& block = blocks_[decision.block];
    const double log_prior =
        prior_.at(block.depth).log_split - std::log(static_cast<double>(block.varying.size())) - decision.log_range;
    particle.last_split = records_.add(
        {particle.last_split, decision.block, decision.feature, decision.threshold, log_prior, children, 1});
    enqueue(particle, children.left);
    enqueue(particle, children.right);
  }

  void enqueue(Particle& particle, BlockId id) {
    if (!blocks_[id].can_split) return;
    particle.queue.push(id, settings_.priority, blocks_);
    ++blocks_[id].n_pending;
  }

  void replace(Particle& dead, const Particle& survivor) {
    for (BlockId id : dead.queue) stop_waiting(id);
    records_.release(dead.last_split);
    dead.last_split = survivor.last_split;
    dead.queue.copy_from(survivor.queue);
  }

  void stop_waiting(BlockId id) {
    if (--blocks_[id].n_pending == 0) blocks_.let_go_of_rows(id);
  }

  // The particles as distinct weighted trees.
  void collect(Island& island) {
    const Weights weights(log_weights_);
    island.log_evidence = log_evidence_ + weights.log_mean();
    std::unordered_map<RecordId, std::size_t> tree_of_record;
    split_of_block_.assign(blocks_.capacity(), no_record);
    number_of_block_.assign(blocks_.capacity(), -1);
    for (std::size_t p = 0; p < particles_.size(); ++p) {
      const auto [entry, is_new] = tree_of_record.try_emplace(particles_[p].last_split, island.trees.size());
      if (is_new) write_tree(particles_[p], island.trees);
      island.trees.weights[entry->second] += weights.normalised()[p];
    }
  }

  void write_tree(const Particle& particle, Trees& trees) {
    for_each_split(particle, [&](RecordId split) { split_of_block_[records_[split].block] = split; });
    trees.append(Store::root, [&](BlockId id) { return view(id, trees); });
    for_each_split(particle, [&](RecordId split) { split_of_block_[records_[split].block] = no_record; });
  }

  template <class Visit>
  void for_each_split(const Particle& particle, Visit visit) {
    for (RecordId id = particle.last_split; id != no_record; id = records_[id].previous) visit(id);
  }

  // A block as a node of the tree whose splits are marked; trees that share it find its counts once.
  NodeView view(BlockId id, Trees& trees) {
    std::int32_t& number = number_of_block_[id];
    if (number < 0) number = trees.add_block(blocks_.statistics(id), leaf_);
    const Block& block = blocks_[id];
    if (split_of_block_[id] == no_record) {
      const double log_prior = block.can_split ? prior_.at(block.depth).log_stop : 0.0;
      return {.block = number, .log_prior = log_prior, .log_likelihood = block.log_marginal};
    }
    const Record& split = records_[split_of_block_[id]];
    return {.block = number,
            .log_prior = split.log_prior,
            .feature = static_cast<std::int32_t>(split.feature),
            .threshold = split.threshold,
            .gap_low = table_.value(split.feature, blocks_[split.children.left].cut),
            .gap_high = table_.value(split.feature, blocks_[split.children.left].above),
            .left = split.children.left,
            .right = split.children.right};
  }

  Table table_;
  Leaf leaf_;
  SplitPrior prior_;
  FilterSettings settings_;
  Random& random_;
  Watch& watch_;
  Store blocks_;
  RecordStore<Store> records_;
  Proposer<Table, Leaf, Watch> proposer_;
  std::vector<Particle> particles_;
  std::vector<double> log_weights_;
  double log_evidence_;
  std::vector<std::uint64_t> candidates_;  // block and particle in one number, to be sorted
  std::vector<Decision> decisions_;
  std::vector<RecordId> split_of_block_;
  std::vector<std::int32_t> number_of_block_;
};

}  // namespace particletree
