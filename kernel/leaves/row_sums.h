// Leaf models whose statistics are sums of a few numbers per row: the rows' *terms*, computed once per problem and
// already multiplied by the weights. The first sum is the number of rows; its term is 1 for every row and is not
// stored.
//
// The part that is specific to a distribution is its *family*, which computes a log marginal from sums in one virtual
// call. So the samplers are compiled for the two types below and not for each family (row_sums_problem.cpp): three
// sums, unrolled, for one target without weights; and any number of sums.
//
// A family named x is a header leaves/x.h with a class derived from Family and the function with_x (leaf_model.h),
// which calls use_row_sums with the rows' terms and the family. numeric_target.h has the common parts of families for
// numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// The terms of every row, row by row, except the first, which is 1.
class RowTerms {
 public:
  RowTerms(std::size_t n_rows, std::size_t width) : n_terms_(width - 1), terms_(n_rows * n_terms_, 0.0) {}

  std::size_t width() const { return n_terms_ + 1; }
  double* row(std::size_t row) { return &terms_[row * n_terms_]; }
  const double* row(std::size_t row) const { return &terms_[row * n_terms_]; }

  // No sum over rows may leave the range of a double. Written so that the condition is false for NaN.
  bool has_finite_sums() const {
    double sum = 0.0;
    for (const double term : terms_) sum += std::abs(term);
    return std::isfinite(sum);
  }

 private:
  std::size_t n_terms_;
  std::vector<double> terms_;
};

// Three sums: an observation is the two terms themselves, so that those of a block's rows can be contiguous.
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

// Any number of sums: an observation is a pointer to the row's terms.
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

  // Both sides of a cut are sums over their rows, those on the right computed before the sweep from the last row on: in
  // a difference from the block's sums, small terms would be lost to rounding.
  struct Sweep {
    const Family* family = nullptr;
    typename Of::Sums left;
    std::vector<double> rights;     // after each move
    const double* right = nullptr;  // the one after the last move
    const double* next = nullptr;

    double log_marginal() const { return family->log_marginal(left.data()) + family->log_marginal(right); }
  };

  RowSums(RowTerms terms, std::unique_ptr<const Family> family)
      : Of(terms.width()), terms_(std::move(terms)), family_(std::move(family)) {}

  RowTerms& terms() { return terms_; }  // of a target that changes: the residuals of a sum of trees

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
    sweep.next = sweep.rights.data();
  }

  void move(Sweep& sweep, const Observation& observation) const {
    add(sweep.left.data(), observation);
    sweep.right = sweep.next;
    sweep.next += width();
  }

 private:
  RowTerms terms_;
  std::unique_ptr<const Family> family_;
};

static_assert(LeafModel<RowSums<3>>);
static_assert(LeafModel<RowSums<any_width>>);

template <>
inline constexpr bool has_narrow_ranks<RowSums<any_width>> = false;

template <class Use>
auto use_row_sums(RowTerms terms, std::unique_ptr<const Family> family, Use use) {
  require(terms.has_finite_sums(), "the target is too far from what the leaf's parameters expect for sums of doubles");
  if (terms.width() == 3) return use(RowSums<3>(std::move(terms), std::move(family)));
  return use(RowSums<any_width>(std::move(terms), std::move(family)));
}

}  // namespace particletree
