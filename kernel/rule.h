// The rule of a split: which side a row goes to. The same in Python is _model/rule.py.
//
// There are three kinds of rules on a feature:
//
//   cut          is the value at most a threshold? Missing values go to one side, which the kind of the rule names.
//   is present   is there a value? A cut at infinity, with the missing values on the right.
//   set          is it one of some levels? For a categorical column, with missing as a further level. The set is a
//                64-bit word: one bit per level if they suffice, otherwise a key from which a hash derives them
//                (scattered).
//
// Rules are applied to rows of the training table by rank, to any other row by value; the two agree. A column of
// numbers with missing values has rank 0 for them, and the other ranks in the order of the values; the threshold lies
// between the values of two adjacent ranks. In a categorical column rank and value are both the number of the level.
// All other code treats rules as opaque: the fields of a rule, the side of a row, and the equality of rules are defined
// only here.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "instruction_sets.h"

namespace particletree {

// The numbers are those of _model/rule.py, and of saved files.
enum class RuleKind : std::uint64_t { cut_missing_right = 0, cut_missing_left = 1, levels = 2, scattered_levels = 3 };

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

// A fair coin flip derived from a random threshold: the side of missing values if no row of the block has one. That it
// is fair is part of the prior (`FeatureRules::log_coins`); the same in Python is `coins` of _model/rule.py.
inline RuleKind coin_of(double threshold) {
  const bool is_heads = mix_bits(std::bit_cast<std::uint64_t>(threshold)) >> 63 == 1;
  return is_heads ? RuleKind::cut_missing_left : RuleKind::cut_missing_right;
}

// The part of a rule that applies to values, without the feature. Rules are equal if they are equal bit by bit, and
// then have equal hashes.
//
// A cut has a threshold and a set has a word, in the same 64 bits: in the column `threshold` of a node (_model/rule.py)
// and of saved files. Only this class knows that. The bits are stored as an integer, because a double can lose some of
// them when it is copied, if they are those of a signalling NaN.
class ValueRule {
 public:
  ValueRule() : ValueRule(std::numeric_limits<double>::quiet_NaN(), RuleKind::cut_missing_right) {}  // of a leaf

  // A cut; `kind` is the side of missing values.
  ValueRule(double threshold, RuleKind kind) : bits_(std::bit_cast<std::uint64_t>(threshold)), kind_(kind) {
    assert(!is_set());
  }

  static ValueRule set_of_levels(std::uint64_t word, bool is_scattered) {
    ValueRule rule;
    rule.bits_ = word;
    rule.kind_ = is_scattered ? RuleKind::scattered_levels : RuleKind::levels;
    return rule;
  }

  RuleKind kind() const { return kind_; }
  bool is_set() const { return kind_ >= RuleKind::levels; }
  bool is_presence() const {
    return kind_ == RuleKind::cut_missing_right && threshold() == std::numeric_limits<double>::infinity();
  }
  bool has_gap() const { return !is_set() && !is_presence(); }

  // Of a cut: the largest value that goes left.
  double threshold() const {
    assert(!is_set());
    return std::bit_cast<double>(bits_);
  }

  // Of a set: the sides of the levels.
  std::uint64_t word() const {
    assert(is_set());
    return bits_;
  }

  // A cut of a column that has no missing values in the training data: later ones go to the side of the coin.
  void flip_coin() { kind_ = coin_of(threshold()); }

  std::uint64_t hash() const { return bits_ + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(kind_); }
  bool operator==(const ValueRule&) const = default;

 private:
  std::uint64_t bits_;
  RuleKind kind_;
};
static_assert(sizeof(double) == sizeof(std::uint64_t) && std::numeric_limits<double>::is_iec559);
static_assert(sizeof(ValueRule) == 16 && std::is_standard_layout_v<ValueRule> &&
                  std::is_trivially_copyable_v<ValueRule>,
              "two columns of a node");

// The part of a rule that applies to ranks: a cut sends the ranks from `first` to `cut` left. If missing values have
// rank 0 and go right, the first rank that goes left is 1.
struct RankRule {
  std::uint32_t feature = 0;
  std::uint32_t first = 0;
  std::uint32_t cut = 0;
  bool operator==(const RankRule&) const = default;
};

// A complete rule, for ranks and for values.
struct Rule : RankRule, ValueRule {
  bool operator==(const Rule&) const = default;
};

// Calls use(goes_left) with the function that tells whether a row of some rank goes left, so that the kind of rule is
// tested once for many rows. Tables of numbers without missing values have only plain cuts; the code for other rules is
// kept separate from theirs.
template <class Use>
PARTICLETREE_RARE decltype(auto) with_other_side_of_ranks(const Rule& rule, Use use) {
  const RuleKind kind = rule.kind();
  if (kind == RuleKind::levels) {
    return use([word = rule.word()](std::uint32_t rank) { return is_listed_left(word, rank); });
  }
  if (kind == RuleKind::scattered_levels) {
    return use([word = rule.word()](std::uint32_t rank) { return is_scattered_left(word, rank); });
  }
  return use([first = rule.first, cut = rule.cut](std::uint32_t rank) { return rank - first <= cut - first; });
}

template <class Use>
PARTICLETREE_INLINE decltype(auto) with_side_of_ranks(const Rule& rule, Use use) {
  if (rule.is_set() || rule.first > 0) return with_other_side_of_ranks(rule, use);
  return use([cut = rule.cut](std::uint32_t rank) { return rank <= cut; });
}

inline bool goes_left(std::uint32_t rank, const Rule& rule) {
  return with_side_of_ranks(rule, [rank](auto is_left) { return is_left(rank); });
}

// The same for values. A missing value of a column of numbers is NaN.
template <class Use>
decltype(auto) with_side_of_values(const ValueRule& rule, Use use) {
  const auto level = [](double value) {
    return value >= 0.0 && value < 4294967296.0 ? static_cast<std::uint32_t>(value) : 0xffffffffu;
  };
  switch (rule.kind()) {
    case RuleKind::levels:
      return use([=, word = rule.word()](double value) { return is_listed_left(word, level(value)); });
    case RuleKind::scattered_levels:
      return use([=, word = rule.word()](double value) { return is_scattered_left(word, level(value)); });
    case RuleKind::cut_missing_left:
      return use([threshold = rule.threshold()](double value) { return !(value > threshold); });
    default:
      return use([threshold = rule.threshold()](double value) { return value <= threshold; });
  }
}

inline bool goes_left(double value, const ValueRule& rule) {
  return with_side_of_values(rule, [value](auto is_left) { return is_left(value); });
}

// The rules that divide a block in the same way: the cuts between two adjacent distinct values, by their ranks; one
// set, by the sides of the levels that the block has; or the rule "is present". The rest (the threshold within the gap,
// the sides of levels that the block does not have) is drawn when a particle takes the rule.
struct RuleClass {
  // `cut_below` and `cut_above`: cuts beyond the numbers of a block, with its missing rows alone on one side.
  enum class Kind : std::uint32_t {
    cut_missing_right,
    cut_missing_left,
    cut_coin,
    cut_below,
    cut_above,
    presence,
    set
  };

  std::uint32_t feature = 0;
  Kind kind = Kind::cut_coin;  // `cut_coin`: no row of the block has a missing value
  std::uint32_t low = 0;       // of a cut: the ranks on its sides. Of a set: the halves of a word
  std::uint32_t high = 0;

  static RuleClass set_of_levels(std::uint32_t feature, std::uint64_t word) {
    return {feature, Kind::set, static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  std::uint64_t word() const {
    assert(kind == Kind::set);
    return std::uint64_t{high} << 32 | low;
  }

  // The classes of cuts of a kind, in a block that has missing values.
  static Kind of_cuts(RuleKind kind) {
    assert(kind == RuleKind::cut_missing_left || kind == RuleKind::cut_missing_right);
    return kind == RuleKind::cut_missing_left ? Kind::cut_missing_left : Kind::cut_missing_right;
  }

  // The kind of a cut of the class.
  RuleKind kind_of_cut(double threshold) const {
    switch (kind) {
      case Kind::cut_missing_right:
      case Kind::cut_above:
        return RuleKind::cut_missing_right;
      case Kind::cut_missing_left:
      case Kind::cut_below:
        return RuleKind::cut_missing_left;
      default:
        assert(kind == Kind::cut_coin);
        return coin_of(threshold);
    }
  }
};

// The ranks on the sides of a cut, in one block.
struct Gap {
  std::uint32_t low = 0;
  std::uint32_t high = std::numeric_limits<std::uint32_t>::max();

  // Called with the rank of each row that a rule divides, by the side of the row.
  void add_left(std::uint32_t rank) { low = std::max(low, rank); }
  void add_right(std::uint32_t rank) { high = std::min(high, rank); }

  // Missing values, which have rank 0, are not neighbours of a threshold. If they went right, `high` is their rank, and
  // is searched again: the lowest rank above the cut.
  template <class Ranks>
  void leave_out_missing(const Rule& rule, const Ranks& ranks) {
    if (!rule.has_gap() || high > 0) return;
    high = std::numeric_limits<std::uint32_t>::max();
    for (const std::uint32_t rank : ranks) high = rank > rule.cut ? std::min(high, rank) : high;
  }
};

}  // namespace particletree
