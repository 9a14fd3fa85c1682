// The kernel's face towards Python: arrays in, arrays out, the GIL released while it works.
#include "module.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace particletree;

NB_MODULE(_kernel, m) {
  // What is still alive when the process ends is reported by nanobind; after Ctrl-C that can be a monitor that a thread
  // holds, and the report would be noise.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled kernel of particletree: it knows arrays and seeds, nothing above.";
  bind_data(m);
  bind_samplers(m);
  bind_forest(m);
  bind_random(m);
  bind_sums(m);
}
