#include "row_sums_problem.h"

#include "additive/sum_problem.h"

namespace particletree {

template class LeafProblem<RowSums<3>>;
template class LeafProblem<RowSums<any_width>>;

SumResult SumProblem::run(std::span<const double> target, const SumSettings& settings, const SumState* initial,
                          Random& random, Watch& watch) const {
  return table_.visit<false>([&]<class Rank>(const Table<Rank>& table) {
    return SumOfTrees<Table<Rank>>(table, *prior_, target, weights_, settings, initial, random, watch).run();
  });
}

}  // namespace particletree
