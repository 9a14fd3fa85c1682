// Numbers with Gaussian noise of unknown mean and variance; targets are independent given the tree. For each target
//
//   sigma^2 ~ scaled inverse chi^2 (nu, s^2),   mu | sigma^2 ~ N(m, sigma^2 / k),   y | mu, sigma^2 ~ N(mu, sigma^2).
//
// With z = (y - m) / s, n = sum w, S1 = sum w z, S2 = sum w z^2 over a block's rows, a0 = nu / 2, a_n = a0 + n / 2,
// q = (S2 - S1^2 / (k + n)) / 2 (standardised_sums.h) and b_n = a0 + q,
//
//   log marginal = log Gamma(a_n) - log Gamma(a0) + a0 log a0 - a_n log b_n + log(k / (k + n)) / 2
//                  - n/2 log(2 pi) - n log s
//                = size_term(n) - a_n log(1 + q / a0),
//   size_term(n) = log [Gamma(a_n) / (Gamma(a0) a0^(n/2))] - log(1 + n / k) / 2 - n (log(2 pi) / 2 + log s),
//
// in which no large terms cancel for a large nu or k, and terms that depend on n alone are in a table if rows have no
// weights. The parameters are m, k, nu, s of each target in turn: the mean, its strength as a number of rows, the
// degrees of freedom of the noise and its scale.
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

class GaussianFamily final : public StandardisedSums {
 public:
  struct Parameters {
    double mean, strength, half_df, noise_sd;
    double log_strength = std::log(strength), log_half_df = std::log(half_df), log_noise_sd = std::log(noise_sd);

    double size_term(double n) const {
      return log_rising_ratio(half_df, 0.5 * n) - 0.5 * log_one_plus(n, strength, log_strength) -
             n * (half_log_two_pi + log_noise_sd);
    }
  };

  GaussianFamily(const SumsLayout& layout, std::vector<Parameters> parameters)
      : StandardisedSums(layout), targets_(layout, std::move(parameters)) {}

  double log_marginal(const double* sums) const override {
    const double n = this->n(sums);
    double log_marginal = targets_.size_term(n);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const Parameters& of = targets_[t];
      const double q = 0.5 * squares_left_of(sums, t, of.strength + n);
      log_marginal -= (of.half_df + 0.5 * n) * log_one_plus(q, of.half_df, of.log_half_df);
    }
    return log_marginal;
  }

 private:
  OfTargets<Parameters> targets_;
};

template <class Use>
auto with_gaussian(const Target& target, std::span<const double> parameters, Use use) {
  check_numbers(target);
  require(parameters.size() == 4 * target.n_targets,
          "the parameters must be mean, mean_strength, noise_df and noise_sd of each target");
  std::vector<GaussianFamily::Parameters> of_targets;
  for (std::size_t t = 0; t < target.n_targets; ++t) {
    const double* of = &parameters[4 * t];
    require(std::isfinite(of[0]), "the mean must be finite");
    require(all_positive({of + 1, 3}), "mean_strength, noise_df and noise_sd must be positive and finite");
    of_targets.push_back({of[0], of[1], 0.5 * of[2], of[3]});
  }
  const SumsLayout layout(target, 2);
  RowTerms terms = make_standardised_terms(target, layout, of_targets);
  return use_row_sums(std::move(terms), std::make_unique<GaussianFamily>(layout, std::move(of_targets)), use);
}

}  // namespace particletree
