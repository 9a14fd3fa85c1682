// Categorical labels with a symmetric Dirichlet prior of total mass a, the concentration, over K classes (paper,
// equation 3): with class counts m_k and n = sum m_k,
//
//   log marginal = sum_k [log Gamma(m_k + a/K) - log Gamma(a/K)] - [log Gamma(n + a) - log Gamma(a)]
//                = sum_k class_term(m_k) - total_term(n).
//
// Rows without weights give integer counts, whose terms are in tables; for fractional weights each term is computed.
// The parameters are K and a; the labels are integers from 0 to K - 1, and the rows are sorted by label.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "../leaf_model.h"
#include "../log_gamma.h"
#include "../require.h"

namespace particletree {

// The state of a cut that sweeps over a sorted feature.
template <class Statistic>
struct DirichletSweep {
  std::vector<Statistic> left, right;
  Statistic n_left{}, n_right{};
  double class_terms = 0.0;  // of both sides
  double total_terms = 0.0;

  double log_marginal() const { return class_terms - total_terms; }
};

// The same for rows with weights. Both sides are sums over their rows, those on the right computed before the sweep
// from the last row on: subtracting row after row from the block's sums would leave a rounding error when no row is
// left, which for a small concentration changes the log marginal by tens of nats.
struct WeightedSweep : DirichletSweep<double> {
  struct Right {
    double of_class;  // the weight of the row's class on the right, once the row has moved
    double total;
  };
  std::vector<Right> after;
  std::size_t n_moved = 0;
};

// For rows without weights.
class CategoricalCounts {
 public:
  using Statistic = std::uint32_t;
  using Observation = std::int32_t;
  using Sweep = DirichletSweep<Statistic>;
  static constexpr bool counts_stretches = true;

  CategoricalCounts(std::span<const std::int32_t> labels, std::size_t n_classes, double concentration)
      : labels_(labels.data()),
        n_classes_(n_classes),
        class_terms_(labels.size() + 1),
        total_terms_(labels.size() + 1) {
    fill_log_rising(concentration / static_cast<double>(n_classes), class_terms_);
    fill_log_rising(concentration, total_terms_);
  }

  std::size_t width() const { return n_classes_; }
  std::size_t n_outputs() const { return n_classes_; }
  void write_outputs(const Statistic* counts, double* outputs) const { std::copy_n(counts, n_classes_, outputs); }
  Observation observe(std::uint32_t row) const { return labels_[row]; }
  void add(Statistic* sums, Observation label) const { ++sums[label]; }
  std::uint32_t n_rows(const Statistic* counts) const { return std::accumulate(counts, counts + n_classes_, 0u); }

  double log_marginal(const Statistic* counts) const {
    double classes = 0.0;
    std::uint32_t n = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      classes += class_terms_[counts[k]];
      n += counts[k];
    }
    return classes - total_terms_[n];
  }

  template <class ObservationAt>
  void start(Sweep& sweep, const Statistic* counts, std::size_t, ObservationAt&&) const {
    sweep.left.assign(n_classes_, 0);
    sweep.right.assign(counts, counts + n_classes_);
    sweep.n_left = 0;
    sweep.n_right = n_rows(counts);
    sweep.total_terms = total_terms_[sweep.n_right];
    sweep.class_terms = log_marginal(counts) + sweep.total_terms;
  }

  void move(Sweep& sweep, Observation label) const {
    const double* terms = class_terms_.data();
    Statistic& from = sweep.right[label];
    Statistic& to = sweep.left[label];
    sweep.class_terms += (terms[to + 1] - terms[to]) - (terms[from] - terms[from - 1]);
    ++to;
    --from;
    sweep.total_terms = total_terms_[++sweep.n_left] + total_terms_[--sweep.n_right];
  }

 private:
  const std::int32_t* labels_;
  std::size_t n_classes_;
  std::vector<double> class_terms_;  // at the integers 0..n
  std::vector<double> total_terms_;
};

// For rows with weights; the last of the statistics is the number of rows.
class CategoricalWeights {
 public:
  struct Observation {
    std::int32_t label;
    double weight;
  };
  using Statistic = double;
  using Sweep = WeightedSweep;
  static constexpr bool counts_stretches = false;

  CategoricalWeights(std::span<const std::int32_t> labels, std::span<const double> weights, std::size_t n_classes,
                     double concentration)
      : labels_(labels.data()),
        weights_(weights.data()),
        n_classes_(n_classes),
        concentration_(concentration),
        share_(concentration / static_cast<double>(n_classes)),
        log_gamma_concentration_(log_gamma(concentration)),
        log_gamma_share_(log_gamma(share_)) {}

  std::size_t width() const { return n_classes_ + 1; }
  std::size_t n_outputs() const { return n_classes_; }
  void write_outputs(const Statistic* sums, double* outputs) const { std::copy_n(sums, n_classes_, outputs); }
  Observation observe(std::uint32_t row) const { return {labels_[row], weights_[row]}; }
  std::uint32_t n_rows(const Statistic* sums) const { return static_cast<std::uint32_t>(sums[n_classes_]); }

  void add(Statistic* sums, const Observation& row) const {
    sums[row.label] += row.weight;
    sums[n_classes_] += 1.0;
  }

  double log_marginal(const Statistic* sums) const {
    double classes = 0.0;
    double total = 0.0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      classes += class_term(sums[k]);
      total += sums[k];
    }
    return classes - total_term(total);
  }

  template <class ObservationAt>
  void start(Sweep& sweep, const Statistic* sums, std::size_t n, ObservationAt&& observation_at) const {
    sweep.left.assign(n_classes_, 0.0);
    sweep.right.assign(n_classes_, 0.0);
    sweep.n_left = sweep.n_right = 0.0;
    sweep.after.resize(n);
    for (std::size_t i = n; i-- > 0;) {
      const Observation row = observation_at(i);
      sweep.after[i] = {sweep.right[row.label], sweep.n_right};
      sweep.right[row.label] += row.weight;
      sweep.n_right += row.weight;
    }
    sweep.n_moved = 0;
    sweep.total_terms = total_term(sweep.n_right);
    sweep.class_terms = log_marginal(sums) + sweep.total_terms;
  }

  void move(Sweep& sweep, const Observation& row) const {
    double& from = sweep.right[row.label];
    double& to = sweep.left[row.label];
    const double before = class_term(to) + class_term(from);
    const auto& [of_class, total] = sweep.after[sweep.n_moved++];
    to += row.weight;
    from = of_class;
    sweep.class_terms += class_term(to) + class_term(from) - before;
    sweep.n_left += row.weight;
    sweep.n_right = total;
    sweep.total_terms = total_term(sweep.n_left) + total_term(sweep.n_right);
  }

 private:
  double class_term(double count) const { return count == 0.0 ? 0.0 : log_gamma(count + share_) - log_gamma_share_; }
  double total_term(double n) const { return log_gamma(n + concentration_) - log_gamma_concentration_; }

  const std::int32_t* labels_;
  const double* weights_;
  std::size_t n_classes_;
  double concentration_;
  double share_;
  double log_gamma_concentration_;
  double log_gamma_share_;
};

static_assert(LeafModel<CategoricalCounts>);
static_assert(LeafModel<CategoricalWeights>);

template <>
inline constexpr bool has_narrow_ranks<CategoricalWeights> = false;

inline void check_labels(const Target& target, std::size_t n_classes) {
  const auto& labels = target.labels;
  require(!labels.empty(), "the target must be labels: integers of 32 bits");
  require(std::is_sorted(labels.begin(), labels.end()), "the rows must be in the order of their labels");
  require(labels.front() >= 0 && static_cast<std::size_t>(labels.back()) < n_classes, "a label is out of range");
}

// Returns the number of classes.
inline std::size_t check_categorical(const Target& target, std::span<const double> parameters) {
  require(parameters.size() == 2, "the parameters must be the number of classes and the concentration");
  const double concentration = parameters[1];
  require(parameters[0] >= 1 && parameters[0] <= std::numeric_limits<std::int32_t>::max(), "there must be a class");
  require(concentration > 0 && std::isfinite(concentration), "the concentration must be positive and finite");
  const auto n_classes = static_cast<std::size_t>(parameters[0]);
  check_labels(target, n_classes);
  check_row_columns(target, {});
  return n_classes;
}

template <class Use>
auto with_categorical(const Target& target, std::span<const double> parameters, Use use) {
  const std::size_t n_classes = check_categorical(target, parameters);
  const double concentration = parameters[1];
  if (!target.weights.empty()) {
    return use(CategoricalWeights(target.labels, target.weights, n_classes, concentration));
  }
  return use(CategoricalCounts(target.labels, n_classes, concentration));
}

}  // namespace particletree
