#include "choose.h"

#include "../instruction_sets.h"

namespace particletree {

// A missing value is NaN, for which every comparison is false.
PARTICLETREE_CLONES void choose_by_cut(const double* column, double threshold, bool is_missing_left, const double* left,
                                       const double* right, std::size_t n, double* out) {
  if (is_missing_left) {
    for (std::size_t i = 0; i < n; ++i) out[i] = column[i] > threshold ? right[i] : left[i];
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = column[i] <= threshold ? left[i] : right[i];
  }
}

PARTICLETREE_CLONES void choose_by_cut(const double* column, double threshold, bool is_missing_left, double left,
                                       double right, std::size_t n, double* out) {
  if (is_missing_left) {
    for (std::size_t i = 0; i < n; ++i) out[i] = column[i] > threshold ? right : left;
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = column[i] <= threshold ? left : right;
  }
}

}  // namespace particletree
