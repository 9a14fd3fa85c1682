// The logarithms of the gamma function, for positive arguments, and of rising factorials, and the parts of Stirling's
// formula in which large logarithms cancel.
//
// std::lgamma writes the global `signgam` on common platforms, a data race between islands that run in parallel.
// Stirling's series (Abramowitz & Stegun 6.1.41) is accurate to double precision from 10 on; smaller arguments are
// shifted up by the recurrence Gamma(x + 1) = x Gamma(x). Tested against SciPy from 1e-300 to 1e300.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace particletree {

inline constexpr double half_log_two_pi = 0.91893853320467274178;

// Stirling's series: log Gamma(x) - [(x - 1/2) log x - x + log(2 pi) / 2] for x >= 10.
inline double stirling_series(double x) {
  const double inverse = 1.0 / x;
  const double square = inverse * inverse;
  return inverse *
         (1.0 / 12 +
          square * (-1.0 / 360 +
                    square * (1.0 / 1260 + square * (-1.0 / 1680 + square * (1.0 / 1188 - square * 691.0 / 360360)))));
}

inline double log_gamma(double x) {
  if (x == 1.0 || x == 2.0) return 0.0;
  double shift = 1.0;
  if (x < 1e-8) {  // Gamma(x) = 1/x - 0.5772... + O(x): the product below would lose the tail of 1/x
    return -std::log(x) - 0.57721566490153286061 * x;
  }
  while (x < 10.0) {
    shift *= x;
    x += 1.0;
  }
  const double log_shift = shift == 1.0 ? 0.0 : std::log(shift);
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + stirling_series(x) - log_shift;
}

// log [Gamma(a + d) / (Gamma(a) a^d)] for a > 0, d >= 0: near 0 where a is large beside d^2. For a large a the three
// terms would cancel; in the difference of Stirling's formulas none is larger than d log((a + d) / a).
inline double log_rising_ratio(double a, double d) {
  if (a < 10.0) return log_gamma(a + d) - log_gamma(a) - d * std::log(a);
  return (a + d - 0.5) * std::log1p(d / a) - d + stirling_series(a + d) - stirling_series(a);
}

// log Gamma(x) minus Stirling's formula for it, (x - 1/2) log x - x + log(2 pi) / 2.
inline double stirling_error(double x) {
  return x < 10.0 ? log_gamma(x) - ((x - 0.5) * std::log(x) - x + half_log_two_pi) : stirling_series(x);
}

// x log(x / mean) - x + mean for positive numbers: never below 0, and accurate where x is near the mean and the terms
// are large. There log(x / mean) = 2 artanh(v) with v = (x - mean) / (x + mean) (Loader 2000, bd0).
inline double half_deviance(double x, double mean) {
  const double difference = x - mean, v = difference / (x + mean);
  if (std::abs(v) >= 0.1) return x * std::log(x / mean) - difference;
  const double square = v * v;
  double series = 0.0;
  for (int k = 17; k >= 3; k -= 2) series = square * (1.0 / k + series);
  return difference * v + 2.0 * x * v * series;
}

// log Gamma(start + n) - log Gamma(start) for n = 0, 1, ... as the sum of log(start + i), with Neumaier's correction:
// the difference of two log-gammas would lose all digits for a large start.
inline void fill_log_rising(double start, std::span<double> table) {
  double sum = 0.0;
  double correction = 0.0;
  for (std::size_t n = 0; n < table.size(); ++n) {
    table[n] = sum + correction;
    const double term = std::log(start + static_cast<double>(n));
    const double next = sum + term;
    correction += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
}

}  // namespace particletree
