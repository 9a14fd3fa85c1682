// The training table as ranks: what every pass over the data reads.
//
// A feature's values are replaced once by their ranks among its distinct values (16 bits where that holds them). A cut
// compares ranks, small integers, and nothing is lost: thresholds are drawn in real units between the distinct values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace particletree {

template <class RankType>
struct Table {
  using Rank = RankType;

  const Rank* ranks;  // feature by feature: ranks[feature * n_rows + row]
  std::size_t n_rows;
  std::size_t n_features;
  const double* values;         // the sorted distinct values of all features
  const std::int64_t* offsets;  // where each feature's values start

  const Rank* column(std::size_t feature) const { return ranks + feature * n_rows; }
  double value(std::size_t feature, std::size_t rank) const {
    return values[offsets[feature] + static_cast<std::int64_t>(rank)];
  }

  // The largest rank whose value is <= threshold: rows up to it go left. The threshold must not lie below all values.
  std::uint32_t rank_at_or_below(std::size_t feature, double threshold) const {
    const double* first = values + offsets[feature];
    const double* last = values + offsets[feature + 1];
    return static_cast<std::uint32_t>(std::upper_bound(first, last, threshold) - first - 1);
  }
};

// The length of [low, high] as a share of [range_low, range_high], for lengths that may overflow a double.
inline double length_share(double low, double high, double range_low, double range_high) {
  const double range = range_high - range_low;
  if (std::isfinite(range)) return (high - low) / range;
  return (0.5 * high - 0.5 * low) / (0.5 * range_high - 0.5 * range_low);
}

inline double log_length(double low, double high) {
  const double length = high - low;
  if (std::isfinite(length)) return std::log(length);
  return std::log(0.5 * high - 0.5 * low) + std::log(2.0);
}

}  // namespace particletree
