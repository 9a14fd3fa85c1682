// The loops over all rows in which a sum of trees spends its time.
//
// Trees of a sum are small: most have two to five leaves. A loop that visits every row and masks those of other leaves
// reads memory in order and fills vector registers, which is faster than collecting a leaf's rows first. Residuals are
// floats, of which a register holds eight. Sums are still accurate: float lanes sum at most `n_together` rows and are
// then added to a double.
//
// Successive rows are added to different lanes, in the same order on all processors: the same seed gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace particletree {

using LeafId = std::uint16_t;  // the node of a row's leaf; the largest is none

inline constexpr std::size_t n_lanes = 8;
inline constexpr std::size_t n_together = 1024;  // rows that are summed in floats

// Arrays with one entry per row are padded to a multiple of a register.
constexpr std::size_t whole_registers(std::size_t n_rows) { return (n_rows + n_lanes - 1) / n_lanes * n_lanes; }

// The rows of a leaf on the two sides of a rule.
struct SideSums {
  std::uint32_t n_left = 0;
  double left = 0.0;
  double right = 0.0;
};

// The nodes of a tree that are leaves, and the leaf of each row.
struct LeavesOfRows {
  const LeafId* leaf_of_row;
  std::size_t n_nodes;
  std::span<const LeafId> leaves;  // the nodes that are leaves
};

// Adds to each row's residual the delta of its leaf in one tree, and sums the residuals over the leaves of the next.
// There is one delta per node; `sums` has room for every node of the next tree.
void settle_rows(float* residual, std::size_t n_rows, const LeavesOfRows& before, const float* deltas,
                 const LeavesOfRows& next, double* sums);

// The same for rows with weights, which multiply the residuals in the sums.
void settle_rows_with_weights(float* residual, const double* weights, std::size_t n_rows, const LeavesOfRows& before,
                              const float* deltas, const LeavesOfRows& next, double* sums);

// The sums of the residuals over the rows of a leaf on either side.
SideSums add_sides(const float* residual, const LeafId* leaf_of_row, LeafId leaf, const std::uint8_t* is_left,
                   std::size_t n_rows);

// Adds a number to the residual of a leaf's rows.
void add_to_leaf(float* residual, const LeafId* leaf_of_row, LeafId leaf, float number, std::size_t n_rows);

// The rows of one leaf go to two others.
void divide_leaf(LeafId* leaf_of_row, LeafId leaf, const std::uint8_t* is_left, LeafId left, LeafId right,
                 std::size_t n_rows);

// The rows of one leaf go to another.
void rename_leaf(LeafId* leaf_of_row, LeafId leaf, LeafId other, std::size_t n_rows);

#define PARTICLETREE_LOOPS_OVER_RANKS(Rank)                                                                    \
  /* The lowest and the highest rank among the rows of two leaves, which may be the same leaf. */              \
  void find_extent(const Rank* ranks, const LeafId* leaf_of_row, LeafId one, LeafId other, std::size_t n_rows, \
                   Rank& low, Rank& high);                                                                     \
  /* Which ranks are at most a cut. */                                                                         \
  void mark_left(const Rank* ranks, Rank cut, std::uint8_t* is_left, std::size_t n_rows);
PARTICLETREE_LOOPS_OVER_RANKS(std::uint16_t)
PARTICLETREE_LOOPS_OVER_RANKS(std::uint32_t)
#undef PARTICLETREE_LOOPS_OVER_RANKS

}  // namespace particletree
