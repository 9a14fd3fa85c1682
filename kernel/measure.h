// The measure on binary questions behind the Mondrian prior: how much of it separates some rows from each other.
//
// A question asks for one side of one feature: "is it at most t?" with t uniform on the feature's unit scale (an
// increasing map of its values into (0, 1), _model/measure.py) and a fair coin for the side of missing values; "is it
// missing?", which has the share rho of a number's questions; or, for levels, a side of every level by a fair coin,
// missing among them. The mass of rows is the measure of the questions whose two sides both have some of them; a
// feature's mass is its weight times one of the following.
#pragma once

#include <cmath>
#include <cstddef>

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

}  // namespace particletree
