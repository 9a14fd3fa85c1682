// Hash consing: equal subtrees are found and stored once, from the leaves up.
//
// Two nodes are equal if their blocks hold the same rows and, if they split, their rules and their children are equal.
// Children come before their parent, so one pass suffices: when a node is processed, its children have their final
// numbers. The result is ordered by height (a leaf has height 0), so that sums over subtrees can be computed level by
// level.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "node.h"

namespace particletree {

struct SharedNodes {
  std::vector<std::int32_t> kept;          // the first of each set of equal nodes, in the new order
  std::vector<std::int32_t> number;        // of each node in the new order
  std::vector<std::int32_t> kept_blocks;   // the first block of each set of rows that a kept node has
  std::vector<std::int32_t> block_number;  // of each block among these; -1 if no kept node has it
};

class NodeSharer {
 public:
  // Nodes must be children first, with blocks in range.
  NodeSharer(std::span<const Node> nodes, std::span<const std::uint64_t> row_hashes)
      : nodes_(nodes), row_hashes_(row_hashes) {}

  SharedNodes share() {
    find_equal_nodes();
    order_by_height();
    number_blocks();
    return std::move(result_);
  }

 private:
  static constexpr std::int32_t none = -1;

  // A hash table with linear probing, at most half full; `slots` hold indices into `kept`.
  static std::vector<std::int32_t> make_slots(std::size_t n) {
    return std::vector<std::int32_t>(std::bit_ceil(2 * n + 2), none);
  }

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
  }

  // Fills `number` with the index in `kept` of the first equal node.
  void find_equal_nodes() {
    auto slots = make_slots(nodes_.size());
    result_.number.resize(nodes_.size());
    height_.clear();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      std::size_t slot = hash_of(nodes_[i]) & (slots.size() - 1);
      while (slots[slot] != none && !are_equal(nodes_[i], nodes_[result_.kept[slots[slot]]])) {
        slot = (slot + 1) & (slots.size() - 1);
      }
      if (slots[slot] == none) {
        slots[slot] = static_cast<std::int32_t>(result_.kept.size());
        result_.kept.push_back(static_cast<std::int32_t>(i));
        height_.push_back(nodes_[i].is_leaf() ? 0
                                              : 1 + std::max(height_of(nodes_[i].left), height_of(nodes_[i].right)));
      }
      result_.number[i] = slots[slot];
    }
  }

  std::uint64_t hash_of(const Node& node) const {
    std::uint64_t hash = mix(0, row_hashes_[node.block]);
    if (!node.is_leaf()) {
      hash = mix(hash, node.hash_of_rule());
      hash = mix(hash, static_cast<std::uint64_t>(result_.number[node.left]) << 32 |
                           static_cast<std::uint32_t>(result_.number[node.right]));
    }
    return hash ^ (hash >> 32);
  }

  bool are_equal(const Node& a, const Node& b) const {
    if (row_hashes_[a.block] != row_hashes_[b.block] || a.is_leaf() != b.is_leaf()) return false;
    return a.is_leaf() || (a.has_rule_of(b) && result_.number[a.left] == result_.number[b.left] &&
                           result_.number[a.right] == result_.number[b.right]);
  }

  std::uint32_t height_of(std::int32_t node) const { return height_[result_.number[node]]; }

  // A stable counting sort.
  void order_by_height() {
    const std::uint32_t highest = height_.empty() ? 0 : *std::max_element(height_.begin(), height_.end());
    std::vector<std::int32_t> place(highest + 2, 0);
    for (const std::uint32_t height : height_) ++place[height + 1];
    for (std::size_t h = 1; h < place.size(); ++h) place[h] += place[h - 1];
    std::vector<std::int32_t> new_place(height_.size()), kept(height_.size());
    for (std::size_t i = 0; i < height_.size(); ++i) {
      new_place[i] = place[height_[i]]++;
      kept[new_place[i]] = result_.kept[i];
    }
    result_.kept = std::move(kept);
    for (std::int32_t& number : result_.number) number = new_place[number];
  }

  void number_blocks() {
    auto slots = make_slots(result_.kept.size());
    result_.block_number.assign(row_hashes_.size(), none);
    for (const std::int32_t node : result_.kept) {
      const std::int32_t block = nodes_[node].block;
      if (result_.block_number[block] != none) continue;
      std::size_t slot = mix(0, row_hashes_[block]) & (slots.size() - 1);
      while (slots[slot] != none && row_hashes_[result_.kept_blocks[slots[slot]]] != row_hashes_[block]) {
        slot = (slot + 1) & (slots.size() - 1);
      }
      if (slots[slot] == none) {
        slots[slot] = static_cast<std::int32_t>(result_.kept_blocks.size());
        result_.kept_blocks.push_back(block);
      }
      result_.block_number[block] = slots[slot];
    }
  }

  std::span<const Node> nodes_;
  std::span<const std::uint64_t> row_hashes_;
  std::vector<std::uint32_t> height_;  // of the kept nodes
  SharedNodes result_;
};

}  // namespace particletree
