// The measure on binary questions behind the Mondrian prior: how much of it separates some rows from each other.
//
// A question asks for one side of one feature: "is it at most t?" with t uniform on the feature's unit scale (an
// increasing map of its values into (0, 1), _model/measure.py) and a fair coin for the side of missing values; "is it
// missing?", which has the share rho of a number's questions; or, for levels, a side of every level by a fair coin,
// missing among them. The mass of rows is the measure of the questions whose two sides both have some of them; a
// feature's mass is its weight times one of the following.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "require.h"

namespace particletree {

// Of rows whose numbers have this range on the unit scale.
inline double mass_of_numbers(double range, bool any_present, bool any_missing, double rho) {
  if (!any_present) return 0.0;
  if (!any_missing) return (1.0 - rho) * range;
  return rho + (1.0 - rho) * 0.5 * (1.0 + range);
}

// Of rows that have so many different levels, missing among them.
inline double mass_of_levels(std::size_t n_levels) {
  return n_levels < 2 ? 0.0 : 1.0 - std::exp2(1.0 - static_cast<double>(n_levels));
}

// The map of a feature's numbers: linear between knots, with tails that halve their mass over the length `spread`.
struct UnitScale {
  std::vector<double> knots;      // increasing; none for a categorical feature
  std::vector<double> positions;  // of the knots on the unit scale, increasing
  double spread = 1.0;

  bool is_empty() const { return knots.empty(); }

  double to_unit(double x) const {
    if (x < knots.front()) return positions.front() / (1.0 + (knots.front() - x) / spread);
    if (x >= knots.back()) return 1.0 - (1.0 - positions.back()) / (1.0 + (x - knots.back()) / spread);
    const std::size_t i = first_above(x, knots);
    const double share = (0.25 * x - 0.25 * knots[i - 1]) / (0.25 * knots[i] - 0.25 * knots[i - 1]);  // no overflow
    return positions[i - 1] + share * (positions[i] - positions[i - 1]);
  }

  double from_unit(double u) const {
    constexpr double largest = std::numeric_limits<double>::max();
    if (u < positions.front()) return std::max(knots.front() - spread * (positions.front() / u - 1.0), -largest);
    if (u >= positions.back()) {
      return std::min(knots.back() + spread * ((1.0 - positions.back()) / (1.0 - u) - 1.0), largest);
    }
    const std::size_t i = first_above(u, positions);
    const double share = (u - positions[i - 1]) / (positions[i] - positions[i - 1]);
    return knots[i - 1] * (1.0 - share) + knots[i] * share;
  }

 private:
  static std::size_t first_above(double x, const std::vector<double>& places) {
    return static_cast<std::size_t>(std::ranges::upper_bound(places, x) - places.begin());
  }
};

struct Measure {
  double rho = 0.0;
  std::vector<double> weights;    // of the features
  std::vector<UnitScale> scales;  // of the features

  // From a list of numbers: rho; then for each feature its weight, its spread, its number of knots, and the knots and
  // their positions.
  static Measure of(std::span<const double> numbers) {
    std::size_t next = 0;
    const auto take = [&](std::size_t n) {
      require(n <= numbers.size() - next, "the numbers of a measure end too early");
      next += n;
      return numbers.subspan(next - n, n);
    };
    Measure measure;
    measure.rho = take(1)[0];
    require(measure.rho >= 0.0 && measure.rho < 1.0, "rho must be at least 0 and below 1");
    while (next < numbers.size()) {
      const auto of_feature = take(3);
      require(of_feature[0] >= 0.0 && of_feature[1] > 0.0 && of_feature[2] >= 0.0,
              "the weight and the spread of a feature must be positive");
      const auto n_knots = static_cast<std::size_t>(of_feature[2]);
      const auto knots = take(n_knots), positions = take(n_knots);
      for (const auto list : {knots, positions}) {
        require(std::ranges::adjacent_find(list, std::greater_equal<>{}) == list.end(), "knots must increase");
      }
      require(n_knots == 0 || (positions.front() > 0.0 && positions.back() < 1.0), "knots must lie between 0 and 1");
      measure.weights.push_back(of_feature[0]);
      measure.scales.push_back({{knots.begin(), knots.end()}, {positions.begin(), positions.end()}, of_feature[1]});
    }
    return measure;
  }
};

}  // namespace particletree
