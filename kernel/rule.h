// The rule slot: which side of a split a row goes to.
//
// A rule is a cut of one feature. Rows of the training table are compared by rank, any other row by value; the two agree,
// because the threshold lies between the values of two adjacent ranks. Everything else carries rules whole: what a rule is
// made of, which side a row takes, and when two rules are the same, stands here and nowhere else.
//
// A side for missing values, or a set of categories that go left, would be further fields of RankRule and ValueRule, asked
// for in goes_left; a set of categories needs an identity of its own (below), because sets of the same size differ.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace particletree {

// A rule as the training table's rows see it.
struct RankRule {
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;  // the largest rank that goes left
  bool operator==(const RankRule&) const = default;
};

// What a rule says of a value, whichever feature's it is. Rules are the same if they are bit by bit, and have then the
// same hash.
struct ValueRule {
  double threshold = std::numeric_limits<double>::quiet_NaN();  // the largest value that goes left

  std::uint64_t hash() const { return std::bit_cast<std::uint64_t>(threshold); }
  bool operator==(const ValueRule& other) const { return hash() == other.hash(); }
};

// A rule as all rows see it.
struct Rule : RankRule, ValueRule {
  bool operator==(const Rule&) const = default;
};

// Does a row go left? Its rank is compared with the largest rank that does, or its value with the largest value.
template <class Position, class Boundary>
  requires std::is_arithmetic_v<Boundary>
constexpr bool goes_left(Position position, Boundary boundary) {
  return position <= boundary;
}

template <class Rank>
constexpr bool goes_left(Rank rank, const RankRule& rule) {
  return goes_left(rank, rule.cut);
}

inline bool goes_left(double value, const ValueRule& rule) { return goes_left(value, rule.threshold); }

// The identity of a rule among those of one block: rules with the same identity divide its rows in the same way. Cuts of
// a feature in the same gap between two values of the block are the same, whatever their rank; they leave the same number
// of rows on the left.
constexpr std::uint64_t identity(const RankRule& rule, std::uint32_t n_left) {
  return std::uint64_t{rule.feature} << 32 | n_left;
}

// The rules that divide a block in the same way: the cuts between two adjacent distinct values, by their ranks.
struct Gap {
  std::uint32_t feature = 0;
  std::uint32_t low = 0;
  std::uint32_t high = std::numeric_limits<std::uint32_t>::max();

  // Of a rule that divides some rows: told the rank of each, by the side that it takes.
  void add_left(std::uint32_t rank) { low = std::max(low, rank); }
  void add_right(std::uint32_t rank) { high = std::min(high, rank); }
};

}  // namespace particletree
