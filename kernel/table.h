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

// Which side of a cut a row is on, by its rank. predict.h says the same of values.
template <class Rank>
bool goes_left(Rank rank, std::uint32_t cut) {
  return rank <= cut;
}

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

// The log of the length of [low, high], also where the length itself is beyond the largest double.
inline double log_length(double low, double high) {
  const double length = high - low;
  if (std::isfinite(length)) return std::log(length);
  return std::log(0.5 * high - 0.5 * low) + std::log(2.0);
}

}  // namespace particletree
