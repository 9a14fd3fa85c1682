// Columns of small integers, which are ranked without sorting.
//
// Each number is read three times, and the caller's other threads may change it meanwhile, because the GIL is released.
// So every later reading is checked before it is used as an index.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "columns.h"
#include "growing_array.h"
#include "require.h"

namespace particletree {

// A column of integers between -4,095 and 4,095, with a table of those that occur.
class SmallIntegers {
 public:
  SmallIntegers() : ranks_(2 * size + 1, absent) {}

  bool is_suitable() const { return is_suitable_; }

  void start() {
    if (low_ <= high_) std::fill(&rank_of(low_), &rank_of(high_) + 1, absent);
    low_ = size;
    high_ = -size;
    is_suitable_ = true;
  }

  // Scans a range of rows, unless the column is already known to hold other numbers.
  void scan(const Column& column, const Placement& placement, std::size_t row, std::size_t end) {
    is_suitable_ = is_suitable_ && are_whole(column, row, end);
    if (is_suitable_) placement.each(row, end, [&](std::size_t i, std::size_t) { rank_of(read_again(column[i])) = 0; });
  }

  // Ranks the numbers that occur, and returns how many there are.
  std::size_t number() {
    std::uint16_t n_distinct = 0;
    for (std::int32_t number = low_; number <= high_; ++number) {
      if (rank_of(number) != absent) rank_of(number) = n_distinct++;
    }
    return n_distinct;
  }

  void append_to(GrowingArray<double>& values) {
    for (std::int32_t number = low_; number <= high_; ++number) {
      if (rank_of(number) != absent) values.push_back(number);
    }
  }

  template <class Rank>
  void write(const Column& column, const Placement& placement, std::size_t row, std::size_t end, Rank* ranks) {
    placement.each(row, end, [&](std::size_t i, std::size_t place) {
      const std::uint16_t rank = rank_of(read_again(column[i]));
      require(rank != absent, changed);
      ranks[place] = static_cast<Rank>(rank);
    });
  }

 private:
  static constexpr std::int32_t size = 4096;                                          // all numbers are smaller
  static constexpr std::uint16_t absent = std::numeric_limits<std::uint16_t>::max();  // larger than every rank

  static constexpr const char* changed =
      "X changed while it was read: another thread writes to it. Fit a copy, or wait until the other thread is done";

  std::uint16_t& rank_of(std::int32_t number) { return ranks_[static_cast<std::size_t>(number + size)]; }

  std::int32_t read_again(double value) const {
    require(low_ <= value && value <= high_, changed);  // false for NaN
    return static_cast<std::int32_t>(value);
  }

  // Whether all values are small integers; if so, also widens the range.
  bool are_whole(const Column& column, std::size_t row, std::size_t end) {
    std::int32_t low = low_, high = high_;
    bool all_whole = true;
    for (; row < end; ++row) {
      const double value = column[row];
      const auto number = static_cast<std::int32_t>(std::abs(value) < size ? value : 0.5);  // 0.5 is not whole
      all_whole &= number == value;
      low = std::min(low, number);
      high = std::max(high, number);
    }
    if (!all_whole) return false;
    low_ = low;
    high_ = high;
    return true;
  }

  std::vector<std::uint16_t> ranks_;        // of the numbers from -size to size
  std::int32_t low_ = size, high_ = -size;  // the smallest and the largest number so far
  bool is_suitable_ = false;
};

}  // namespace particletree
