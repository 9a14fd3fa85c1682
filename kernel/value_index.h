// An index over the distinct values of each feature, so that the rank of a threshold is found with few loads from memory.
//
// The range of a feature is divided into equal intervals, and for each of them the rank is kept at which its values start.
// A threshold then needs a bisection within one interval only. Over all values, every step would miss the cache: on a table
// of 14,000 x 20 distinct values a default fit took a quarter longer.
//
// Which interval a number lies in is computed by the same monotone function for values and thresholds, so that rounding
// cannot separate a threshold from its neighbours: values of earlier intervals are at most the threshold, and those of later
// ones above it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace particletree {

class ValueIndex {
 public:
  // The largest rank whose value is <= a threshold is at least `first`, and below `last`.
  struct Ranks {
    std::uint32_t first = 0;
    std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
  };

  // Adds the next feature, with its sorted distinct values; those before `first` are not numbers.
  void add_numbers(std::span<const double> values, std::size_t first) {
    Column column = columns_.emplace_back();
    if (values.size() < fewest_values) return;
    column.n_intervals = static_cast<std::uint32_t>(std::min(values.size() / 2, most_intervals));
    column.lowest = values[first];
    column.per_unit = column.n_intervals / (values.back() - column.lowest);
    if (!(column.per_unit > 0.0 && std::isfinite(column.per_unit))) return;  // the range is too large or too small
    column.start = starts_.size();
    for (std::size_t rank = first; rank < values.size(); ++rank) {
      const std::size_t n_started = column.start + column.interval(values[rank]) + 1;
      if (starts_.size() < n_started) starts_.resize(n_started, static_cast<std::uint32_t>(rank));
    }
    starts_.resize(column.start + column.n_intervals + 1, static_cast<std::uint32_t>(values.size()));
    columns_.back() = column;
  }

  // Adds the next feature, which has levels and no thresholds.
  void add_levels() { columns_.emplace_back(); }

  Ranks around(std::size_t feature, double threshold) const {
    const Column& column = columns_[feature];
    if (column.n_intervals == 0) return {};
    const std::uint32_t* start = &starts_[column.start + column.interval(threshold)];
    return {start[0] == 0 ? 0 : start[0] - 1, start[1]};
  }

 private:
  static constexpr std::size_t fewest_values = 256;    // fewer are in the processor's first cache
  static constexpr std::size_t most_intervals = 8192;  // which takes 32 kB per feature

  struct Column {
    double lowest = 0.0;
    double per_unit = 0.0;
    std::size_t start = 0;
    std::uint32_t n_intervals = 0;  // 0: there is no index

    std::uint32_t interval(double number) const {
      const double place = std::max((number - lowest) * per_unit, 0.0);
      return place < n_intervals ? static_cast<std::uint32_t>(place) : n_intervals - 1;
    }
  };

  std::vector<Column> columns_;
  std::vector<std::uint32_t> starts_;  // of all features: the first rank in each interval, and the number of values
};

}  // namespace particletree
