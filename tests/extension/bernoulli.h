// Zeros and ones: a leaf model that is not part of the package, the worked example of docs/extending.md. Targets are
// independent given the tree. For each target
//
//   p ~ Beta(a, b),   y | p ~ Bernoulli(p).
//
// With S1 = sum w y the weight of the ones, S0 = sum w (1 - y) that of the zeros and n = S1 + S0 over a block's rows,
//
//   log marginal = log B(a + S1, b + S0) - log B(a, b)
//                = r(a, S1) + r(b, S0) - r(a + b, n) + S1 log(a / (a + b)) + S0 log(b / (a + b)),
//   r(x, d) = log [Gamma(x + d) / (Gamma(x) x^d)],
//
// where no large numbers are left to cancel for large a and b. S0 is a sum of its own: as the difference n - S1 it would
// not be 0 where there are no zeros, which for a small b changes the marginal by tens of nats. The parameters are a and b of
// one target after the other. Kept for the posterior: n, and S1, S0 of each target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernel/leaf_model.h"
#include "kernel/leaves/numeric_target.h"
#include "kernel/leaves/row_sums.h"
#include "kernel/log_gamma.h"
#include "kernel/require.h"

namespace particletree {

class BernoulliFamily final : public Family {
 public:
  struct Parameters {
    double a, b;
    double log_share_of_ones = -std::log1p(b / a), log_share_of_zeros = -std::log1p(a / b);

    double size_term(double n) const { return -log_rising_ratio(a + b, n); }
  };

  BernoulliFamily(const SumsLayout& layout, std::vector<Parameters> parameters)
      : layout_(layout), targets_(layout, std::move(parameters)) {}

  double log_marginal(const double* sums) const override {
    double log_marginal = targets_.size_term(sums[layout_.n]);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const Parameters& of = targets_[t];
      const double ones = sums[layout_.targets + 2 * t], zeros = sums[layout_.targets + 2 * t + 1];
      log_marginal += log_rising_ratio(of.a, ones) + ones * of.log_share_of_ones;
      log_marginal += log_rising_ratio(of.b, zeros) + zeros * of.log_share_of_zeros;
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
auto with_bernoulli(const Target& target, std::span<const double> parameters, Use use) {
  check_numbers(target);
  require(std::all_of(target.numbers.begin(), target.numbers.end(), [](double y) { return y == 0.0 || y == 1.0; }),
          "the target must be zeros and ones");
  require(parameters.size() == 2 * target.n_targets, "the parameters must be a and b of each target");
  require(all_positive(parameters), "a and b must be positive and finite");
  std::vector<BernoulliFamily::Parameters> of_targets;
  for (std::size_t t = 0; t < target.n_targets; ++t) of_targets.push_back({parameters[2 * t], parameters[2 * t + 1]});
  const SumsLayout layout(target, 2);
  RowTerms terms = make_terms(target, layout, [&](std::size_t row, std::size_t t, double* of_target) {
    const double y = target.numbers[row * target.n_targets + t];
    of_target[0] = y;
    of_target[1] = 1.0 - y;
  });
  return use_row_sums(std::move(terms), std::make_unique<BernoulliFamily>(layout, std::move(of_targets)), use);
}

}  // namespace particletree
