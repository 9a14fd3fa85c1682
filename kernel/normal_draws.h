// Draws from continuous distributions: normal, truncated normal, gamma.
//
//   normal     Marsaglia's polar method; the second of its two numbers is kept for the next call
//   truncated  N(mean, 1) given that it is positive, or negative: Robert (1995), exponential proposals in the tail
//   gamma      Marsaglia & Tsang (2000): shape >= 1; a smaller shape is raised by one and scaled down
#pragma once

#include <cmath>
#include <utility>

#include "random.h"

namespace particletree {

class NormalDraws {
 public:
  explicit NormalDraws(Random& random) : random_(random) {}

  double normal() {
    if (std::exchange(has_spare_, false)) return spare_;
    double x, y, s;
    do {
      x = 2.0 * random_.uniform() - 1.0;
      y = 2.0 * random_.uniform() - 1.0;
      s = x * x + y * y;
    } while (s >= 1.0 || s == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(s) / s);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }

  // From N(mean, 1) given that it is positive.
  double positive_normal(double mean) { return mean + above(-mean); }
  double negative_normal(double mean) { return mean - above(mean); }

  // From the gamma distribution with scale 1.
  double gamma(double shape) {
    if (shape < 1.0) {
      const double raised = gamma(shape + 1.0);  // before the uniform number: compilers differ in the order of factors
      return raised * std::pow(positive_uniform(), 1.0 / shape);
    }
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
      const double x = normal(), t = 1.0 + c * x;
      if (t <= 0.0) continue;
      const double v = t * t * t;
      if (std::log(positive_uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return d * v;
    }
  }

  double chi_square(double degrees_of_freedom) { return 2.0 * gamma(0.5 * degrees_of_freedom); }

 private:
  double positive_uniform() { return 1.0 - random_.uniform(); }

  // From N(0, 1) given that it is above a bound.
  double above(double bound) {
    if (bound < 0.5) {
      double x = normal();
      while (x <= bound) x = normal();
      return x;
    }
    const double rate = 0.5 * (bound + std::sqrt(bound * bound + 4.0));
    while (true) {
      const double x = bound - std::log(positive_uniform()) / rate;
      if (random_.uniform() <= std::exp(-0.5 * (x - rate) * (x - rate))) return x;
    }
  }

  Random& random_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace particletree
