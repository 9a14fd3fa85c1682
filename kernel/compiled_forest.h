// Many weighted trees compiled into one structure, in which a row's path costs little more than in a single tree.
//
// The trees of a posterior have most of their cuts in common, because particles descend from common ancestors. A
// *junction* is the set of tree nodes that a row is at together: at the root junction it is at the root of every tree.
// The weights of the leaves among those nodes are summed by block. The others are grouped by their rule; a group's left
// children are one junction and its right children another:
//
//     junction of  { x0 <= 1, x0 <= 1, x2 <= 7, leaf }     (four trees)
//       leaf:      its block, with the weight of its tree
//       x0 <= 1:   left junction of two nodes, right junction of two nodes
//       x2 <= 7:   left junction of one node, right junction of one node
//
// A row follows every cut of a junction once, however many trees have it. Trees that are at the same shared node are
// one member of the junction, with the sum of their weights: equal subtrees are followed once. Each node of each tree
// is in one junction and no junction is empty, so there are never more junctions than nodes of trees.
//
// A subtree that trees share below different rules is in as many junctions, so this can be far more than the distinct
// nodes. Samplers share few subtrees in this way, but a file may have any trees: a limit can be set to the size.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "predict.h"

namespace particletree {

// Cut c leads to junction 2c + 1 on the left and 2c + 2 on the right; the root is junction 0.
struct CompiledForest {
  struct Cut {
    ValueRule rule;
    std::uint32_t column;  // the index of its feature in `features`
  };
  struct Leaf {
    double weight;
    std::uint32_t block;
  };
  struct Junction {
    std::uint32_t first_cut = 0;
    std::uint32_t n_cuts = 0;
    std::uint32_t first_leaf = 0;
    std::uint32_t n_leaves = 0;
    std::uint32_t sum = no_sum;  // index of the sum over its leaves, if it is stored
  };
  static constexpr std::uint32_t no_sum = 0xffffffff;

  std::vector<std::uint32_t> features;  // those that are cut
  std::vector<Cut> cuts;
  std::vector<Leaf> leaves;
  std::vector<Junction> junctions;
  std::vector<double> sums;  // of weight * mean over a junction's leaves, `width` numbers each

  std::span<const Leaf> leaves_of(const Junction& junction) const {
    return std::span(leaves).subspan(junction.first_leaf, junction.n_leaves);
  }
  static std::uint32_t left_of(std::uint32_t cut) { return 2 * cut + 1; }
  static std::uint32_t right_of(std::uint32_t cut) { return 2 * cut + 2; }
};

// Compiles trees, in depth-first order with an explicit stack of pending members, because trees may be thousands of
// levels deep. The pending members are different nodes of the trees, so the stack is bounded by their number.
class ForestCompiler {
 public:
  // There must be fewer than 2^31 trees and 2^31 nodes.
  ForestCompiler(const ForestView& forest, const double* weights, std::size_t n_features, const double* leaf_means,
                 std::size_t width)
      : forest_(forest),
        weights_(weights),
        leaf_means_(leaf_means),
        width_(width),
        column_(n_features, unused),
        place_of_node_(forest.nodes.size(), unused) {}

  // Returns nothing if there would be more than `most` cuts, leaves and pending members together.
  std::optional<CompiledForest> compile(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    for (std::size_t tree = 0; tree < forest_.roots.size(); ++tree) {
      if (weights_[tree] > 0) members_.push_back({forest_.roots[tree], weights_[tree]});
    }
    compiled_.junctions.resize(1);
    if (!members_.empty()) pending_.push_back({0, members_.size()});
    while (!pending_.empty()) {
      expand();
      if (compiled_.cuts.size() + compiled_.leaves.size() + members_.size() > most) return std::nullopt;
    }
    return std::move(compiled_);
  }

 private:
  // A node that trees of this weight are at.
  struct Member {
    std::int32_t node;
    double weight;
  };
  struct Pending {
    std::uint32_t junction;
    std::size_t n_members;  // at the end of members_ when it is processed
  };
  struct Group {
    const Node* first;  // of its nodes, which are leaves of one block or split by one rule
    double weight = 0.0;
    std::size_t n_members = 0;
    std::size_t first_left = 0, first_right = 0;
  };
  static constexpr std::uint32_t unused = 0xffffffff;
  static constexpr std::uint32_t empty = 0xffffffff;

  // A sum of `width` numbers is stored only if it has at least one leaf per 8 numbers, so that the memory for sums is
  // proportional to the number of leaves for any number of classes.
  static constexpr std::size_t numbers_per_leaf = 8;

  void expand() {
    const auto [number, n_members] = pending_.back();
    pending_.pop_back();
    take(n_members);
    group();
    CompiledForest::Junction junction;
    junction.first_leaf = static_cast<std::uint32_t>(compiled_.leaves.size());
    junction.first_cut = static_cast<std::uint32_t>(compiled_.cuts.size());
    for (const Group& group : groups_) {
      const Node& node = *group.first;
      if (node.is_leaf()) {
        compiled_.leaves.push_back({group.weight, static_cast<std::uint32_t>(node.block)});
      } else {
        compiled_.cuts.push_back({node.rule, column_of(node.feature)});
      }
    }
    junction.n_leaves = static_cast<std::uint32_t>(compiled_.leaves.size()) - junction.first_leaf;
    junction.n_cuts = static_cast<std::uint32_t>(compiled_.cuts.size()) - junction.first_cut;
    junction.sum = sum_of_leaves(junction);
    compiled_.junctions[number] = junction;
    compiled_.junctions.resize(1 + 2 * compiled_.cuts.size());
    descend(junction.first_cut + junction.n_cuts);
  }

  // Pops the last members off the stack; those that are at the same node become one.
  void take(std::size_t n_members) {
    taken_.clear();
    for (auto member = members_.end() - static_cast<std::ptrdiff_t>(n_members); member != members_.end(); ++member) {
      std::uint32_t& place = place_of_node_[static_cast<std::size_t>(member->node)];
      if (place == unused) {
        place = static_cast<std::uint32_t>(taken_.size());
        taken_.push_back(*member);
      } else {
        taken_[place].weight += member->weight;
      }
    }
    for (const Member& member : taken_) place_of_node_[static_cast<std::size_t>(member.node)] = unused;
    members_.resize(members_.size() - n_members);
  }

  // Assigns each member to its group. Groups are in the order of their first member.
  void group() {
    group_of_.resize(std::max(group_of_.size(), taken_.size()));
    groups_.clear();
    const std::size_t n_slots = std::bit_ceil(2 * taken_.size());
    slots_.resize(std::max(slots_.size(), n_slots));
    std::fill_n(slots_.begin(), n_slots, empty);
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const std::uint32_t number = find_group(forest_.nodes[taken_[i].node], n_slots - 1);
      group_of_[i] = number;
      groups_[number].weight += taken_[i].weight;
      ++groups_[number].n_members;
    }
  }

  static bool belong_together(const Node& a, const Node& b) {
    return a.feature == b.feature && (a.is_leaf() ? a.block == b.block : a.rule == b.rule);
  }

  std::uint32_t find_group(const Node& node, std::size_t mask) {
    std::uint64_t hash = node.is_leaf() ? ~static_cast<std::uint64_t>(node.block) : node.hash_of_rule();
    hash *= 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93ULL;
    for (std::size_t slot = hash >> 32;; ++slot) {
      std::uint32_t& number = slots_[slot & mask];
      if (number == empty) {
        number = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({&node});
        return number;
      }
      if (belong_together(*groups_[number].first, node)) return number;
    }
  }

  // Pushes the children of each cut's members on the stack, the first cut's on top. `end_cut` is one past the last cut.
  void descend(std::uint32_t end_cut) {
    std::size_t place = members_.size();
    std::uint32_t cut = end_cut;
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      if (group->first->is_leaf()) continue;
      --cut;
      group->first_right = place;
      group->first_left = place + group->n_members;
      place += 2 * group->n_members;
      pending_.push_back({CompiledForest::right_of(cut), group->n_members});
      pending_.push_back({CompiledForest::left_of(cut), group->n_members});
    }
    members_.resize(place);
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      Group& group = groups_[group_of_[i]];
      if (group.first->is_leaf()) continue;
      const Node& node = forest_.nodes[taken_[i].node];
      members_[group.first_left++] = {node.left, taken_[i].weight};
      members_[group.first_right++] = {node.right, taken_[i].weight};
    }
  }

  std::uint32_t column_of(std::int32_t feature) {
    std::uint32_t& column = column_[static_cast<std::size_t>(feature)];
    if (column == unused) {
      column = static_cast<std::uint32_t>(compiled_.features.size());
      compiled_.features.push_back(static_cast<std::uint32_t>(feature));
    }
    return column;
  }

  std::uint32_t sum_of_leaves(const CompiledForest::Junction& junction) {
    if (junction.n_leaves == 0 || numbers_per_leaf * junction.n_leaves < width_) return CompiledForest::no_sum;
    const std::size_t first = compiled_.sums.size();
    compiled_.sums.resize(first + width_, 0.0);
    for (const CompiledForest::Leaf& leaf : compiled_.leaves_of(junction)) {
      const double* mean = leaf_means_ + leaf.block * width_;
      for (std::size_t k = 0; k < width_; ++k) compiled_.sums[first + k] += leaf.weight * mean[k];
    }
    return static_cast<std::uint32_t>(first / width_);
  }

  ForestView forest_;
  const double* weights_;
  const double* leaf_means_;
  std::size_t width_;
  std::vector<std::uint32_t> column_;         // of each feature that is cut
  std::vector<std::uint32_t> place_of_node_;  // in taken_, while that is filled
  std::vector<Member> members_;               // those that are pending, junction by junction
  std::vector<Pending> pending_;
  std::vector<Member> taken_;  // the members of the present junction, and their groups
  std::vector<std::uint32_t> group_of_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> slots_;  // hash table of the groups
  CompiledForest compiled_;
};

}  // namespace particletree
