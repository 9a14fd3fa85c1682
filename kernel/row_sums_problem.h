// The samplers for leaf models that are sums over rows are compiled once, in row_sums_problem.cpp, for all families.
#pragma once

#include "leaves/row_sums.h"
#include "problem.h"

namespace particletree {

extern template class LeafProblem<RowSums<3>>;
extern template class LeafProblem<RowSums<any_width>>;

}  // namespace particletree
