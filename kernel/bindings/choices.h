// The kernel's choices by their names.
#pragma once

#include <string>

#include "../resampling.h"
#include "arrays.h"

namespace particletree {

inline Resampling resampling_named(const std::string& name) {
  return choose<Resampling>(name, {{"multinomial", Resampling::multinomial},
                                   {"systematic", Resampling::systematic},
                                   {"stratified", Resampling::stratified},
                                   {"residual", Resampling::residual}});
}

}  // namespace particletree
