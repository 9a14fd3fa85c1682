// A likelihood that is 1 whatever the labels: the samplers then draw from the prior. The counts are kept all the same.
// Parameters and labels are those of the categorical leaf model.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "../leaf_model.h"
#include "categorical.h"

namespace particletree {

template <class Counts>
class Flat : public Counts {
 public:
  struct Sweep {
    double log_marginal() const { return 0.0; }
  };

  explicit Flat(Counts counts) : Counts(std::move(counts)) {}
  double log_marginal(const typename Counts::Statistic*) const { return 0.0; }
  template <class ObservationAt>
  void start(Sweep&, const typename Counts::Statistic*, std::size_t, ObservationAt&&) const {}
  void move(Sweep&, const typename Counts::Observation&) const {}
};

static_assert(LeafModel<Flat<CategoricalCounts>>);
static_assert(LeafModel<Flat<CategoricalWeights>>);

template <class Use>
auto with_flat(const Target& target, std::span<const double> parameters, Use use) {
  return with_categorical(target, parameters, [&](auto counts) { return use(Flat(std::move(counts))); });
}

}  // namespace particletree
