#include "rank_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "instruction_sets.h"

namespace particletree {

namespace {

// A sum of at most this many ones fits into a rank, so that the lanes of a vector register need not be wider than
// ranks.
template <class Rank>
inline constexpr std::size_t longest_sum = std::min<std::size_t>(std::numeric_limits<Rank>::max(), 1u << 15);

template <class Rank>
PARTICLETREE_INLINE std::uint32_t count_left(const Rank* ranks, std::size_t n, Rank cut) {
  std::uint32_t count = 0;
  while (n > 0) {
    const std::size_t n_now = std::min(n, longest_sum<Rank>);
    Rank sum = 0;
    for (std::size_t i = 0; i < n_now; ++i) sum = static_cast<Rank>(sum + (ranks[i] <= cut));
    count += sum;
    ranks += n_now;
    n -= n_now;
  }
  return count;
}

// For each range of ranks, the number on the left of a cut.
template <class Rank>
PARTICLETREE_INLINE void count_stretches_of(const Rank* ranks, const std::uint32_t* lengths, std::size_t n_stretches,
                                            Rank cut, std::uint32_t* counts) {
  for (std::size_t k = 0; k < n_stretches; ++k) {
    counts[k] = count_left(ranks, lengths[k], cut);
    ranks += lengths[k];
  }
}

template <class Rank>
PARTICLETREE_INLINE void find_extent_of(const Rank* ranks, std::size_t n, Rank& low, Rank& high) {
  Rank lowest = ranks[0];
  Rank highest = ranks[0];
  for (std::size_t i = 1; i < n; ++i) {
    lowest = std::min(lowest, ranks[i]);
    highest = std::max(highest, ranks[i]);
  }
  low = lowest;
  high = highest;
}

}  // namespace

#define PARTICLETREE_RANK_LOOPS(Rank)                                                                                \
  PARTICLETREE_CLONES void count_stretches(const Rank* ranks, const std::uint32_t* lengths, std::size_t n, Rank cut, \
                                           std::uint32_t* counts) {                                                  \
    count_stretches_of(ranks, lengths, n, cut, counts);                                                              \
  }                                                                                                                  \
  PARTICLETREE_CLONES void find_extent(const Rank* ranks, std::size_t n, Rank& low, Rank& high) {                    \
    find_extent_of(ranks, n, low, high);                                                                             \
  }
PARTICLETREE_RANK_LOOPS(std::uint8_t)
PARTICLETREE_RANK_LOOPS(std::uint16_t)
PARTICLETREE_RANK_LOOPS(std::uint32_t)
#undef PARTICLETREE_RANK_LOOPS

}  // namespace particletree
