// The training table as ranks, which every pass over the data reads.
//
// A feature's values are replaced once by their ranks among its distinct values (8 or 16 bits if they suffice). A cut
// compares ranks, small integers, and nothing is lost: thresholds are drawn in the original units between distinct
// values.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "instruction_sets.h"
#include "measure.h"
#include "rule.h"
#include "value_index.h"

namespace particletree {

template <class RankType>
struct Table {
  using Rank = RankType;

  const Rank* ranks;  // feature by feature: ranks[feature * n_rows + row]
  std::size_t n_rows;
  std::size_t n_features;
  const double* values;                     // the sorted distinct values of all features
  const std::int64_t* offsets;              // the start of each feature's values
  const ValueIndex* index;                  // of these values
  std::uint32_t most_identical = 0;         // an upper bound on the number of identical rows
  const std::uint32_t* n_levels = nullptr;  // of each feature, 0 if it is a number; null if all are
  bool has_plain_columns_only = true;       // all are numbers, none of them missing
  const Measure* measure = nullptr;         // from which rules are drawn; null: cuts are uniform over the values
  const double* places = nullptr;           // of the values on the scale on which cuts are uniform: the unit scale
                                            // of the measure, or the values themselves

  std::size_t n_bytes() const {
    return n_rows * (n_features * sizeof(Rank) + sizeof(std::int32_t)) +
           static_cast<std::size_t>(offsets[n_features]) * sizeof(double);
  }
  const Rank* column(std::size_t feature) const { return ranks + feature * n_rows; }
  double value(std::size_t feature, std::size_t rank) const {
    return values[offsets[feature] + static_cast<std::int64_t>(rank)];
  }

  double place(std::size_t feature, std::size_t rank) const {
    return places[offsets[feature] + static_cast<std::int64_t>(rank)];
  }

  // A categorical column of L levels has the ranks 0 to L - 1 for them, and L for missing values.
  std::uint32_t n_levels_of(std::size_t feature) const { return n_levels ? n_levels[feature] : 0; }
  bool is_categorical(std::size_t feature) const { return n_levels_of(feature) > 0; }

  // The lowest rank of a number: if a column of numbers has missing values, they have rank 0.
  std::uint32_t first_present(std::size_t feature) const {
    return !has_plain_columns_only && !is_categorical(feature) && std::isnan(value(feature, 0)) ? 1 : 0;
  }
  bool is_plain(std::size_t feature) const {
    return has_plain_columns_only || (!is_categorical(feature) && first_present(feature) == 0);
  }
  std::uint32_t last_rank(std::size_t feature) const {
    return static_cast<std::uint32_t>(offsets[feature + 1] - offsets[feature]) - 1;
  }

  // The largest rank whose value is <= threshold, so that rows up to it go left, among the ranks [first, last), where the
  // value of `first` is <= threshold. A bisection without branches that depend on the values, because they could not be
  // predicted.
  std::uint32_t rank_at_or_below(std::size_t feature, double threshold, std::uint32_t first, std::uint32_t last) const {
    const ValueIndex::Ranks near = index->around(feature, threshold);
    first = std::max(first, near.first);
    last = std::min(last, near.last);
    const double* found = values + offsets[feature] + first;
    for (std::uint32_t n = last - first; n > 1; n -= n / 2) found += found[n / 2] <= threshold ? n / 2 : 0;
    return static_cast<std::uint32_t>(found - (values + offsets[feature]));
  }
};

// The extent of one feature in some rows, on which the prior over its rules depends.
struct Extent {
  std::uint32_t low = std::numeric_limits<std::uint32_t>::max();  // of numbers: the range of their ranks,
  std::uint32_t high = 0;
  bool has_missing = false;           // and whether some are missing
  std::vector<std::uint32_t> levels;  // of a categorical column: those that occur, in order

  bool varies() const { return low < high; }  // of the numbers that are present
  bool any_present() const { return low <= high; }
  bool has_inside(const RankRule& rule) const { return low <= rule.cut && rule.cut < high; }  // a cut
  bool is_plain() const { return !has_missing && levels.empty(); }

  void add(std::uint32_t rank) {
    low = std::min(low, rank);
    high = std::max(high, rank);
  }

  template <class Table, class Ranks>
  static Extent of(const Table& table, std::size_t feature, const Ranks& ranks) {
    Extent extent;
    for (const auto rank : ranks) extent.add(rank);
    extent.complete(table, feature, ranks);
    return extent;
  }

  // Completes the extent of ranks, given that `low` and `high` are set already.
  template <class Table, class Ranks>
  void complete(const Table& table, std::size_t feature, const Ranks& ranks) {
    if (!table.has_plain_columns_only) find_others(table, feature, ranks);
  }

 private:
  template <class Table, class Ranks>
  PARTICLETREE_RARE void find_others(const Table& table, std::size_t feature, const Ranks& ranks) {
    has_missing = false;
    levels.clear();
    if (table.is_categorical(feature)) {
      std::vector<std::uint8_t> is_there(std::size_t{high} + 1, 0);
      for (const auto rank : ranks) is_there[rank] = 1;
      for (std::uint32_t level = low; level <= high; ++level) {
        if (is_there[level]) levels.push_back(level);
      }
    } else if (low < table.first_present(feature)) {
      has_missing = true;
      low = std::numeric_limits<std::uint32_t>::max();
      for (const auto rank : ranks) low = rank > 0 ? std::min<std::uint32_t>(low, rank) : low;
    }
  }
};

// An upper bound on the number of identical rows. Rows are counted by a hash, so that different rows may be counted
// together, which makes the bound a little larger.
template <class Table>
std::uint32_t bound_on_identical_rows(const Table& table) {
  std::vector<std::uint32_t> hashes(table.n_rows, 0);
  for (std::size_t f = 0; f < table.n_features; ++f) {
    const auto* column = table.column(f);
    for (std::size_t row = 0; row < table.n_rows; ++row) hashes[row] = (hashes[row] ^ column[row]) * 0x9e3779b1u;
  }
  const int n_bits = std::min(static_cast<int>(std::bit_width(table.n_rows)) + 2, 32);
  std::vector<std::uint8_t> counts(std::size_t{1} << n_bits, 0);
  std::uint8_t most = 0;
  for (const std::uint32_t hash : hashes) {
    std::uint8_t& count = counts[((hash ^ hash >> 16) * 0x85ebca6bu) >> (32 - n_bits)];
    if (++count == 255) return static_cast<std::uint32_t>(table.n_rows);
    most = std::max(most, count);
  }
  return most;
}

// The log of the length of [low, high], also if the length itself is beyond the largest double.
inline double log_length(double low, double high) {
  const double length = high - low;
  if (std::isfinite(length)) return std::log(length);
  return std::log(0.5 * high - 0.5 * low) + std::log(2.0);
}

}  // namespace particletree
