// Weights of the particles, and the four ways to resample by them.
//
// Equal particles are stored once, with the number of their copies. A scheme turns the normalised weights w_1..w_L of L
// such groups (all copies together) into numbers of offspring n_1..n_L with sum n_i = M, the number of particles, and
// E[n_i] = M w_i, which makes the filter unbiased. The schemes differ in variance (Douc, Cappe & Moulines 2005):
//   multinomial  M independent draws
//   stratified   one uniform point in each of M equal strata of [0, 1)
//   systematic   the same point in each stratum
//   residual     floor(M w_i) deterministically, the rest multinomially
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "random.h"

namespace particletree {

enum class Resampling { multinomial, systematic, stratified, residual };

// An immutable value: the normalised weights of groups of equal particles, the effective sample size and the log mean
// over particles, computed once.
class Weights {
 public:
  // `log_weight_of(i)` is the log weight of one copy, `copies_of(i)` their number.
  template <class LogWeightOf, class CopiesOf>
  Weights(std::size_t n_groups, LogWeightOf log_weight_of, CopiesOf copies_of) : normalised_(n_groups) {
    double top = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n_groups; ++i) top = std::max(top, log_weight_of(i));
    double sum = 0.0;
    double sum_of_squares = 0.0;
    double n_particles = 0.0;
    double last_log_weight = top;
    double weight = 1.0;  // successive groups often have equal weights, which need only one exponential
    for (std::size_t i = 0; i < n_groups; ++i) {
      if (log_weight_of(i) != last_log_weight) {
        last_log_weight = log_weight_of(i);
        weight = std::exp(last_log_weight - top);
      }
      const auto copies = static_cast<double>(copies_of(i));
      normalised_[i] = copies * weight;
      n_particles += copies;
      sum += copies * weight;
      sum_of_squares += copies * weight * weight;
    }
    for (double& group : normalised_) group /= sum;
    effective_sample_size_ = sum * sum / sum_of_squares;
    log_mean_ = top + std::log(sum / n_particles);
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

// Each draw searches its group in the cumulative weights, starting at a guide table's entry: a few steps on average.
inline void multinomial(std::span<const double> weights, std::size_t n_draws, Random& random,
                        std::vector<std::uint32_t>& offspring) {
  const std::size_t n = weights.size();
  std::vector<double> cumulative(n);
  std::partial_sum(weights.begin(), weights.end(), cumulative.begin());
  const double total = cumulative.back();
  std::vector<std::uint32_t> guide(n);  // the group in which the j-th of n equal parts of the total begins
  for (std::uint32_t i = 0, j = 0; j < n; ++j) {
    while (i + 1 < n && cumulative[i] <= total * (static_cast<double>(j) / static_cast<double>(n))) ++i;
    guide[j] = i;
  }
  for (std::size_t draw = 0; draw < n_draws; ++draw) {
    const double u = random.uniform();
    const double point = u * total;
    std::size_t i = guide[static_cast<std::size_t>(u * static_cast<double>(n))];
    while (i > 0 && cumulative[i - 1] > point) --i;  // if rounding made the guide too large
    while (i + 1 < n && cumulative[i] <= point) ++i;
    ++offspring[i];
  }
}

inline void residual(std::span<const double> weights, std::size_t n_particles, Random& random,
                     std::vector<std::uint32_t>& offspring) {
  std::vector<double> remainder(weights.size());
  std::size_t n_certain = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double expected = static_cast<double>(n_particles) * weights[i];
    offspring[i] = static_cast<std::uint32_t>(expected + 1e-12);  // 49 * (1/49) is one whole offspring
    n_certain += offspring[i];
    remainder[i] = std::max(expected - offspring[i], 0.0);
  }
  if (n_certain < n_particles) multinomial(remainder, n_particles - n_certain, random, offspring);
}

}  // namespace detail

// The number of offspring of each group; they sum to the number of particles.
inline std::vector<std::uint32_t> resample(std::span<const double> weights, std::size_t n_particles, Resampling scheme,
                                           Random& random) {
  std::vector<std::uint32_t> offspring(weights.size(), 0);
  const double step = 1.0 / static_cast<double>(n_particles);
  switch (scheme) {
    case Resampling::multinomial:
      detail::multinomial(weights, n_particles, random, offspring);
      break;
    case Resampling::systematic: {
      const double start = random.uniform();
      const auto point_at = [&](std::size_t j) { return (static_cast<double>(j) + start) * step; };
      detail::count_points(weights, n_particles, point_at, offspring);
      break;
    }
    case Resampling::stratified: {
      const auto point_at = [&](std::size_t j) { return (static_cast<double>(j) + random.uniform()) * step; };
      detail::count_points(weights, n_particles, point_at, offspring);
      break;
    }
    case Resampling::residual:
      detail::residual(weights, n_particles, random, offspring);
      break;
  }
  return offspring;
}

}  // namespace particletree
