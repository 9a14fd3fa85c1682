// How samplers are run from Python: their table, the release of the GIL, and the columns of their traces.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../any_table.h"
#include "../monitor.h"
#include "../random.h"
#include "../require.h"
#include "../watch.h"
#include "arrays.h"
#include "signals.h"

namespace particletree {

using RankArray = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Vector<T>& vector) {
  return {vector.data(), vector.size()};
}

inline AnyTable::Ranks view_ranks(const RankArray& ranks) {
  const auto type = ranks.dtype();
  require(type == nb::dtype<std::uint8_t>() || type == nb::dtype<std::uint16_t>() || type == nb::dtype<std::uint32_t>(),
          "ranks must be unsigned integers of 8, 16 or 32 bits");
  return {ranks.data(), ranks.itemsize(), ranks.shape(0), ranks.shape(1)};
}

// One field of all entries of a trace.
template <class T, class Entry, class Field>
nb::object column(const std::vector<Entry>& trace, Field field) {
  std::vector<T> values(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) values[i] = static_cast<T>(field(trace[i]));
  return to_numpy(std::move(values));
}

// Runs a sampler with the GIL released, and reports to the monitor.
template <class Sample>
auto run_sampler(nb::handle generator, Monitor& monitor, std::size_t island, Sample sample) {
  require(island < monitor.n_islands(), "the monitor does not know this island");
  Random random(bit_generator(generator));
  const Presence presence(monitor);  // until the GIL is held again
  nb::gil_scoped_release release;
  Watch watch(check_signals, monitor, island);
  watch.check_interrupt();
  auto result = sample(random, watch);
  monitor.finish(island);
  return result;
}

}  // namespace particletree
