// The rule slot: which side of a split a row goes to. Its twin is model/rule.py.
//
// A rule asks one of three things of a feature:
//
//   cut          is the value at most a threshold? Missing values go to one side, which the kind of the rule names.
//   is present   is there a value? A cut at infinity, with the missing values on the right.
//   set          is it one of some levels? Of a categorical column, of which missing is one more level. The set is a word
//                of 64 bits: a bit for each level where they suffice, else a key from which a hash makes them (scattered).
//
// Rows of the training table are asked by rank, any other row by value; the two agree. A column of numbers with missing
// values has rank 0 for them, and the other ranks in the order of the values; the threshold lies between the values of
// two adjacent ranks. In a categorical column rank and value are both the number of the level. Everything else carries
// rules whole: what a rule is made of, which side a row takes, and when two rules are the same, stands here and nowhere
// else.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "instruction_sets.h"

namespace particletree {

enum class RuleKind : std::uint64_t { cut_missing_right, cut_missing_left, levels, scattered_levels };

// A hash in which every bit depends on every bit: the last steps of SplitMix64.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline constexpr std::uint32_t most_listed_levels = 64;

constexpr bool is_listed_left(std::uint64_t word, std::uint32_t level) {
  return word >> std::min(level, most_listed_levels - 1) & 1;
}
constexpr bool is_scattered_left(std::uint64_t word, std::uint32_t level) {
  return mix_bits(word + (std::uint64_t{level} + 1) * 0x9e3779b97f4a7c15u) >> 63;
}

// A fair coin for a threshold that was drawn at random: the side of missing values where no row of the block has one.
inline RuleKind coin_of(double threshold) {
  return static_cast<RuleKind>(mix_bits(std::bit_cast<std::uint64_t>(threshold)) >> 63);
}

// What a rule says of a value, whichever feature's it is. Rules are the same if they are bit by bit, and have then the
// same hash.
struct ValueRule {
  double threshold = std::numeric_limits<double>::quiet_NaN();  // the largest value that goes left; of a set, its word
  RuleKind kind = RuleKind::cut_missing_right;

  std::uint64_t word() const { return std::bit_cast<std::uint64_t>(threshold); }
  bool is_set() const { return kind >= RuleKind::levels; }
  bool is_presence() const {
    return kind == RuleKind::cut_missing_right && threshold == std::numeric_limits<double>::infinity();
  }
  bool has_gap() const { return !is_set() && !is_presence(); }
  std::uint64_t hash() const { return word() + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(kind); }
  bool operator==(const ValueRule& other) const { return word() == other.word() && kind == other.kind; }
};

inline ValueRule set_of_levels(std::uint64_t word, bool is_scattered) {
  return {std::bit_cast<double>(word), is_scattered ? RuleKind::scattered_levels : RuleKind::levels};
}

// What it says of a rank: a cut sends the ranks from `first` to `cut` left. Where missing values have rank 0 and go right,
// the first rank that goes left is 1.
struct RankRule {
  std::uint32_t feature = 0;
  std::uint32_t first = 0;
  std::uint32_t cut = 0;
  bool operator==(const RankRule&) const = default;
};

// A rule as all rows see it.
struct Rule : RankRule, ValueRule {
  bool operator==(const Rule&) const = default;
};

// Calls use(goes_left) with the function that tells whether a row of some rank goes left: what kind of rule it is, is asked
// once for many rows. Tables of numbers alone have plain cuts only; the code for other rules is kept out of their way.
template <class Use>
PARTICLETREE_RARE decltype(auto) with_other_side_of_ranks(const Rule& rule, Use use) {
  const std::uint64_t word = rule.word();
  const std::uint32_t first = rule.first, cut = rule.cut;
  if (rule.kind == RuleKind::levels) return use([word](std::uint32_t rank) { return is_listed_left(word, rank); });
  if (rule.is_set()) return use([word](std::uint32_t rank) { return is_scattered_left(word, rank); });
  return use([first, cut](std::uint32_t rank) { return rank - first <= cut - first; });
}

template <class Use>
PARTICLETREE_INLINE decltype(auto) with_side_of_ranks(const Rule& rule, Use use) {
  if (rule.is_set() || rule.first > 0) return with_other_side_of_ranks(rule, use);
  return use([cut = rule.cut](std::uint32_t rank) { return rank <= cut; });
}

inline bool goes_left(std::uint32_t rank, const Rule& rule) {
  return with_side_of_ranks(rule, [rank](auto is_left) { return is_left(rank); });
}

// The same of values. A missing value of a column of numbers is not a number.
template <class Use>
decltype(auto) with_side_of_values(const ValueRule& rule, Use use) {
  const std::uint64_t word = rule.word();
  const double threshold = rule.threshold;
  const auto level = [](double value) {
    return value >= 0.0 && value < 4294967296.0 ? static_cast<std::uint32_t>(value) : 0xffffffffu;
  };
  switch (rule.kind) {
    case RuleKind::levels:
      return use([=](double value) { return is_listed_left(word, level(value)); });
    case RuleKind::scattered_levels:
      return use([=](double value) { return is_scattered_left(word, level(value)); });
    case RuleKind::cut_missing_left:
      return use([=](double value) { return !(value > threshold); });
    default:
      return use([=](double value) { return value <= threshold; });
  }
}

inline bool goes_left(double value, const ValueRule& rule) {
  return with_side_of_values(rule, [value](auto is_left) { return is_left(value); });
}

// The rules that divide a block in the same way: the cuts between two adjacent distinct values, by their ranks; one set,
// by the sides of the levels that the block has; or the rule that asks for a value. What is left open (where in the gap a
// threshold lies, on which side a level goes that the block does not have) is drawn once a particle takes the rule.
struct RuleClass {
  enum class Kind : std::uint32_t { cut_missing_right, cut_missing_left, cut_coin, presence, set };

  std::uint32_t feature = 0;
  Kind kind = Kind::cut_coin;  // `cut_coin`: no row of the block has a missing value
  std::uint32_t low = 0;       // of a cut: the ranks on its sides. Of a set: the halves of a word
  std::uint32_t high = 0;

  std::uint64_t word() const { return std::uint64_t{high} << 32 | low; }
};

// The ranks on the sides of a cut, in one block.
struct Gap {
  std::uint32_t low = 0;
  std::uint32_t high = std::numeric_limits<std::uint32_t>::max();

  // Of a rule that divides some rows: told the rank of each, by the side that it takes.
  void add_left(std::uint32_t rank) { low = std::max(low, rank); }
  void add_right(std::uint32_t rank) { high = std::min(high, rank); }

  // Missing values, which have rank 0, are no neighbours of a threshold. Where they went right, `high` is theirs, and is
  // looked for anew: the lowest rank above the cut.
  template <class Ranks>
  void leave_out_missing(const Rule& rule, const Ranks& ranks) {
    if (!rule.has_gap() || high > 0) return;
    high = std::numeric_limits<std::uint32_t>::max();
    for (const std::uint32_t rank : ranks) high = rank > rule.cut ? std::min(high, rank) : high;
  }
};

}  // namespace particletree
