// Markov chain Monte Carlo over trees: the sampler of Chipman, George & McCulloch (1998) on the same model.
//
// The state is one tree. An iteration draws a move among those that the state allows, proposes, and accepts with
// probability min(1, A). Writing pi for prior * likelihood, m(T) for the probability of the move among those that T
// allows (weights settable, renormalised over what is possible), and q for the rest of the proposal,
//
//   A = pi(T') m'(T') q(T' -> T) / (pi(T) m(T) q(T -> T')).
//
//   grow    a leaf that can split, uniformly among G(T); its rule from the prior
//   prune   a split whose children are both leaves, uniformly among W(T); it becomes a leaf
//   change  a split, uniformly; its new rule from the prior
//   swap    a split other than the root, uniformly; it exchanges rules with its parent, and so does its sibling if
//           that has the same rule
//
// A root-only tree has nothing to prune, change or swap, and a tree of identical rows in every leaf nothing to grow, so
// m differs between a state and its proposal, and every ratio has it.
//
// Change and swap send the rows of a whole subtree new ways. With them change the prior's factors below: the number of
// varying features and the range at every split, and which leaves can split. A proposal that leaves a block without rows
// has prior probability zero and is rejected.
//
// Rows stand in one array in which every node owns a stretch, its children's stretches side by side within. So pruning
// moves nothing, growing reorders the stretch of one leaf, and nothing outside the subtree of a move is ever touched.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "counting.h"
#include "leaf_model.h"
#include "random.h"
#include "split_prior.h"
#include "table.h"
#include "trees.h"

namespace particletree {

enum class Move : std::uint8_t { grow, prune, change, swap };
inline constexpr std::size_t n_moves = 4;

struct ChainSettings {
  std::size_t n_iterations;
  std::size_t burn_in;
  std::size_t thin;
  std::array<double, n_moves> move_weights;
};

// What an iteration looked like, for people to read.
struct IterationTrace {
  std::int32_t tree;  // number of the state among the trees that are kept, -1 if the iteration is not
  Move move;
  bool accepted;
  float seconds;  // since the chain began
};

struct ChainResult {
  Trees trees;
  std::vector<IterationTrace> trace;
};

// A set of small numbers from which one can be drawn uniformly; all operations take O(1).
class DrawableSet {
 public:
  std::size_t size() const { return members_.size(); }
  bool contains(std::uint32_t id) const { return id < place_.size() && place_[id] != absent; }
  std::uint32_t draw(Random& random) const { return members_[random.below(static_cast<std::uint32_t>(size()))]; }

  void set(std::uint32_t id, bool is_member) {
    if (is_member == contains(id)) return;
    if (is_member) {
      if (id >= place_.size()) place_.resize(id + std::size_t{1}, absent);
      place_[id] = static_cast<std::uint32_t>(members_.size());
      members_.push_back(id);
    } else {
      const std::uint32_t last = members_.back();
      members_[place_[id]] = last;
      place_[last] = place_[id];
      place_[id] = absent;
      members_.pop_back();
    }
  }

 private:
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> members_;
  std::vector<std::uint32_t> place_;
};

template <class Table, LeafModel Leaf, class Watch>
class Chain {
 public:
  Chain(const Table& table, const Leaf& leaf, SplitPrior prior, const ChainSettings& settings, Random& random,
        Watch& watch)
      : table_(table),
        leaf_(leaf),
        prior_(std::move(prior)),
        settings_(settings),
        random_(random),
        watch_(watch),
        counting_(leaf_),
        rows_(table.n_rows) {
    make_root();
  }

  // Grows the tree to start from, cut by cut in preorder; call before run().
  void start_from(std::span<const std::int32_t> features, std::span<const double> thresholds) {
    std::size_t next = 0;
    std::vector<NodeId> waiting{root};
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      const std::int32_t feature = features[next];
      const double threshold = thresholds[next++];
      if (feature < 0) continue;
      load(nodes_[id], static_cast<std::uint32_t>(feature));
      const Rule rule{static_cast<std::uint32_t>(feature),
                      table_.rank_at_or_below(static_cast<std::size_t>(feature), threshold), threshold};
      split(id, rule, evaluate(nodes_[id], rule));
      waiting.push_back(nodes_[id].right);
      waiting.push_back(nodes_[id].left);
    }
  }

  ChainResult run() {
    ChainResult result;
    const auto start = std::chrono::steady_clock::now();
    std::int32_t last_kept = -1;
    bool changed = true;
    for (std::size_t i = 0; i < settings_.n_iterations; ++i) {
      const std::optional<Move> move = draw_move();
      const bool accepted = move && propose(*move);
      changed = changed || accepted;
      const bool is_kept = i >= settings_.burn_in && (i - settings_.burn_in) % settings_.thin == 0;
      if (is_kept) {
        if (changed) last_kept = write(result.trees);
        changed = false;
        result.trees.weights[static_cast<std::size_t>(last_kept)] += 1.0;
      }
      const std::chrono::duration<float> seconds = std::chrono::steady_clock::now() - start;
      result.trace.push_back({is_kept ? last_kept : -1, move.value_or(Move::grow), accepted, seconds.count()});
      watch_.stage(i + 1, static_cast<double>(splits_.size() + 1));
    }
    const double n_kept = std::accumulate(result.trees.weights.begin(), result.trees.weights.end(), 0.0);
    for (double& weight : result.trees.weights) weight /= n_kept;
    return result;
  }

 private:
  using Rank = typename Table::Rank;
  using Statistic = typename Leaf::Statistic;
  using NodeId = std::uint32_t;
  static constexpr NodeId none = std::numeric_limits<NodeId>::max();
  static constexpr NodeId root = 0;

  struct Rule {
    std::uint32_t feature = 0;
    std::uint32_t cut = 0;  // rows of rank <= cut go left
    double threshold = 0.0;
    bool operator==(const Rule&) const = default;
  };

  // How a rule divided some rows: how many went left, and the adjacent ranks between which it cut.
  struct Sorted {
    std::uint32_t n_left = 0;
    std::uint32_t low = 0;
    std::uint32_t high = std::numeric_limits<std::uint32_t>::max();
  };

  // What a node knows of its rows.
  struct Block {
    std::uint32_t first = 0;  // its stretch of rows_
    std::uint32_t n_rows = 0;
    std::vector<Statistic> statistics;
    double log_marginal = 0.0;
    std::vector<std::uint32_t> varying;  // the features that vary in it
    std::int32_t number = -1;            // in the table of counts of the result; -1: not there yet
    bool can_split() const { return !varying.empty(); }
  };

  struct Node : Block {
    NodeId parent = none;
    NodeId left = none;
    NodeId right = none;
    std::uint32_t depth = 0;
    Rule rule;
    double log_range = 0.0;  // of the rule's feature in the block
    Sorted sorted;           // where the rule divides the block
    bool is_leaf() const { return left == none; }
  };

  // A cut of one block, evaluated: both sides' statistics and marginals, and whether they could be cut again.
  struct Sides {
    std::vector<Statistic> left, right;
    double log_left = 0.0, log_right = 0.0;
    bool left_can_split = false, right_can_split = false;
  };

  // --- the moves

  // The probability of each move among those that a tree with these numbers allows, up to the chosen one.
  double log_move_probability(Move move, std::size_t n_growable, std::size_t n_splits) const {
    const std::array<bool, n_moves> possible = possible_moves(n_growable, n_splits);
    double total = 0.0;
    for (std::size_t m = 0; m < n_moves; ++m) total += possible[m] ? settings_.move_weights[m] : 0.0;
    return std::log(settings_.move_weights[static_cast<std::size_t>(move)] / total);
  }

  static std::array<bool, n_moves> possible_moves(std::size_t n_growable, std::size_t n_splits) {
    return {n_growable > 0, n_splits > 0, n_splits > 0, n_splits > 1};
  }

  // Nothing if no move is possible: all rows are identical, or only moves of weight zero are left.
  std::optional<Move> draw_move() {
    const std::array<bool, n_moves> possible = possible_moves(growable_.size(), splits_.size());
    double total = 0.0;
    for (std::size_t m = 0; m < n_moves; ++m) total += possible[m] ? settings_.move_weights[m] : 0.0;
    if (total == 0.0) return std::nullopt;
    double point = random_.uniform() * total;
    std::optional<Move> last;
    for (std::size_t m = 0; m < n_moves; ++m) {
      if (!possible[m] || settings_.move_weights[m] == 0.0) continue;
      last = static_cast<Move>(m);
      if (point < settings_.move_weights[m]) break;
      point -= settings_.move_weights[m];
    }
    return last;
  }

  bool propose(Move move) {
    switch (move) {
      case Move::grow:
        return grow();
      case Move::prune:
        return prune();
      case Move::change:
        return change();
      case Move::swap:
        return swap();
    }
    return false;
  }

  bool accept(double log_ratio) { return std::log(random_.uniform()) < log_ratio; }

  // log [pi(T') / pi(T)] for a leaf of depth d that becomes a split, without its rule's density, which the proposal has
  // as well and which cancels: s_d (1 - s_{d+1})^(children that can split) / (1 - s_d) * r.
  double log_split_ratio(const Node& node, double log_left, double log_right, std::size_t n_children_that_can_split) {
    const auto here = prior_.at(node.depth);
    const auto below = prior_.at(node.depth + 1);
    return here.log_split - here.log_stop + static_cast<double>(n_children_that_can_split) * below.log_stop + log_left +
           log_right - node.log_marginal;
  }

  // A = pi(T')/pi(T) * [m_prune(T') / W(T')] / [m_grow(T) / G(T)].
  bool grow() {
    const NodeId id = growable_.draw(random_);
    Node& leaf = nodes_[id];
    const Rule rule = draw_rule(leaf);
    const Sides sides = evaluate(leaf, rule);
    const std::size_t n_can_split = std::size_t{sides.left_can_split} + sides.right_can_split;
    const std::size_t n_growable = growable_.size() - 1 + n_can_split;
    const std::size_t n_prunable = prunable_.size() + (leaf.parent == none || !prunable_.contains(leaf.parent));
    const double log_ratio = log_split_ratio(leaf, sides.log_left, sides.log_right, n_can_split) +
                             log_move_probability(Move::prune, n_growable, splits_.size() + 1) -
                             std::log(static_cast<double>(n_prunable)) -
                             log_move_probability(Move::grow, growable_.size(), splits_.size()) +
                             std::log(static_cast<double>(growable_.size()));
    if (!accept(log_ratio)) return false;
    split(id, rule, sides);
    return true;
  }

  // The reverse of grow: A = pi(T')/pi(T) * [m_grow(T') / G(T')] / [m_prune(T) / W(T)].
  bool prune() {
    const NodeId id = prunable_.draw(random_);
    const Node& node = nodes_[id];
    const Node &left = nodes_[node.left], &right = nodes_[node.right];
    const std::size_t n_can_split = std::size_t{left.can_split()} + right.can_split();
    const std::size_t n_growable = growable_.size() - n_can_split + 1;
    const double log_ratio = -log_split_ratio(node, left.log_marginal, right.log_marginal, n_can_split) +
                             log_move_probability(Move::grow, n_growable, splits_.size() - 1) -
                             std::log(static_cast<double>(n_growable)) -
                             log_move_probability(Move::prune, growable_.size(), splits_.size()) +
                             std::log(static_cast<double>(prunable_.size()));
    if (!accept(log_ratio)) return false;
    merge(id);
    return true;
  }

  // The new rule comes from the prior at the node, whose rows stay the same: its density cancels. So A is the ratio of
  // prior and likelihood below the node, times m_change(T') / m_change(T).
  bool change() {
    const NodeId id = splits_.draw(random_);
    const Rule rule = draw_rule(nodes_[id]);
    return reroute(id, Move::change, {{id, rule}}, false);
  }

  // Symmetric: the pair (split, parent) is drawn from as many pairs in T' as in T, and exchanging again leads back. A is
  // the ratio of prior (the two rules' densities included) and likelihood in the parent's subtree, times
  // m_swap(T') / m_swap(T). A sibling with the parent's own rule cannot be: it would have an empty side.
  bool swap() {
    NodeId id = splits_.draw(random_);
    while (id == root) id = splits_.draw(random_);
    const NodeId parent = nodes_[id].parent;
    const NodeId sibling = nodes_[parent].left == id ? nodes_[parent].right : nodes_[parent].left;
    std::vector<std::pair<NodeId, Rule>> rules{{parent, nodes_[id].rule}, {id, nodes_[parent].rule}};
    if (!nodes_[sibling].is_leaf() && nodes_[sibling].rule == nodes_[id].rule) {
      rules.push_back({sibling, nodes_[parent].rule});
    }
    return reroute(parent, Move::swap, rules, true);
  }

  // --- one block

  // A rule from the prior. Leaves the feature's ranks in slice_.
  Rule draw_rule(const Node& node) {
    const std::uint32_t feature = node.varying[random_.below(static_cast<std::uint32_t>(node.varying.size()))];
    load(node, feature);
    const double threshold = random_.between(table_.value(feature, slice_.low), table_.value(feature, slice_.high));
    return {feature, table_.rank_at_or_below(feature, threshold), threshold};
  }

  void load(const Block& block, std::uint32_t feature) { slice_.load(table_.column(feature), rows_of(block)); }

  std::span<std::uint32_t> rows_of(const Block& block) { return std::span(rows_).subspan(block.first, block.n_rows); }

  double log_range_in_slice(std::uint32_t feature) const {
    return log_length(table_.value(feature, slice_.low), table_.value(feature, slice_.high));
  }

  // Counts both sides of a rule; slice_ holds its feature.
  Sides evaluate(const Node& node, const Rule& rule) {
    const auto rows = rows_of(node);
    observations_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) observations_[i] = leaf_.observe(rows[i]);
    Sides sides;
    sides.left.resize(leaf_.width());
    sides.right.resize(leaf_.width());
    counting_.run(slice_, std::span<const typename Leaf::Observation>(observations_), std::span(&rule.cut, 1),
                  sides.left.data(), sides.right.data());
    sides.log_left = leaf_.log_marginal(sides.left.data());
    sides.log_right = leaf_.log_marginal(sides.right.data());
    sides.left_can_split = differ(rows, node.varying, rule, false);
    sides.right_can_split = differ(rows, node.varying, rule, true);
    return sides;
  }

  // Are there two rows on one side of a rule that differ? Nearly always the first two do.
  bool differ(std::span<const std::uint32_t> rows, const std::vector<std::uint32_t>& varying, const Rule& rule,
              bool on_right) const {
    const auto* column = table_.column(rule.feature);
    std::optional<std::uint32_t> first;
    for (std::uint32_t row : rows) {
      if (goes_left(column[row], rule.cut) == on_right) continue;
      if (!first) {
        first = row;
        continue;
      }
      for (std::uint32_t f : varying) {
        if (table_.column(f)[row] != table_.column(f)[*first]) return true;
      }
    }
    return false;
  }

  // The features, among those that vary in the parent, that vary in some rows.
  std::vector<std::uint32_t> varying_among(std::span<const std::uint32_t> rows,
                                           const std::vector<std::uint32_t>& candidates) const {
    std::vector<std::uint32_t> varying;
    for (std::uint32_t f : candidates) {
      const auto* column = table_.column(f);
      const auto first = column[rows[0]];
      if (std::any_of(rows.begin(), rows.end(), [&](std::uint32_t row) { return column[row] != first; }))
        varying.push_back(f);
    }
    return varying;
  }

  // Puts the rows that go left in front and keeps the order within both sides.
  Sorted partition(std::span<std::uint32_t> rows, const Rule& rule) {
    const auto* column = table_.column(rule.feature);
    aside_.resize(rows.size());
    Sorted sorted;
    std::size_t n_right = 0;
    for (std::uint32_t row : rows) {
      const std::uint32_t rank = column[row];
      if (goes_left(rank, rule.cut)) {
        rows[sorted.n_left++] = row;
        sorted.low = std::max(sorted.low, rank);
      } else {
        aside_[n_right++] = row;
        sorted.high = std::min(sorted.high, rank);
      }
    }
    std::copy_n(aside_.begin(), n_right, rows.begin() + static_cast<std::ptrdiff_t>(sorted.n_left));
    return sorted;
  }

  // --- the tree

  void make_root() {
    std::iota(rows_.begin(), rows_.end(), 0u);
    new_node();
    Node& node = nodes_[root];
    node.n_rows = static_cast<std::uint32_t>(table_.n_rows);
    node.statistics.assign(leaf_.width(), Statistic{});
    for (std::uint32_t row : rows_) leaf_.add(node.statistics.data(), leaf_.observe(row));
    node.log_marginal = leaf_.log_marginal(node.statistics.data());
    std::vector<std::uint32_t> all(table_.n_features);
    std::iota(all.begin(), all.end(), 0u);
    node.varying = varying_among(rows_, all);
    growable_.set(root, node.can_split());
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

  void split(NodeId id, const Rule& rule, const Sides& sides) {
    const NodeId left = new_node(), right = new_node();
    Node& node = nodes_[id];
    node.rule = rule;
    node.log_range = log_range_in_slice(rule.feature);
    node.left = left;
    node.right = right;
    node.sorted = partition(rows_of(node), rule);
    const std::uint32_t n_left = node.sorted.n_left;
    make_leaf(left, id, node.first, n_left, sides.left, sides.log_left);
    make_leaf(right, id, node.first + n_left, node.n_rows - n_left, sides.right, sides.log_right);
    growable_.set(id, false);
    splits_.set(id, true);
    prunable_.set(id, true);
    if (node.parent != none) prunable_.set(node.parent, false);
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
    leaf.varying = varying_among(rows_of(leaf), nodes_[parent].varying);
    growable_.set(id, leaf.can_split());
  }

  // A split whose children are leaves becomes a leaf.
  void merge(NodeId id) {
    Node& node = nodes_[id];
    for (NodeId child : {node.left, node.right}) {
      growable_.set(child, false);
      free_.push_back(child);
    }
    node.left = node.right = none;
    growable_.set(id, node.can_split());
    splits_.set(id, false);
    prunable_.set(id, false);
    if (node.parent != none) {
      const Node& parent = nodes_[node.parent];
      prunable_.set(node.parent, nodes_[parent.left].is_leaf() && nodes_[parent.right].is_leaf());
    }
  }

  // --- change and swap: a whole subtree's rows go new ways

  // A node of the subtree as it would be.
  struct Draft : Block {
    NodeId node;
    Rule rule;
    double log_range = 0.0;
    Sorted sorted;
  };

  // Gives some splits new rules, sends the rows of the top's subtree new ways, and accepts or not.
  bool reroute(NodeId top, Move move, const std::vector<std::pair<NodeId, Rule>>& rules, bool with_own_rule) {
    const std::optional<double> log_after = draft(top, rules, with_own_rule);
    if (!log_after) return false;
    std::size_t n_growable = growable_.size();
    for (const Draft& each : drafts_) {
      const Node& node = nodes_[each.node];
      if (node.is_leaf()) n_growable = n_growable + each.can_split() - node.can_split();
    }
    const double log_ratio = *log_after - log_posterior_below(top, with_own_rule) +
                             log_move_probability(move, n_growable, splits_.size()) -
                             log_move_probability(move, growable_.size(), splits_.size());
    if (!accept(log_ratio)) return false;
    take_over(top);
    return true;
  }

  // The subtree's log prior * likelihood, up to the splits' log s, which moves that keep its shape do not change.
  double log_posterior_below(NodeId top, bool with_own_rule) {
    double sum = 0.0;
    for (const Draft& each : drafts_) {
      const Node& node = nodes_[each.node];
      if (node.is_leaf()) {
        sum += leaf_term(node, node.depth);
      } else if (each.node != top || with_own_rule) {
        sum += rule_term(node, node.log_range);
      }
    }
    return sum;
  }

  double leaf_term(const Block& block, std::uint32_t depth) {
    return block.log_marginal + (block.can_split() ? prior_.at(depth).log_stop : 0.0);
  }

  static double rule_term(const Block& block, double log_range) {
    return -std::log(static_cast<double>(block.varying.size())) - log_range;
  }

  // Fills drafts_ (preorder) and draft_rows_, and returns the new log prior * likelihood; nothing if a block is empty.
  std::optional<double> draft(NodeId top, const std::vector<std::pair<NodeId, Rule>>& rules, bool with_own_rule) {
    const Node& start = nodes_[top];
    const auto old_rows = rows_of(start);
    draft_rows_.assign(old_rows.begin(), old_rows.end());
    drafts_.clear();
    drafts_.push_back(Draft{static_cast<const Block&>(start), top, start.rule, start.log_range, start.sorted});
    drafts_[0].first = 0;
    std::vector<std::size_t> waiting{0};
    double sum = 0.0;
    while (!waiting.empty()) {
      const std::size_t at = waiting.back();
      waiting.pop_back();
      const Node& node = nodes_[drafts_[at].node];
      if (node.is_leaf()) {
        sum += leaf_term(drafts_[at], node.depth);
        continue;
      }
      drafts_[at].rule = node.rule;
      for (const auto& [id, rule] : rules) {
        if (id == drafts_[at].node) drafts_[at].rule = rule;
      }
      if (!divide(at, node)) return std::nullopt;
      if (at > 0 || with_own_rule) sum += rule_term(drafts_[at], drafts_[at].log_range);
      waiting.push_back(drafts_.size() - 1);
      waiting.push_back(drafts_.size() - 2);
    }
    return sum;
  }

  // Divides a draft's rows by its rule and appends its two children's drafts; false if one would be empty.
  bool divide(std::size_t at, const Node& node) {
    const Rule rule = drafts_[at].rule;
    const auto rows = std::span(draft_rows_).subspan(drafts_[at].first, drafts_[at].n_rows);
    slice_.load(table_.column(rule.feature), rows);
    if (rule.cut < slice_.low || rule.cut >= slice_.high) return false;
    drafts_[at].log_range = log_range_in_slice(rule.feature);
    drafts_[at].sorted = partition(rows, rule);
    const std::uint32_t n_left = drafts_[at].sorted.n_left;
    append_draft(at, node.left, drafts_[at].first, n_left);
    append_draft(at, node.right, drafts_[at].first + n_left, drafts_[at].n_rows - n_left);
    return true;
  }

  void append_draft(std::size_t parent, NodeId node, std::uint32_t first, std::uint32_t n_rows) {
    Draft child;
    child.node = node;
    child.first = first;
    child.n_rows = n_rows;
    const auto rows = std::span(draft_rows_).subspan(first, n_rows);
    child.statistics.assign(leaf_.width(), Statistic{});
    for (std::uint32_t row : rows) leaf_.add(child.statistics.data(), leaf_.observe(row));
    child.log_marginal = leaf_.log_marginal(child.statistics.data());
    child.varying = varying_among(rows, drafts_[parent].varying);
    drafts_.push_back(std::move(child));
  }

  void take_over(NodeId top) {
    const std::uint32_t first = nodes_[top].first;
    std::copy(draft_rows_.begin(), draft_rows_.end(), rows_.begin() + first);
    for (Draft& each : drafts_) {
      Node& node = nodes_[each.node];
      node.rule = each.rule;
      node.log_range = each.log_range;
      node.sorted = each.sorted;
      if (each.node == top) continue;  // its rows, and what they say, are as before
      each.first += first;
      static_cast<Block&>(node) = std::move(static_cast<Block&>(each));
      if (node.is_leaf()) growable_.set(each.node, node.can_split());
    }
  }

  // --- the record

  // Appends the tree to those that are kept; blocks that an earlier one had are shared.
  std::int32_t write(Trees& trees) {
    trees.append(root, [&](NodeId id) {
      Node& node = nodes_[id];
      if (node.number < 0) node.number = trees.add_block(node.statistics.data(), leaf_);
      if (node.is_leaf()) {
        const double log_prior = node.can_split() ? prior_.at(node.depth).log_stop : 0.0;
        return NodeView{.block = node.number, .log_prior = log_prior, .log_likelihood = node.log_marginal};
      }
      return NodeView{.block = node.number,
                      .log_prior = prior_.at(node.depth).log_split + rule_term(node, node.log_range),
                      .feature = static_cast<std::int32_t>(node.rule.feature),
                      .threshold = node.rule.threshold,
                      .gap_low = table_.value(node.rule.feature, node.sorted.low),
                      .gap_high = table_.value(node.rule.feature, node.sorted.high),
                      .left = node.left,
                      .right = node.right};
    });
    return static_cast<std::int32_t>(trees.size() - 1);
  }

  const Table& table_;
  const Leaf& leaf_;
  SplitPrior prior_;
  ChainSettings settings_;
  Random& random_;
  Watch& watch_;
  CountingPass<Rank, Leaf> counting_;
  std::vector<std::uint32_t> rows_;
  std::vector<Node> nodes_;
  std::vector<NodeId> free_;
  DrawableSet growable_;  // leaves that can split
  DrawableSet prunable_;  // splits whose children are leaves
  DrawableSet splits_;
  RankSlice<Rank> slice_;
  std::vector<typename Leaf::Observation> observations_;
  std::vector<std::uint32_t> aside_;
  std::vector<std::uint32_t> draft_rows_;
  std::vector<Draft> drafts_;
};

}  // namespace particletree
