// Counts with a Poisson distribution; targets are independent given the tree. For each target, with the exposure e of a
// row (the time or size over which it was counted; 1 if none is given)
//
//   rate ~ Gamma(shape a, rate b),   b = a / m,   y | rate ~ Poisson(rate * e).
//
// With x = m sum w e, S = sum w y and h = sum w log Poisson(y | m e), the log probability of the counts at the prior mean,
//
//   log marginal = log Gamma(a + S) - log Gamma(a) - S log a - (a + S) log(1 + x / a) + x + h.
//
// Counts of 10^12 make each of these terms 10^13 and more, and their sum a few nats. So the logarithms are paired before
// they are computed: with D(s, r) = s log(s / r) - s + r, half the deviance of a count, and the error d of Stirling's
// formula (log_gamma.h),
//
//   log marginal = D(a + S, a + x) - log(1 + S / a) / 2 + d(a + S) - d(a) + h,
//   log Poisson(y | r) = -D(y, r) - log(2 pi y) / 2 - d(y),   -r for y = 0.
//
// What is left to cancel is the sum of D(y, m e) against D(a + S, a + x): how far the counts are from the prior mean, as
// S2 and S1^2 / (k + n) in standardised_sums.h. Rounding costs about 10^-15 times that sum. The parameters are m and a
// of each target in turn: the mean of the rate and the shape. Kept for the posterior: n = sum w, sum w e, and S, h of
// each target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../leaf_model.h"
#include "../log_gamma.h"
#include "../require.h"
#include "numeric_target.h"
#include "row_sums.h"

namespace particletree {

class PoissonFamily final : public Family {
 public:
  struct Parameters {
    double mean, shape;
    double log_shape = std::log(shape);
    double shape_error = stirling_error(shape);
  };

  PoissonFamily(const SumsLayout& layout, std::vector<Parameters> parameters)
      : layout_(layout), parameters_(std::move(parameters)) {}

  double log_marginal(const double* sums) const override {
    const double exposure = sums[layout_.column_sum];
    const double* of_targets = sums + layout_.targets;
    double log_marginal = 0.0;
    for (std::size_t t = 0; t < parameters_.size(); ++t) {
      const Parameters& of = parameters_[t];
      const double sum = of_targets[2 * t], h = of_targets[2 * t + 1];
      const double shape = of.shape + sum;
      log_marginal += half_deviance(shape, of.shape + of.mean * exposure) -
                      0.5 * log_one_plus(sum, of.shape, of.log_shape) + stirling_error(shape) - of.shape_error + h;
    }
    return log_marginal;
  }

  std::size_t n_outputs() const override { return 2 + layout_.n_of_targets(); }
  void write_outputs(const double* sums, double* outputs) const override {
    outputs[0] = sums[layout_.n];
    outputs[1] = sums[layout_.column_sum];
    std::copy_n(sums + layout_.targets, layout_.n_of_targets(), outputs + 2);
  }

 private:
  SumsLayout layout_;
  std::vector<Parameters> parameters_;
};

// The log probability of a count, for a positive mean.
inline double log_poisson(double y, double mean) {
  if (y == 0.0) return -mean;
  return -half_deviance(y, mean) - 0.5 * std::log(y) - half_log_two_pi - stirling_error(y);
}

template <class Use>
auto with_poisson(const Target& target, std::span<const double> parameters, Use use) {
  check_numbers(target, {"exposure"});
  require(
      std::all_of(target.numbers.begin(), target.numbers.end(), [](double y) { return y >= 0 && y == std::floor(y); }),
      "the target must be counts: whole numbers, at least 0");
  const std::span<const double> exposure = target.row_column("exposure");
  require(all_positive(exposure), "exposures must be positive and finite");
  require(parameters.size() == 2 * target.n_targets, "the parameters must be mean and shape of each target");
  require(all_positive(parameters), "mean and shape must be positive and finite");
  std::vector<PoissonFamily::Parameters> of_targets;
  for (std::size_t t = 0; t < target.n_targets; ++t) of_targets.push_back({parameters[2 * t], parameters[2 * t + 1]});
  const SumsLayout layout(target, 2, exposure);
  RowTerms terms = make_terms(target, layout, [&](std::size_t row, std::size_t t, double* of_target) {
    const double y = target.numbers[row * target.n_targets + t];
    of_target[0] = y;
    of_target[1] = log_poisson(y, of_targets[t].mean * (exposure.empty() ? 1.0 : exposure[row]));
  });
  return use_row_sums(std::move(terms), std::make_unique<PoissonFamily>(layout, std::move(of_targets)), use);
}

}  // namespace particletree
