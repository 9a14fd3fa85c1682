#include "row_sums_problem.h"

namespace particletree {

template class LeafProblem<RowSums<3>>;
template class LeafProblem<RowSums<any_width>>;

}  // namespace particletree
