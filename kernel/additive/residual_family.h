// The leaf model of one tree of a sum: the residual R, the target minus all other trees, is the leaf's value plus
// noise. With noise variance v, row weights w_i and leaf values from N(0, t^2), integrated out, up to a factor that is
// the same for all trees (Chipman, George & McCulloch 2010),
//
//   log marginal = -log(1 + W a) / 2 + (a / v) S^2 / (2 (1 + W a)),   a = t^2 / v, W = sum w, S = sum w R.
//
// The sums of a block are the number of its rows, W and S. Without weights W is an integer, and terms that depend on it
// alone are in a table, which is rebuilt when the noise variance changes. The value given the rows is normal with
// variance t^2 / (1 + W a) and mean S (t^2 / v) / (1 + W a).
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "../leaves/row_sums.h"
#include "../normal_draws.h"

namespace particletree {

class ResidualFamily final : public Family {
 public:
  // `n_rows` is the largest number of rows, 0 if they have weights.
  ResidualFamily(double value_sd, std::size_t n_rows) : variance_(value_sd * value_sd), table_(n_rows + 1) {}

  void set_noise_variance(double noise_variance) {
    ratio_ = variance_ / noise_variance;
    factor_ = 0.5 * ratio_ / noise_variance;
    for (std::size_t n = 1; n < table_.size(); ++n) table_[n] = terms_of(static_cast<double>(n));
  }

  double log_marginal(const double* sums) const override { return log_marginal(sums[1], sums[2]); }
  double log_marginal(double weight, double sum) const {
    const Terms terms = table_.size() > 1 ? table_[static_cast<std::size_t>(weight)] : terms_of(weight);
    return terms.factor * sum * sum - terms.half_log;
  }

  double draw_value(double weight, double sum, NormalDraws& draws) const {
    const double shrunk = 1.0 / (1.0 + weight * ratio_);
    return sum * ratio_ * shrunk + std::sqrt(variance_ * shrunk) * draws.normal();
  }

  std::size_t n_outputs() const override { return 0; }
  void write_outputs(const double*, double*) const override {}

 private:
  struct Terms {
    double half_log = 0.0;
    double factor = 0.0;  // of the square of S
  };

  Terms terms_of(double weight) const { return {0.5 * std::log1p(weight * ratio_), factor_ / (1.0 + weight * ratio_)}; }

  double variance_;
  double ratio_ = 0.0;
  double factor_ = 0.0;
  std::vector<Terms> table_;
};

}  // namespace particletree
