// For each row, the value of the side of a cut that the row is on.
#pragma once

#include <cstddef>

namespace particletree {

void choose_by_cut(const double* column, double threshold, bool is_missing_left, const double* left,
                   const double* right, std::size_t n, double* out);

// The same if each side has one value for all rows.
void choose_by_cut(const double* column, double threshold, bool is_missing_left, double left, double right,
                   std::size_t n, double* out);

}  // namespace particletree
