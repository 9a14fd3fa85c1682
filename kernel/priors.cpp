// The registry of priors. CMake writes prior_headers.inc, which includes the header of each of the list PRIORS and of
// those from outside the repository, and priors.inc: PARTICLETREE_PRIOR(name) for each.
#include <span>

#include "prior_headers.inc"
#include "tree_prior.h"

namespace particletree {

std::span<const NamedPrior> priors() {
#define PARTICLETREE_PRIOR(name) {#name, make_##name##_prior},
  static constexpr NamedPrior all[] = {
#include "priors.inc"
  };
#undef PARTICLETREE_PRIOR
  return all;
}

}  // namespace particletree
