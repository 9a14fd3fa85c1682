// Waiting times that may be censored: a leaf model that is not part of the package, with a column of the rows of its own,
// the example of docs/extending.md. Targets are independent given the tree. For each target, with the event e of a row
// (1: the time is that of the event, 0: the event came later, if at all; 1 if none is given)
//
//   rate ~ Gamma(shape a, rate b),   b = a m,   p(y, e | rate) = rate^e exp(-rate y).
//
// With z = y / m, D = sum w e and S = sum w z over a block's rows,
//
//   log marginal = log [Gamma(a + D) / (Gamma(a) a^D)] - (a + D) log(1 + S / a) - D log m.
//
// The parameters are m and a of each target in turn. Kept for the posterior: n, and D, S of each target.
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

class CensoredFamily final : public Family {
 public:
  struct Parameters {
    double mean, shape;
    double log_mean = std::log(mean), log_shape = std::log(shape);
  };

  CensoredFamily(const SumsLayout& layout, std::vector<Parameters> parameters)
      : layout_(layout), parameters_(std::move(parameters)) {}

  double log_marginal(const double* sums) const override {
    double log_marginal = 0.0;
    for (std::size_t t = 0; t < parameters_.size(); ++t) {
      const Parameters& of = parameters_[t];
      const double events = sums[layout_.targets + 2 * t], time = sums[layout_.targets + 2 * t + 1];
      log_marginal += log_rising_ratio(of.shape, events) - events * of.log_mean -
                      (of.shape + events) * log_one_plus(time, of.shape, of.log_shape);
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
  std::vector<Parameters> parameters_;
};

template <class Use>
auto with_censored(const Target& target, std::span<const double> parameters, Use use) {
  check_numbers(target, {"event"});
  const std::span<const double> event = target.row_column("event");
  require(std::all_of(target.numbers.begin(), target.numbers.end(), [](double y) { return y >= 0.0; }),
          "the target must be times of at least 0");
  require(std::all_of(event.begin(), event.end(), [](double e) { return e == 0.0 || e == 1.0; }),
          "events must be zeros and ones");
  require(parameters.size() == 2 * target.n_targets, "the parameters must be mean and shape of each target");
  require(all_positive(parameters), "mean and shape must be positive and finite");
  std::vector<CensoredFamily::Parameters> of_targets;
  for (std::size_t t = 0; t < target.n_targets; ++t) of_targets.push_back({parameters[2 * t], parameters[2 * t + 1]});
  const SumsLayout layout(target, 2);
  RowTerms terms = make_terms(target, layout, [&](std::size_t row, std::size_t t, double* of_target) {
    of_target[0] = event.empty() ? 1.0 : event[row];
    of_target[1] = target.numbers[row * target.n_targets + t] / of_targets[t].mean;
  });
  return use_row_sums(std::move(terms), std::make_unique<CensoredFamily>(layout, std::move(of_targets)), use);
}

}  // namespace particletree
