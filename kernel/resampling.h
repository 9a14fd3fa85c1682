// Weights of the particles, and the four ways to resample by them.
//
// A scheme turns normalised weights w_1..w_M into numbers of offspring n_1..n_M with sum n_i = M and E[n_i] = M w_i,
// the one property that keeps the filter unbiased. They differ in variance (Douc, Cappe & Moulines 2005):
//   multinomial  M independent draws
//   stratified   one uniform point in each of M equal strata of [0, 1)
//   systematic   the same point in each stratum
//   residual     floor(M w_i) for certain, the rest multinomially
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "random.h"

namespace particletree {

enum class Resampling { multinomial, systematic, stratified, residual };

// An immutable value: normalised weights, effective sample size and log mean, computed once.
class Weights {
 public:
  explicit Weights(std::span<const double> log_weights) : normalised_(log_weights.size()) {
    const double top = *std::max_element(log_weights.begin(), log_weights.end());
    double sum = 0.0;
    for (std::size_t i = 0; i < log_weights.size(); ++i) sum += normalised_[i] = std::exp(log_weights[i] - top);
    double sum_of_squares = 0.0;
    for (double& weight : normalised_) {
      weight /= sum;
      sum_of_squares += weight * weight;
    }
    effective_sample_size_ = 1.0 / sum_of_squares;
    log_mean_ = top + std::log(sum / static_cast<double>(log_weights.size()));
  }

  const std::vector<double>& normalised() const { return normalised_; }
  double effective_sample_size() const { return effective_sample_size_; }
  double log_mean() const { return log_mean_; }

 private:
  std::vector<double> normalised_;
  double effective_sample_size_;
  double log_mean_;
};

namespace detail {

// Adds one offspring for each point of an increasing sequence of positions in [0, 1).
template <class PointAt>
void count_points(std::span<const double> weights, std::size_t n_points, PointAt point_at,
                  std::vector<std::uint32_t>& offspring) {
  std::size_t i = 0;
  double cumulative = weights[0];
  for (std::size_t j = 0; j < n_points; ++j) {
    const double point = point_at(j);
    while (point >= cumulative && i + 1 < weights.size()) cumulative += weights[++i];
    ++offspring[i];
  }
}

inline void multinomial(std::span<const double> weights, std::size_t n_draws, Random& random,
                        std::vector<std::uint32_t>& offspring) {
  std::vector<double> cumulative(weights.size());
  std::partial_sum(weights.begin(), weights.end(), cumulative.begin());
  for (std::size_t j = 0; j < n_draws; ++j) {
    const double point = random.uniform() * cumulative.back();
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), point);
    ++offspring[std::min<std::size_t>(static_cast<std::size_t>(found - cumulative.begin()), weights.size() - 1)];
  }
}

inline void residual(std::span<const double> weights, Random& random, std::vector<std::uint32_t>& offspring) {
  const auto n = static_cast<double>(weights.size());
  std::vector<double> remainder(weights.size());
  std::size_t n_certain = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double expected = n * weights[i];
    offspring[i] = static_cast<std::uint32_t>(expected + 1e-12);  // 49 * (1/49) is one whole offspring
    n_certain += offspring[i];
    remainder[i] = std::max(expected - offspring[i], 0.0);
  }
  if (n_certain < weights.size()) multinomial(remainder, weights.size() - n_certain, random, offspring);
}

}  // namespace detail

// The number of offspring of each particle; they sum to the number of particles.
inline std::vector<std::uint32_t> resample(std::span<const double> weights, Resampling scheme, Random& random) {
  const std::size_t n = weights.size();
  std::vector<std::uint32_t> offspring(n, 0);
  const double step = 1.0 / static_cast<double>(n);
  switch (scheme) {
    case Resampling::multinomial:
      detail::multinomial(weights, n, random, offspring);
      break;
    case Resampling::systematic: {
      const double start = random.uniform();
      detail::count_points(
          weights, n, [&](std::size_t j) { return (static_cast<double>(j) + start) * step; }, offspring);
      break;
    }
    case Resampling::stratified:
      detail::count_points(
          weights, n, [&](std::size_t j) { return (static_cast<double>(j) + random.uniform()) * step; }, offspring);
      break;
    case Resampling::residual:
      detail::residual(weights, random, offspring);
      break;
  }
  return offspring;
}

}  // namespace particletree
