// Preparation of the data before a fit: ranks and hashes; and the functions behind the leaf models' tables.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../log_gamma.h"
#include "../ranking.h"
#include "../watch.h"
#include "../xxhash64.h"
#include "arrays.h"
#include "module.h"
#include "signals.h"

namespace particletree {

namespace {

Placement placement_of(std::size_t n_rows, const Vector<std::uint32_t>& positions) {
  if (positions.size() == 0) return {nullptr, n_rows};
  require(positions.size() == n_rows, "positions must have one entry per row");
  const std::uint32_t* first = positions.data();
  const std::size_t n_left_out = static_cast<std::size_t>(std::count(first, first + n_rows, Placement::left_out));
  const std::size_t n_kept = n_rows - n_left_out;
  require(std::all_of(first, first + n_rows, [&](std::uint32_t p) { return p < n_kept || p == Placement::left_out; }),
          "a position is out of range");
  return {first, n_kept};
}

using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

void check_numbers_of_levels(std::span<const std::uint32_t> n_levels, std::size_t n_features) {
  require(n_levels.empty() || n_levels.size() == n_features, "there must be a number of levels for each feature");
  for (const std::uint32_t n : n_levels) {
    require(n < std::numeric_limits<std::uint32_t>::max() - 2, "there are too many levels for 32 bits");
  }
}

nb::tuple rank_columns(Numbers X, Vector<std::uint32_t> positions, Vector<std::uint32_t> n_levels) {
  const std::size_t n_rows = X.shape(0), n_features = X.shape(1);
  require(n_rows < std::numeric_limits<std::uint32_t>::max(), "there are too many rows for 32 bits");
  const Placement placement = placement_of(n_rows, positions);
  const std::span<const std::uint32_t> levels{n_levels.data(), n_levels.size()};
  check_numbers_of_levels(levels, n_features);
  SignalWatch watch(check_signals);
  RankedTable table = [&] {
    nb::gil_scoped_release release;
    return RankedTable({X.data(), X.stride(0), X.stride(1), n_rows, n_features}, placement, levels, watch);
  }();
  const std::size_t n_values = table.values.size();
  const std::initializer_list<std::size_t> shape{n_features, placement.n_kept};
  void* ranks = table.release_ranks();
  return nb::make_tuple(table.width() == 1   ? own_memory<std::uint8_t>(ranks, shape)
                        : table.width() == 2 ? own_memory<std::uint16_t>(ranks, shape)
                                             : own_memory<std::uint32_t>(ranks, shape),
                        own_memory<double>(table.values.release(), {n_values}), to_numpy(std::move(table.offsets)));
}

nb::object hash_stretches(Vector<std::uint8_t> bytes, Vector<std::int64_t> offsets) {
  require(offsets.size() > 0 && offsets.data()[0] >= 0 &&
              std::is_sorted(offsets.data(), offsets.data() + offsets.size()) &&
              static_cast<std::size_t>(offsets.data()[offsets.size() - 1]) <= bytes.size(),
          "offsets must increase and lie within the bytes");
  std::vector<std::uint64_t> hashes(offsets.size() - 1);
  {
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const std::int64_t first = offsets.data()[i], last = offsets.data()[i + 1];
      hashes[i] = XxHash64::of(bytes.data() + first, static_cast<std::size_t>(last - first));
    }
  }
  return to_numpy(std::move(hashes));
}

nb::object log_rising(double start, std::size_t n) {
  std::vector<double> table(n + 1);
  fill_log_rising(start, table);
  return to_numpy(std::move(table));
}

}  // namespace

void bind_data(nb::module_& m) {
  m.def("rank_columns", &rank_columns, nb::arg("X"), nb::arg("positions"), nb::arg("n_levels"),
        "Replace each column's values by their ranks among its distinct values; row i goes to place positions[i].\n\n"
        "A position of 2^32 - 1 leaves the row out; without positions all rows stay where they are. Missing values, "
        "which "
        "are not a number, have rank 0. A column with levels holds their numbers, which stay as they are.");
  m.def("hash_stretches", &hash_stretches, nb::arg("content"), nb::arg("offsets"),
        "The XXH64 hash of each stretch of the bytes, from one offset to the next.");
  m.def("log_rising", &log_rising, nb::arg("start"), nb::arg("n"),
        "log Gamma(start + i) - log Gamma(start) for i = 0..n.");
  m.def("log_gamma", &log_gamma, nb::arg("x"), "log Gamma(x) for positive x.");
  m.def("log_rising_ratio", &log_rising_ratio, nb::arg("a"), nb::arg("d"),
        "log of Gamma(a + d) / (Gamma(a) a^d) for positive a and d of at least 0.");
  m.def("half_deviance", &half_deviance, nb::arg("x"), nb::arg("mean"),
        "x log(x / mean) - x + mean for positive numbers.");
  m.def("stirling_error", &stirling_error, nb::arg("x"), "log Gamma(x) minus Stirling's formula for it.");
}

}  // namespace particletree
