// Ctrl-C, through Python's signal handlers.
#pragma once

#include <nanobind/nanobind.h>

namespace particletree {

// Python runs its signal handlers only here, and only in the main thread.
inline void check_signals() {
  nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace particletree
