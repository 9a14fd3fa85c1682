// Leaf models: statistics of a set of rows -> log marginal probability of their labels.
//
// The filter is written for any type that satisfies the concept below. The statistics of a block are `width()` numbers
// that add up over rows. Where `counts_stretches` holds they are the numbers of rows with each label and nothing else, and
// because the rows of a table are in the order of their labels, they are also the lengths of stretches of rows.
//
// Categorical labels with a symmetric Dirichlet prior of total mass a over K classes (paper, equation 3): with class
// counts m_k and n = sum m_k,
//
//   log marginal = sum_k [log Gamma(m_k + a/K) - log Gamma(a/K)] - [log Gamma(n + a) - log Gamma(a)]
//                = sum_k class_term(m_k) - total_term(n).
//
// Rows that count once give integer counts, whose terms stand in tables made once per fit; fractional weights are
// computed term by term.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "log_gamma.h"

namespace particletree {

// The observation of the i-th row in the order of a sweep, as the concept below asks for it.
template <class Observation>
Observation observation_at(std::size_t i);

template <class L>
concept LeafModel = requires(const L leaf, typename L::Statistic* sums, const typename L::Statistic* statistics,
                             typename L::Observation observation, typename L::Sweep sweep, double* outputs) {
  { L::counts_stretches } -> std::convertible_to<bool>;
  { leaf.width() } -> std::convertible_to<std::size_t>;
  { leaf.observe(std::uint32_t{}) } -> std::same_as<typename L::Observation>;
  leaf.add(sums, observation);                                 // sums += one row
  { leaf.n_rows(statistics) } -> std::same_as<std::uint32_t>;  // how many rows the statistics hold
  { leaf.log_marginal(statistics) } -> std::same_as<double>;
  { leaf.n_outputs() } -> std::convertible_to<std::size_t>;  // what is kept of a block in the posterior
  leaf.write_outputs(statistics, outputs);
  leaf.start(sweep, statistics, std::size_t{}, observation_at<typename L::Observation>);  // all rows on the right,
  leaf.move(sweep, observation);                     // and one row after the other goes to the left, O(1)
  { sweep.log_marginal() } -> std::same_as<double>;  // of both sides together
};

// The tables of class_term and total_term at the integers 0..n_rows; made once, shared by the islands.
struct DirichletTables {
  const double* class_terms;
  const double* total_terms;
};

// log Gamma(start + n) - log Gamma(start) for n = 0, 1, ... as the sum of log(start + i), with Neumaier's correction: the
// difference of two log-gammas would lose all digits for a large start.
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

// What moves from one side of a cut to the other while the cut sweeps over a sorted feature.
template <class Statistic>
struct DirichletSweep {
  std::vector<Statistic> left, right;
  Statistic n_left{}, n_right{};
  double class_terms = 0.0;  // of both sides
  double total_terms = 0.0;

  double log_marginal() const { return class_terms - total_terms; }
};

// The same for rows with weights. Both sides are sums over their rows, those on the right made before the sweep from the
// last row on: subtracting row after row from the block's sums would leave a residue where nothing is left, which for a
// small concentration changes the marginal by tens of nats.
struct WeightedSweep : DirichletSweep<double> {
  struct Right {
    double of_class;  // the weight of the row's class on the right, once the row has moved
    double total;
  };
  std::vector<Right> after;
  std::size_t n_moved = 0;
};

// Rows that count once.
class CategoricalCounts {
 public:
  using Statistic = std::uint32_t;
  using Observation = std::int32_t;
  using Sweep = DirichletSweep<Statistic>;
  static constexpr bool counts_stretches = true;

  CategoricalCounts(const std::int32_t* labels, std::size_t n_classes, DirichletTables tables)
      : labels_(labels), n_classes_(n_classes), tables_(tables) {}

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
      classes += tables_.class_terms[counts[k]];
      n += counts[k];
    }
    return classes - tables_.total_terms[n];
  }

  template <class ObservationAt>
  void start(Sweep& sweep, const Statistic* counts, std::size_t, ObservationAt&&) const {
    sweep.left.assign(n_classes_, 0);
    sweep.right.assign(counts, counts + n_classes_);
    sweep.n_left = 0;
    sweep.n_right = n_rows(counts);
    sweep.total_terms = tables_.total_terms[sweep.n_right];
    sweep.class_terms = log_marginal(counts) + sweep.total_terms;
  }

  void move(Sweep& sweep, Observation label) const {
    const double* terms = tables_.class_terms;
    Statistic& from = sweep.right[label];
    Statistic& to = sweep.left[label];
    sweep.class_terms += (terms[to + 1] - terms[to]) - (terms[from] - terms[from - 1]);
    ++to;
    --from;
    sweep.total_terms = tables_.total_terms[++sweep.n_left] + tables_.total_terms[--sweep.n_right];
  }

 private:
  const std::int32_t* labels_;
  std::size_t n_classes_;
  DirichletTables tables_;
};

// Rows that count with a weight of their own; the statistics end with the number of rows.
class CategoricalWeights {
 public:
  struct Observation {
    std::int32_t label;
    double weight;
  };
  using Statistic = double;
  using Sweep = WeightedSweep;
  static constexpr bool counts_stretches = false;

  CategoricalWeights(const std::int32_t* labels, const double* weights, std::size_t n_classes, double concentration)
      : labels_(labels),
        weights_(weights),
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

// A likelihood that is 1 whatever the labels: the filter then samples the prior. The counts are kept all the same.
template <class Counts>
class Flat : public Counts {
 public:
  struct Sweep {
    double log_marginal() const { return 0.0; }
  };

  explicit Flat(const Counts& counts) : Counts(counts) {}
  double log_marginal(const typename Counts::Statistic*) const { return 0.0; }
  template <class ObservationAt>
  void start(Sweep&, const typename Counts::Statistic*, std::size_t, ObservationAt&&) const {}
  void move(Sweep&, const typename Counts::Observation&) const {}
};

static_assert(LeafModel<CategoricalCounts>);
static_assert(LeafModel<CategoricalWeights>);
static_assert(LeafModel<Flat<CategoricalCounts>>);

}  // namespace particletree
