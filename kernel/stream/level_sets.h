// Sets of levels of an open alphabet. Each is stored once and known by its number, so that a node holds 4 bytes of it, and
// lives as long as someone refers to it: a stream whose levels keep coming would else leave a set behind for each of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../rule.h"

namespace particletree {

class LevelSets {
 public:
  static constexpr std::uint32_t empty = 0;  // lives for ever

  LevelSets() : sets_(1) {}

  std::span<const std::uint32_t> operator[](std::uint32_t set) const { return sets_[set].levels; }
  std::size_t size(std::uint32_t set) const { return sets_[set].levels.size(); }
  bool has(std::uint32_t set, std::uint32_t level) const { return std::ranges::binary_search((*this)[set], level); }
  std::size_t n_alive() const { return sets_.size() - free_.size(); }

  std::uint32_t refer(std::uint32_t set) {
    ++sets_[set].n_references;
    return set;
  }

  // A new reference to the set with one more level.
  std::uint32_t with(std::uint32_t set, std::uint32_t level) {
    std::vector<std::uint32_t> levels = sets_[set].levels;
    const auto place = std::ranges::lower_bound(levels, level);
    if (place != levels.end() && *place == level) return refer(set);
    levels.insert(place, level);
    const std::uint64_t hash = sets_[set].hash + mix_bits((std::uint64_t{level} + 1) * 0x9e3779b97f4a7c15u);
    for (auto [known, end] = numbers_.equal_range(hash); known != end; ++known) {
      if (sets_[known->second].levels == levels) return refer(known->second);
    }
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(sets_.size()));
      sets_.emplace_back();
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    sets_[number] = {std::move(levels), hash, 1};
    numbers_.emplace(hash, number);
    return number;
  }

  void release(std::uint32_t set) {
    if (set == empty || --sets_[set].n_references > 0) return;
    for (auto [known, end] = numbers_.equal_range(sets_[set].hash); known != end; ++known) {
      if (known->second != set) continue;
      numbers_.erase(known);
      break;
    }
    sets_[set] = {};
    free_.push_back(set);
  }

 private:
  struct Set {
    std::vector<std::uint32_t> levels;
    std::uint64_t hash = 0;  // the sum over its levels
    std::uint32_t n_references = 0;
  };

  std::vector<Set> sets_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> numbers_;  // by their hash
  std::vector<std::uint32_t> free_;
};

}  // namespace particletree
