// Numbers with Gaussian noise of known variance; targets are independent given the tree. For each target
//
//   mu ~ N(m, t^2),   y | mu ~ N(mu, s^2).
//
// With z = (y - m) / s, n = sum w, S1 = sum w z, S2 = sum w z^2 over a block's rows and tau2 = (t / s)^2,
//
//   log marginal = -n/2 log(2 pi) - n log s - log(1 + n tau2) / 2 - (S2 - tau2 S1^2 / (1 + n tau2)) / 2
//                = size_term(n) - (S2 - S1^2 / (k + n)) / 2,   k = 1 / tau2 (standardised_sums.h),
//   size_term(n) = -n (log(2 pi) / 2 + log s) - log(1 + n / k) / 2.
//
// The parameters are m, t, s of each target in turn: mean, mean_sd and noise_sd.
#pragma once

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
#include "standardised_sums.h"

namespace particletree {

class GaussianKnownVarianceFamily final : public StandardisedSums {
 public:
  struct Parameters {
    double mean, mean_sd, noise_sd;
    double log_noise_sd = std::log(noise_sd);
    double strength = (noise_sd / mean_sd) * (noise_sd / mean_sd);
    double log_strength = 2.0 * (log_noise_sd - std::log(mean_sd));

    double size_term(double n) const {
      return -n * (half_log_two_pi + log_noise_sd) - 0.5 * log_one_plus(n, strength, log_strength);
    }
  };

  GaussianKnownVarianceFamily(const SumsLayout& layout, std::vector<Parameters> parameters)
      : StandardisedSums(layout), targets_(layout, std::move(parameters)) {}

  double log_marginal(const double* sums) const override {
    const double n = this->n(sums);
    double log_marginal = targets_.size_term(n);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      log_marginal -= 0.5 * squares_left_of(sums, t, targets_[t].strength + n);
    }
    return log_marginal;
  }

 private:
  OfTargets<Parameters> targets_;
};

template <class Use>
auto with_gaussian_known_variance(const Target& target, std::span<const double> parameters, Use use) {
  check_numbers(target);
  require(parameters.size() == 3 * target.n_targets,
          "the parameters must be mean, mean_sd and noise_sd of each target");
  std::vector<GaussianKnownVarianceFamily::Parameters> of_targets;
  for (std::size_t t = 0; t < target.n_targets; ++t) {
    const double* of = &parameters[3 * t];
    require(std::isfinite(of[0]), "the mean must be finite");
    require(all_positive({of + 1, 2}), "mean_sd and noise_sd must be positive and finite");
    of_targets.push_back({of[0], of[1], of[2]});
  }
  const SumsLayout layout(target, 2);
  RowTerms terms = make_standardised_terms(target, layout, of_targets);
  return use_row_sums(std::move(terms), std::make_unique<GaussianKnownVarianceFamily>(layout, std::move(of_targets)),
                      use);
}

}  // namespace particletree
