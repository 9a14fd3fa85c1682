// The samplers, compiled for the categorical leaf model.
#include <memory>

#include "leaf_model.h"
#include "problem.h"

namespace particletree {

std::unique_ptr<Problem> make_categorical_problem(const AnyTable& table, const SplitPrior& prior,
                                                  const CategoricalData& data) {
  const auto make = [&]<class Leaf>(const Leaf& leaf) -> std::unique_ptr<Problem> {
    return std::make_unique<LeafProblem<Leaf>>(table, prior, leaf);
  };
  if (data.weights) {
    return make(CategoricalWeights(data.labels, data.weights, data.n_classes, data.concentration));
  }
  return make(CategoricalCounts(data.labels, data.n_classes, data.tables));
}

}  // namespace particletree
