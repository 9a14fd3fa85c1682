// The loops over ranks in which a fit spends most of its time. They are compiled for more than one instruction set, and
// in their own translation unit, because the choice among the versions is made once per function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace particletree {

#define PARTICLETREE_RANK_LOOPS(Rank)                                                                      \
  /* For each range of ranks, the number on the left of a cut. */                                          \
  void count_stretches(const Rank* ranks, const std::uint32_t* lengths, std::size_t n_stretches, Rank cut, \
                       std::uint32_t* counts);                                                             \
  /* The lowest and the highest rank. */                                                                   \
  void find_extent(const Rank* ranks, std::size_t n, Rank& low, Rank& high);
PARTICLETREE_RANK_LOOPS(std::uint8_t)
PARTICLETREE_RANK_LOOPS(std::uint16_t)
PARTICLETREE_RANK_LOOPS(std::uint32_t)
#undef PARTICLETREE_RANK_LOOPS

}  // namespace particletree
