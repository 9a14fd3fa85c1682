// Values to ranks: the sorted distinct values of a column, and for each row the index of its value among them.
//
// A column of small integers needs no sorting: a table marks which of them occur. A few columns are processed together,
// so that a table in C order is read one cache line at a time. Any other column is sorted by keys, unsigned integers in
// the order of the values. Up to 65,536 keys are one piece, which fits into the processor's caches; more are first
// split into such pieces at the quantiles of a sample. A piece is sorted as integers that hold the leading bits of a
// key and the index of the row in the piece, first by their two leading digits (radix sort); the few neighbours that
// these leave equal are sorted by comparison. Each rank replaces the key of its row, so that ranks are written in the
// order of the rows, not of the values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "columns.h"
#include "growing_array.h"
#include "require.h"
#include "small_integers.h"
#include "watch.h"

namespace particletree {

// Order-preserving map from doubles to unsigned integers: flip all bits of negative ones, and the sign of the others.
// Adding zero turns -0.0 into 0.0, so that the two are one value. Missing values come first.
inline std::uint64_t key_of(double value) {
  if (value != value) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

inline double value_of(std::uint64_t key) {
  return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

// Ranks the keys of a piece among themselves; its buffers are reused.
class PieceRanker {
 public:
  // Replaces each key by its rank, counted from `first_rank`, and appends the distinct values.
  void rank(std::span<std::uint64_t> keys, std::uint64_t first_rank, GrowingArray<double>& values) {
    if (keys.empty()) return;
    const std::size_t n_before = values.size();
    values.resize(n_before + keys.size());
    double* const found = values.data() + n_before;
    const bool all_alike = !plan(keys);
    if (!all_alike) {
      pack(keys);
      sort();
      if (!is_exact_ || settled_from_ > index_bits_) settle(keys);
    }
    // Without a branch, because whether a value is new is hard to predict: a value that is not new is written again.
    std::uint64_t last = keys[all_alike ? 0 : index_of(entries_[0])];
    std::size_t place = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::uint64_t& slot = keys[all_alike ? i : index_of(entries_[i])];
      place += slot != last;
      last = slot;
      found[place] = value_of(last);
      slot = first_rank + place;
    }
    values.resize(n_before + place + 1);
  }

 private:
  static constexpr int widest_digit = 12;
  static constexpr std::size_t few = 200;  // fewer are sorted by comparison

  std::size_t index_of(std::uint64_t entry) const { return entry & ((std::uint64_t{1} << index_bits_) - 1); }

  // Decides which bits of the keys an entry holds: not those that all keys have in common, nor the lowest if there is
  // no room next to the index. False if all keys are equal.
  bool plan(std::span<const std::uint64_t> keys) {
    std::uint64_t high = keys[0], differing = 0;
    low_ = keys[0];
    for (const std::uint64_t key : keys) {
      low_ = std::min(low_, key);
      high = std::max(high, key);
      differing |= key ^ keys[0];
    }
    if (differing == 0) return false;
    const int n_common = std::countr_zero(differing), width = std::bit_width((high - low_) >> n_common);
    index_bits_ = std::bit_width(keys.size() - 1);
    key_bits_ = std::min(width, 64 - index_bits_);
    n_dropped_ = n_common + width - key_bits_;
    is_exact_ = key_bits_ == width;
    return true;
  }

  void pack(std::span<const std::uint64_t> keys) {
    entries_.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) entries_[i] = (keys[i] - low_) >> n_dropped_ << index_bits_ | i;
  }

  // Sorts by the key bits in the entries, or by the leading ones of them: those from `settled_from_` on.
  void sort() {
    settled_from_ = index_bits_;
    if (entries_.size() < few) {
      std::sort(entries_.begin(), entries_.end());
      return;
    }
    const int digit = std::min<int>(widest_digit, std::bit_width(entries_.size()));
    const int n_high = std::min(key_bits_, digit), n_low = std::min(key_bits_ - n_high, digit);
    settled_from_ += key_bits_ - n_high - n_low;
    spare_.resize(entries_.size());
    if (n_low > 0) sort_by_digit(settled_from_, n_low);
    sort_by_digit(settled_from_ + n_low, n_high);
  }

  void sort_by_digit(int from, int n_bits) {
    const std::uint64_t mask = (std::uint64_t{1} << n_bits) - 1;
    std::fill_n(starts_.begin(), mask + 1, 0u);
    for (const std::uint64_t entry : entries_) ++starts_[entry >> from & mask];
    std::uint32_t start = 0;
    for (std::size_t digit = 0; digit <= mask; ++digit) start += std::exchange(starts_[digit], start);
    for (const std::uint64_t entry : entries_) spare_[starts_[entry >> from & mask]++] = entry;
    entries_.swap(spare_);
  }

  // Sorts neighbours that are equal so far by their keys.
  void settle(std::span<const std::uint64_t> keys) {
    const auto by_key = [&](std::uint64_t a, std::uint64_t b) { return keys[index_of(a)] < keys[index_of(b)]; };
    for (auto first = entries_.begin(); first != entries_.end();) {
      auto last = first + 1;
      while (last != entries_.end() && *last >> settled_from_ == *first >> settled_from_) ++last;
      if (last - first > 1 && !std::is_sorted(first, last, by_key)) std::sort(first, last, by_key);
      first = last;
    }
  }

  std::vector<std::uint64_t> entries_, spare_;  // the leading bits of a key, then the index of the key in the piece
  std::array<std::uint32_t, std::size_t{1} << widest_digit> starts_;
  std::uint64_t low_ = 0;
  int index_bits_ = 0, key_bits_ = 0, n_dropped_ = 0, settled_from_ = 0;
  bool is_exact_ = true;
};

// Ranks columns of any numbers by sorting; its buffers are reused.
class ColumnSorter {
 public:
  // Appends the distinct values.
  void collect(const Column& column, const Placement& placement, GrowingArray<double>& values, SignalWatch& watch) {
    load(column, placement);
    watch.check_interrupt(keys_.size());
    if (is_one_piece()) {
      piece_.rank(keys_, 0, values);
      return;
    }
    split();
    const std::size_t n_before = values.size();
    for (std::size_t part = 0; part < n_parts_; ++part) {
      const std::span keys(parts_.data() + starts_[part], starts_[part + 1] - starts_[part]);
      piece_.rank(keys, values.size() - n_before, values);
      watch.check_interrupt(10 * keys.size());
    }
  }

  template <class Rank>
  void write(const Column& column, const Placement& placement, Rank* ranks) {
    std::size_t i = 0;
    if (is_one_piece()) {
      placement.each(0, column.n_rows, [&](auto, std::size_t place) { ranks[place] = static_cast<Rank>(keys_[i++]); });
    } else {
      placement.each(0, column.n_rows, [&](auto, std::size_t place) {
        ranks[place] = static_cast<Rank>(parts_[starts_[part_of_[i++]]++]);
      });
    }
  }

 private:
  static constexpr std::size_t largest_piece = 65536, usual_piece = 16384, most_parts = 4096;
  static constexpr std::size_t n_samples = 16;  // for each part

  bool is_one_piece() const { return keys_.size() <= largest_piece; }

  void load(const Column& column, const Placement& placement) {
    keys_.resize(placement.n_kept);
    std::size_t i = 0;
    placement.each(0, column.n_rows, [&](std::size_t row, auto) { keys_[i++] = key_of(column[row]); });
  }

  void split() {
    const std::size_t n = keys_.size();
    n_parts_ = std::min(most_parts, std::bit_ceil(n / usual_piece));
    choose_bounds();
    part_of_.resize(n);
    starts_.assign(n_parts_ + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++starts_[part_of_[i] = part_of(keys_[i])];
    std::size_t start = 0;
    for (std::size_t& count : starts_) start += std::exchange(count, start);
    parts_.resize(n);
    auto next = starts_;
    for (std::size_t i = 0; i < n; ++i) parts_[next[part_of_[i]]++] = keys_[i];
  }

  // The quantiles of a sample. A key that occurs twice is so frequent that it becomes a separate part.
  void choose_bounds() {
    std::vector<std::uint64_t> sample(n_samples * n_parts_);
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = keys_[any_below(keys_.size(), i)];
    std::sort(sample.begin(), sample.end());
    bounds_.clear();
    for (std::size_t i = n_samples; i < sample.size(); i += n_samples) {
      const std::uint64_t bound = sample[i] + (sample[i] == sample[i - n_samples]);
      if (bounds_.empty() || bound > bounds_.back()) bounds_.push_back(bound);
    }
    bounds_.resize(n_parts_ - 1, std::numeric_limits<std::uint64_t>::max());
  }

  // Pseudorandom, so that a pattern in the order of the rows does not bias the sample; n has at most 32 bits.
  static std::size_t any_below(std::size_t n, std::uint64_t i) {
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::size_t>((x >> 32) * n >> 32);
  }

  // The number of bounds that are at most the key: a branch-free search, because the result is hard to predict.
  std::uint16_t part_of(std::uint64_t key) const {
    std::size_t part = 0;
    for (std::size_t step = n_parts_ / 2; step > 0; step /= 2) part += bounds_[part + step - 1] <= key ? step : 0;
    return static_cast<std::uint16_t>(part);
  }

  PieceRanker piece_;
  std::vector<std::uint64_t> keys_;   // of the rows that are kept, and then their ranks if there is one piece
  std::vector<std::uint64_t> parts_;  // the keys part by part, and then their ranks
  std::vector<std::uint16_t> part_of_;
  std::vector<std::uint64_t> bounds_;  // between the parts
  std::vector<std::size_t> starts_;    // of the parts, and one more; modified while the ranks are written
  std::size_t n_parts_ = 0;
};

// The ranks of all columns, in the smallest sufficient type, and their distinct values. `watch` checks for Ctrl-C.
class RankedTable {
 public:
  // A categorical column holds the numbers of its levels, which are its ranks; the number after the last is missing.
  // Any other number in it is refused.
  RankedTable(const Columns& columns, const Placement& placement, std::span<const std::uint32_t> n_levels,
              SignalWatch& watch)
      : columns_(columns), placement_(placement), n_levels_(n_levels), is_written_(columns.n_columns, false) {
    bytes_.resize(columns.n_columns * placement.n_kept);
    for (std::size_t f = 0; f < columns.n_columns; f += n_together) {
      rank(f, std::min(columns.n_columns, f + n_together), watch);
    }
  }

  std::size_t width() const { return width_; }  // bytes of a rank
  std::uint8_t* release_ranks() { return bytes_.release(); }

  GrowingArray<double> values;  // of all columns, one after the other
  std::vector<std::int64_t> offsets{0};

 private:
  static constexpr std::size_t n_together = 8;     // columns: a cache line of a table in C order
  static constexpr std::size_t n_at_a_time = 256;  // rows; other numbers are nearly always found in the first batch

  void rank(std::size_t first, std::size_t last, SignalWatch& watch) {
    rank_integers(first, last, watch);
    for (std::size_t f = first; f < last; ++f) {
      const std::size_t n_before = values.size();
      if (is_categorical(f)) {
        for (std::uint32_t level = 0; level <= n_levels_[f]; ++level) values.push_back(level);
        widen_for(std::size_t{n_levels_[f]} + 1);
        with_ranks([&](auto* ranks) { write_levels(columns_[f], n_levels_[f], ranks + f * placement_.n_kept); });
        is_written_[f] = true;
      } else if (integers_[f - first].is_suitable()) {
        integers_[f - first].append_to(values);
      } else {
        sorter_.collect(columns_[f], placement_, values, watch);
        widen_for(values.size() - n_before);
        with_ranks([&](auto* ranks) { sorter_.write(columns_[f], placement_, ranks + f * placement_.n_kept); });
        is_written_[f] = true;
      }
      offsets.push_back(static_cast<std::int64_t>(values.size()));
    }
  }

  bool is_categorical(std::size_t f) const { return !n_levels_.empty() && n_levels_[f] > 0; }

  template <class Rank>
  void write_levels(const Column& column, std::uint32_t n_levels, Rank* ranks) const {
    placement_.each(0, column.n_rows, [&](std::size_t row, std::size_t place) {
      const double level = column[row];  // read once, because another thread may change it after the check
      require(level >= 0 && level <= n_levels && level == std::floor(level), "a level is out of range");
      ranks[place] = static_cast<Rank>(level);
    });
  }

  void rank_integers(std::size_t first, std::size_t last, SignalWatch& watch) {
    for (SmallIntegers& column : integers_) column.start();
    in_stretches(watch, [&](std::size_t row, std::size_t end) {
      for (std::size_t f = first; f < last; ++f) integers_[f - first].scan(columns_[f], placement_, row, end);
    });
    for (std::size_t f = first; f < last; ++f) {
      if (integers_[f - first].is_suitable()) widen_for(integers_[f - first].number());
    }
    with_ranks([&](auto* ranks) {
      in_stretches(watch, [&](std::size_t row, std::size_t end) {
        for (std::size_t f = first; f < last; ++f) {
          if (!integers_[f - first].is_suitable()) continue;
          integers_[f - first].write(columns_[f], placement_, row, end, ranks + f * placement_.n_kept);
        }
      });
    });
    for (std::size_t f = first; f < last; ++f) is_written_[f] = integers_[f - first].is_suitable();
  }

  template <class Work>
  void in_stretches(SignalWatch& watch, Work work) const {
    for (std::size_t row = 0; row < columns_.n_rows; row += n_at_a_time) {
      work(row, std::min(columns_.n_rows, row + n_at_a_time));
      watch.check_interrupt(n_at_a_time);
    }
  }

  template <class Use>
  void with_ranks(Use use) {
    if (width_ == 1) use(bytes_.data());
    if (width_ == 2) use(reinterpret_cast<std::uint16_t*>(bytes_.data()));
    if (width_ == 4) use(reinterpret_cast<std::uint32_t*>(bytes_.data()));
  }

  void widen_for(std::size_t n_distinct) {
    if (width_ == 1 && n_distinct > 256) widen<std::uint8_t, std::uint16_t>();
    if (width_ == 2 && n_distinct > 65536) widen<std::uint16_t, std::uint32_t>();
  }

  // In place, from the end.
  template <class Narrow, class Wide>
  void widen() {
    width_ = sizeof(Wide);
    bytes_.resize(columns_.n_columns * placement_.n_kept * width_);
    for (std::size_t f = columns_.n_columns; f-- > 0;) {
      if (!is_written_[f]) continue;
      for (std::size_t i = (f + 1) * placement_.n_kept; i-- > f * placement_.n_kept;) {
        Narrow narrow;
        std::memcpy(&narrow, bytes_.data() + i * sizeof(Narrow), sizeof(Narrow));
        const Wide wide = narrow;
        std::memcpy(bytes_.data() + i * sizeof(Wide), &wide, sizeof(Wide));
      }
    }
  }

  Columns columns_;
  Placement placement_;
  std::span<const std::uint32_t> n_levels_;
  std::array<SmallIntegers, n_together> integers_;
  ColumnSorter sorter_;
  GrowingArray<std::uint8_t> bytes_;
  std::vector<bool> is_written_;
  std::size_t width_ = 1;
};

}  // namespace particletree
