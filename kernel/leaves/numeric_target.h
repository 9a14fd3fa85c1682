// Common parts of the families for numbers: the order of their sums, the terms of the rows, the parameters of the
// targets, and the input checks. Targets are independent given the tree, so that their log marginals add up.
//
//   template <class Use>
//   auto with_x(const Target& target, std::span<const double> parameters, Use use) {
//     (checks)
//     const SumsLayout layout(target, sums_per_target);
//     return use_row_sums(make_terms(target, layout, ...), std::make_unique<XFamily>(layout, ...), use);
//   }
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../leaf_model.h"
#include "../require.h"
#include "row_sums.h"

namespace particletree {

// The order of the sums of a family for numbers: the number of rows, the weights if there are any, a column of the rows
// if the family sums one and it was given, and those that the family needs for each target. A column that was not given
// is 1 in each row. Sums that equal the number of rows are not stored again: the sum of the weights n without weights,
// and that of the column without it.
struct SumsLayout {
  std::size_t n_rows;
  std::size_t n_targets;
  std::size_t per_target;
  std::span<const double> column;  // whose sum is kept; may be empty
  std::size_t n;                   // the index of the sum of the weights,
  std::size_t column_sum;          // of the sum of weight * column,
  std::size_t targets;             // and of the first target's sums

  SumsLayout(const Target& target, std::size_t sums_per_target, std::span<const double> summed_column = {})
      : n_rows(target.numbers.size() / target.n_targets),
        n_targets(target.n_targets),
        per_target(sums_per_target),
        column(summed_column),
        n(target.weights.empty() ? 0 : 1),
        column_sum(column.empty() ? n : n + 1),
        targets(column_sum + 1) {}

  bool n_is_whole() const { return n == 0; }
  std::size_t n_of_targets() const { return n_targets * per_target; }
  std::size_t width() const { return std::max<std::size_t>(targets + n_of_targets(), 3); }  // at least what is unrolled
};

// The terms of all rows; describe(row, t, terms) writes those of target t, for weight 1.
template <class Describe>
RowTerms make_terms(const Target& target, const SumsLayout& layout, Describe describe) {
  RowTerms terms(layout.n_rows, layout.width());
  for (std::size_t row = 0; row < layout.n_rows; ++row) {
    double* to = terms.row(row);
    const double weight = target.weights.empty() ? 1.0 : target.weights[row];
    if (!layout.n_is_whole()) *to++ = weight;
    if (!layout.column.empty()) *to++ = weight * layout.column[row];
    for (std::size_t t = 0; t < layout.n_targets; ++t, to += layout.per_target) {
      describe(row, t, to);
      for (std::size_t j = 0; j < layout.per_target; ++j) to[j] *= weight;
    }
  }
  return terms;
}

// The parameters of every target, and the terms that depend on n alone: the sum of their size_term(n), in a table if
// rows have no weights.
template <class Parameters>
class OfTargets {
 public:
  OfTargets(const SumsLayout& layout, std::vector<Parameters> parameters) : parameters_(std::move(parameters)) {
    if (!layout.n_is_whole()) return;
    size_terms_.resize(layout.n_rows + 1);
    for (std::size_t n = 0; n <= layout.n_rows; ++n) size_terms_[n] = compute_size_term(static_cast<double>(n));
  }

  std::size_t size() const { return parameters_.size(); }
  const Parameters& operator[](std::size_t target) const { return parameters_[target]; }
  double size_term(double n) const {
    return size_terms_.empty() ? compute_size_term(n) : size_terms_[static_cast<std::size_t>(n)];
  }

 private:
  double compute_size_term(double n) const {
    double sum = 0.0;
    for (const Parameters& of : parameters_) sum += of.size_term(n);
    return sum;
  }

  std::vector<Parameters> parameters_;
  std::vector<double> size_terms_;  // at the whole numbers
};

// log(1 + x / scale), also if the ratio or the scale itself is beyond the range of a double.
inline double log_one_plus(double x, double scale, double log_scale) {
  return x <= scale ? std::log1p(x / scale) : std::log(scale + x) - log_scale;
}

inline bool all_positive(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x > 0 && std::isfinite(x); });
}

// `declared` are the row columns that the leaf model can use.
inline void check_numbers(const Target& target, std::initializer_list<std::string_view> declared = {}) {
  require(!target.numbers.empty(), "the target must be numbers: floats of 64 bits, rows x targets");
  require(std::all_of(target.numbers.begin(), target.numbers.end(), [](double y) { return std::isfinite(y); }),
          "the target must be finite");
  require(all_positive(target.weights), "weights must be positive and finite");
  check_row_columns(target, declared);
}

}  // namespace particletree
