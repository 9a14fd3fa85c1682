// Counts with a Poisson distribution; targets are independent given the tree. For each target, with the exposure e of a
// row (the time or size over which it was counted; 1 if none is given)
//
//   rate ~ Gamma(shape a, rate b),   b = a / m,   y | rate ~ Poisson(rate * e).
//
// With E = sum w e, S = sum w y and h = sum w (y log e - log y!) over a block's rows,
//
//   log marginal = log Gamma(a + S) - log Gamma(a) + a log b - (a + S) log(b + E) + h
//                = log [Gamma(a + S) / (Gamma(a) a^S)] + S log m - (a + S) log(1 + E / b) + h,
//
// in which no large terms cancel for a large a. The parameters are m and a of each target in turn: the mean of the rate
// and the shape. Kept for the posterior: n = sum w, E, and S, h of each target.
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
    double log_mean = std::log(mean);
    double rate = shape / mean;
    double log_rate = std::log(shape) - log_mean;
  };

  PoissonFamily(const SumsLayout& layout, std::vector<Parameters> parameters)
      : layout_(layout), parameters_(std::move(parameters)) {}

  double log_marginal(const double* sums) const override {
    const double exposure = sums[layout_.exposure];
    const double* of_targets = sums + layout_.targets;
    double log_marginal = 0.0;
    for (std::size_t t = 0; t < parameters_.size(); ++t) {
      const Parameters& of = parameters_[t];
      const double sum = of_targets[2 * t], h = of_targets[2 * t + 1];
      log_marginal += log_rising_ratio(of.shape, sum) + sum * of.log_mean -
                      (of.shape + sum) * log_one_plus(exposure, of.rate, of.log_rate) + h;
    }
    return log_marginal;
  }

  std::size_t n_outputs() const override { return 2 + layout_.n_of_targets(); }
  void write_outputs(const double* sums, double* outputs) const override {
    outputs[0] = sums[layout_.n];
    outputs[1] = sums[layout_.exposure];
    std::copy_n(sums + layout_.targets, layout_.n_of_targets(), outputs + 2);
  }

 private:
  SumsLayout layout_;
  std::vector<Parameters> parameters_;
};

inline RowTerms make_poisson_terms(const Target& target, const SumsLayout& layout) {
  return make_terms(target, layout, [&](std::size_t row, std::size_t t, double* terms) {
    const double y = target.numbers[row * target.n_targets + t];
    const double log_exposure = target.exposure.empty() ? 0.0 : std::log(target.exposure[row]);
    terms[0] = y;
    terms[1] = y * log_exposure - log_gamma(y + 1.0);
  });
}

template <class Use>
auto with_poisson(const Target& target, std::span<const double> parameters, Use use) {
  check_numbers(target);
  require(
      std::all_of(target.numbers.begin(), target.numbers.end(), [](double y) { return y >= 0 && y == std::floor(y); }),
      "the target must be counts: whole numbers, at least 0");
  require(all_positive(target.exposure), "exposures must be positive and finite");
  require(parameters.size() == 2 * target.n_targets, "the parameters must be mean and shape of each target");
  require(all_positive(parameters), "mean and shape must be positive and finite");
  std::vector<PoissonFamily::Parameters> of_targets;
  for (std::size_t t = 0; t < target.n_targets; ++t) of_targets.push_back({parameters[2 * t], parameters[2 * t + 1]});
  const SumsLayout layout(target, 2);
  return use_row_sums(make_poisson_terms(target, layout),
                      std::make_unique<PoissonFamily>(layout, std::move(of_targets)), use);
}

}  // namespace particletree
