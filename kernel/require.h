// Checks of what comes from outside: no index that is read from it may leave its array.
#pragma once

#include <stdexcept>

namespace particletree {

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace particletree
