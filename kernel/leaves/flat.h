// A likelihood that is 1 for all labels, so that the samplers draw from the prior. The weight of each class is still
// kept. Parameters and labels are those of the categorical leaf model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "../leaf_model.h"
#include "categorical.h"
#include "row_sums.h"

namespace particletree {

class FlatFamily final : public Family {
 public:
  explicit FlatFamily(std::size_t n_classes) : n_classes_(n_classes) {}

  double log_marginal(const double*) const override { return 0.0; }
  std::size_t n_outputs() const override { return n_classes_; }
  void write_outputs(const double* sums, double* outputs) const override { std::copy_n(sums + 1, n_classes_, outputs); }

 private:
  std::size_t n_classes_;
};

template <class Use>
auto with_flat(const Target& target, std::span<const double> parameters, Use use) {
  const std::size_t n_classes = check_categorical(target, parameters);
  RowTerms terms(target.labels.size(), n_classes + 1);
  for (std::size_t row = 0; row < target.labels.size(); ++row) {
    terms.row(row)[target.labels[row]] = target.weights.empty() ? 1.0 : target.weights[row];
  }
  return use_row_sums(std::move(terms), std::make_unique<FlatFamily>(n_classes), use);
}

}  // namespace particletree
