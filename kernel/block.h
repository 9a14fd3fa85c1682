// Blocks: the unit of work, made once and shared by every particle that holds them.
//
// A decision on a node depends only on the node's rows, and particles descend from common ancestors. So the rows of a
// node, their statistics and their marginal live in a block, and particles hold block numbers. What a block says about
// the data never changes. Three counts decide how long its parts live:
//   n_records  decisions in live particles that made the block; at zero the block is freed
//   n_pending  live particles that have still to consider it
//   n_unborn   pairs of its children whose rows are wanted and have not been made yet
// The rows are needed only while one of the last two is not zero; the statistics as long as the block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "leaf_model.h"
#include "random.h"
#include "stable_vector.h"
#include "table.h"

namespace particletree {

using BlockId = std::uint32_t;
inline constexpr BlockId no_block = std::numeric_limits<BlockId>::max();

// A gap between two adjacent distinct values of a feature in a block, by their ranks.
struct Gap {
  std::uint32_t feature;
  std::uint32_t low;
  std::uint32_t high;
};

// The optimal proposal's distribution over a block's decisions: category 0 stops, category i > 0 cuts in gaps[i - 1].
struct DecisionTable {
  Categories categories;
  std::vector<Gap> gaps;
};

struct Block {
  // How its rows come out of the parent's: those of rank <= cut in the feature (the left side) or the others.
  BlockId parent = no_block;
  BlockId sibling = no_block;
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;    // the largest rank in the parent that goes left
  std::uint32_t above = 0;  // the smallest that goes right
  bool is_right = false;

  bool can_split = false;  // its rows are not all identical
  std::uint32_t depth = 0;
  std::uint32_t n_rows = 0;
  double log_marginal = 0.0;
  std::uint64_t age = 0;  // the number of blocks made before it

  std::uint32_t n_records = 0;
  std::uint32_t n_pending = 0;
  std::uint32_t n_unborn = 0;

  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> varying;        // the features that vary in the block
  std::unique_ptr<DecisionTable> decisions;  // made by the optimal proposal when the block is first considered

  bool awaits_rows = false;  // the pair that it belongs to counts in the parent's n_unborn
};

// Two children, as a pair: they are made together and freed together.
struct Children {
  BlockId left;
  BlockId right;
};

// One side of a cut as the counting pass found it.
template <class Statistic>
struct Side {
  const Statistic* statistics;
  double log_marginal;
};

template <class Table, LeafModel Leaf>
class BlockStore {
 public:
  using Statistic = typename Leaf::Statistic;

  BlockStore(const Table& table, const Leaf& leaf) : table_(table), leaf_(leaf) { make_root(); }

  static constexpr BlockId root = 0;

  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }
  const Statistic* statistics(BlockId id) const { return &statistics_[id * leaf_.width()]; }

  // The children of a block by a cut. Two cuts in the same gap leave the same number of rows on the left, and give
  // the same children.
  Children children(BlockId parent, std::uint32_t feature, std::uint32_t cut, const Side<Statistic>& left,
                    const Side<Statistic>& right) {
    const auto [entry, is_new] = children_.try_emplace(Key{parent, feature, leaf_.n_rows(left.statistics)});
    if (is_new) {
      const Gap gap = gap_around(blocks_[parent].rows, feature, cut);
      entry->second = {make_child(parent, gap, false, left), make_child(parent, gap, true, right)};
      blocks_[entry->second.left].sibling = entry->second.right;
      blocks_[entry->second.right].sibling = entry->second.left;
    }
    want_rows(blocks_[entry->second.left], blocks_[entry->second.right]);
    return entry->second;
  }

  // Makes the rows of a block, and of its sibling, from the parent's rows.
  void ensure_rows(BlockId id) {
    if (!blocks_[id].rows.empty()) return;
    Block& left = blocks_[blocks_[id].is_right ? blocks_[id].sibling : id];
    Block& right = blocks_[left.sibling];
    const Block& parent = blocks_[left.parent];
    partition(parent, left, right);
    for (Block* child : {&left, &right}) {
      if (child->n_pending == 0 && child->n_unborn == 0) {
        child->rows = {};  // nobody waits for this one
      } else {
        if (child->can_split) child->varying = varying_among(child->rows, parent.varying);
      }
    }
    no_longer_want_rows(left, right);
  }

  // Frees the rows of a block that nobody will need again.
  void let_go_of_rows(BlockId id) {
    Block& block = blocks_[id];
    if (block.n_pending > 0) return;
    block.decisions.reset();
    if (block.n_unborn > 0) return;
    block.rows = {};
    block.varying = {};
    if (block.awaits_rows && blocks_[block.sibling].n_pending == 0) no_longer_want_rows(block, blocks_[block.sibling]);
  }

  // One record fewer holds these children; the last one frees them.
  void release(BlockId parent_id, const Children& children) {
    Block& left = blocks_[children.left];
    --blocks_[children.right].n_records;
    if (--left.n_records > 0) return;
    children_.erase(Key{parent_id, left.feature, left.n_rows});
    if (left.awaits_rows) no_longer_want_rows(left, blocks_[children.right]);
    free_block(children.left);
    free_block(children.right);
  }

  std::size_t capacity() const { return blocks_.size(); }  // block numbers are below it

 private:
  struct Key {
    BlockId parent;
    std::uint32_t feature;
    std::uint32_t n_left;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t x = (std::uint64_t{key.parent} << 32 | key.feature) * 0x9e3779b97f4a7c15u;
      x = (x ^ (x >> 29) ^ key.n_left) * 0xbf58476d1ce4e5b9u;
      return static_cast<std::size_t>(x ^ (x >> 32));
    }
  };

  void make_root() {
    const BlockId id = new_block();
    Block& block = blocks_[id];
    block.n_rows = static_cast<std::uint32_t>(table_.n_rows);
    block.rows.resize(table_.n_rows);
    std::iota(block.rows.begin(), block.rows.end(), 0u);
    Statistic* sums = &statistics_[id * leaf_.width()];
    for (std::uint32_t row : block.rows) leaf_.add(sums, leaf_.observe(row));
    block.log_marginal = leaf_.log_marginal(sums);
    std::vector<std::uint32_t> all(table_.n_features);
    std::iota(all.begin(), all.end(), 0u);
    block.varying = varying_among(block.rows, all);
    block.can_split = !block.varying.empty();
    block.n_records = 1;  // the root belongs to everybody
  }

  BlockId make_child(BlockId parent_id, const Gap& gap, bool is_right, const Side<Statistic>& side) {
    const BlockId id = new_block();
    std::copy_n(side.statistics, leaf_.width(), &statistics_[id * leaf_.width()]);
    Block& block = blocks_[id];
    block.parent = parent_id;
    block.feature = gap.feature;
    block.cut = gap.low;
    block.above = gap.high;
    block.is_right = is_right;
    block.depth = blocks_[parent_id].depth + 1;
    block.n_rows = leaf_.n_rows(side.statistics);
    block.log_marginal = side.log_marginal;
    block.can_split = block.n_rows > 1 && rows_differ(blocks_[parent_id], block);
    return id;
  }

  BlockId new_block() {
    BlockId id;
    if (free_.empty()) {
      id = static_cast<BlockId>(blocks_.size());
      blocks_.push_back({});
      statistics_.resize(statistics_.size() + leaf_.width());
    } else {
      id = free_.back();
      free_.pop_back();
    }
    blocks_[id].age = n_made_++;
    return id;
  }

  void free_block(BlockId id) {
    blocks_[id] = Block{};
    free_.push_back(id);
  }

  // New children await their rows, and so do old ones that were let go and are held again.
  void want_rows(Block& left, Block& right) {
    const auto lacks_rows = [](const Block& child) { return child.can_split && child.rows.empty(); };
    if (left.awaits_rows || !(lacks_rows(left) || lacks_rows(right))) return;
    left.awaits_rows = right.awaits_rows = true;
    ++blocks_[left.parent].n_unborn;
  }

  void no_longer_want_rows(Block& left, Block& right) {
    left.awaits_rows = right.awaits_rows = false;
    --blocks_[left.parent].n_unborn;
    let_go_of_rows(left.parent);
  }

  // The two adjacent ranks in some rows between which a cut falls.
  Gap gap_around(const std::vector<std::uint32_t>& rows, std::uint32_t feature, std::uint32_t cut) const {
    const auto* column = table_.column(feature);
    Gap gap{feature, 0, std::numeric_limits<std::uint32_t>::max()};
    for (std::uint32_t row : rows) {
      const std::uint32_t rank = column[row];
      if (goes_left(rank, cut)) {
        gap.low = std::max(gap.low, rank);
      } else {
        gap.high = std::min(gap.high, rank);
      }
    }
    return gap;
  }

  // Are there two rows on the child's side of the parent that differ? Nearly always the first two do.
  bool rows_differ(const Block& parent, const Block& child) const {
    const auto* column = table_.column(child.feature);
    std::uint32_t first = 0;
    bool found_first = false;
    for (std::uint32_t row : parent.rows) {
      if (goes_left(column[row], child.cut) == child.is_right) continue;
      if (!found_first) {
        first = row;
        found_first = true;
        continue;
      }
      for (std::uint32_t f : parent.varying) {
        if (table_.column(f)[row] != table_.column(f)[first]) return true;
      }
    }
    return false;
  }

  // Rows stay in increasing order, so that passes over them walk forward through memory. A child that cannot split
  // needs no rows.
  void partition(const Block& parent, Block& left, Block& right) const {
    const auto* column = table_.column(left.feature);
    const auto cut = left.cut;
    left.rows.resize(left.n_rows + std::size_t{1});
    right.rows.resize(right.n_rows + std::size_t{1});
    std::uint32_t* to_left = left.rows.data();
    std::uint32_t* to_right = right.rows.data();
    for (std::uint32_t row : parent.rows) {  // writes both and moves on in one: no branch to mispredict
      const bool goes_right = !goes_left(column[row], cut);
      *to_left = row;
      *to_right = row;
      to_left += !goes_right;
      to_right += goes_right;
    }
    left.rows.pop_back();
    right.rows.pop_back();
    for (Block* child : {&left, &right}) {
      if (!child->can_split) child->rows = {};
    }
  }

  // The features, among some, that vary in some rows; nearly always the first two rows differ.
  std::vector<std::uint32_t> varying_among(const std::vector<std::uint32_t>& rows,
                                           const std::vector<std::uint32_t>& features) const {
    std::vector<std::uint32_t> varying;
    for (std::uint32_t f : features) {
      const auto* column = table_.column(f);
      const auto first = column[rows[0]];
      const auto differs = [&](std::uint32_t row) { return column[row] != first; };
      if (std::any_of(rows.begin(), rows.end(), differs)) varying.push_back(f);
    }
    return varying;
  }

  Table table_;
  Leaf leaf_;
  StableVector<Block> blocks_;
  std::vector<Statistic> statistics_;
  std::vector<BlockId> free_;
  std::unordered_map<Key, Children, Hash> children_;
  std::uint64_t n_made_ = 0;
};

}  // namespace particletree
