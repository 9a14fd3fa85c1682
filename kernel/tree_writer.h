// Writes the trees of a filter's particles: their chains of splits become nodes that trees share (trees.h).
//
// Splits are linked from the last to the first, so that children are written before their parent, and splits with the
// same children are one node (split_nodes.h). This happens once, at the end of a run, and needs several lists as long
// as the blocks: they are no part of the filter's state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "block.h"
#include "leaf_model.h"
#include "particle.h"
#include "split_nodes.h"
#include "tree_prior.h"
#include "trees.h"
#include "watch.h"

namespace particletree {

template <class Table, LeafModel Leaf>
class TreeWriter {
 public:
  using Blocks = BlockStore<Table, Leaf>;

  TreeWriter(const Table& table, const Leaf& leaf, const TreePrior& prior, Blocks& blocks, const RecordStore& records,
             Watch& watch, Trees& trees)
      : table_(table), leaf_(leaf), prior_(prior), blocks_(blocks), records_(records), watch_(watch), trees_(trees) {}

  // Appends the trees with these last splits, without weights.
  void write(const std::vector<RecordId>& last_splits) {
    describe_splits(last_splits);
    number_of_block_.assign(blocks_.capacity(), none);
    leaf_node_.assign(blocks_.capacity(), none);
    split_node_.assign(blocks_.capacity(), none);
    for (RecordId last : last_splits) trees_.add_tree(write_tree(last));
  }

 private:
  static constexpr std::int32_t none = -1;

  BlockId parent_of(RecordId split) const { return blocks_.pair_of(records_[split].left).parent; }

  // The gap of every split in some trees, and the hashes of its children's rows. Parents come first, because the rows
  // of a block are computed from its parent's.
  void describe_splits(const std::vector<RecordId>& last_splits) {
    row_hashes_.assign(blocks_.capacity(), 0);
    {
      const Loan all = blocks_.rows(Blocks::root);
      for (std::uint32_t row : *all) row_hashes_[Blocks::root] += hash_of_row(row);
    }
    gaps_.assign(blocks_.capacity() / 2, {});
    for (BlockId left : pairs_of(last_splits)) {
      const BlockId from = blocks_.pair_of(left).parent;
      const auto [gap, left_hash] = blocks_.gap(left);
      gaps_[left / 2] = gap;
      row_hashes_[left] = left_hash;
      row_hashes_[left + 1] = row_hashes_[from] - left_hash;
      blocks_.trim();
      watch_.check_interrupt(blocks_[from].n_rows);
    }
  }

  // The left blocks of all splits in some trees, in the order in which they were made. Trees share the first splits of
  // their chains, so following a chain ends at a record that was seen before.
  std::vector<BlockId> pairs_of(const std::vector<RecordId>& last_splits) const {
    std::vector<std::uint8_t> seen(records_.capacity(), 0), listed(blocks_.capacity(), 0);
    std::vector<BlockId> pairs;
    for (RecordId last : last_splits) {
      for (RecordId id = last; id != no_record && !std::exchange(seen[id], 1); id = records_[id].previous) {
        const BlockId left = records_[id].left;
        if (!std::exchange(listed[left], 1)) pairs.push_back(left);
      }
    }
    std::sort(pairs.begin(), pairs.end(), [&](BlockId a, BlockId b) { return blocks_[a].age < blocks_[b].age; });
    return pairs;
  }

  // Splits are linked from the last to the first, so that children are written before their parent.
  std::int32_t write_tree(RecordId last) {
    records_.for_each_before(last, [&](RecordId split) { split_node_[parent_of(split)] = node_of_split(split); });
    const std::int32_t root = node_of(Blocks::root);
    records_.for_each_before(last, [&](RecordId split) { split_node_[parent_of(split)] = none; });
    return root;
  }

  std::int32_t node_of(BlockId id) {
    if (split_node_[id] != none) return split_node_[id];
    if (leaf_node_[id] == none) {
      const Block& block = blocks_[id];
      const double log_prior = block.can_split ? prior_.at(blocks_.facts(id)).log_stop : 0.0;
      leaf_node_[id] = trees_.add_leaf(number_of_block(id), log_prior, block.log_marginal);
    }
    return leaf_node_[id];
  }

  // The node of a split with the children that its tree has; trees that agree below share it.
  std::int32_t node_of_split(RecordId id) {
    const Record& split = records_[id];
    const std::int32_t left = node_of(split.left);
    const std::int32_t right = node_of(split.left + 1);
    std::int32_t& node = split_nodes_.find_or_add(id, left, right);
    if (node == none) {
      const std::int32_t block = number_of_block(parent_of(id));
      node = trees_.add_split(split_by(split.rule, gaps_[split.left / 2], table_), left, right, block, split.log_prior);
    }
    return node;
  }

  std::int32_t number_of_block(BlockId id) {
    std::int32_t& number = number_of_block_[id];
    if (number == none) number = trees_.add_block(blocks_.statistics(id), row_hashes_[id], leaf_);
    return number;
  }

  const Table& table_;
  const Leaf& leaf_;
  const TreePrior& prior_;
  Blocks& blocks_;
  const RecordStore& records_;
  Watch& watch_;
  Trees& trees_;
  std::vector<std::int32_t> number_of_block_;  // in the result; `none` if it is not there yet
  std::vector<std::int32_t> leaf_node_;        // of each block in the result,
  std::vector<std::int32_t> split_node_;       // and where the tree that is being written splits it
  SplitNodes split_nodes_;
  std::vector<Gap> gaps_;                  // of pairs of blocks
  std::vector<std::uint64_t> row_hashes_;  // of blocks
};

}  // namespace particletree
