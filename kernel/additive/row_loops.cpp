#include "row_loops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../instruction_sets.h"

// The two loops that sum floats are also written with AVX2 intrinsics: a compiler may not reorder floating-point
// additions, and so does not vectorise them. GCC and Clang can choose among versions at run time.
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define PARTICLETREE_AVX2 [[gnu::target("avx2")]]
#endif

namespace particletree {

namespace {

// Calls visit(first, last) for runs of rows that are summed in floats; all but the last have full length.
template <class Visit>
void for_each_stretch(std::size_t n_rows, Visit visit) {
  for (std::size_t first = 0; first < n_rows; first += n_together) visit(first, std::min(n_rows, first + n_together));
}

double add_lanes(const float* lanes) {
  double sum = 0.0;
  for (std::size_t lane = 0; lane < n_lanes; ++lane) sum += static_cast<double>(lanes[lane]);
  return sum;
}

// --- for any processor

void settle_any(float* residual, std::size_t n_rows, const LeavesOfRows& before, const float* deltas,
                const LeavesOfRows& next, double* sums) {
  std::vector<float> lanes(n_lanes * next.n_nodes);
  for_each_stretch(n_rows, [&](std::size_t first, std::size_t last) {
    std::fill(lanes.begin(), lanes.end(), 0.0f);
    for (std::size_t row = first; row < last; ++row) {
      residual[row] += deltas[before.leaf_of_row[row]];
      lanes[n_lanes * next.leaf_of_row[row] + row % n_lanes] += residual[row];
    }
    for (const LeafId leaf : next.leaves) sums[leaf] += add_lanes(&lanes[n_lanes * leaf]);
  });
}

SideSums add_sides_any(const float* residual, const LeafId* leaf_of_row, LeafId leaf, const std::uint8_t* is_left,
                       std::size_t n_rows) {
  SideSums sums;
  for_each_stretch(n_rows, [&](std::size_t first, std::size_t last) {
    float lanes[2][n_lanes]{};
    for (std::size_t row = first; row < last; ++row) {
      if (leaf_of_row[row] != leaf) continue;
      lanes[is_left[row]][row % n_lanes] += residual[row];
      sums.n_left += is_left[row];
    }
    sums.right += add_lanes(lanes[0]);
    sums.left += add_lanes(lanes[1]);
  });
  return sums;
}

// --- for processors with AVX2

#ifdef PARTICLETREE_AVX2

constexpr std::size_t most_leaves = 8;  // whose sums are kept in registers,
constexpr std::size_t most_nodes = 16;  // and whose deltas are looked up in registers

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

PARTICLETREE_AVX2 inline __m128i load_ids(const LeafId* ids) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(ids));
}

PARTICLETREE_AVX2 inline double add_lanes(__m256 lanes) {
  float numbers[n_lanes];
  _mm256_storeu_ps(numbers, lanes);
  return add_lanes(numbers);
}

template <std::size_t n_leaves>
PARTICLETREE_AVX2 void settle_avx2(float* residual, std::size_t n_rows, const LeavesOfRows& before, const float* deltas,
                                   const LeavesOfRows& next, double* sums) {
  std::array<float, most_nodes> table{};
  std::copy_n(deltas, before.n_nodes, table.begin());
  const __m256 low = _mm256_loadu_ps(table.data()), high = _mm256_loadu_ps(table.data() + n_lanes);
  const __m256i last_of_low = _mm256_set1_epi32(n_lanes - 1);
  __m256i ids[n_leaves];
  for (std::size_t k = 0; k < n_leaves; ++k) ids[k] = _mm256_set1_epi32(next.leaves[k]);
  for (std::size_t first = 0; first < n_rows; first += n_together) {
    const std::size_t last = std::min(n_rows, first + n_together);
    __m256 lanes[n_leaves];
    for (__m256& lane : lanes) lane = _mm256_setzero_ps();
    for (std::size_t row = first; row < last; row += n_lanes) {
      const __m256i old = _mm256_cvtepu16_epi32(load_ids(before.leaf_of_row + row));
      const __m256 delta = _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, old), _mm256_permutevar8x32_ps(high, old),
                                            _mm256_castsi256_ps(_mm256_cmpgt_epi32(old, last_of_low)));
      const __m256 moved = _mm256_add_ps(_mm256_loadu_ps(residual + row), delta);
      _mm256_storeu_ps(residual + row, moved);
      const __m256i leaf = _mm256_cvtepu16_epi32(load_ids(next.leaf_of_row + row));
      for (std::size_t k = 0; k < n_leaves; ++k) {
        const __m256 is_in = _mm256_castsi256_ps(_mm256_cmpeq_epi32(leaf, ids[k]));
        lanes[k] = _mm256_add_ps(lanes[k], _mm256_and_ps(moved, is_in));
      }
    }
    for (std::size_t k = 0; k < n_leaves; ++k) sums[next.leaves[k]] += add_lanes(lanes[k]);
  }
}

using Settle = void (*)(float*, std::size_t, const LeavesOfRows&, const float*, const LeavesOfRows&, double*);

template <std::size_t... i>
constexpr std::array<Settle, sizeof...(i)> settle_by_leaves(std::index_sequence<i...>) {
  return {settle_avx2<i + 1>...};
}

PARTICLETREE_AVX2 SideSums add_sides_avx2(const float* residual, const LeafId* leaf_of_row, LeafId leaf,
                                          const std::uint8_t* is_left, std::size_t n_rows) {
  SideSums sums;
  const __m128i id = _mm_set1_epi16(static_cast<short>(leaf));
  for (std::size_t first = 0; first < n_rows; first += n_together) {
    const std::size_t last = std::min(n_rows, first + n_together);
    __m256 left = _mm256_setzero_ps(), right = _mm256_setzero_ps();
    __m128i n_left = _mm_setzero_si128();
    for (std::size_t row = first; row < last; row += n_lanes) {
      const __m128i is_in = _mm_cmpeq_epi16(load_ids(leaf_of_row + row), id);
      const __m128i sides = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(is_left + row)));
      const __m128i goes_right = _mm_cmpeq_epi16(sides, _mm_setzero_si128());
      const __m256i in_left = _mm256_cvtepi16_epi32(_mm_andnot_si128(goes_right, is_in));
      const __m256i in_right = _mm256_cvtepi16_epi32(_mm_and_si128(goes_right, is_in));
      const __m256 numbers = _mm256_loadu_ps(residual + row);
      left = _mm256_add_ps(left, _mm256_and_ps(numbers, _mm256_castsi256_ps(in_left)));
      right = _mm256_add_ps(right, _mm256_and_ps(numbers, _mm256_castsi256_ps(in_right)));
      n_left = _mm_sub_epi16(n_left, _mm_andnot_si128(goes_right, is_in));
    }
    sums.left += add_lanes(left);
    sums.right += add_lanes(right);
    std::uint16_t counts[n_lanes];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(counts), n_left);
    for (const std::uint16_t count : counts) sums.n_left += count;
  }
  return sums;
}

#endif

}  // namespace

void settle_rows(float* residual, std::size_t n_rows, const LeavesOfRows& before, const float* deltas,
                 const LeavesOfRows& next, double* sums) {
#ifdef PARTICLETREE_AVX2
  static constexpr auto settle = settle_by_leaves(std::make_index_sequence<most_leaves>());
  if (before.n_nodes <= most_nodes && next.leaves.size() <= most_leaves && has_avx2()) {
    return settle[next.leaves.size() - 1](residual, n_rows, before, deltas, next, sums);
  }
#endif
  settle_any(residual, n_rows, before, deltas, next, sums);
}

void settle_rows_with_weights(float* residual, const double* weights, std::size_t n_rows, const LeavesOfRows& before,
                              const float* deltas, const LeavesOfRows& next, double* sums) {
  for (std::size_t row = 0; row < n_rows; ++row) {
    residual[row] += deltas[before.leaf_of_row[row]];
    sums[next.leaf_of_row[row]] += weights[row] * static_cast<double>(residual[row]);
  }
}

SideSums add_sides(const float* residual, const LeafId* leaf_of_row, LeafId leaf, const std::uint8_t* is_left,
                   std::size_t n_rows) {
#ifdef PARTICLETREE_AVX2
  if (has_avx2()) return add_sides_avx2(residual, leaf_of_row, leaf, is_left, n_rows);
#endif
  return add_sides_any(residual, leaf_of_row, leaf, is_left, n_rows);
}

PARTICLETREE_CLONES void add_to_leaf(float* residual, const LeafId* leaf_of_row, LeafId leaf, float number,
                                     std::size_t n_rows) {
  for (std::size_t row = 0; row < n_rows; ++row) residual[row] += leaf_of_row[row] == leaf ? number : 0.0f;
}

PARTICLETREE_CLONES void divide_leaf(LeafId* leaf_of_row, LeafId leaf, const std::uint8_t* is_left, LeafId left,
                                     LeafId right, std::size_t n_rows) {
  for (std::size_t row = 0; row < n_rows; ++row) {
    const LeafId side = is_left[row] ? left : right;
    leaf_of_row[row] = leaf_of_row[row] == leaf ? side : leaf_of_row[row];
  }
}

PARTICLETREE_CLONES void rename_leaf(LeafId* leaf_of_row, LeafId leaf, LeafId other, std::size_t n_rows) {
  for (std::size_t row = 0; row < n_rows; ++row) leaf_of_row[row] = leaf_of_row[row] == leaf ? other : leaf_of_row[row];
}

namespace {

template <class Rank>
PARTICLETREE_INLINE void find_extent_of(const Rank* ranks, const LeafId* leaf_of_row, LeafId one, LeafId other,
                                        std::size_t n_rows, Rank& low, Rank& high) {
  Rank lowest = std::numeric_limits<Rank>::max(), highest = 0;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const bool is_in = (leaf_of_row[row] == one) | (leaf_of_row[row] == other);
    const Rank mask = static_cast<Rank>(0u - is_in);
    lowest = std::min(lowest, static_cast<Rank>(ranks[row] | static_cast<Rank>(~mask)));
    highest = std::max(highest, static_cast<Rank>(ranks[row] & mask));
  }
  low = lowest;
  high = highest;
}

template <class Rank>
PARTICLETREE_INLINE void mark_left_of(const Rank* ranks, Rank cut, std::uint8_t* is_left, std::size_t n_rows) {
  for (std::size_t row = 0; row < n_rows; ++row) is_left[row] = ranks[row] <= cut;
}

}  // namespace

#define PARTICLETREE_LOOPS_OVER_RANKS(Rank)                                                                    \
  PARTICLETREE_CLONES void find_extent(const Rank* ranks, const LeafId* leaf_of_row, LeafId one, LeafId other, \
                                       std::size_t n_rows, Rank& low, Rank& high) {                            \
    find_extent_of(ranks, leaf_of_row, one, other, n_rows, low, high);                                         \
  }                                                                                                            \
  PARTICLETREE_CLONES void mark_left(const Rank* ranks, Rank cut, std::uint8_t* is_left, std::size_t n_rows) { \
    mark_left_of(ranks, cut, is_left, n_rows);                                                                 \
  }
PARTICLETREE_LOOPS_OVER_RANKS(std::uint16_t)
PARTICLETREE_LOOPS_OVER_RANKS(std::uint32_t)
#undef PARTICLETREE_LOOPS_OVER_RANKS

}  // namespace particletree
