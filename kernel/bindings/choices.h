// The kernel's options by name.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

#include "../particle.h"
#include "../proposals.h"
#include "../resampling.h"
#include "arrays.h"

namespace particletree {

inline Resampling resampling_named(const std::string& name) {
  return choose<Resampling>(name, {{"multinomial", Resampling::multinomial},
                                   {"systematic", Resampling::systematic},
                                   {"stratified", Resampling::stratified},
                                   {"residual", Resampling::residual}});
}

inline Expansion expansion_named(const std::string& name) {
  return choose<Expansion>(name, {{"node", Expansion::node}, {"layer", Expansion::layer}});
}

inline Priority priority_named(const std::string& name) {
  return choose<Priority>(name, {{"oldest", Priority::oldest}, {"likelihood", Priority::likelihood}});
}

inline ProposalKind proposal_named(const std::string& name) {
  for (std::size_t i = 0; i < std::size(proposal_names); ++i) {
    if (name == proposal_names[i]) return static_cast<ProposalKind>(i);
  }
  throw nb::value_error(("unknown proposal: " + name).c_str());
}

}  // namespace particletree
