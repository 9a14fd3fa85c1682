// The caller's table: how its columns are read, and the positions of its rows in the ranked one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace particletree {

// A view of a column of the caller's table.
struct Column {
  const double* first;
  std::ptrdiff_t stride;  // from one row to the next
  std::size_t n_rows;

  double operator[](std::size_t row) const { return first[static_cast<std::ptrdiff_t>(row) * stride]; }
};

// A view of the caller's table.
struct Columns {
  const double* first;
  std::ptrdiff_t row_stride, column_stride;
  std::size_t n_rows, n_columns;

  Column operator[](std::size_t f) const {
    return {first + static_cast<std::ptrdiff_t>(f) * column_stride, row_stride, n_rows};
  }
};

// The positions of the rows of the caller's table in the ranked one. Without positions the order stays the same.
struct Placement {
  static constexpr std::uint32_t left_out = std::numeric_limits<std::uint32_t>::max();

  const std::uint32_t* positions;  // one per row, or null
  std::size_t n_kept;

  // Calls visit(row, place) for each row of a range that is kept, in the order of the rows.
  template <class Visit>
  void each(std::size_t row, std::size_t end, Visit visit) const {
    if (!positions) {
      for (; row < end; ++row) visit(row, row);
    } else {
      for (; row < end; ++row) {
        if (positions[row] != left_out) visit(row, std::size_t{positions[row]});
      }
    }
  }
};

}  // namespace particletree
