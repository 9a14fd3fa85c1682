// The rule slot: which side of a split a row goes to.
//
// A rule is a cut of one feature. Rows of the training table are compared by rank, any other row by value; the two agree,
// because the threshold lies between the values of two adjacent ranks. The comparison stands here and nowhere else.
//
// A side for missing values, or a set of categories that go left, would be further fields of RankRule, asked for in
// goes_left; a set of categories needs an identity of its own (below), because sets of the same size differ.
#pragma once

#include <cstdint>
#include <type_traits>

namespace particletree {

// A rule as the training table's rows see it.
struct RankRule {
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;  // the largest rank that goes left
  bool operator==(const RankRule&) const = default;
};

// A rule as any row sees it.
struct Rule : RankRule {
  double threshold = 0.0;  // the largest value that goes left
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

// The identity of a rule among those of one block: rules with the same identity divide its rows in the same way. Cuts of
// a feature in the same gap between two values of the block are the same, whatever their rank; they leave the same number
// of rows on the left.
constexpr std::uint64_t identity(const RankRule& rule, std::uint32_t n_left) {
  return std::uint64_t{rule.feature} << 32 | n_left;
}

}  // namespace particletree
