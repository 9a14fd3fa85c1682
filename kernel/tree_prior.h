// The prior slot: how probable a split is, which rules there are, and how probable each is (paper, section 2).
//
// A block whose rows are all identical cannot split. Another, at depth d, splits with probability
//
//   s = alpha / (1 + d)^beta;
//
// the feature is uniform over the features D that vary in the block, and the threshold uniform over the feature's range
// there. So the log density of a split by a rule is
//
//   log s - log |D| - log range    =    log_choice(d, |D|) + FeatureRules::log_density(rule),
//
// and that of the rule alone, given that the block splits, is log_rule(|D|, log density).
//
// Missing values and categories would change what varies and what is drawn, both of which are asked for here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "random.h"
#include "rule.h"
#include "table.h"

namespace particletree {

class TreePrior {
 public:
  struct AtDepth {
    double split;      // s
    double log_split;  // log s
    double log_stop;   // log(1 - s)
  };

  TreePrior(double alpha, double beta) : alpha_(alpha), beta_(beta) {}

  const AtDepth& at(std::size_t depth) {
    while (depths_.size() <= depth) {
      const double split = alpha_ / std::pow(1.0 + static_cast<double>(depths_.size()), beta_);
      depths_.push_back({split, std::log(split), std::log1p(-split)});
    }
    return depths_[depth];
  }

  // The log probability of a split of a block at a depth by one of the features that vary in it.
  double log_choice(std::size_t depth, std::size_t n_varying) {
    return at(depth).log_split - std::log(static_cast<double>(n_varying));
  }

  // The log density of a rule, given that the block splits, from that among the rules of its feature.
  static double log_rule(std::size_t n_varying, double log_density) {
    return -std::log(static_cast<double>(n_varying)) + log_density;
  }

  static std::uint32_t draw_feature(const std::vector<std::uint32_t>& varying, Random& random) {
    return varying[random.below(static_cast<std::uint32_t>(varying.size()))];
  }

 private:
  double alpha_;
  double beta_;
  std::vector<AtDepth> depths_;
};

// The rules of one feature that varies in a block: how one is drawn, and its density among them.
template <class Table>
class FeatureRules {
 public:
  FeatureRules(const Table& table, std::uint32_t feature, const RankExtent& extent)
      : table_(table), feature_(feature), extent_(extent), log_range_(log_length(lowest(), highest())) {}

  Rule draw(Random& random) const { return at(random.uniform()); }

  // The rule at a place in [0, 1), over which the prior is spread evenly: the cut with this share of the range on its left.
  Rule at(double place) const { return cut(Random::point_at(place, lowest(), highest())); }

  // The rule with a threshold, if it is one of these.
  std::optional<Rule> with(double threshold) const {
    if (!(lowest() <= threshold && threshold < highest())) return std::nullopt;
    return cut(threshold);
  }

  // Is it one of these? One that is not has prior density zero.
  bool contains(const RankRule& rule) const { return extent_.low <= rule.cut && rule.cut < extent_.high; }

  double log_density(const RankRule&) const { return -log_range_; }

 private:
  double lowest() const { return table_.value(feature_, extent_.low); }
  double highest() const { return table_.value(feature_, extent_.high); }

  Rule cut(double threshold) const {
    return {{feature_, table_.rank_at_or_below(feature_, threshold, extent_.low, extent_.high)}, {threshold}};
  }

  const Table& table_;
  std::uint32_t feature_;
  RankExtent extent_;
  double log_range_;
};

// A rule of those that divide a block in the same way, as the prior draws it.
template <class Table>
Rule draw_within(const Gap& gap, const Table& table, Random& random) {
  return {{gap.feature, gap.low},
          {random.between(table.value(gap.feature, gap.low), table.value(gap.feature, gap.high))}};
}

// The log of how many those are: their share of the prior is this times the density of any of them.
template <class Table>
double log_volume(const Gap& gap, const Table& table) {
  return log_length(table.value(gap.feature, gap.low), table.value(gap.feature, gap.high));
}

// The features, among some, that vary in some rows; nearly always the first two rows differ. Adds to `n_visits` how often
// a row was read.
template <class Table>
std::vector<std::uint32_t> varying_among(const Table& table, std::span<const std::uint32_t> rows,
                                         const std::vector<std::uint32_t>& features, std::size_t& n_visits) {
  std::vector<std::uint32_t> varying;
  varying.reserve(features.size());
  for (std::uint32_t f : features) {
    const auto* column = table.column(f);
    const auto first = column[rows[0]];
    const auto found = std::find_if(rows.begin(), rows.end(), [&](std::uint32_t row) { return column[row] != first; });
    if (found != rows.end()) varying.push_back(f);
    n_visits += static_cast<std::size_t>(found - rows.begin());
  }
  return varying;
}

// Are there two rows that differ in one of some features, among the rows whose place `takes` accepts? Nearly always the
// first two do.
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
