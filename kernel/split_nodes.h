// The nodes that have been written: a hash table from a split and the nodes of its children to its own node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace particletree {

// Open addressing with linear probing; at most half full.
class SplitNodes {
 public:
  SplitNodes() : slots_(256) {}

  // The node of a key; -1 if the key is new, to be filled in by the caller before the next call.
  std::int32_t& find_or_add(std::uint32_t split, std::int32_t left, std::int32_t right) {
    if (2 * (n_keys_ + 1) > slots_.size()) grow();
    Slot& slot = find({split, left, right});
    if (slot.node == -1) {
      slot.key = {split, left, right};
      ++n_keys_;
    }
    return slot.node;
  }

 private:
  struct Key {
    std::uint32_t split = 0;
    std::int32_t left = 0;
    std::int32_t right = 0;
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    std::int32_t node = -1;
  };

  static std::size_t hash(const Key& key) {
    std::uint64_t x = (std::uint64_t{key.split} << 32 | static_cast<std::uint32_t>(key.left)) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29) ^ static_cast<std::uint32_t>(key.right)) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::size_t>(x ^ (x >> 32));
  }

  Slot& find(const Key& key) {
    std::size_t place = hash(key) & (slots_.size() - 1);
    while (slots_[place].node != -1 && slots_[place].key != key) place = (place + 1) & (slots_.size() - 1);
    return slots_[place];
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.node != -1) find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t n_keys_ = 0;
};

}  // namespace particletree
