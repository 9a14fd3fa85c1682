// Blocks: the unit of work, made once and shared by every particle that has them.
//
// A decision on a node depends only on the node's rows, and particles descend from common ancestors. So the statistics
// of a node and their marginal likelihood are stored in a block, and particles hold block numbers. The statistics of a
// block never change. Blocks are made in pairs, the two sides of a cut; the left one has an even number and the right
// one the next.
//
// The rows of a block are a cache: they are computed from the nearest ancestor that has its rows (the root always has
// all of them) when a particle considers splitting the block. If the rows of all blocks together exceed a budget, the
// least recently used are evicted. Blocks that no particle holds are freed by the filter from time to time, by mark and
// sweep (`keep_only_held`).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "feature_rules.h"
#include "leaf_model.h"
#include "node.h"
#include "pair_index.h"
#include "random.h"
#include "retained.h"
#include "rule.h"
#include "stable_vector.h"
#include "table.h"
#include "tree_prior.h"

namespace particletree {

// The optimal proposal's distribution over a block's decisions: category 0 stops, category i > 0 splits by a rule of
// rules[i - 1].
struct DecisionTable {
  Categories categories;
  std::vector<RuleClass> rules;
  bool is_drawn = false;  // some rules were drawn instead of listed: the table must not be reused

  std::size_t n_bytes() const { return rules.size() * (sizeof(RuleClass) + sizeof(double)); }
};

// Data computed when a block is considered, which can be evicted and recomputed.
struct BlockCache {
  std::vector<std::uint32_t> rows;
  Varying varying;                           // the features that vary in the block
  std::unique_ptr<DecisionTable> decisions;  // for the optimal proposal

  std::size_t n_bytes() const {
    return rows.capacity() * sizeof(std::uint32_t) + varying.n_bytes() + (decisions ? decisions->n_bytes() : 0);
  }
};

// A list that the cache of a block holds, in use: while a loan lasts, nothing may be evicted. It has to have a name, so
// that it lasts as long as what is read from it.
template <class List>
class Loan {
 public:
  Loan(const List& list, std::size_t& n_loans) : list_(list), n_loans_(n_loans) { ++n_loans_; }
  ~Loan() { --n_loans_; }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  const List& operator*() const& { return list_; }
  const List& operator*() const&& = delete;

 private:
  const List& list_;
  std::size_t& n_loans_;
};

struct Block {
  std::uint32_t depth = 0;
  std::uint32_t n_rows = 0;
  double log_marginal = 0.0;
  double mass = -1.0;            // of the questions that separate its rows; negative if it has not been asked for
  std::uint64_t age = 0;         // the number of blocks made before it
  bool can_split = false;        // its rows are not all identical
  bool is_cached = false;        // it is in the list of blocks that have a cache
  std::uint32_t group = 0;       // the filter's mark: its index among the blocks that are considered together,
  std::uint64_t considered = 0;  // the round of that,
  std::uint64_t seen = 0;        // and the stage in which it was last considered
  std::uint64_t used = 0;        // when the cache was last used
  std::unique_ptr<BlockCache> cache;
};

// How two blocks are made from their parent.
struct Pair {
  BlockId parent = no_block;
  Rule rule{};
  std::uint64_t identity = 0;  // of the rule among those of the parent: rules with equal identity divide its rows alike
  bool is_held = false;        // the mark of a sweep
  bool is_free = false;
};

// The statistics of both sides of a cut.
template <class Statistic>
struct Sides {
  const Statistic* left;
  const Statistic* right;
  double log_left;
  double log_right;
};

template <class Table, LeafModel Leaf>
class BlockStore {
 public:
  using Statistic = typename Leaf::Statistic;

  // The budget of the caches is in bytes; by default it is the size of the data.
  // The root is all rows, or a region.
  BlockStore(const Table& table, const Leaf& leaf, const TreePrior& prior, std::size_t budget = 0,
             const Region* region = nullptr)
      : table_(table),
        leaf_(leaf),
        prior_(prior),
        budget_(budget > 0 ? budget : std::max(table.n_bytes(), smallest_budget)) {
    make_root(region);
  }

  static constexpr BlockId root = 0;

  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }
  const Pair& pair_of(BlockId id) const { return pairs_[id / 2]; }
  const Statistic* statistics(BlockId id) const {  // valid until the next block is made
    return &statistics_[id * leaf_.width()];
  }
  std::size_t capacity() const { return 2 * pairs_.size(); }  // block numbers are below it
  std::size_t n_pairs() const { return pairs_.size() - free_.size(); }

  // The left child of a block by a rule; the right one has the next number. Rules that divide the block's rows alike
  // give the same children. Cuts of a feature in the same gap between two values of the block do, whatever their rank:
  // they leave the same number of rows on the left. A set is identified by `division`, the hash of the block's levels
  // on its left. For a cut of numbers with missing values, the upper half of `division` has their side.
  BlockId children(BlockId parent, const Rule& rule, std::uint64_t division, const Sides<Statistic>& sides) {
    const std::uint64_t side_of_missing = division >> 32 << 32;
    const std::uint64_t of_cut = std::uint64_t{rule.feature} << 33 | side_of_missing | leaf_.n_rows(sides.left);
    const std::uint64_t identity = rule.is_set() ? division : of_cut;
    BlockId& left = index_.find_or_add({parent, identity});
    if (left == no_block) {
      left = new_pair({parent, rule, identity});
      fill(left, sides.left, sides.log_left);
      fill(left + 1, sides.right, sides.log_right);
    }
    return left;
  }

  // Whether a block has every row of the table.
  bool is_whole(BlockId id) const { return id == root && root_rows_.size() == table_.n_rows; }

  // The rows of a block in increasing order.
  Loan<std::vector<std::uint32_t>> rows(BlockId id) { return {make_rows(id), n_loans_}; }

  // The features that vary in a block.
  Loan<Varying> varying(BlockId id) { return {find_varying(id), n_loans_}; }

  // What the prior may know of a block that can split.
  BlockFacts facts(BlockId id) {
    Block& block = blocks_[id];
    if (!table_.measure) return {block.depth, block.n_rows};
    if (block.mass < 0.0) block.mass = find_varying(id).total;
    return {block.depth, block.n_rows, block.mass};
  }

  // The table of decisions, to be filled in by the caller; valid until the next `trim`.
  std::unique_ptr<DecisionTable>& decisions(BlockId id) { return use(id).decisions; }
  void count_decisions(BlockId id) {
    if (id != root) n_bytes_ += blocks_[id].cache->decisions->n_bytes();
  }

  void drop_decisions(BlockId id) {
    auto& decisions = blocks_[id].cache->decisions;
    if (decisions && id != root) n_bytes_ -= decisions->n_bytes();
    decisions.reset();
  }

  // The gap of the cut that divided a block, and the hash of the rows that went left.
  std::pair<Gap, std::uint64_t> gap(BlockId left) {
    const Pair& pair = pair_of(left);
    const auto* column = table_.column(pair.rule.feature);
    return with_side_of_ranks(pair.rule, [this, &pair, column](auto goes_left) {
      const std::vector<std::uint32_t>& rows_above = make_rows(pair.parent);
      Gap gap;
      std::uint64_t left_hash = 0;
      for (std::uint32_t row : rows_above) {
        const std::uint32_t rank = column[row];
        if (goes_left(rank)) {
          gap.add_left(rank);
          left_hash += hash_of_row(row);
        } else {
          gap.add_right(rank);
        }
      }
      gap.leave_out_missing(pair.rule, std::views::transform(rows_above, [=](auto row) { return column[row]; }));
      return std::pair(gap, left_hash);
    });
  }

  // Evicts the least recently used entries, if the caches have become too large: first tables of decisions, which take
  // most of the memory, and then rows, from which those of all blocks below are computed.
  void trim() {
    check_no_loans();
    blocks_[root].cache->decisions.reset();  // all particles consider the root in the first stage, and never again
    if (n_bytes_ <= budget_) return;
    const auto used_later = [&](BlockId a, BlockId b) { return blocks_[a].used > blocks_[b].used; };
    std::sort(cached_.begin(), cached_.end(), used_later);
    for (std::size_t i = cached_.size(); n_bytes_ > budget_ / 2 && i-- > 1;) drop_decisions(cached_[i]);
    while (n_bytes_ > budget_ / 2 && cached_.size() > 1) forget(cached_.size() - 1);
  }

  // Mark and sweep: marks the blocks that a lineage holds; unmarked blocks are freed.
  void hold(BlockId left) { pairs_[left / 2].is_held = true; }
  void keep_only_held() {
    check_no_loans();
    for (std::size_t i = cached_.size(); i-- > 0;) {
      if (cached_[i] != root && !pairs_[cached_[i] / 2].is_held) forget(i);
    }
    for (BlockId pair = 1; pair < pairs_.size(); ++pair) {
      if (!pairs_[pair].is_held && !pairs_[pair].is_free) {
        pairs_[pair].is_free = true;
        free_.push_back(pair);
      }
    }
    index_.clear();
    for (BlockId pair = 1; pair < pairs_.size(); ++pair) {
      if (pairs_[pair].is_held) index_.find_or_add({pairs_[pair].parent, pairs_[pair].identity}) = 2 * pair;
      pairs_[pair].is_held = false;
    }
  }

 private:
  static constexpr std::size_t smallest_budget = std::size_t{4} << 20;

  void make_root(const Region* region) {
    new_pair({});
    Block& block = blocks_[root];
    if (region) {
      root_rows_.assign(region->rows.begin(), region->rows.end());
      block.depth = region->depth;
    } else {
      root_rows_.resize(table_.n_rows);
      std::iota(root_rows_.begin(), root_rows_.end(), 0u);
    }
    block.n_rows = static_cast<std::uint32_t>(root_rows_.size());
    Statistic* sums = &statistics_[root];
    for (std::uint32_t row : root_rows_) leaf_.add(sums, leaf_.observe(row));
    block.log_marginal = leaf_.log_marginal(sums);
    block.cache = std::make_unique<BlockCache>();  // not in the list: it is never evicted
    block.is_cached = true;
    block.cache->varying = region ? *region->varying : varying_in_all_rows();
    block.can_split = !block.cache->varying.features.empty() && prior_.allows({block.depth, block.n_rows});
  }

  Varying varying_in_all_rows() {
    return varying_by(prior_, table_, root_rows_, prior_.weights().positive(table_.n_features));
  }

  BlockId new_pair(const Pair& pair) {
    BlockId id;
    if (free_.empty()) {
      id = static_cast<BlockId>(pairs_.size());
      pairs_.push_back(pair);
      blocks_.push_back({});
      blocks_.push_back({});
      statistics_.resize(statistics_.size() + 2 * leaf_.width());
    } else {
      id = free_.back();
      free_.pop_back();
      pairs_[id] = pair;
    }
    return 2 * id;
  }

  void fill(BlockId id, const Statistic* statistics, double log_marginal) {
    std::copy_n(statistics, leaf_.width(), &statistics_[id * leaf_.width()]);
    Block& block = blocks_[id];
    block = Block{};
    block.depth = blocks_[pair_of(id).parent].depth + 1;
    block.n_rows = leaf_.n_rows(statistics);
    block.log_marginal = log_marginal;
    block.age = n_made_++;
    block.can_split = block.n_rows > 1 && prior_.allows({block.depth, block.n_rows}) &&
                      (block.n_rows > table_.most_identical || has_rows_that_differ(id));
  }

  // Calls use(is_on_side) with the function that tells whether a row of the parent is one of the block.
  template <class Use>
  decltype(auto) with_side_of(BlockId id, Use use) const {
    const Rule& rule = pair_of(id).rule;
    return with_side_of_ranks(rule, [&](auto goes_left) {
      const auto* column = table_.column(rule.feature);
      const bool is_left = id % 2 == 0;
      return use([=](std::uint32_t row) { return goes_left(column[row]) == is_left; });
    });
  }

  bool has_rows_that_differ(BlockId id) {
    const BlockId parent = pair_of(id).parent;
    const std::vector<std::uint32_t>& features = find_varying(parent).features;
    const std::vector<std::uint32_t>& rows_above = make_rows(parent);
    return with_side_of(id, [&](auto is_on_side) {
      return rows_differ(table_, rows_above, features, [&](std::size_t i) { return is_on_side(rows_above[i]); });
    });
  }

  BlockCache& use(BlockId id) {
    Block& block = blocks_[id];
    block.used = ++n_uses_;
    if (!block.cache) block.cache = std::make_unique<BlockCache>();
    if (!block.is_cached) {
      block.is_cached = true;
      cached_.push_back(id);
    }
    return *block.cache;
  }

  void forget(std::size_t place) {
    Block& block = blocks_[cached_[place]];
    n_bytes_ -= block.cache->n_bytes();
    block.cache.reset();
    block.is_cached = false;
    cached_[place] = cached_.back();
    cached_.pop_back();
  }

  bool has_rows(BlockId id) const { return id == root || (blocks_[id].cache && !blocks_[id].cache->rows.empty()); }

  void check_no_loans() const {
    if (n_loans_ > 0) throw std::logic_error("rows of a block are evicted while they are in use");
  }

  // The lists of a block's cache, computed if they are not there. Nothing in this class evicts while it uses them.
  const std::vector<std::uint32_t>& make_rows(BlockId id) {
    if (id == root) return root_rows_;
    BlockCache& cache = use(id);
    if (cache.rows.empty()) divide_rows(id);
    return cache.rows;
  }

  const Varying& find_varying(BlockId id) {
    BlockCache& cache = use(id);
    if (cache.varying.features.empty() && blocks_[id].can_split) {
      BlockId ancestor = pair_of(id).parent;  // a feature that varies in the block varies above it
      while (ancestor != root && (!blocks_[ancestor].cache || blocks_[ancestor].cache->varying.features.empty())) {
        ancestor = pair_of(ancestor).parent;
      }
      cache.varying = varying_by(prior_, table_, make_rows(id), blocks_[ancestor].cache->varying.features);
      n_bytes_ += cache.varying.n_bytes();
    }
    return cache.varying;
  }

  // Computes the rows of a block and of its sibling from the parent's.
  void divide_rows(BlockId id) {
    const BlockId parent = pair_of(id).parent;
    if (!has_rows(parent)) restore_rows(parent);
    BlockCache& left = use(id & ~1u);
    BlockCache& right = use(id | 1u);
    n_bytes_ -= (left.rows.capacity() + right.rows.capacity()) * sizeof(std::uint32_t);
    partition(make_rows(parent), pair_of(id).rule, left.rows, right.rows, blocks_[id & ~1u].n_rows,
              blocks_[id | 1u].n_rows);
    n_bytes_ += (left.rows.capacity() + right.rows.capacity()) * sizeof(std::uint32_t);
  }

  // Rows stay in increasing order, so that passes over them read memory forward.
  void partition(std::span<const std::uint32_t> rows, const Rule& rule, std::vector<std::uint32_t>& left,
                 std::vector<std::uint32_t>& right, std::size_t n_left, std::size_t n_right) {
    scratch_left_.resize(rows.size() + 1);
    scratch_right_.resize(rows.size() + 1);
    with_side_of_ranks(rule, [this, rows, column = table_.column(rule.feature)](auto goes_left) {
      std::uint32_t* to_left = scratch_left_.data();
      std::uint32_t* to_right = scratch_right_.data();
      for (std::uint32_t row : rows) {  // writes to both and advances one: no branch to mispredict
        const bool goes_right = !goes_left(column[row]);
        *to_left = row;
        *to_right = row;
        to_left += !goes_right;
        to_right += goes_right;
      }
    });
    left.assign(scratch_left_.begin(), scratch_left_.begin() + static_cast<std::ptrdiff_t>(n_left));
    right.assign(scratch_right_.begin(), scratch_right_.begin() + static_cast<std::ptrdiff_t>(n_right));
  }

  // The rows of a block whose parent's were evicted: from those of the nearest ancestor, cut by cut.
  void restore_rows(BlockId id) {
    std::vector<BlockId> path{id};
    while (!has_rows(pair_of(path.back()).parent)) path.push_back(pair_of(path.back()).parent);
    const std::vector<std::uint32_t>& from = make_rows(pair_of(path.back()).parent);
    std::vector<std::uint32_t> kept(from.begin(), from.end());
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      with_side_of(*step,
                   [&](auto is_on_side) { std::erase_if(kept, [&](std::uint32_t row) { return !is_on_side(row); }); });
    }
    kept.shrink_to_fit();
    BlockCache& cache = use(id);
    n_bytes_ += kept.capacity() * sizeof(std::uint32_t);
    cache.rows = std::move(kept);
  }

  Table table_;
  const Leaf& leaf_;
  const TreePrior& prior_;
  std::size_t budget_;
  StableVector<Block> blocks_;
  std::vector<Pair> pairs_;
  std::vector<BlockId> free_;  // numbers of pairs
  std::vector<Statistic> statistics_;
  PairIndex index_;
  std::vector<std::uint32_t> root_rows_;
  std::vector<std::uint32_t> scratch_left_, scratch_right_;
  std::vector<BlockId> cached_;  // the blocks that have a cache, except the root
  std::size_t n_bytes_ = 0;      // of their caches
  std::size_t n_loans_ = 0;
  std::uint64_t n_made_ = 0;
  std::uint64_t n_uses_ = 0;
};

}  // namespace particletree
