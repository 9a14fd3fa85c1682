// A node of a forest in which every distinct subtree is stored once. _model/rule.py says what its fields mean (NODE).
//
// The struct has the memory layout of NODE: nodes are passed to and from Python without conversion.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rule.h"

namespace particletree {

struct Node {
  // The rule (rule.h). The gap has the neighbouring values that the threshold of a cut divides.
  ValueRule rule;
  double gap_low = std::numeric_limits<double>::quiet_NaN();
  double gap_high = std::numeric_limits<double>::quiet_NaN();
  std::int32_t feature = -1;  // -1 at a leaf

  std::int32_t left = -1;  // indices of the children, which come before their parent
  std::int32_t right = -1;
  std::int32_t block = 0;  // its row in the table of statistics

  bool is_leaf() const { return feature < 0; }
  bool has_rule_of(const Node& other) const { return feature == other.feature && rule == other.rule; }
  std::uint64_t hash_of_rule() const { return rule.hash() + static_cast<std::uint64_t>(feature); }
};
static_assert(sizeof(Node) == 48 && offsetof(Node, rule) == 0 && offsetof(Node, gap_low) == 16 &&
                  offsetof(Node, gap_high) == 24 && offsetof(Node, feature) == 32 && offsetof(Node, left) == 36 &&
                  offsetof(Node, right) == 40 && offsetof(Node, block) == 44 && std::is_trivially_copyable_v<Node>,
              "the layout is that of NODE in _model/rule.py");

// A node that splits by a rule, with the gap of a cut. Its children and block are set later.
template <class Table>
Node split_by(const Rule& rule, const Gap& gap, const Table& table) {
  Node node{.rule = rule, .feature = static_cast<std::int32_t>(rule.feature)};
  if (rule.has_gap()) {
    const bool is_plain = table.is_plain(rule.feature);
    const auto is_number = [&](std::uint32_t rank) {  // not missing, and not past the last
      return is_plain || (rank > 0 && rank <= table.last_rank(rule.feature));
    };
    // A cut beyond the numbers of the block has none on one side: its gap begins or ends with the threshold.
    const double threshold = rule.threshold();
    node.gap_low = is_number(gap.low) ? table.value(rule.feature, gap.low) : threshold;
    node.gap_high = is_number(gap.high) ? table.value(rule.feature, gap.high)
                                        : std::nextafter(threshold, std::numeric_limits<double>::infinity());
    if (is_plain) node.rule.flip_coin();
  }
  return node;
}

// The contribution of a row to the hash of a set of rows, which is their sum. Different sets have equal hashes with a
// probability of about 2^-64 per pair.
inline std::uint64_t hash_of_row(std::uint32_t row) {
  std::uint64_t x = (std::uint64_t{row} + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

}  // namespace particletree
