// The tree of a Markov chain: nodes with their rows, and the operations that change them.
//
// All rows are in one array, in which every node has a contiguous range that its children's ranges divide. So pruning
// moves nothing, growing reorders the range of one leaf, and a move changes nothing outside its subtree. A change of
// rules is first drafted on a copy of the range, and committed if the chain accepts it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "counting.h"
#include "drawable_set.h"
#include "feature_rules.h"
#include "leaf_model.h"
#include "random.h"
#include "retained.h"
#include "rule.h"
#include "table.h"
#include "tree_prior.h"
#include "trees.h"

namespace particletree {

template <class Table, LeafModel Leaf>
class ChainTree {
 public:
  using Statistic = typename Leaf::Statistic;
  using NodeId = std::uint32_t;
  static constexpr NodeId none = std::numeric_limits<NodeId>::max();
  static constexpr NodeId root = 0;

  using Rules = FeatureRules<Table>;
  using NewRules = std::vector<std::pair<NodeId, Rule>>;

  // How a rule divided some rows: the number that went left, and the gap of cuts that do the same.
  struct Division {
    std::uint32_t n_left = 0;
    Gap gap;
  };

  // The rows of a node and quantities derived from them.
  struct Block {
    std::uint32_t first = 0;  // its range of the rows
    std::uint32_t n_rows = 0;
    std::vector<Statistic> statistics;
    double log_marginal = 0.0;
    Varying varying;           // the features that vary in it; none if the prior does not allow it to split
    std::int32_t number = -1;  // in the result's table of statistics; -1: not there yet
    bool can_split() const { return !varying.features.empty(); }
    BlockFacts facts(std::size_t depth) const { return {depth, n_rows, varying.total}; }
  };

  struct Node : Block {
    NodeId parent = none;
    NodeId left = none;
    NodeId right = none;
    std::uint32_t depth = 0;
    Rule rule;
    double log_density = 0.0;  // of the rule, among those of its feature
    double log_coins = 0.0;    // log probability of its coin flips
    Division division;
    std::int32_t written = -1;  // its index among the nodes of the result; -1: changed since
    bool is_leaf() const { return left == none; }
  };

  // An evaluated rule of a block: statistics and marginals of both sides, what the prior may know of them, and whether
  // they can split.
  struct Sides {
    std::vector<Statistic> left, right;
    double log_left = 0.0, log_right = 0.0;
    BlockFacts left_facts{}, right_facts{};
    bool left_can_split = false, right_can_split = false;
  };

  ChainTree(const Table& table, const Leaf& leaf, const TreePrior& prior)
      : table_(table), leaf_(leaf), prior_(prior), rows_(table.n_rows) {
    make_root();
  }

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  const DrawableSet& growable() const { return growable_; }  // leaves that can split
  const DrawableSet& prunable() const { return prunable_; }  // splits whose children are leaves
  const DrawableSet& splits() const { return splits_; }
  std::size_t n_visits() const { return n_visits_; }  // number of row reads, over all passes

  // Grows the tree from its root, split by split in preorder. A rule that leaves a side empty is refused, and so is a
  // split that the prior does not allow: such a tree has prior probability zero, and the moves assume that it cannot
  // occur.
  void grow_from(std::span<const particletree::Node> nodes) {
    std::vector<NodeId> waiting{root};
    for (std::size_t i = 0; i < nodes.size() && !waiting.empty(); ++i) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      if (nodes[i].is_leaf()) continue;
      split_by(id, static_cast<std::uint32_t>(nodes[i].feature), nodes[i].rule);
      waiting.push_back(nodes_[id].right);
      waiting.push_back(nodes_[id].left);
    }
  }

  // The first node on the path of a row with at most `n_rows` rows; `none` if the path ends before.
  NodeId first_with_at_most(std::size_t n_rows, std::uint32_t row) const {
    NodeId id = root;
    while (nodes_[id].n_rows > n_rows) {
      const Node& node = nodes_[id];
      if (node.is_leaf()) return none;
      id = goes_left(std::uint32_t{table_.column(node.rule.feature)[row]}, node.rule) ? node.left : node.right;
    }
    return id;
  }

  // The decisions of the subtree below a node.
  DecisionTree decisions(NodeId top) const {
    DecisionTree tree(1);
    std::vector<std::pair<NodeId, std::uint32_t>> waiting{{top, 0}};
    while (!waiting.empty()) {
      const auto [id, number] = waiting.back();
      waiting.pop_back();
      const Node& node = nodes_[id];
      if (node.is_leaf()) continue;
      const auto left = static_cast<std::uint32_t>(tree.size());
      tree[number] = {{true, node.rule.feature, node.rule}, left, left + 1};
      tree.resize(tree.size() + 2);
      waiting.push_back({node.left, left});
      waiting.push_back({node.right, left + 1});
    }
    return tree;
  }

  // The rows of a node in increasing order.
  std::vector<std::uint32_t> sorted_rows(NodeId id) const {
    const auto first = rows_.begin() + nodes_[id].first;
    std::vector<std::uint32_t> rows(first, first + nodes_[id].n_rows);
    sort(rows);
    return rows;
  }

  // Replaces the subtree below a node by another tree. The rows are divided in increasing order, so that passes over
  // them read memory forward.
  void replace(NodeId top, const DecisionTree& tree) {
    remove_below(top);
    sort(rows_of(nodes_[top]));
    std::vector<std::pair<NodeId, std::uint32_t>> waiting{{top, 0}};
    while (!waiting.empty()) {
      const auto [id, number] = waiting.back();
      waiting.pop_back();
      if (!tree[number].is_split) continue;
      split_by(id, tree[number].feature, tree[number].rule);
      waiting.push_back({nodes_[id].right, tree[number].right});
      waiting.push_back({nodes_[id].left, tree[number].left});
    }
  }

  // A rule from the prior. Leaves its feature's ranks in slice_, which evaluate() and split() of the node need.
  Rule draw_rule(NodeId id, Random& random) {
    const Node& node = nodes_[id];
    const std::uint32_t feature = node.varying.draw(random);
    load(feature, rows_of(node));
    in_slice_ = id;
    return Rules(table_, feature, slice_).draw(random);
  }

  Sides evaluate(NodeId id, const Rule& rule) {
    check_slice(id);
    const Node& node = nodes_[id];
    const auto rows = rows_of(node);
    Sides sides;
    sides.left.resize(leaf_.width());
    sides.right.resize(leaf_.width());
    const std::size_t n_left = with_side_of_ranks(rule, [&, ranks = slice_.ranks](auto goes_left) {
      Statistic *left = sides.left.data(), *right = sides.right.data();
      std::size_t n = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool is_left = goes_left(ranks[i]);
        leaf_.add(is_left ? left : right, leaf_.observe(rows[i]));
        n += is_left;
      }
      return n;
    });
    n_visits_ += rows.size();
    sides.log_left = leaf_.log_marginal(sides.left.data());
    sides.log_right = leaf_.log_marginal(sides.right.data());
    sides.left_facts = {node.depth + std::size_t{1}, n_left};
    sides.right_facts = {node.depth + std::size_t{1}, rows.size() - n_left};
    if (table_.measure) {
      sides.left_facts.mass = mass_of_side(node, rule, false);
      sides.right_facts.mass = mass_of_side(node, rule, true);
    }
    sides.left_can_split = prior_.allows(sides.left_facts) && differ(rows, node.varying.features, rule, false);
    sides.right_can_split = prior_.allows(sides.right_facts) && differ(rows, node.varying.features, rule, true);
    return sides;
  }

  // A leaf becomes a split with two leaves; slice_ still holds the rule's feature.
  void split(NodeId id, const Rule& rule, const Sides& sides) {
    check_slice(id);
    const NodeId left = new_node(), right = new_node();
    Node& node = nodes_[id];
    in_slice_ = none;
    node.rule = rule;
    const Rules rules(table_, rule.feature, slice_);
    node.log_density = rules.log_density(rule);
    node.log_coins = rules.log_coins();
    node.left = left;
    node.right = right;
    node.division = divide(rows_of(node), rule);
    mark_changed(id);
    const std::uint32_t n_left = node.division.n_left;
    make_leaf(left, id, node.first, n_left, sides.left, sides.log_left);
    make_leaf(right, id, node.first + n_left, node.n_rows - n_left, sides.right, sides.log_right);
    growable_.set(id, false);
    splits_.set(id, true);
    prunable_.set(id, true);
    if (node.parent != none) prunable_.set(node.parent, false);
  }

  // A split whose children are leaves becomes a leaf.
  void merge(NodeId id) {
    Node& node = nodes_[id];
    for (NodeId child : {node.left, node.right}) {
      growable_.set(child, false);
      free_.push_back(child);
    }
    node.left = node.right = none;
    mark_changed(id);
    growable_.set(id, node.can_split());
    splits_.set(id, false);
    prunable_.set(id, false);
    if (node.parent == none) return;
    const Node& parent = nodes_[node.parent];
    prunable_.set(node.parent, nodes_[parent.left].is_leaf() && nodes_[parent.right].is_leaf());
  }

  // The effect of new rules on the subtree below `top`.
  struct Outcome {
    double log_ratio;        // of prior * likelihood, new to old
    std::size_t n_growable;  // leaves of the whole tree that could split
  };

  // Divides the rows below `top` by some new rules, on a copy. Returns nothing if a block would be left without rows:
  // such a tree has prior probability zero. The density of the top's own rule counts only if `with_own_rule`; its
  // probability to split cancels, because its rows are the same. The coin flips for values that a block does not have
  // are part of the state, and so of the densities, because a block that gets other rows may have these values. There
  // is one pass over the rows per level: the pass that divides a block also looks up the ranks for the next level.
  std::optional<Outcome> draft(NodeId top, const NewRules& rules, bool with_own_rule) {
    start_draft(top, rules);
    Outcome outcome{0.0, growable_.size()};
    for (std::size_t at = 0; at < drafts_.size(); ++at) {
      const Node& node = nodes_[drafts_[at].node];
      if (node.is_leaf()) {
        outcome.log_ratio += leaf_term(drafts_[at], node.depth) - leaf_term(node, node.depth);
        outcome.n_growable += drafts_[at].can_split();
        outcome.n_growable -= node.can_split();
        continue;
      }
      if (!draft_children(at, rules)) return std::nullopt;
      const Draft& draft = drafts_[at];
      outcome.log_ratio += log_split(draft, node.depth) - log_split(node, node.depth);
      if (at > 0 || with_own_rule) {
        outcome.log_ratio += rule_term(draft, draft.rule.feature, draft.log_density + draft.log_coins) -
                             rule_term(node, node.rule.feature, node.log_density + node.log_coins);
      }
    }
    return outcome;
  }

  // Commits the last draft, which was below the same `top`.
  void take_over(NodeId top) {
    add_up_statistics();
    const std::uint32_t first = nodes_[top].first;
    std::copy(draft_rows_.begin(), draft_rows_.end(), rows_.begin() + first);
    for (Draft& each : drafts_) {
      mark_changed(each.node);
      Node& node = nodes_[each.node];
      if (!node.is_leaf()) {
        node.rule = each.rule;
        node.log_density = each.log_density;
        node.log_coins = each.log_coins;
        node.division = each.division;
      }
      if (each.node == top) continue;  // its rows and their statistics are as before
      each.first += first;
      static_cast<Block&>(node) = std::move(static_cast<Block&>(each));
      if (node.is_leaf()) growable_.set(each.node, node.can_split());
    }
  }

  // Appends the tree to others; nodes that have not changed since the last one was written are shared with it.
  void write(Trees& trees) {
    pending_.assign(1, root);
    while (!pending_.empty()) {
      Node& node = nodes_[pending_.back()];
      const std::size_t n_pending = pending_.size();
      if (!node.is_leaf()) {  // children first
        if (nodes_[node.left].written < 0) pending_.push_back(node.left);
        if (nodes_[node.right].written < 0) pending_.push_back(node.right);
      }
      if (pending_.size() > n_pending) continue;
      if (node.written < 0) node.written = write_node(node, trees);
      pending_.pop_back();
    }
    trees.add_tree(nodes_[root].written);
  }

 private:
  template <class Rows>
  static void sort(Rows&& rows) {
    if (!std::ranges::is_sorted(rows)) std::ranges::sort(rows);
  }

  // The rows of a node are divided by the ranks in slice_, which must be theirs.
  void check_slice(NodeId id) const {
    if (in_slice_ != id) throw std::logic_error("a node is evaluated or split without the ranks of its rows");
  }

  // Splits a leaf by the rule with this effect on values.
  void split_by(NodeId id, std::uint32_t feature, const ValueRule& of_values) {
    load(feature, rows_of(nodes_[id]));
    in_slice_ = id;
    const std::optional<Rule> rule = Rules(table_, feature, slice_).with(of_values);
    if (!rule) throw std::invalid_argument("a cut of the initial tree leaves one of its sides without rows");
    if (!nodes_[id].can_split()) throw std::invalid_argument("the prior does not allow a split of the initial tree");
    split(id, *rule, evaluate(id, *rule));
  }

  // Makes a node a leaf.
  void remove_below(NodeId top) {
    std::vector<NodeId> splits;
    if (!nodes_[top].is_leaf()) splits.push_back(top);
    for (std::size_t i = 0; i < splits.size(); ++i) {  // parents before their children
      const NodeId children[] = {nodes_[splits[i]].left, nodes_[splits[i]].right};
      for (const NodeId child : children) {
        if (!nodes_[child].is_leaf()) splits.push_back(child);
      }
    }
    for (std::size_t i = splits.size(); i-- > 0;) merge(splits[i]);
  }

  // A drafted node of a subtree. Parents come before their children.
  struct Draft : Block {
    NodeId node = none;
    std::size_t parent = 0;
    Rule rule;
    const typename Table::Rank* column = nullptr;  // of the rule's feature; none at a leaf
    Extent extent;                                 // of its ranks in the block
    double log_density = 0.0;
    double log_coins = 0.0;
    Division division;
  };

  std::int32_t write_node(Node& node, Trees& trees) {
    if (node.number < 0) {
      std::uint64_t row_hash = 0;
      for (std::uint32_t row : rows_of(node)) row_hash += hash_of_row(row);
      node.number = trees.add_block(node.statistics.data(), row_hash, leaf_);
    }
    if (node.is_leaf()) {
      const double log_prior = node.can_split() ? log_stop(node, node.depth) : 0.0;
      return trees.add_leaf(node.number, log_prior, node.log_marginal);
    }
    return trees.add_split(particletree::split_by(node.rule, node.division.gap, table_), nodes_[node.left].written,
                           nodes_[node.right].written, node.number,
                           log_split(node, node.depth) + rule_term(node, node.rule.feature, node.log_density));
  }

  // Marks a node as changed: its entry in the result, and those of its ancestors, are outdated.
  void mark_changed(NodeId id) {
    for (; id != none && nodes_[id].written >= 0; id = nodes_[id].parent) nodes_[id].written = -1;
  }

  void make_root() {
    std::iota(rows_.begin(), rows_.end(), 0u);
    new_node();
    Node& node = nodes_[root];
    node.n_rows = static_cast<std::uint32_t>(rows_.size());
    node.statistics.assign(leaf_.width(), Statistic{});
    for (std::uint32_t row : rows_) leaf_.add(node.statistics.data(), leaf_.observe(row));
    node.log_marginal = leaf_.log_marginal(node.statistics.data());
    node.varying = varying_in(rows_, prior_.weights().positive(table_.n_features), 0);
    growable_.set(root, node.can_split());
  }

  // The features that vary in a block at some depth; none if the prior does not allow it to split.
  Varying varying_in(std::span<const std::uint32_t> rows, const std::vector<std::uint32_t>& features,
                     std::uint32_t depth) {
    if (!prior_.allows({depth, rows.size()})) return {};
    return varying_by(prior_, table_, rows, features, &n_visits_);
  }

  NodeId new_node() {
    if (free_.empty()) {
      nodes_.push_back({});
      return static_cast<NodeId>(nodes_.size() - 1);
    }
    const NodeId id = free_.back();
    free_.pop_back();
    nodes_[id] = Node{};
    return id;
  }

  void make_leaf(NodeId id, NodeId parent, std::uint32_t first, std::uint32_t n_rows,
                 const std::vector<Statistic>& statistics, double log_marginal) {
    Node& leaf = nodes_[id];
    leaf.parent = parent;
    leaf.depth = nodes_[parent].depth + 1;
    leaf.first = first;
    leaf.n_rows = n_rows;
    leaf.statistics = statistics;
    leaf.log_marginal = log_marginal;
    leaf.varying = varying_in(rows_of(leaf), nodes_[parent].varying.features, leaf.depth);
    growable_.set(id, leaf.can_split());
  }

  void start_draft(NodeId top, const NewRules& rules) {
    const auto rows = rows_of(nodes_[top]);
    draft_rows_.assign(rows.begin(), rows.end());
    drafts_.assign(1, draft_child(0, top, rules));
    Draft& start = drafts_[0];
    static_cast<Block&>(start) = nodes_[top];
    start.first = 0;
    if (std::exchange(in_slice_, none) != top) load(start.rule.feature, rows);
    start.extent = slice_;
    draft_ranks_.assign(slice_.ranks.begin(), slice_.ranks.end());
  }

  Rule rule_of(NodeId node, const NewRules& rules) const {
    for (const auto& [id, rule] : rules) {
      if (id == node) return rule;
    }
    return nodes_[node].rule;
  }

  // Divides a draft's rows by its rule and drafts its two children; false if one would be empty.
  bool draft_children(std::size_t at, const NewRules& rules) {
    const Rule rule = drafts_[at].rule;
    if (!drafts_[at].can_split()) return false;
    complete_extent(drafts_[at]);
    const Extent extent = drafts_[at].extent;
    const Rules possible(table_, rule.feature, extent);
    if (!possible.contains(rule)) return false;
    const Node& node = nodes_[drafts_[at].node];
    Draft left = draft_child(at, node.left, rules);
    Draft right = draft_child(at, node.right, rules);
    const std::size_t n_rows = drafts_[at].n_rows;
    const auto rows = std::span(draft_rows_).subspan(drafts_[at].first, n_rows);
    const auto ranks = std::span(draft_ranks_).subspan(drafts_[at].first, n_rows);
    aside_.resize(n_rows);
    ranks_aside_.resize(n_rows);
    Division division = with_side_of_ranks(rule, [&, n_rows, rows, ranks](auto goes_left) {
      Division found;
      std::size_t n = 0;
      for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint32_t row = rows[i], rank = ranks[i];
        if (goes_left(rank)) {
          found.gap.add_left(rank);
          rows[found.n_left] = row;
          ranks[found.n_left++] = receive(left, row);
        } else {
          found.gap.add_right(rank);
          aside_[n] = row;
          ranks_aside_[n++] = receive(right, row);
        }
      }
      return found;
    });
    const std::uint32_t n_left = division.n_left;
    const std::size_t n_right = n_rows - n_left;
    n_visits_ += n_rows;
    division.gap.leave_out_missing(rule, lookup(rule.feature, aside_, n_right));
    std::copy_n(aside_.begin(), n_right, rows.begin() + n_left);
    std::copy_n(ranks_aside_.begin(), n_right, ranks.begin() + n_left);
    drafts_[at].division = division;
    drafts_[at].log_density = possible.log_density(rule);
    drafts_[at].log_coins = possible.log_coins();
    finish_child(left, drafts_[at].first, rows.first(n_left));
    finish_child(right, drafts_[at].first + n_left, rows.subspan(n_left));
    return true;
  }

  // The ranks of some rows in a feature.
  auto lookup(std::uint32_t feature, const std::vector<std::uint32_t>& rows, std::size_t n) const {
    const auto* column = table_.column(feature);
    return std::views::transform(std::span(rows).first(n), [=](std::uint32_t row) { return column[row]; });
  }

  // Completes the extent of a draft with levels and missing values, once all rows have arrived.
  void complete_extent(Draft& draft) {
    if (table_.is_plain(draft.rule.feature)) return;
    const auto ranks = std::span(draft_ranks_).subspan(draft.first, draft.n_rows);
    draft.extent = Extent::of(table_, draft.rule.feature, ranks);
  }

  Draft draft_child(std::size_t parent, NodeId node, const NewRules& rules) const {
    Draft child;
    child.node = node;
    child.parent = parent;
    child.rule = rule_of(node, rules);
    if (!nodes_[node].is_leaf()) child.column = table_.column(child.rule.feature);
    child.statistics.assign(leaf_.width(), Statistic{});
    return child;
  }

  // Adds a row to a child: a leaf counts it; a split looks up its rank in the feature of its rule.
  std::uint32_t receive(Draft& child, std::uint32_t row) const {
    if (!child.column) {
      leaf_.add(child.statistics.data(), leaf_.observe(row));
      return 0;
    }
    const std::uint32_t rank = child.column[row];
    child.extent.add(rank);
    return rank;
  }

  void finish_child(Draft& child, std::uint32_t first, std::span<const std::uint32_t> rows) {
    child.first = first;
    child.n_rows = static_cast<std::uint32_t>(rows.size());
    child.varying = varying_in(rows, drafts_[child.parent].varying.features, nodes_[child.node].depth);
    if (nodes_[child.node].is_leaf()) child.log_marginal = leaf_.log_marginal(child.statistics.data());
    drafts_.push_back(std::move(child));
  }

  // The statistics of the splits, from their leaves up; only an accepted draft needs them.
  void add_up_statistics() {
    for (std::size_t at = drafts_.size(); at-- > 1;) {
      Draft& each = drafts_[at];
      if (!nodes_[each.node].is_leaf()) each.log_marginal = leaf_.log_marginal(each.statistics.data());
      if (each.parent == 0) continue;  // the top has the rows that it had
      for (std::size_t k = 0; k < leaf_.width(); ++k) drafts_[each.parent].statistics[k] += each.statistics[k];
    }
  }

  double leaf_term(const Block& block, std::uint32_t depth) {
    return block.log_marginal + (block.can_split() ? log_stop(block, depth) : 0.0);
  }

  double log_split(const Block& block, std::size_t depth) const { return prior_.at(block.facts(depth)).log_split; }
  double log_stop(const Block& block, std::size_t depth) const { return prior_.at(block.facts(depth)).log_stop; }

  double rule_term(const Block& block, std::uint32_t feature, double log_density) const {
    return TreePrior::log_rule(feature, block.varying, log_density);
  }

  std::span<std::uint32_t> rows_of(const Block& block) { return std::span(rows_).subspan(block.first, block.n_rows); }

  void load(std::uint32_t feature, std::span<const std::uint32_t> rows) {
    slice_.load(table_, feature, rows);
    n_visits_ += rows.size();
  }

  // The mass of the rows on one side of a rule; slice_ holds its feature.
  double mass_of_side(const Node& node, const Rule& rule, bool on_right) {
    const auto rows = rows_of(node);
    aside_.clear();
    with_side_of_ranks(rule, [&](auto goes_left) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (goes_left(slice_.ranks[i]) != on_right) aside_.push_back(rows[i]);
      }
    });
    return varying_by(prior_, table_, aside_, node.varying.features, &n_visits_).total;
  }

  // Whether two rows on one side of a rule differ; slice_ holds its feature.
  bool differ(std::span<const std::uint32_t> rows, const std::vector<std::uint32_t>& varying, const Rule& rule,
              bool on_right) {
    return with_side_of_ranks(rule, [&](auto goes_left) {
      return rows_differ(table_, rows, varying, [&](std::size_t i) {
        ++n_visits_;
        return goes_left(slice_.ranks[i]) != on_right;
      });
    });
  }

  // Moves the rows that go left to the front, and keeps the order within both sides; slice_ holds the rule's feature.
  Division divide(std::span<std::uint32_t> rows, const Rule& rule) {
    aside_.resize(rows.size());
    Division division = with_side_of_ranks(rule, [this, rows, ranks = slice_.ranks](auto goes_left) {
      std::uint32_t* aside = aside_.data();
      Division found;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t rank = ranks[i];
        if (goes_left(rank)) {
          found.gap.add_left(rank);
          rows[found.n_left++] = rows[i];
        } else {
          found.gap.add_right(rank);
          *aside++ = rows[i];
        }
      }
      return found;
    });
    division.gap.leave_out_missing(rule, slice_.ranks);
    std::copy_n(aside_.begin(), rows.size() - division.n_left,
                rows.begin() + static_cast<std::ptrdiff_t>(division.n_left));
    n_visits_ += rows.size();
    return division;
  }

  const Table& table_;
  const Leaf& leaf_;
  const TreePrior& prior_;
  std::vector<std::uint32_t> rows_;
  std::vector<Node> nodes_;
  std::vector<NodeId> free_;
  DrawableSet growable_, prunable_, splits_;
  RankSlice<typename Table::Rank> slice_;
  NodeId in_slice_ = none;  // the node whose rows' ranks slice_ still has, in the feature of the last rule
  std::vector<std::uint32_t> aside_;
  std::vector<std::uint32_t> ranks_aside_;
  std::vector<Draft> drafts_;
  std::vector<NodeId> pending_;  // nodes to write
  std::vector<std::uint32_t> draft_rows_;
  std::vector<std::uint32_t> draft_ranks_;  // of each row, in the feature that divides it next
  std::size_t n_visits_ = 0;
};

}  // namespace particletree
