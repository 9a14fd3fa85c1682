// The blocks that have been made: a hash table without deletions from a rule of a block to its children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace particletree {

using BlockId = std::uint32_t;
inline constexpr BlockId no_block = std::numeric_limits<BlockId>::max();

struct PairKey {
  BlockId parent;
  std::uint64_t rule;  // its identity among the rules of the parent (block.h)
};

// Open addressing with linear probing; at most half full.
class PairIndex {
 public:
  PairIndex() : slots_(64) {}

  // The left child of a key; `no_block` if the key is new, to be filled in by the caller.
  BlockId& find_or_add(const PairKey& key) {
    if (2 * (n_keys_ + 1) > slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.parent == no_block) {
      slot.rule = key.rule;
      slot.parent = key.parent;
      ++n_keys_;
    }
    return slot.left;
  }

  void clear() {
    slots_.assign(slots_.size(), {});
    n_keys_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t rule = 0;
    BlockId parent = no_block;  // `no_block` marks an empty slot
    BlockId left = no_block;

    PairKey key() const { return {parent, rule}; }
    bool holds(const PairKey& key) const { return parent == key.parent && rule == key.rule; }
  };

  static std::size_t hash(const PairKey& key) {
    std::uint64_t x = (key.rule ^ std::uint64_t{key.parent} << 32) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29) ^ key.parent) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::size_t>(x ^ (x >> 32));
  }

  Slot& find(const PairKey& key) {
    std::size_t place = hash(key) & (slots_.size() - 1);
    while (slots_[place].parent != no_block && !slots_[place].holds(key)) place = (place + 1) & (slots_.size() - 1);
    return slots_[place];
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.parent != no_block) find(slot.key()) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t n_keys_ = 0;
};

}  // namespace particletree
