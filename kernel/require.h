// Checks of input from outside the kernel, so that all indices in it are within bounds.
#pragma once

#include <stdexcept>

namespace particletree {

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace particletree
