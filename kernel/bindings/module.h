// The parts of the module, each registered by its own translation unit.
#pragma once

#include <nanobind/nanobind.h>

namespace particletree {

void bind_data(nanobind::module_& m);
void bind_samplers(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_random(nanobind::module_& m);
void bind_sums(nanobind::module_& m);
void bind_streams(nanobind::module_& m);

}  // namespace particletree
