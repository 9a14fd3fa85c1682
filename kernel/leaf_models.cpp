// The registry of leaf models. CMake writes leaf_models.inc: PARTICLETREE_LEAF_MODEL(name) for each of the list
// LEAF_MODELS, and then for each one from outside the repository.
#include <span>

#include "problem.h"

namespace particletree {

#define PARTICLETREE_LEAF_MODEL(name) ProblemMaker make_##name##_problem;
#include "leaf_models.inc"
#undef PARTICLETREE_LEAF_MODEL

std::span<const NamedLeafModel> leaf_models() {
#define PARTICLETREE_LEAF_MODEL(name) {#name, make_##name##_problem},
  static constexpr NamedLeafModel all[] = {
#include "leaf_models.inc"
  };
#undef PARTICLETREE_LEAF_MODEL
  return all;
}

}  // namespace particletree
