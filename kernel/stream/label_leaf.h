// Labels in a leaf that rows join one at a time: a symmetric Dirichlet prior of total mass a over K classes
// (leaves/categorical.h). The statistics are the counts of the classes and their sum.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../log_gamma.h"
#include "../require.h"

namespace particletree {

class LabelLeaf {
 public:
  struct Observation {
    std::uint32_t label;
    double weight;
  };

  LabelLeaf(std::size_t n_classes, double concentration)
      : n_classes_(n_classes), concentration_(concentration), share_(concentration / static_cast<double>(n_classes)) {
    require(n_classes > 0 && concentration > 0, "there must be a class, and the concentration must be positive");
  }

  std::size_t n_outputs() const { return n_classes_; }
  std::size_t width() const { return n_classes_ + 1; }

  void add(double* counts, const Observation& row) const {
    counts[row.label] += row.weight;
    counts[n_classes_] += row.weight;
  }

  // log m(t + y) - log m(t).
  double log_predictive(const double* counts, const Observation& row) const {
    const double of_class = counts[row.label] + share_, of_all = counts[n_classes_] + concentration_;
    if (row.weight == 1.0) return std::log(of_class / of_all);
    return log_gamma(of_class + row.weight) - log_gamma(of_class) - log_gamma(of_all + row.weight) + log_gamma(of_all);
  }

  // Adds the mean of the leaf, times a weight.
  void add_mean(const double* counts, double weight, double* outputs) const {
    const double unit = weight / (counts[n_classes_] + concentration_);
    for (std::size_t k = 0; k < n_classes_; ++k) outputs[k] += unit * (counts[k] + share_);
  }

 private:
  std::size_t n_classes_;
  double concentration_, share_;
};

}  // namespace particletree
