// One tree of a sum. Trees are small, so the leaf of every row is stored, and passes over rows go from the first to the
// last.
//
// A tree has at most `most_nodes` nodes, so that 16 bits suffice for the leaf of a row. Larger trees have no prior
// probability: moves to them are refused.
//
// On bad data a tree is as deep as it has leaves, and threads have small stacks, so nothing here is recursive. Passes
// over a subtree follow the links to parents instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../counting.h"
#include "../node.h"
#include "../require.h"
#include "../retained.h"
#include "../rule.h"
#include "../table.h"
#include "../tree_prior.h"
#include "row_loops.h"

namespace particletree {

template <class Table>
class SumTree {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId none = std::numeric_limits<NodeId>::max();
  static constexpr NodeId root = 0;
  static constexpr std::size_t most_nodes = std::numeric_limits<LeafId>::max();

  struct Node {
    NodeId parent = none;
    NodeId left = none;
    NodeId right = none;
    std::uint32_t depth = 0;
    std::uint32_t n_rows = 0;
    double mass = 0.0;    // of the questions that separate its rows, if the prior has a measure
    double weight = 0.0;  // total weight of its rows; for a leaf,
    double sum = 0.0;     // as of the last pass, the sum of the residuals without this tree
    double value = 0.0;   // and its value
    Rule rule{};
    bool can_split = false;
    bool is_free = false;
    bool is_leaf() const { return left == none; }
    BlockFacts facts() const { return {depth, n_rows, mass}; }
  };

  // The rows of one side of a rule.
  struct Side {
    std::uint32_t depth = 0;
    std::uint32_t n_rows = 0;
    double mass = 0.0;
    double weight = 0.0;
    double sum = 0.0;
    bool can_split = false;
    BlockFacts facts() const { return {depth, n_rows, mass}; }
  };

  SumTree(const Side& whole, std::size_t limit = most_nodes)
      : n_rows_(whole.n_rows), limit_(limit), leaf_of_row_(whole_registers(whole.n_rows), no_leaf) {
    std::fill_n(leaf_of_row_.begin(), n_rows_, LeafId{root});
    nodes_.push_back(
        {.n_rows = whole.n_rows, .mass = whole.mass, .weight = whole.weight, .can_split = whole.can_split});
  }

  Node& operator[](NodeId id) { return nodes_[id]; }
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::size_t n_nodes() const { return nodes_.size(); }  // free ones included
  // Whether the tree may have so many nodes in place of so many others.
  bool has_room_for(std::size_t n_more, std::size_t n_fewer = 0) const {
    return nodes_.size() - free_.size() + n_more - n_fewer <= limit_;
  }
  const LeafId* leaf_of_row() const { return leaf_of_row_.data(); }
  LeavesOfRows leaves_of_rows() const { return {leaf_of_row_.data(), nodes_.size(), leaves_}; }
  std::span<const LeafId> leaves() const { return leaves_; }

  // The nodes that a move can choose from, by increasing number.
  template <class Takes>
  const std::vector<NodeId>& nodes_that(Takes takes) {
    found_.clear();
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      if (!nodes_[id].is_free && takes(nodes_[id])) found_.push_back(id);
    }
    return found_;
  }
  bool is_prunable(const Node& node) const {
    return !node.is_leaf() && nodes_[node.left].is_leaf() && nodes_[node.right].is_leaf();
  }

  // Which nodes are in the subtree of a node, by number; the node itself is.
  const std::vector<std::uint8_t>& below(NodeId top) {
    is_below_.assign(nodes_.size(), 0);
    for (NodeId id = top; id != none; id = next(id, top)) is_below_[id] = 1;
    return is_below_;
  }

  // A leaf becomes a split, whose leaves have its value.
  void split(NodeId id, const Rule& rule, const Side& left, const Side& right, const std::uint8_t* is_left) {
    const NodeId left_id = new_leaf(id, left), right_id = new_leaf(id, right);
    nodes_[id].left = left_id;
    nodes_[id].right = right_id;
    nodes_[id].rule = rule;
    divide_leaf(leaf_of_row_.data(), static_cast<LeafId>(id), is_left, static_cast<LeafId>(left_id),
                static_cast<LeafId>(right_id), n_rows_);
    note_change();
  }

  // The split below `top` becomes a leaf with this value.
  void merge(NodeId top, double value) {
    double sum = 0.0;
    for_each_leaf(
        [&](const Node& leaf) {
          sum += leaf.sum;
          rename_leaf(leaf_of_row_.data(), id_of(leaf), static_cast<LeafId>(top), n_rows_);
        },
        top);
    for (NodeId id = first_leaf(top); id != top; id = next_upwards(id)) {
      nodes_[id].is_free = true;
      free_.push_back(id);
    }
    nodes_[top].left = nodes_[top].right = none;
    nodes_[top].value = value;
    nodes_[top].sum = sum;
    while (nodes_.back().is_free) {
      std::erase(free_, static_cast<NodeId>(nodes_.size() - 1));
      nodes_.pop_back();
    }
    note_change();
  }

  LeafId id_of(const Node& node) const { return static_cast<LeafId>(&node - nodes_.data()); }

  // The first node on the path of a row with at most `n_rows` rows; `none` if the path ends before.
  NodeId first_with_at_most(std::size_t n_rows, std::uint32_t row) const {
    NodeId found = none;
    for (NodeId id = leaf_of_row_[row]; id != none && nodes_[id].n_rows <= n_rows; id = nodes_[id].parent) found = id;
    return found;
  }

  DecisionTree decisions(NodeId top) const {
    DecisionTree tree(1);
    std::vector<std::pair<NodeId, std::uint32_t>> pending{{top, 0}};  // a node and its number in the list
    while (!pending.empty()) {
      const auto [id, number] = pending.back();
      pending.pop_back();
      const Node& node = nodes_[id];
      if (node.is_leaf()) continue;
      const auto left = static_cast<std::uint32_t>(tree.size());
      tree[number] = {{true, node.rule.feature, node.rule}, left, left + 1};
      tree.resize(tree.size() + 2);
      pending.push_back({node.right, left + 1});
      pending.push_back({node.left, left});
    }
    return tree;
  }

  // Whether the tree has changed since the last call.
  bool take_change() { return std::exchange(has_changed_, false); }

  // Appends the nodes in preorder; a leaf's block is its number among the leaves.
  void write(const Table& table, std::vector<particletree::Node>& nodes) const {
    const std::size_t first = nodes.size();
    const auto place = [&] { return static_cast<std::int32_t>(nodes.size() - first); };  // of the next node
    std::vector<std::size_t> waiting;  // the splits above whose right child is still to come
    std::int32_t n_leaves = 0;
    for (NodeId id = root; id != none; id = next(id, root)) {
      const Node& node = nodes_[id];
      if (id != root && nodes_[node.parent].right == id) {
        nodes[waiting.back()].right = place();
        waiting.pop_back();
      }
      particletree::Node& written = nodes.emplace_back();
      if (node.is_leaf()) {
        written.block = n_leaves++;
        continue;
      }
      written.rule = node.rule;
      if (node.rule.has_gap() && table.is_plain(node.rule.feature)) written.rule.flip_coin();
      written.feature = static_cast<std::int32_t>(node.rule.feature);
      written.left = place();
      waiting.push_back(nodes.size() - 1);
    }
  }

  // Calls visit(leaf) for every leaf, in preorder.
  template <class Visit>
  void for_each_leaf(Visit visit, NodeId top = root) {
    for (NodeId id = top; id != none; id = next(id, top)) {
      if (nodes_[id].is_leaf()) visit(nodes_[id]);
    }
  }

 private:
  // The node after this one in the subtree below `top`, in preorder; none after the last.
  NodeId next(NodeId id, NodeId top) const {
    if (!nodes_[id].is_leaf()) return nodes_[id].left;
    for (; id != top; id = nodes_[id].parent) {
      const NodeId right = nodes_[nodes_[id].parent].right;
      if (right != id) return right;
    }
    return none;
  }

  // The node after this one in postorder, which starts with the first leaf.
  NodeId next_upwards(NodeId id) const {
    const NodeId parent = nodes_[id].parent, right = nodes_[parent].right;
    return right == id ? parent : first_leaf(right);
  }

  NodeId first_leaf(NodeId id) const {
    while (!nodes_[id].is_leaf()) id = nodes_[id].left;
    return id;
  }

  NodeId new_leaf(NodeId parent, const Side& side) {
    NodeId id;
    if (free_.empty()) {
      id = static_cast<NodeId>(nodes_.size());
      nodes_.push_back({});
    } else {
      id = free_.back();
      free_.pop_back();
    }
    nodes_[id] = {.parent = parent,
                  .depth = nodes_[parent].depth + 1,
                  .n_rows = side.n_rows,
                  .mass = side.mass,
                  .weight = side.weight,
                  .sum = side.sum,
                  .value = nodes_[parent].value,
                  .can_split = side.can_split};
    return id;
  }

  void note_change() {
    has_changed_ = true;
    leaves_.clear();
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      if (!nodes_[id].is_free && nodes_[id].is_leaf()) leaves_.push_back(static_cast<LeafId>(id));
    }
  }

  static constexpr LeafId no_leaf = std::numeric_limits<LeafId>::max();

  std::size_t n_rows_;
  std::size_t limit_;  // of the number of nodes, at most `most_nodes`
  std::vector<Node> nodes_;
  std::vector<NodeId> free_;
  std::vector<LeafId> leaf_of_row_;  // padded to whole registers with no leaf
  std::vector<LeafId> leaves_{LeafId{root}};
  std::vector<NodeId> found_;
  std::vector<std::uint8_t> is_below_;
  bool has_changed_ = true;
};

}  // namespace particletree
