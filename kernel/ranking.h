// Values to ranks: each column is sorted once, and equal values share a rank.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace particletree {

// Sorts one column after the other; its buffers are reused.
class ColumnRanker {
 public:
  explicit ColumnRanker(std::size_t n_rows) : entries_(n_rows), spare_(n_rows) {}

  // Appends the distinct values of a column to `values` and writes the rank of each row to `ranks`.
  // `stride` is the distance between consecutive rows of the column. Returns the number of distinct values.
  std::size_t rank(const double* column, std::ptrdiff_t stride, std::vector<double>& values, std::uint32_t* ranks) {
    load(column, stride);
    sort();
    std::size_t n_distinct = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (i == 0 || entries_[i].key != entries_[i - 1].key) {
        values.push_back(value_of(entries_[i].key));
        ++n_distinct;
      }
      ranks[entries_[i].row] = static_cast<std::uint32_t>(n_distinct - 1);
    }
    return n_distinct;
  }

 private:
  struct Entry {
    std::uint64_t key;
    std::uint32_t row;
  };

  // Doubles in order as unsigned integers: flip all bits of the negative ones, the sign of the others.
  // Adding zero turns -0.0 into 0.0, so that the two are one value.
  static std::uint64_t key_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
  }

  static double value_of(std::uint64_t key) {
    return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
  }

  void load(const double* column, std::ptrdiff_t stride) {
    for (std::size_t row = 0; row < entries_.size(); ++row) {
      entries_[row] = {key_of(column[static_cast<std::ptrdiff_t>(row) * stride]), static_cast<std::uint32_t>(row)};
    }
  }

  void sort() {
    if (entries_.size() < 256) {
      std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    } else {
      radix_sort();
    }
  }

  // Byte by byte from the lowest; a byte that is the same in all keys (the low bytes of integers and of
  // single-precision numbers) costs nothing.
  void radix_sort() {
    std::array<std::array<std::uint32_t, 256>, 8> histograms{};
    for (const Entry& entry : entries_) {
      for (int byte = 0; byte < 8; ++byte) ++histograms[byte][entry.key >> (8 * byte) & 255];
    }
    for (int byte = 0; byte < 8; ++byte) {
      auto& histogram = histograms[byte];
      if (histogram[entries_[0].key >> (8 * byte) & 255] == entries_.size()) continue;
      std::uint32_t start = 0;
      for (auto& count : histogram) start += std::exchange(count, start);
      for (const Entry& entry : entries_) spare_[histogram[entry.key >> (8 * byte) & 255]++] = entry;
      entries_.swap(spare_);
    }
  }

  std::vector<Entry> entries_;
  std::vector<Entry> spare_;
};

}  // namespace particletree
