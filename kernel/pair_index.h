// Which blocks have been made already: from a cut of a block to its children, in a hash table without deletions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace particletree {

using BlockId = std::uint32_t;
inline constexpr BlockId no_block = std::numeric_limits<BlockId>::max();

// Cuts of a feature that leave the same number of rows on the left are the same.
struct PairKey {
  BlockId parent;
  std::uint32_t feature;
  std::uint32_t n_left;
  bool operator==(const PairKey&) const = default;
};

// Open addressing with linear probing; at most half full.
class PairIndex {
 public:
  PairIndex() : slots_(64) {}

  // The left child that stands for a key; `no_block` if the key is new, for the caller to fill in.
  BlockId& find_or_add(const PairKey& key) {
    if (2 * (n_keys_ + 1) > slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.key.parent == no_block) {
      slot.key = key;
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
    PairKey key{no_block, 0, 0};
    BlockId left = no_block;
  };

  static std::size_t hash(const PairKey& key) {
    std::uint64_t x = (std::uint64_t{key.parent} << 32 | key.feature) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29) ^ key.n_left) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::size_t>(x ^ (x >> 32));
  }

  Slot& find(const PairKey& key) {
    std::size_t place = hash(key) & (slots_.size() - 1);
    while (slots_[place].key.parent != no_block && slots_[place].key != key) place = (place + 1) & (slots_.size() - 1);
    return slots_[place];
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.key.parent != no_block) find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t n_keys_ = 0;
};

}  // namespace particletree
