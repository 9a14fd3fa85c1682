// Sets of levels of an open alphabet, each stored once and known by its number, so that a node holds 4 bytes of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace particletree {

class LevelSets {
 public:
  static constexpr std::uint32_t empty = 0;

  LevelSets() { add({}); }

  std::span<const std::uint32_t> operator[](std::uint32_t set) const { return sets_[set]; }
  std::size_t size(std::uint32_t set) const { return sets_[set].size(); }
  bool has(std::uint32_t set, std::uint32_t level) const { return std::ranges::binary_search(sets_[set], level); }

  // The set with one more level.
  std::uint32_t with(std::uint32_t set, std::uint32_t level) {
    if (has(set, level)) return set;
    const auto [known, is_new] = successors_.try_emplace(std::uint64_t{set} << 32 | level, 0);
    if (is_new) {
      std::vector<std::uint32_t> levels = sets_[set];
      levels.insert(std::ranges::lower_bound(levels, level), level);
      known->second = add(std::move(levels));
    }
    return known->second;
  }

 private:
  std::uint32_t add(std::vector<std::uint32_t> levels) {
    const auto [known, is_new] = numbers_.try_emplace(levels, static_cast<std::uint32_t>(sets_.size()));
    if (is_new) sets_.push_back(std::move(levels));
    return known->second;
  }

  std::vector<std::vector<std::uint32_t>> sets_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> successors_;  // of a set and a level
};

}  // namespace particletree
