// Data and prior for a sum of trees, and the chain that runs on them (sum_of_trees.h). It is compiled with the samplers
// of leaf models that are sums over rows (row_sums_problem.cpp), whose conditional filter it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../any_table.h"
#include "../random.h"
#include "../tree_prior.h"
#include "../watch.h"
#include "sum_of_trees.h"

namespace particletree {

class SumProblem {
 public:
  SumProblem(const AnyTable& table, std::shared_ptr<const TreePrior> prior, std::span<const double> weights)
      : table_(table.widened(wide_ranks_)), prior_(std::move(prior)), weights_(weights) {}

  SumProblem(const SumProblem&) = delete;  // the table may point into its own ranks
  SumProblem& operator=(const SumProblem&) = delete;

  std::size_t n_rows() const { return table_.n_rows(); }
  std::size_t n_features() const { return table_.n_features(); }

  SumResult run(std::span<const double> target, const SumSettings& settings, const SumState* initial, Random& random,
                Watch& watch) const;

 private:
  std::vector<std::uint16_t> wide_ranks_;  // if the table's have 8 bits, for which the chain is not compiled
  AnyTable table_;
  std::shared_ptr<const TreePrior> prior_;
  std::span<const double> weights_;
};

}  // namespace particletree
