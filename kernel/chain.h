// Markov chain Monte Carlo over trees: the sampler of Chipman, George & McCulloch (1998) on the same model.
//
// The state is one tree. An iteration draws a move among those that the state allows, and accepts it or not (moves.h).
// Any split can change. A split other than the root, uniformly, swaps its rule with its parent's, and so does its
// sibling if that has the same rule.
//
// A root-only tree has nothing to prune, change or swap, and a tree of identical rows in every leaf nothing to grow, so
// m differs between a state and its proposal, and is part of every ratio.
//
// With a fixed probability an iteration is a step of *particle Gibbs* instead: the subtree below one block is regrown
// by a conditional filter (retained.h), and every such draw is accepted. The block is the first on the path of a
// uniformly drawn row that has at most n rows, with 1/n uniform between those of 2 and of e times all rows. Whether a
// block is chosen depends only on its rows and those of its parent, not on the subtree that is regrown: this keeps the
// posterior invariant. Blocks of all sizes get about the same time, because the time of a regrowth is proportional to
// their rows. (With log n uniform, 85 % of the time went to the largest blocks, in which a few particles change little
// but the last splits.) If the row's leaf is larger than n, nothing happens.
//
// Change and swap redistribute the rows of a whole subtree. This changes the prior's factors below: the number of
// varying features and the range at every split, and which leaves can split.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "chain_tree.h"
#include "filter.h"
#include "leaf_model.h"
#include "moves.h"
#include "random.h"
#include "retained.h"
#include "tree_prior.h"
#include "trees.h"
#include "watch.h"

namespace particletree {

struct ChainSettings {
  std::size_t n_iterations;
  std::size_t burn_in;
  std::size_t thin;
  std::array<double, n_moves> move_weights;
  double regrow_share = 0.0;  // of the iterations
  FilterSettings filter{};    // of the conditional filter
};

// The trace of a kept iteration, for diagnostics.
struct IterationTrace {
  std::uint32_t iteration;  // counted from 1, burn-in included
  std::int32_t tree;        // index of the state among the trees that are kept
  Move move;
  bool accepted;
  float seconds;         // since the start of the chain
  std::uint32_t rows;    // of the node that the move changed
  std::uint32_t visits;  // number of row reads of the move, over all passes
};

struct ChainResult {
  Trees trees;
  std::vector<IterationTrace> trace;
};

template <class Table, LeafModel Leaf>
class Chain {
 public:
  Chain(const Table& table, const Leaf& leaf, const TreePrior& prior, const ChainSettings& settings, Random& random,
        Watch& watch)
      : table_(table),
        leaf_(leaf),
        prior_(prior),
        tree_(table, leaf, prior),
        settings_(settings),
        moves_(prior, settings.move_weights, settings.regrow_share, random),
        random_(random),
        watch_(watch) {}

  // Sets the initial tree, in preorder; call before run().
  void start_from(std::span<const particletree::Node> nodes) { tree_.grow_from(nodes); }

  ChainResult run() {
    ChainResult result;
    const auto start = std::chrono::steady_clock::now();
    bool is_new = true;
    for (std::size_t i = 0; i < settings_.n_iterations; ++i) {
      IterationTrace trace = iterate();
      is_new = is_new || trace.accepted;
      if (i >= settings_.burn_in && (i + 1 - settings_.burn_in) % settings_.thin == 0) {
        if (is_new) tree_.write(result.trees);
        is_new = false;
        result.trees.weights.back() += 1.0;
        trace.iteration = static_cast<std::uint32_t>(i + 1);
        trace.tree = static_cast<std::int32_t>(result.trees.size() - 1);
        trace.seconds = std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count();
        result.trace.push_back(trace);
      }
      watch_.stage(i + 1, static_cast<double>(tree_.splits().size() + 1));
    }
    const double n_kept = std::accumulate(result.trees.weights.begin(), result.trees.weights.end(), 0.0);
    for (double& weight : result.trees.weights) weight /= n_kept;
    return result;
  }

 private:
  using Tree = ChainTree<Table, Leaf>;
  using NodeId = typename Tree::NodeId;
  using Node = typename Tree::Node;

  IterationTrace iterate() {
    const std::size_t n_visits = tree_.n_visits();
    n_rows_touched_ = 0;
    const std::optional<Move> move = moves_.draw(numbers());
    const bool accepted = move && propose(*move);
    return {0,
            -1,
            move.value_or(Move::grow),
            accepted,
            0.0f,
            static_cast<std::uint32_t>(n_rows_touched_),
            static_cast<std::uint32_t>(tree_.n_visits() - n_visits)};
  }

  TreeNumbers numbers() const { return {tree_.growable().size(), tree_.splits().size(), tree_.prunable().size()}; }

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
      case Move::regrow:
        return regrow();
    }
    return false;
  }

  // --- the moves

  static NodeTerms terms(const Node& node) { return {node.facts(node.depth), node.can_split(), node.log_marginal}; }

  bool grow() {
    const NodeId id = tree_.growable().draw(random_);
    const Node& leaf = tree_[id];
    n_rows_touched_ = leaf.n_rows;
    const Rule rule = tree_.draw_rule(id, random_);
    const auto sides = tree_.evaluate(id, rule);
    const NodeTerms left{sides.left_facts, sides.left_can_split, sides.log_left};
    const NodeTerms right{sides.right_facts, sides.right_can_split, sides.log_right};
    const bool replaces_parent = leaf.parent != Tree::none && tree_.prunable().contains(leaf.parent);
    if (!moves_.accept_grow(terms(leaf), left, right, numbers(), replaces_parent)) return false;
    tree_.split(id, rule, sides);
    return true;
  }

  bool prune() {
    const NodeId id = tree_.prunable().draw(random_);
    const Node& node = tree_[id];
    n_rows_touched_ = node.n_rows;
    if (!moves_.accept_prune(terms(node), terms(tree_[node.left]), terms(tree_[node.right]), numbers())) return false;
    tree_.merge(id);
    return true;
  }

  // The new rule comes from the prior at the node, whose rows stay the same: its density cancels. So A is the ratio of
  // prior and likelihood below the node, times m_change(T') / m_change(T).
  bool change() {
    const NodeId id = tree_.splits().draw(random_);
    return reroute(id, Move::change, {{id, tree_.draw_rule(id, random_)}}, false);
  }

  // Symmetric: T' has as many pairs (split, parent) as T, and swapping again restores T. A is the ratio of prior
  // (including the densities of the rules) and likelihood in the parent's subtree, times m_swap(T') / m_swap(T). A
  // sibling with the parent's own rule, for which the swap would not be reversible, is impossible: it would have an
  // empty side.
  bool swap() {
    NodeId id = tree_.splits().draw(random_);
    while (id == Tree::root) id = tree_.splits().draw(random_);
    const NodeId parent = tree_[id].parent;
    const NodeId sibling = tree_[parent].left == id ? tree_[parent].right : tree_[parent].left;
    typename Tree::NewRules rules{{parent, tree_[id].rule}, {id, tree_[parent].rule}};
    if (!tree_[sibling].is_leaf() && tree_[sibling].rule == tree_[id].rule)
      rules.push_back({sibling, tree_[parent].rule});
    return reroute(parent, Move::swap, rules, true);
  }

  bool reroute(NodeId top, Move move, const typename Tree::NewRules& rules, bool with_own_rule) {
    n_rows_touched_ = tree_[top].n_rows;
    const auto outcome = tree_.draft(top, rules, with_own_rule);
    if (!outcome) return false;
    const TreeNumbers before = numbers(), after{outcome->n_growable, before.n_splits};
    if (!moves_.accept_rules(move, outcome->log_ratio, before, after)) return false;
    tree_.take_over(top);
    return true;
  }

  // True if the subtree has changed.
  bool regrow() {
    const auto row = random_.below(static_cast<std::uint32_t>(table_.n_rows));
    const double lowest = std::exp(-1.0) / static_cast<double>(table_.n_rows);
    const double most = 1.0 / (lowest + (0.5 - lowest) * random_.uniform());
    const NodeId top = tree_.first_with_at_most(static_cast<std::size_t>(most), row);
    if (top == Tree::none || !tree_[top].can_split()) return false;
    n_rows_touched_ = tree_[top].n_rows;
    const std::vector<std::uint32_t> rows = tree_.sorted_rows(top);
    const Region region{rows, tree_[top].depth, &tree_[top].varying};
    Filter<Table, Leaf> filter(table_, leaf_, prior_, settings_.filter, random_, watch_, &region);
    const std::optional<DecisionTree> drawn = filter.regrow(tree_.decisions(top));
    if (!drawn) return false;
    tree_.replace(top, *drawn);
    return true;
  }

  const Table& table_;
  const Leaf& leaf_;
  const TreePrior& prior_;
  Tree tree_;
  ChainSettings settings_;
  Moves moves_;
  Random& random_;
  Watch& watch_;
  std::size_t n_rows_touched_ = 0;
};

}  // namespace particletree
