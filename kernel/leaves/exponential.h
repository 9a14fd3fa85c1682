// Times with an exponential distribution; targets are independent given the tree. For each target
//
//   rate ~ Gamma(shape a, rate b),   b = a m,   y | rate ~ Exponential(rate).
//
// With z = y / m, n = sum w and S = sum w z over a block's rows,
//
//   log marginal = log Gamma(a + n) - log Gamma(a) + a log a - (a + n) log(a + S) - n log m
//                = size_term(n) - (a + n) log(1 + S / a),
//   size_term(n) = log [Gamma(a + n) / (Gamma(a) a^n)] - n log m,
//
// in which no large terms cancel for a large a. The parameters are m and a of each target in turn: the mean and the
// shape. Kept for the posterior: n, and S of each target.
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

class ExponentialFamily final : public Family {
 public:
  struct Parameters {
    double mean, shape;
    double log_mean = std::log(mean), log_shape = std::log(shape);

    double size_term(double n) const { return log_rising_ratio(shape, n) - n * log_mean; }
  };

  ExponentialFamily(const SumsLayout& layout, std::vector<Parameters> parameters)
      : layout_(layout), targets_(layout, std::move(parameters)) {}

  double log_marginal(const double* sums) const override {
    const double n = sums[layout_.n];
    double log_marginal = targets_.size_term(n);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const Parameters& of = targets_[t];
      log_marginal -= (of.shape + n) * log_one_plus(sums[layout_.targets + t], of.shape, of.log_shape);
    }
    return log_marginal;
  }

  std::size_t n_outputs() const override { return 1 + layout_.n_of_targets(); }
  void write_outputs(const double* sums, double* outputs) const override {
    outputs[0] = sums[layout_.n];
    std::copy_n(sums + layout_.targets, layout_.n_of_targets(), outputs + 1);
  }

 private:
  SumsLayout layout_;
  OfTargets<Parameters> targets_;
};

template <class Use>
auto with_exponential(const Target& target, std::span<const double> parameters, Use use) {
  check_numbers(target);
  require(std::all_of(target.numbers.begin(), target.numbers.end(), [](double y) { return y >= 0; }),
          "the target must be times: at least 0");
  require(parameters.size() == 2 * target.n_targets, "the parameters must be mean and shape of each target");
  require(all_positive(parameters), "mean and shape must be positive and finite");
  std::vector<ExponentialFamily::Parameters> of_targets;
  for (std::size_t t = 0; t < target.n_targets; ++t) of_targets.push_back({parameters[2 * t], parameters[2 * t + 1]});
  const SumsLayout layout(target, 1);
  RowTerms terms = make_terms(target, layout, [&](std::size_t row, std::size_t t, double* of_target) {
    of_target[0] = target.numbers[row * target.n_targets + t] / of_targets[t].mean;
  });
  return use_row_sums(std::move(terms), std::make_unique<ExponentialFamily>(layout, std::move(of_targets)), use);
}

}  // namespace particletree
