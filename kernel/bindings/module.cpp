// The Python module of the kernel: arrays in, arrays out, with the GIL released during the work.
#include "module.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace particletree;

NB_MODULE(_kernel, m) {
  // nanobind reports objects that are still alive when the process ends; after Ctrl-C that can be a monitor held by a
  // thread, which is harmless.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled kernel of particletree: it knows arrays and seeds, nothing above.";
  bind_data(m);
  bind_samplers(m);
  bind_forest(m);
  bind_random(m);
  bind_sums(m);
  bind_streams(m);
}
