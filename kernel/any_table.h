// The training table with a width of ranks that is known only at run time, and the checks of its contents.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "require.h"
#include "table.h"
#include "value_index.h"

namespace particletree {

// Written so that the compiler vectorises it, which it does for neither std::max nor std::max_element.
template <class Rank>
Rank largest_of(const Rank* ranks, std::size_t n) {
  Rank largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = ranks[i] > largest ? ranks[i] : largest;
  return largest;
}

// Checked once, so that all indices in it are within bounds. It owns the index of values, but not the arrays.
class AnyTable {
 public:
  struct Ranks {
    const void* data;     // feature by feature
    std::size_t n_bytes;  // of one rank: 1, 2 or 4
    std::size_t n_features;
    std::size_t n_rows;
  };

  // `n_levels` has the number of levels of each feature, 0 for numbers; it is empty if all are numbers.
  AnyTable(const Ranks& ranks, std::span<const double> values, std::span<const std::int64_t> offsets,
           std::span<const std::uint32_t> n_levels = {})
      : ranks_(ranks), values_(values), offsets_(offsets), n_levels_(n_levels) {
    require(n_rows() > 0 && n_features() > 0, "there must be a row and a feature");
    require(n_rows() < std::numeric_limits<std::uint32_t>::max(), "there are too many rows for 32 bits");
    check_offsets();
    check_levels();
    check_ranks();
    count_identical_rows();
    index_ = std::make_shared<const ValueIndex>(index_values());
  }

  std::size_t n_rows() const { return ranks_.n_rows; }
  std::size_t n_features() const { return ranks_.n_features; }

  // The same table with ranks of 16 bits if it has 8; `wide` holds them and must outlive the table.
  AnyTable widened(std::vector<std::uint16_t>& wide) const {
    if (ranks_.n_bytes != 1) return *this;
    const auto* narrow = static_cast<const std::uint8_t*>(ranks_.data);
    wide.assign(narrow, narrow + n_rows() * n_features());
    AnyTable table = *this;
    table.ranks_.data = wide.data();
    table.ranks_.n_bytes = sizeof(std::uint16_t);
    return table;
  }

  // Makes the samplers compare rows before they take them for different: if a prior leaves features out, more rows may
  // be identical in the others.
  void allow_identical_rows() { most_identical_ = static_cast<std::uint32_t>(n_rows()); }

  // Rules are drawn from a measure.
  void draw_from(std::shared_ptr<const Measure> measure) {
    require(measure->weights.size() == n_features(), "the measure must have one weight per feature");
    auto units = std::make_shared<std::vector<double>>(values_.size(), 0.0);
    for (std::size_t f = 0; f < n_features(); ++f) {
      const bool is_categorical = !n_levels_.empty() && n_levels_[f] > 0;
      require(is_categorical == measure->scales[f].is_empty(), "the measure must have a unit scale for each number");
      const auto start = static_cast<std::size_t>(offsets_[f]), end = static_cast<std::size_t>(offsets_[f + 1]);
      if (is_categorical) continue;
      double last = 0.0;  // different numbers have different places, also if rounding says otherwise
      for (std::size_t i = start + (std::isnan(values_[start]) ? 1 : 0); i < end; ++i) {
        last = (*units)[i] = std::max(measure->scales[f].to_unit(values_[i]), std::nextafter(last, 1.0));
      }
    }
    measure_ = std::move(measure);
    units_ = std::move(units);
  }

  // Calls use(table) with a table of the right type. Without narrow ranks, `use` is not compiled for those of 8 bits.
  template <bool WithNarrowRanks = true, class Use>
  auto visit(Use use) const {
    if constexpr (WithNarrowRanks) {
      if (ranks_.n_bytes == 1) return use(table<std::uint8_t>());
    }
    if (ranks_.n_bytes == 2) return use(table<std::uint16_t>());
    return use(table<std::uint32_t>());
  }

 private:
  template <class Rank>
  Table<Rank> table() const {
    return {static_cast<const Rank*>(ranks_.data),
            n_rows(),
            n_features(),
            values_.data(),
            offsets_.data(),
            index_.get(),
            most_identical_,
            n_levels_.empty() ? nullptr : n_levels_.data(),
            has_plain_columns_only(),
            measure_.get(),
            measure_ ? units_->data() : values_.data()};
  }

  // Whether no column is categorical or has missing values, which come first among the values of a column of numbers.
  bool has_plain_columns_only() const {
    const auto starts = offsets_.first(n_features());
    return n_levels_.empty() && std::none_of(starts.begin(), starts.end(), [this](std::int64_t first) {
             return std::isnan(values_[static_cast<std::size_t>(first)]);
           });
  }

  void check_offsets() const {
    require(offsets_.size() == n_features() + 1, "offsets must have one entry more than there are features");
    require(offsets_[0] == 0 && offsets_[n_features()] == static_cast<std::int64_t>(values_.size()),
            "offsets must go from 0 to the number of values");
    for (std::size_t f = 0; f < n_features(); ++f) {
      require(offsets_[f] < offsets_[f + 1], "every feature must have a value");
    }
  }

  // Each level has one rank, and missing values have one.
  void check_levels() const {
    require(n_levels_.empty() || n_levels_.size() == n_features(), "there must be a number of levels for each feature");
    for (std::size_t f = 0; f < n_levels_.size(); ++f) {
      require(n_levels_[f] == 0 || offsets_[f + 1] - offsets_[f] == std::int64_t{n_levels_[f]} + 1,
              "a categorical feature must have a value for each level and one more");
    }
  }

  void check_ranks() const {
    visit([this]<class Rank>(const Table<Rank>& table) {
      for (std::size_t f = 0; f < table.n_features; ++f) {
        require(largest_of(table.column(f), table.n_rows) < offsets_[f + 1] - offsets_[f], "a rank is out of range");
      }
    });
  }

  void count_identical_rows() {
    most_identical_ = visit([](const auto& table) { return bound_on_identical_rows(table); });
  }

  ValueIndex index_values() const {
    ValueIndex index;
    for (std::size_t f = 0; f < n_features(); ++f) {
      const auto start = static_cast<std::size_t>(offsets_[f]), end = static_cast<std::size_t>(offsets_[f + 1]);
      if (!n_levels_.empty() && n_levels_[f] > 0) {
        index.add_levels();
      } else {
        index.add_numbers(values_.subspan(start, end - start), std::isnan(values_[start]) ? 1 : 0);
      }
    }
    return index;
  }

  Ranks ranks_;
  std::span<const double> values_;
  std::span<const std::int64_t> offsets_;
  std::span<const std::uint32_t> n_levels_;
  std::uint32_t most_identical_ = 0;
  std::shared_ptr<const ValueIndex> index_;  // of tables made from this one, too
  std::shared_ptr<const Measure> measure_;   // null: none
  std::shared_ptr<const std::vector<double>> units_;
};

}  // namespace particletree
