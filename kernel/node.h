// A node of a forest in which every distinct subtree stands once. See model/forest.py for its meaning.
//
// The struct is the memory layout of NODE in model/node.py: nodes go to Python and come back as they stand.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace particletree {

struct Node {
  // The rule: rows whose value is <= threshold go left. The gap has the neighbouring values that the threshold divides.
  double threshold = std::numeric_limits<double>::quiet_NaN();
  double gap_low = std::numeric_limits<double>::quiet_NaN();
  double gap_high = std::numeric_limits<double>::quiet_NaN();
  std::int32_t feature = -1;  // -1 at a leaf

  std::int32_t left = -1;  // numbers of the children, which come before their parent
  std::int32_t right = -1;
  std::int32_t block = 0;  // its row in the table of statistics

  bool is_leaf() const { return feature < 0; }
  bool has_rule_of(const Node& other) const {
    return feature == other.feature &&
           std::bit_cast<std::uint64_t>(threshold) == std::bit_cast<std::uint64_t>(other.threshold);
  }
};
static_assert(sizeof(Node) == 40, "the layout is that of NODE in model/node.py");

// A contribution of each row to the hash of a set of rows, which is their sum: sets are equal if their hashes are, but for
// chance of about one in 2^64 per pair.
inline std::uint64_t hash_of_row(std::uint32_t row) {
  std::uint64_t x = (std::uint64_t{row} + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

}  // namespace particletree
