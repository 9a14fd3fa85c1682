// A problem: data and a model, and the samplers that run on them.
//
// The samplers are templates on the leaf model and on the width of the ranks. They are compiled for one leaf model in
// one translation unit (leaf_problem.cpp.in), behind an interface that does not name it; for the leaf models that are
// sums over rows, in one for all of them (row_sums_problem.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "any_table.h"
#include "chain.h"
#include "filter.h"
#include "leaf_model.h"
#include "node.h"
#include "random.h"
#include "tree_prior.h"
#include "watch.h"

namespace particletree {

// A tree in preorder; only its features and rules are read.
using InitialTree = std::span<const Node>;

class Problem {
 public:
  virtual ~Problem() = default;

  virtual Island run_filter(const FilterSettings& settings, Random& random, Watch& watch) const = 0;
  virtual ChainResult run_chain(const ChainSettings& settings, const InitialTree& initial, Random& random,
                                Watch& watch) const = 0;
};

template <LeafModel Leaf>
class LeafProblem final : public Problem {
 public:
  LeafProblem(const AnyTable& table, std::shared_ptr<const TreePrior> prior, Leaf leaf)
      : table_(has_narrow_ranks<Leaf> ? table : table.widened(wide_ranks_)),
        prior_(std::move(prior)),
        leaf_(std::move(leaf)) {}

  LeafProblem(const LeafProblem&) = delete;  // the table may point into its own ranks
  LeafProblem& operator=(const LeafProblem&) = delete;

  Island run_filter(const FilterSettings& settings, Random& random, Watch& watch) const override;
  ChainResult run_chain(const ChainSettings& settings, const InitialTree& initial, Random& random,
                        Watch& watch) const override;

 private:
  std::vector<std::uint16_t> wide_ranks_;  // of the table, if its own are too narrow
  AnyTable table_;
  std::shared_ptr<const TreePrior> prior_;
  Leaf leaf_;
};

// Outside the class, so that they are not inline and extern templates prevent a second compilation.
template <LeafModel Leaf>
Island LeafProblem<Leaf>::run_filter(const FilterSettings& settings, Random& random, Watch& watch) const {
  return table_.template visit<has_narrow_ranks<Leaf>>([&]<class Rank>(const Table<Rank>& table) {
    return Filter<Table<Rank>, Leaf>(table, leaf_, *prior_, settings, random, watch).run();
  });
}

template <LeafModel Leaf>
ChainResult LeafProblem<Leaf>::run_chain(const ChainSettings& settings, const InitialTree& initial, Random& random,
                                         Watch& watch) const {
  return table_.template visit<has_narrow_ranks<Leaf>>([&]<class Rank>(const Table<Rank>& table) {
    Chain<Table<Rank>, Leaf> chain(table, leaf_, *prior_, settings, random, watch);
    chain.start_from(initial);
    return chain.run();
  });
}

using ProblemMaker = std::unique_ptr<Problem>(const AnyTable& table, std::shared_ptr<const TreePrior> prior,
                                              const Target& target, std::span<const double> parameters);

// The leaf models by name, in the order of CMakeLists.txt: the list LEAF_MODELS, and those from outside the repository.
struct NamedLeafModel {
  const char* name;
  ProblemMaker* make_problem;
};
std::span<const NamedLeafModel> leaf_models();

}  // namespace particletree
