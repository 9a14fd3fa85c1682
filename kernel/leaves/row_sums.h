// Leaf models whose statistics are sums of a few numbers per row: the rows' *terms*, made once for a problem, with the
// weights already multiplied in. The first sum is the number of rows; its term is 1 for every row and is not stored.
//
// What is particular to a distribution is its *family*, which turns sums into a log marginal by one virtual call. So the
// samplers are compiled for the two types below and not for each family (row_sums_problem.cpp): three sums, unrolled, which
// one target without weights needs; and any number of them.
//
// A family named x is a header leaves/x.h with a class derived from Family and the function with_x (leaf_model.h):
//
//   template <class Use>
//   auto with_x(const Target& target, std::span<const double> parameters, Use use) {
//     const SumsLayout layout(target, ...);
//     return use_row_sums(make_terms(target, layout, ...), std::make_unique<XFamily>(layout, ...), use);
//   }
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../leaf_model.h"
#include "../require.h"

namespace particletree {

class Family {
 public:
  Family() = default;
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  virtual double log_marginal(const double* sums) const = 0;
  virtual std::size_t n_outputs() const = 0;
  virtual void write_outputs(const double* sums, double* outputs) const = 0;
};

inline constexpr std::size_t any_width = 0;

// The terms of every row, row by row. All but the first, which is 1.
class RowTerms {
 public:
  RowTerms(std::size_t n_rows, std::size_t width) : n_terms_(width - 1), terms_(n_rows * n_terms_, 0.0) {}

  std::size_t width() const { return n_terms_ + 1; }
  double* row(std::size_t row) { return &terms_[row * n_terms_]; }
  const double* row(std::size_t row) const { return &terms_[row * n_terms_]; }

  // No sum over rows may leave the range of a double. Written so that it does not hold for what is not a number.
  bool has_finite_sums() const {
    double sum = 0.0;
    for (const double term : terms_) sum += std::abs(term);
    return std::isfinite(sum);
  }

 private:
  std::size_t n_terms_;
  std::vector<double> terms_;
};

// Three sums: an observation is the two terms themselves, so that those of a block's rows can stand side by side.
template <std::size_t Width>
struct SumsOfWidth {
  using Observation = std::array<double, Width - 1>;
  using Sums = std::array<double, Width>;

  explicit SumsOfWidth(std::size_t) {}
  static constexpr std::size_t width() { return Width; }
  static Sums zeros() { return {}; }

  static Observation observe(const double* terms) {
    Observation observation;
    std::copy_n(terms, Width - 1, observation.begin());
    return observation;
  }
  static const double* terms_of(const Observation& observation) { return observation.data(); }
};

// Any number of sums: an observation is where the row's terms stand.
template <>
struct SumsOfWidth<any_width> {
  using Observation = const double*;
  using Sums = std::vector<double>;

  explicit SumsOfWidth(std::size_t width) : width_(width) {}
  std::size_t width() const { return width_; }
  Sums zeros() const { return Sums(width_, 0.0); }

  static Observation observe(const double* terms) { return terms; }
  static const double* terms_of(Observation observation) { return observation; }

 private:
  std::size_t width_;
};

template <std::size_t Width>
class RowSums : private SumsOfWidth<Width> {
  using Of = SumsOfWidth<Width>;

 public:
  using Statistic = double;
  using Observation = typename Of::Observation;
  static constexpr bool counts_stretches = false;

  // Both sides of a cut are sums over their rows, those on the right made before the sweep from the last row on: a
  // difference from the block's sums would lose small terms beside large ones.
  struct Sweep {
    const Family* family = nullptr;
    typename Of::Sums left;
    std::vector<double> rights;  // after each move
    const double* right = nullptr;

    double log_marginal() const { return family->log_marginal(left.data()) + family->log_marginal(right); }
  };

  RowSums(RowTerms terms, std::unique_ptr<const Family> family)
      : Of(terms.width()), terms_(std::move(terms)), family_(std::move(family)) {}

  using Of::width;
  std::size_t n_outputs() const { return family_->n_outputs(); }
  void write_outputs(const double* sums, double* outputs) const { family_->write_outputs(sums, outputs); }
  Observation observe(std::uint32_t row) const { return Of::observe(terms_.row(row)); }
  std::uint32_t n_rows(const double* sums) const { return static_cast<std::uint32_t>(sums[0]); }
  double log_marginal(const double* sums) const { return family_->log_marginal(sums); }

  void add(double* sums, const Observation& observation) const {
    const double* terms = Of::terms_of(observation);
    sums[0] += 1.0;
    for (std::size_t k = 1; k < width(); ++k) sums[k] += terms[k - 1];
  }

  template <class ObservationAt>
  void start(Sweep& sweep, const double*, std::size_t n, ObservationAt&& observation_at) const {
    sweep.family = family_.get();
    sweep.left = Of::zeros();
    sweep.rights.resize(n * width());
    typename Of::Sums right = Of::zeros();
    for (std::size_t i = n; i-- > 0;) {
      std::copy_n(right.begin(), width(), &sweep.rights[i * width()]);
      add(right.data(), observation_at(i));
    }
    sweep.right = sweep.rights.data() - width();
  }

  void move(Sweep& sweep, const Observation& observation) const {
    add(sweep.left.data(), observation);
    sweep.right += width();
  }

 private:
  RowTerms terms_;
  std::unique_ptr<const Family> family_;
};

static_assert(LeafModel<RowSums<3>>);
static_assert(LeafModel<RowSums<any_width>>);

template <class Use>
auto use_row_sums(RowTerms terms, std::unique_ptr<const Family> family, Use use) {
  require(terms.has_finite_sums(), "the target is too far from what the leaf's parameters expect for sums of doubles");
  if (terms.width() == 3) return use(RowSums<3>(std::move(terms), std::move(family)));
  return use(RowSums<any_width>(std::move(terms), std::move(family)));
}

// Where the sums of a family for numbers stand: the number of rows, the weights if there are any, the exposures if there
// are any, and as many as the family needs for each target. What all rows have alike is not summed again: n, the sum of
// the weights, is the number of rows where each counts once, and so is the sum of the exposures where each is 1.
struct SumsLayout {
  std::size_t n_targets;
  std::size_t per_target;
  std::size_t n;           // the place of the sum of the weights,
  std::size_t exposure;    // of the sum of weight * exposure,
  std::size_t targets;     // and of the first target's sums
  std::size_t n_in_table;  // n is a whole number up to this one; 0 where rows have weights

  SumsLayout(const Target& target, std::size_t sums_per_target)
      : n_targets(target.n_targets),
        per_target(sums_per_target),
        n(target.weights.empty() ? 0 : 1),
        exposure(target.exposure.empty() ? n : n + 1),
        targets(exposure + 1),
        n_in_table(target.weights.empty() ? target.numbers.size() / target.n_targets : 0) {}

  std::size_t n_of_targets() const { return n_targets * per_target; }
  std::size_t width() const { return std::max<std::size_t>(targets + n_of_targets(), 3); }
};

// The terms of all rows; describe(row, t, terms) writes those of target t, as if the row counted once.
template <class Describe>
RowTerms make_terms(const Target& target, const SumsLayout& layout, Describe describe) {
  const std::size_t n_rows = target.numbers.size() / target.n_targets;
  RowTerms terms(n_rows, layout.width());
  for (std::size_t row = 0; row < n_rows; ++row) {
    double* to = terms.row(row);
    const double weight = layout.n == 0 ? 1.0 : target.weights[row];
    if (layout.n > 0) *to++ = weight;
    if (layout.exposure > layout.n) *to++ = weight * target.exposure[row];
    for (std::size_t t = 0; t < layout.n_targets; ++t, to += layout.per_target) {
      describe(row, t, to);
      for (std::size_t j = 0; j < layout.per_target; ++j) to[j] *= weight;
    }
  }
  return terms;
}

// What depends on n alone, in a table where n is a whole number.
template <class Compute>
std::vector<double> tabulate(const SumsLayout& layout, Compute compute) {
  std::vector<double> table;
  if (layout.n_in_table == 0) return table;
  table.resize(layout.n_in_table + 1);
  for (std::size_t n = 0; n < table.size(); ++n) table[n] = compute(static_cast<double>(n));
  return table;
}

// log(1 + x / scale), also where the ratio or the scale itself is beyond the range of a double.
inline double log_one_plus(double x, double scale, double log_scale) {
  return x <= scale ? std::log1p(x / scale) : std::log(scale + x) - log_scale;
}

inline bool all_positive(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x > 0 && std::isfinite(x); });
}

inline void check_numbers(const Target& target) {
  require(!target.numbers.empty(), "the target must be numbers: floats of 64 bits, rows x targets");
  require(std::all_of(target.numbers.begin(), target.numbers.end(), [](double y) { return std::isfinite(y); }),
          "the target must be finite");
  require(all_positive(target.weights), "weights must be positive and finite");
}

}  // namespace particletree
