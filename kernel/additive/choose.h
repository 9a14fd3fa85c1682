// A cut chooses for each row between the values of its two sides.
#pragma once

#include <cstddef>

namespace particletree {

void choose_by_cut(const double* column, double threshold, bool is_missing_left, const double* left,
                   const double* right, std::size_t n, double* out);

// The same where each side has one value for all rows.
void choose_by_cut(const double* column, double threshold, bool is_missing_left, double left, double right,
                   std::size_t n, double* out);

}  // namespace particletree
