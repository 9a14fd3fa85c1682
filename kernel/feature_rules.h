// The rules of one feature in a block: how one is drawn, and its density among them. The same in Python is
// reference/rules.py; _model/prior.py has the formulas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "random.h"
#include "rule.h"
#include "table.h"
#include "tree_prior.h"

namespace particletree {

inline constexpr double largest_number = std::numeric_limits<double>::max();

// The first rank that a cut sends left: that of missing values is excluded if they go right.
template <class Table>
std::uint32_t first_rank_left(const Table& table, std::uint32_t feature, RuleKind kind) {
  return kind == RuleKind::cut_missing_left ? 0 : table.first_present(feature);
}

// The rule "is present".
template <class Table>
Rule presence_rule(const Table& table, std::uint32_t feature) {
  return {{feature, 1, table.last_rank(feature)},
          {std::numeric_limits<double>::infinity(), RuleKind::cut_missing_right}};
}

// The threshold at a place of the unit scale, moved into [low, high) if rounding has put it elsewhere.
template <class Table>
double threshold_at_unit(const Table& table, std::uint32_t feature, double unit, double low, double high) {
  const double threshold = table.measure->scales[feature].from_unit(unit);
  return std::max(threshold < high ? threshold : std::nextafter(high, low), low);
}

// The interval of a class of cuts on the unit scale.
template <class Table>
std::pair<double, double> units_of(const RuleClass& cuts, const Table& table) {
  return {cuts.kind == RuleClass::Kind::cut_below ? 0.0 : table.place(cuts.feature, cuts.low),
          cuts.kind == RuleClass::Kind::cut_above ? 1.0 : table.place(cuts.feature, cuts.high)};
}

template <class Table>
PARTICLETREE_RARE double draw_threshold_by_measure(const RuleClass& cuts, const Table& table, Random& random) {
  const auto [from, to] = units_of(cuts, table);
  const double low = cuts.kind == RuleClass::Kind::cut_below ? -largest_number : table.value(cuts.feature, cuts.low);
  const double high = cuts.kind == RuleClass::Kind::cut_above ? largest_number : table.value(cuts.feature, cuts.high);
  return threshold_at_unit(table, cuts.feature, random.between(from, to), low, high);
}

// A cut of a class, drawn from the prior.
template <class Table>
Rule draw_cut(const RuleClass& cuts, const Table& table, Random& random) {
  const double threshold =
      table.measure ? draw_threshold_by_measure(cuts, table, random)
                    : random.between(table.value(cuts.feature, cuts.low), table.value(cuts.feature, cuts.high));
  const RuleKind kind = table.is_plain(cuts.feature) ? RuleKind::cut_missing_right : cuts.kind_of_cut(threshold);
  return {{cuts.feature, first_rank_left(table, cuts.feature, kind), cuts.low}, {threshold, kind}};
}

// The log of the length of a class of cuts: its prior probability is this length times the density of any of them.
template <class Table>
double log_volume(const RuleClass& cuts, const Table& table) {
  return log_length(table.place(cuts.feature, cuts.low), table.place(cuts.feature, cuts.high));
}

// The rules of one feature that varies in a block: how one is drawn, and its density among them.
//
//   numbers, none missing      a cut, uniform over the range. The side of a later missing value is a coin flip
//   numbers, some missing      with probability 1/3 each: a cut with the missing rows on the left, one with them on the
//                              right, and missing or not; always the last if the numbers do not vary
//   levels                     every level that the block has, missing included, left or right: uniform over the
//                              2^k - 2 ways that leave no side empty. The side of each other level is a coin flip
//
// With a measure the rules are its questions that separate the block: cuts are uniform on the unit scale, and if values
// are missing in the block there are three kinds of rules in proportion to their masses, where u goes over the numbers
// of the block: cuts below max u with the missing rows on the left, (1 - rho)/2 max u; cuts from min u on with them on
// the right, (1 - rho)/2 (1 - min u); and missing or not, rho. So a cut beyond the numbers of the block divides missing
// from present.
//
// Coin flips for values that the block does not have are part of a rule, but no row of the block depends on them: the
// density is that of the rule without them, and `log_coins` is their log probability. The coin of a column without
// missing values in the training data is that of the threshold (`coin_of`), which nothing needs before the node is
// written.
template <class Table>
class FeatureRules {
 public:
  FeatureRules(const Table& table, std::uint32_t feature, const Extent& extent)
      : table_(table),
        feature_(feature),
        extent_(extent),
        is_categorical_(table.is_categorical(feature)),
        is_plain_(table.is_plain(feature)),
        log_range_(is_categorical_ || !extent.varies()
                       ? 0.0
                       : log_length(table.place(feature, extent.low), table.place(feature, extent.high))) {}

  std::uint32_t feature() const { return feature_; }
  const Extent& extent() const { return extent_; }
  bool is_categorical() const { return is_categorical_; }

  Rule draw(Random& random) const { return at(random.uniform(), random); }

  // The rule at a place in [0, 1), an inverse transform of the prior: the cut with this share of the range on its left.
  // What the place does not determine (coin flips, and the sides of very many levels) is drawn.
  Rule at(double place, Random& random) const {
    return is_plain_ ? cut_at(place, RuleKind::cut_missing_right) : other_at(place, random);
  }

  // A place for which `at` gives a rule that divides the block like this one, drawn among all such places.
  double place_of(const Rule& rule, Random& random) const {
    if (rule.is_set()) return place_of_set(rule, random);
    if (table_.measure) return place_by_measure(rule, random);
    if (rule.is_presence()) return extent_.varies() ? (2.0 + random.uniform()) / 3.0 : random.uniform();
    const double share = (0.5 * rule.threshold() - 0.5 * lowest()) / (0.5 * highest() - 0.5 * lowest());
    const double place = std::clamp(share, 0.0, last_place);
    return !extent_.has_missing ? place : (place + (rule.kind() == RuleKind::cut_missing_left ? 0.0 : 1.0)) / 3.0;
  }

  // The rule with the given effect on values, if it is one of these.
  std::optional<Rule> with(const ValueRule& rule) const {
    if (rule.is_set() != is_categorical_ || (rule.is_set() && rule.kind() != kind_of_sets())) return std::nullopt;
    if (!rule.has_gap()) {
      const Rule found = rule.is_set() ? Rule{{.feature = feature_}, rule} : presence_rule(table_, feature_);
      return contains(found) ? std::optional(found) : std::nullopt;
    }
    if (has_cuts_beyond()) {
      const bool is_left = rule.kind() == RuleKind::cut_missing_left;
      if (!(is_left ? rule.threshold() < highest() : rule.threshold() >= lowest())) return std::nullopt;
      return cut_anywhere(rule.threshold(), rule.kind());
    }
    if (!(lowest() <= rule.threshold() && rule.threshold() < highest())) return std::nullopt;
    return cut(rule.threshold(), is_plain_ ? RuleKind::cut_missing_right : rule.kind());
  }

  // Whether a rule is one of these; any other has prior density zero.
  bool contains(const Rule& rule) const {
    if (rule.is_set()) return has_both_sides(rule);
    if (rule.is_presence()) return extent_.has_missing && extent_.any_present();
    if (has_cuts_beyond()) {
      return rule.kind() == RuleKind::cut_missing_left ? rule.cut < extent_.high : rule.cut >= extent_.low;
    }
    return extent_.has_inside(rule);
  }

  double log_density(const Rule& rule) const { return is_plain_ ? -log_range_ : other_log_density(rule); }

  // The log density of a cut between numbers of the block, given the side of missing values.
  double log_density_of_threshold() const { return -log_range_; }

  // The log probability of the coin flips of a rule, for values that occur in training rows outside the block.
  double log_coins() const {
    if (is_categorical_) {
      return -std::log(2.0) * (table_.n_levels_of(feature_) + 1.0 - static_cast<double>(extent_.levels.size()));
    }
    return table_.first_present(feature_) == 1 && !extent_.has_missing ? -std::log(2.0) : 0.0;
  }

  // The set of a word.
  Rule set(std::uint64_t word) const { return {{.feature = feature_}, ValueRule::set_of_levels(word, is_scattered())}; }

  // A set with given sides of the block's levels, at most 64 (bit i for the i-th). If a hash derives the sides, words
  // are drawn until one has these sides, which is fast for few levels.
  Rule set_with(std::uint64_t left, Random& random) const {
    std::uint64_t word = random.word();
    if (is_scattered()) {
      while (!has_sides(word, left)) word = random.word();
      return set(word);
    }
    for (std::size_t i = 0; i < extent_.levels.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << extent_.levels[i];
      word = left >> i & 1 ? word | bit : word & ~bit;
    }
    return set(word);
  }

 private:
  static constexpr std::size_t most_levels_by_place = 52;  // a place has no more bits
  static constexpr double last_place = 1.0 - 0x1p-53;

  // Whether cuts beyond the block's numbers divide it: the missing rows from the others.
  bool has_cuts_beyond() const { return table_.measure && extent_.has_missing && extent_.any_present(); }

  // The masses of the three kinds of rules, if values are missing in the block.
  double mass_of_left_cuts() const { return mass_of_units() * highest_unit(); }
  double mass_of_right_cuts() const { return mass_of_units() * (1.0 - lowest_unit()); }
  double mass_of_presence() const { return table_.measure->rho; }
  double mass_of_units() const { return 0.5 * (1.0 - table_.measure->rho); }
  double mass_with_missing() const { return mass_of_left_cuts() + mass_of_right_cuts() + mass_of_presence(); }

  PARTICLETREE_RARE Rule at_by_measure(double place) const {
    const double point = place * mass_with_missing(), beyond_left = point - mass_of_left_cuts();
    if (beyond_left < 0.0) {
      const double unit = point / mass_of_units();
      return cut_anywhere(threshold_at_unit(table_, feature_, unit, -largest_number, highest()),
                          RuleKind::cut_missing_left);
    }
    if (beyond_left < mass_of_right_cuts()) {
      const double unit = std::min(lowest_unit() + beyond_left / mass_of_units(), last_place);
      return cut_anywhere(threshold_at_unit(table_, feature_, unit, lowest(), largest_number),
                          RuleKind::cut_missing_right);
    }
    return presence_rule(table_, feature_);
  }

  PARTICLETREE_RARE double place_by_measure(const Rule& rule, Random& random) const {
    const double unit = rule.is_presence() ? 0.0 : table_.measure->scales[feature_].to_unit(rule.threshold());
    if (!extent_.has_missing) {
      return std::clamp((unit - lowest_unit()) / (highest_unit() - lowest_unit()), 0.0, last_place);
    }
    double point;
    if (rule.is_presence()) {
      point = mass_of_left_cuts() + mass_of_right_cuts() + random.uniform() * mass_of_presence();
    } else if (rule.kind() == RuleKind::cut_missing_left) {
      point = mass_of_units() * std::min(unit, highest_unit());
    } else {
      point = mass_of_left_cuts() + mass_of_units() * std::max(unit - lowest_unit(), 0.0);
    }
    return std::min(point / mass_with_missing(), last_place);
  }

  // Of a column that is not numbers alone.
  PARTICLETREE_RARE double other_log_density(const Rule& rule) const {
    if (is_categorical_) {
      const auto k = static_cast<double>(extent_.levels.size());
      return -k * std::log(2.0) - std::log1p(-std::exp2(1.0 - k));
    }
    if (!extent_.has_missing) return -log_range_;
    if (table_.measure) {
      return std::log((rule.is_presence() ? mass_of_presence() : mass_of_units()) / mass_with_missing());
    }
    if (!extent_.varies()) return 0.0;
    return -std::log(3.0) - (rule.is_presence() ? 0.0 : log_range_);
  }

  PARTICLETREE_RARE Rule other_at(double place, Random& random) const {
    if (is_categorical_) return set_at(place, random);
    if (!extent_.has_missing) return cut_at(place);
    if (table_.measure) return at_by_measure(place);
    if (!extent_.varies()) return presence_rule(table_, feature_);
    const double part = 3.0 * place;
    if (part >= 2.0) return presence_rule(table_, feature_);
    return part < 1.0 ? cut_at(part, RuleKind::cut_missing_left) : cut_at(part - 1.0, RuleKind::cut_missing_right);
  }

  double lowest() const { return table_.value(feature_, extent_.low); }
  double highest() const { return table_.value(feature_, extent_.high); }
  double lowest_unit() const { return table_.place(feature_, extent_.low); }
  double highest_unit() const { return table_.place(feature_, extent_.high); }

  double threshold_at(double place) const {
    if (!table_.measure) return Random::point_at(place, lowest(), highest());
    const double unit = Random::point_at(place, lowest_unit(), highest_unit());
    return threshold_at_unit(table_, feature_, unit, lowest(), highest());
  }

  Rule cut_at(double place) const {
    const double threshold = threshold_at(place);
    return cut(threshold, coin_of(threshold));
  }
  Rule cut_at(double place, RuleKind kind) const { return cut(threshold_at(place), kind); }

  Rule cut(double threshold, RuleKind kind) const {
    const std::uint32_t rank = table_.rank_at_or_below(feature_, threshold, extent_.low, extent_.high);
    return {{feature_, first_rank_left(table_, feature_, kind), rank}, {threshold, kind}};
  }

  // A cut that may lie beyond the numbers of the block, in a column with missing values.
  Rule cut_anywhere(double threshold, RuleKind kind) const {
    const std::uint32_t first = table_.first_present(feature_), last = table_.last_rank(feature_);
    const std::uint32_t rank = threshold < table_.value(feature_, first)
                                   ? first - 1
                                   : table_.rank_at_or_below(feature_, threshold, first, last + 1);
    return {{feature_, first_rank_left(table_, feature_, kind), rank}, {threshold, kind}};
  }

  bool is_scattered() const { return table_.n_levels_of(feature_) + 2 > most_listed_levels; }
  RuleKind kind_of_sets() const { return is_scattered() ? RuleKind::scattered_levels : RuleKind::levels; }
  Rule set_at(double place, Random& random) const {
    const std::size_t k = extent_.levels.size();
    if (!is_scattered() && k <= most_levels_by_place) {
      const std::uint64_t n_ways = (std::uint64_t{1} << k) - 2;
      const auto way = static_cast<std::uint64_t>(place * static_cast<double>(n_ways));
      return set_with(1 + std::min(way, n_ways - 1), random);
    }
    Rule rule = set(random.word());
    while (!has_both_sides(rule)) rule = set(random.word());
    return rule;
  }

  PARTICLETREE_RARE double place_of_set(const Rule& rule, Random& random) const {
    const std::size_t k = extent_.levels.size();
    if (is_scattered() || k > most_levels_by_place) return random.uniform();  // the place does not determine it
    std::uint64_t left = 0;
    for (std::size_t i = 0; i < k; ++i) left |= std::uint64_t{goes_left(extent_.levels[i], rule)} << i;
    const auto n_ways = static_cast<double>((std::uint64_t{1} << k) - 2);
    return std::min((static_cast<double>(left - 1) + random.uniform()) / n_ways, last_place);
  }

  bool has_sides(std::uint64_t word, std::uint64_t left) const {
    for (std::size_t i = 0; i < extent_.levels.size(); ++i) {
      if (is_scattered_left(word, extent_.levels[i]) != (left >> i & 1)) return false;
    }
    return true;
  }

  bool has_both_sides(const Rule& rule) const {
    return with_side_of_ranks(rule, [&](auto is_left) {
      bool any_left = false, any_right = false;
      for (const std::uint32_t level : extent_.levels) (is_left(level) ? any_left : any_right) = true;
      return any_left && any_right;
    });
  }

  const Table& table_;
  std::uint32_t feature_;
  const Extent& extent_;
  bool is_categorical_;
  bool is_plain_;
  double log_range_;
};

// The mass of the questions on a feature that separate rows with this extent, without the feature's weight.
template <class Table>
double mass_of(const Table& table, std::uint32_t feature, const Extent& extent) {
  if (table.is_categorical(feature)) return mass_of_levels(extent.levels.size());
  const double range = extent.varies() ? table.place(feature, extent.high) - table.place(feature, extent.low) : 0.0;
  return mass_of_numbers(range, extent.any_present(), extent.has_missing, table.measure->rho);
}

// The features, among some, that vary in some rows; nearly always the first two rows differ. Adds the number of row
// reads to `n_visits`, if somebody counts them.
template <class Table>
std::vector<std::uint32_t> varying_among(const Table& table, std::span<const std::uint32_t> rows,
                                         const std::vector<std::uint32_t>& features, std::size_t* n_visits = nullptr) {
  std::vector<std::uint32_t> varying;
  varying.reserve(features.size());
  for (std::uint32_t f : features) {
    const auto* column = table.column(f);
    const auto first = column[rows[0]];
    const auto found = std::find_if(rows.begin(), rows.end(), [&](std::uint32_t row) { return column[row] != first; });
    if (found != rows.end()) varying.push_back(f);
    if (n_visits) *n_visits += static_cast<std::size_t>(found - rows.begin());
  }
  return varying;
}

// The features, among some, that vary in some rows, with their weights by the prior. With a measure every row is read.
template <class Table>
Varying varying_by(const TreePrior& prior, const Table& table, std::span<const std::uint32_t> rows,
                   const std::vector<std::uint32_t>& features, std::size_t* n_visits = nullptr) {
  if (!table.measure) return prior.weights().of(varying_among(table, rows, features, n_visits));
  Varying varying;
  for (const std::uint32_t feature : features) {
    const auto ranks = std::views::transform(
        rows, [column = table.column(feature)](std::uint32_t row) -> std::uint32_t { return column[row]; });
    const double mass = table.measure->weights[feature] * mass_of(table, feature, Extent::of(table, feature, ranks));
    if (n_visits) *n_visits += rows.size();
    if (mass == 0.0) continue;
    varying.features.push_back(feature);
    varying.weights.push_back(mass);
    varying.total += mass;
  }
  return varying;
}

// Whether two of the rows whose index `takes` accepts differ in one of some features. Nearly always the first two do.
template <class Table, class Takes>
bool rows_differ(const Table& table, std::span<const std::uint32_t> rows, const std::vector<std::uint32_t>& features,
                 Takes takes) {
  std::optional<std::uint32_t> first;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!takes(i)) continue;
    if (!first) {
      first = rows[i];
      continue;
    }
    for (std::uint32_t f : features) {
      if (table.column(f)[rows[i]] != table.column(f)[*first]) return true;
    }
  }
  return false;
}

}  // namespace particletree
