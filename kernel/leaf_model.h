// The interface of leaf models: statistics of a set of rows -> log marginal likelihood of their targets.
//
// The samplers are templates over any type that satisfies the concept below, and are compiled for each. Writing y(B)
// for the targets of a block's rows and t(B) for its statistics, a leaf model satisfies this contract:
//
//   - t(B) is `width()` numbers of type Statistic that add up over rows: t(A u B) = t(A) + t(B) for disjoint A and B. A
//     row is added by `add`, as the Observation that `observe` reads once per row.
//   - log_marginal(t(B)) = log of the integral of p(y(B) | theta) p(theta) over the leaf's parameter theta, and 0 if B
//     has no rows. It depends on the statistics alone.
//   - n_rows(t(B)) is the number of rows of B, whatever their weights.
//   - A sweep moves the rows of a block from the right of a cut to its left, one by one, and gives after each move
//     log_marginal(left) + log_marginal(right) in O(1). `start` may read all rows in the order in which they will move.
//   - write_outputs(t(B)) writes what the posterior keeps of a block: `n_outputs()` numbers, from which the leaf model
//     in Python computes predictions.
//   - `counts_stretches`: the statistics are the numbers of rows with each label and nothing else. Then, because the
//     rows of a table are sorted by label, they are also the lengths of ranges of a block's rows.
//
// If the statistics are sums of a few doubles per row, leaves/row_sums.h implements the contract for a family of
// distributions, and a new distribution needs only a formula.
//
// A leaf model named x is in leaves/x.h, next to a function that checks the target, makes the leaf model with the
// tables that it needs, once per problem, and calls use(leaf model):
//
//   template <class Use>
//   auto with_x(const Target& target, std::span<const double> parameters, Use use);
//
// Its name is in a list in CMakeLists.txt, LEAF_MODELS or, for a family, FAMILIES; a header outside the repository is
// given when the kernel is built (docs/extending.md). The samplers hold a reference to the leaf model of the problem,
// so it may be large; islands in several threads share it, so its methods must be const and thread-safe.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"

namespace particletree {

// What else is known of the rows: one number for each. It does not own them.
struct RowColumn {
  std::string name;
  std::span<const double> numbers;
};

// The targets of the rows: labels, one per row, or numbers; the other is empty. It does not own them.
struct Target {
  std::span<const std::int32_t> labels;
  std::span<const double> numbers;  // row by row, one per target
  std::size_t n_targets = 0;        // of numbers
  std::span<const double> weights;  // how often each row counts; empty if every row counts once
  std::vector<RowColumn> row_columns;

  // The numbers of the rows in a column; empty if it was not given.
  std::span<const double> row_column(std::string_view name) const {
    const auto found = std::ranges::find(row_columns, name, &RowColumn::name);
    return found == row_columns.end() ? std::span<const double>() : found->numbers;
  }
};

// Refuses columns other than those that a leaf model declares (declared_columns in Python).
inline void check_row_columns(const Target& target, std::initializer_list<std::string_view> declared) {
  for (const RowColumn& column : target.row_columns) {
    require(std::ranges::find(declared, column.name) != declared.end(),
            ("this leaf model has no use for the row column " + column.name).c_str());
  }
}

// The observation of the i-th row in the order of a sweep, for the concept below.
template <class Observation>
Observation observation_at(std::size_t i);

template <class L>
concept LeafModel = requires(const L leaf, typename L::Statistic* sums, const typename L::Statistic* statistics,
                             typename L::Observation observation, typename L::Sweep sweep, double* outputs) {
  { L::counts_stretches } -> std::convertible_to<bool>;
  { leaf.width() } -> std::convertible_to<std::size_t>;
  { leaf.observe(std::uint32_t{}) } -> std::same_as<typename L::Observation>;
  leaf.add(sums, observation);                                 // sums += one row
  { leaf.n_rows(statistics) } -> std::same_as<std::uint32_t>;  // how many rows the statistics hold
  { leaf.log_marginal(statistics) } -> std::same_as<double>;
  { leaf.n_outputs() } -> std::convertible_to<std::size_t>;  // what is kept of a block in the posterior
  leaf.write_outputs(statistics, outputs);
  leaf.start(sweep, statistics, std::size_t{}, observation_at<typename L::Observation>);  // all rows on the right,
  leaf.move(sweep, observation);                     // and one row after the other goes to the left, O(1)
  { sweep.log_marginal() } -> std::same_as<double>;  // of both sides together
};

// Whether the samplers are compiled for ranks of 8 bits too. If it is false, such ranks are widened to 16 bits, once
// per problem, which saves a twelfth of the build time. This is for leaf models that are seldom used and whose own
// arithmetic takes longer than reading ranks.
template <LeafModel Leaf>
inline constexpr bool has_narrow_ranks = true;

}  // namespace particletree
