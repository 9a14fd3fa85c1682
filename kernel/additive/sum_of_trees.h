// Bayesian additive regression trees (Chipman, George & McCulloch 2010): the target is a sum of m small trees and noise.
//
//   y_i = f_1(x_i) + ... + f_m(x_i) + e_i,   e_i ~ N(0, v),   leaf values ~ N(0, t^2),   v ~ nu lambda / chi^2(nu).
//
// A row of weight w counts as w rows.
//
// Backfitting (their section 3.1): a sweep moves each tree in turn given what the others leave of the target, draws the values
// of its leaves, and at its end the noise variance. A tree is moved with its leaf values integrated out
// (residual_family.h), by one of
//
//   grow, prune   as for a single tree (chain.h)
//   change        a new rule from the prior for a split whose children are leaves
//   regrow        particle Gibbs: the subtree below a block is drawn anew by a conditional filter (retained.h)
//
// each of which leaves the posterior invariant. The first sweeps may grow every tree from its root by an unconditional filter
// with one particle whose weight is ignored (He & Hahn 2023 call that grow-from-root): a quick start, of which nothing is kept.
//
// What is kept per row is r_i, the target less all trees. A tree's own part follows from its leaf's value, so that one pass per
// tree suffices to settle the tree before and to add up the leaves of the next.
//
// Probit (their section 4): y_i = 1 where a latent normal z_i ~ N(offset + sum of trees, 1) is positive; z is drawn in each
// sweep and takes the place of the target, with v = 1.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "../chain.h"
#include "../counting.h"
#include "../filter.h"
#include "../leaves/row_sums.h"
#include "../normal_draws.h"
#include "../random.h"
#include "../retained.h"
#include "../tree_prior.h"
#include "residual_family.h"
#include "sum_tree.h"

namespace particletree {

struct SumSettings {
  std::size_t n_trees;
  bool is_probit;
  double offset;  // of the latent normals
  double value_sd;
  double noise_df;  // 0: the noise is known
  double noise_scale;
  double noise_sd;  // to start from
  std::size_t n_start;
  std::size_t n_iterations;
  std::size_t burn_in;
  std::size_t thin;
  std::array<double, n_moves> move_weights;  // of grow, prune, change and swap, of which the last is not used
  double regrow_share;
  FilterSettings filter;
};

// Where a chain of sums stands: enough to go on.
struct SumState {
  std::vector<Node> nodes;  // of one tree after the other, each in preorder
  std::vector<std::int64_t> starts;
  std::vector<double> values;  // of the leaves, in the same order
  std::vector<double> latent;
  double noise_sd = 0.0;
};

struct SumTrace {
  std::uint32_t iteration;
  double noise_sd;
  double log_likelihood;
  std::uint32_t n_leaves;
  float seconds;
};

struct SumResult {
  std::vector<Node> nodes;                 // of the distinct trees, each in preorder
  std::vector<std::int64_t> starts{0};     // of each distinct tree, and the end
  std::vector<std::int32_t> structure_of;  // draw by draw, tree by tree
  std::vector<double> values;              // of the leaves, draw by draw, tree by tree
  std::vector<SumTrace> trace;
  std::array<std::uint64_t, n_moves + 2> n_proposed{},
      n_accepted{};  // the moves of chain.h, and trees grown at the start
  SumState state;
};

template <class Table, class Watch>
class SumOfTrees {
 public:
  SumOfTrees(const Table& table, const TreePrior& prior, std::span<const double> target,
             std::span<const double> weights, const SumSettings& settings, const SumState* initial, Random& random,
             Watch& watch)
      : table_(table),
        prior_(prior),
        target_(target),
        weights_(weights),
        settings_(settings),
        random_(random),
        draws_(random),
        watch_(watch),
        noise_variance_(settings.noise_sd * settings.noise_sd),
        residual_(target.begin(), target.end()),
        all_features_(table.n_features),
        one_leaf_(table.n_rows, 0) {
    std::iota(all_features_.begin(), all_features_.end(), 0u);
    make_leaf_model();
    const Side all = whole();
    total_weight_ = all.weight;
    trees_.assign(settings.n_trees, Tree(table.n_rows, all.weight, all.can_split));
    if (initial) restore(*initial);
    if (settings.is_probit) start_latent(initial);
  }

  SumResult run() {
    SumResult result;
    structures_.assign(trees_.size(), -1);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < settings_.n_start; ++i) sweep(true, result);
    for (std::size_t i = 0; i < settings_.n_iterations; ++i) {
      sweep(false, result);
      watch_.stage(i + 1, std::sqrt(noise_variance_));
      if (i < settings_.burn_in || (i + 1 - settings_.burn_in) % settings_.thin != 0) continue;
      keep(result);
      result.trace.push_back({static_cast<std::uint32_t>(i + 1), std::sqrt(noise_variance_), log_likelihood(),
                              count_leaves(),
                              std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count()});
    }
    save_state(result.state);
    return result;
  }

 private:
  using Tree = SumTree<Table>;
  using NodeId = typename Tree::NodeId;
  using TreeNode = typename Tree::Node;
  using Side = typename Tree::Side;
  using Leaf = RowSums<3>;
  using Rules = FeatureRules<Table>;

  // --- the state

  void make_leaf_model() {
    const bool has_weights = !weights_.empty();
    RowTerms terms(table_.n_rows, 3);
    for (std::size_t row = 0; row < table_.n_rows; ++row) terms.row(row)[0] = weight(row);
    auto family = std::make_unique<ResidualFamily>(settings_.value_sd, has_weights ? 0 : table_.n_rows);
    family_ = family.get();
    leaf_ = std::make_unique<Leaf>(std::move(terms), std::move(family));
    family_->set_noise_variance(noise_variance_);
  }

  double weight(std::size_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }

  Side whole() {
    Side all{.n_rows = static_cast<std::uint32_t>(table_.n_rows)};
    for (std::size_t row = 0; row < table_.n_rows; ++row) all.weight += weight(row);
    std::vector<std::uint32_t> rows(table_.n_rows);
    std::iota(rows.begin(), rows.end(), 0u);
    all.can_split = can_split(0, all.n_rows, rows, [](std::size_t) { return true; });
    return all;
  }

  void restore(const SumState& state) {
    require(state.starts.size() == trees_.size() + 1, "the state has another number of trees");
    std::size_t n_values = 0;
    for (std::size_t j = 0; j < trees_.size(); ++j) {
      const std::span nodes(&state.nodes[static_cast<std::size_t>(state.starts[j])],
                            static_cast<std::size_t>(state.starts[j + 1] - state.starts[j]));
      plant(trees_[j], Tree::root, decisions_of(nodes));
      trees_[j].for_each_leaf([&](TreeNode& leaf) {
        require(n_values < state.values.size(), "the state has too few leaf values");
        leaf.value = state.values[n_values++];
      });
      const auto* leaf_of_row = trees_[j].leaf_of_row();
      for (std::size_t row = 0; row < table_.n_rows; ++row) residual_[row] -= trees_[j][leaf_of_row[row]].value;
    }
    set_noise_variance(state.noise_sd * state.noise_sd);
  }

  static DecisionTree decisions_of(std::span<const Node> nodes) {
    DecisionTree tree(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].is_leaf()) continue;
      tree[i] = {{true, static_cast<std::uint32_t>(nodes[i].feature), nodes[i].rule},
                 static_cast<std::uint32_t>(nodes[i].left),
                 static_cast<std::uint32_t>(nodes[i].right)};
    }
    return tree;
  }

  void save_state(SumState& state) {
    state.starts.assign(1, 0);
    for (Tree& tree : trees_) {
      tree.write(table_, state.nodes);
      state.starts.push_back(static_cast<std::int64_t>(state.nodes.size()));
      tree.for_each_leaf([&](const TreeNode& leaf) { state.values.push_back(leaf.value); });
    }
    state.latent = latent_;
    state.noise_sd = std::sqrt(noise_variance_);
  }

  void keep(SumResult& result) {
    for (std::size_t j = 0; j < trees_.size(); ++j) {
      if (trees_[j].take_change() || structures_[j] < 0) {
        structures_[j] = static_cast<std::int32_t>(result.starts.size() - 1);
        trees_[j].write(table_, result.nodes);
        result.starts.push_back(static_cast<std::int64_t>(result.nodes.size()));
      }
      result.structure_of.push_back(structures_[j]);
      trees_[j].for_each_leaf([&](const TreeNode& leaf) { result.values.push_back(leaf.value); });
    }
  }

  std::uint32_t count_leaves() {
    std::uint32_t n = 0;
    for (Tree& tree : trees_) tree.for_each_leaf([&](const TreeNode&) { ++n; });
    return n;
  }

  // --- a sweep

  void sweep(bool is_start, SumResult& result) {
    if (settings_.is_probit) draw_latent();
    const Tree* before = nullptr;
    for (Tree& tree : trees_) {
      settle(before, &tree);
      for_each_live_leaf(tree, [](TreeNode& leaf) { leaf.sum += leaf.weight * leaf.value; });
      const std::size_t move = is_start ? grow_whole(tree) : move_tree(tree, result);
      if (is_start) ++result.n_proposed[move], ++result.n_accepted[move];
      draw_values(tree);
      before = &tree;
      watch_.check_interrupt(4 * table_.n_rows);
    }
    settle(before, nullptr);
    if (settings_.noise_df > 0.0 && !settings_.is_probit) draw_noise();
  }

  template <class Visit>
  static void for_each_live_leaf(Tree& tree, Visit visit) {
    for (NodeId id = 0; id < tree.n_nodes(); ++id) {
      if (!tree[id].is_free && tree[id].is_leaf()) visit(tree[id]);
    }
  }

  // Takes the new values of one tree into the residuals, and adds them up over the leaves of the next.
  void settle(const Tree* before, Tree* next) {
    const std::size_t n_nodes = next ? next->n_nodes() : 1;
    sums_.assign(n_lanes * n_nodes, 0.0);
    if (!before) deltas_.assign(1, 0.0);
    if (weights_.empty()) {
      settle_rows(before, next, [](std::size_t) { return 1.0; });
    } else {
      settle_rows(before, next, [weights = weights_.data()](std::size_t row) { return weights[row]; });
    }
    if (!next) return;
    for (NodeId id = 0; id < n_nodes; ++id) {
      const double* lanes = &sums_[n_lanes * id];
      (*next)[id].sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
  }

  // Rows that follow each other add to different lanes: an addition need not wait for the one before.
  template <class WeightOf>
  void settle_rows(const Tree* before, const Tree* next, WeightOf weight_of) {
    const auto* leaf_before = before ? before->leaf_of_row() : one_leaf_.data();
    const auto* leaf_next = next ? next->leaf_of_row() : one_leaf_.data();
    const double* deltas = deltas_.data();
    double *residual = residual_.data(), *sums = sums_.data();
    const std::size_t n_rows = table_.n_rows, n_whole = n_rows / n_lanes * n_lanes;
    const auto add = [&](std::size_t row, std::size_t lane) {
      residual[row] += deltas[leaf_before[row]];
      sums[n_lanes * leaf_next[row] + lane] += weight_of(row) * residual[row];
    };
    for (std::size_t row = 0; row < n_whole; row += n_lanes) {
      for (std::size_t lane = 0; lane < n_lanes; ++lane) add(row + lane, lane);
    }
    for (std::size_t row = n_whole; row < n_rows; ++row) add(row, row - n_whole);
  }

  void draw_values(Tree& tree) {
    deltas_.assign(tree.n_nodes(), 0.0);
    for (NodeId id = 0; id < tree.n_nodes(); ++id) {
      TreeNode& leaf = tree[id];
      if (leaf.is_free || !leaf.is_leaf()) continue;
      const double value = family_->draw_value(leaf.weight, leaf.sum, draws_);
      deltas_[id] = leaf.value - value;
      leaf.value = value;
    }
  }

  void draw_noise() {
    const double squares = sum_of_squares();
    set_noise_variance((settings_.noise_df * settings_.noise_scale + squares) /
                       draws_.chi_square(settings_.noise_df + total_weight_));
  }

  void set_noise_variance(double variance) {
    noise_variance_ = variance;
    family_->set_noise_variance(variance);
  }

  double sum_of_squares() const {
    double sum = 0.0;
    for (std::size_t row = 0; row < table_.n_rows; ++row) sum += weight(row) * residual_[row] * residual_[row];
    return sum;
  }

  // --- probit

  // The residual is the latent normal less offset and trees.
  void start_latent(const SumState* initial) {
    const bool is_given = initial && initial->latent.size() == table_.n_rows;
    latent_.assign(table_.n_rows, settings_.offset);
    for (std::size_t row = 0; row < table_.n_rows; ++row) {
      residual_[row] += latent_[row] - settings_.offset - target_[row];  // the trees alone, negative
      if (!is_given) continue;
      residual_[row] += initial->latent[row] - latent_[row];
      latent_[row] = initial->latent[row];
    }
  }

  void draw_latent() {
    for (std::size_t row = 0; row < table_.n_rows; ++row) {
      const double mean = latent_[row] - residual_[row];
      latent_[row] = target_[row] > 0.5 ? draws_.positive_normal(mean) : draws_.negative_normal(mean);
      residual_[row] = latent_[row] - mean;
    }
  }

  double log_likelihood() const {
    double sum = 0.0;
    if (settings_.is_probit) {
      for (std::size_t row = 0; row < table_.n_rows; ++row) {
        const double mean = latent_[row] - residual_[row];
        sum += std::log(0.5 * std::erfc((target_[row] > 0.5 ? -mean : mean) * std::sqrt(0.5)));
      }
      return sum;
    }
    return -0.5 * total_weight_ * std::log(2.0 * std::numbers::pi * noise_variance_) -
           0.5 * sum_of_squares() / noise_variance_;
  }

  // --- rows of a node, with what the tree leaves of the target there

  void load(Tree& tree, NodeId top) {
    const auto& is_below = tree.below(top);
    values_.resize(tree.n_nodes());
    for (NodeId id = 0; id < tree.n_nodes(); ++id) values_[id] = tree[id].value;
    rows_.resize(table_.n_rows);
    partial_.resize(table_.n_rows);
    const auto* leaf_of_row = tree.leaf_of_row();
    const double *residual = residual_.data(), *values = values_.data();
    std::uint32_t* rows = rows_.data();
    double* partial = partial_.data();
    std::size_t n_found = 0;
    for (std::uint32_t row = 0; row < table_.n_rows; ++row) {
      const std::size_t leaf = leaf_of_row[row];
      rows[n_found] = row;
      partial[n_found] = residual[row] + values[leaf];
      n_found += is_below[leaf];
    }
    rows_.resize(n_found);
    partial_.resize(n_found);
  }

  template <class Takes>
  bool can_split(std::uint32_t depth, std::size_t n_rows, std::span<const std::uint32_t> rows, Takes takes) const {
    if (!prior_.limits().allow(depth, n_rows)) return false;
    if (n_rows > table_.most_identical) return true;
    return n_rows > 1 && rows_differ(table_, rows, all_features_, takes);
  }

  // Both sides of a rule of the loaded rows, whose ranks in its feature are in the slice.
  std::pair<Side, Side> divide(const Rule& rule, std::uint32_t depth) {
    is_left_.resize(rows_.size());
    with_side_of_ranks(rule, [this, ranks = slice_.ranks](auto goes_left) {
      for (std::size_t i = 0; i < rows_.size(); ++i) is_left_[i] = goes_left(ranks[i]);
    });
    std::uint32_t n_left = 0;
    for (const std::uint8_t is_left : is_left_) n_left += is_left;
    const auto n_right = static_cast<std::uint32_t>(rows_.size()) - n_left;
    Side left{.n_rows = n_left, .weight = static_cast<double>(n_left)};
    Side right{.n_rows = n_right, .weight = static_cast<double>(n_right)};
    if (weights_.empty()) {
      std::tie(right.sum, left.sum) = add_sides([&](std::size_t i) { return partial_[i]; });
    } else {
      std::tie(right.weight, left.weight) = add_sides([&](std::size_t i) { return weights_[rows_[i]]; });
      std::tie(right.sum, left.sum) = add_sides([&](std::size_t i) { return weights_[rows_[i]] * partial_[i]; });
    }
    left.can_split = can_split(depth + 1, n_left, rows_, [&](std::size_t i) { return is_left_[i]; });
    right.can_split = can_split(depth + 1, n_right, rows_, [&](std::size_t i) { return !is_left_[i]; });
    return {left, right};
  }

  // The sums of a number per loaded row over those to the right and to the left.
  template <class NumberOf>
  std::pair<double, double> add_sides(NumberOf number_of) const {
    const std::size_t n_rows = rows_.size(), n_whole = n_rows / n_lanes * n_lanes;
    const std::uint8_t* is_left = is_left_.data();
    double sums[2][n_lanes]{};
    for (std::size_t i = 0; i < n_whole; i += n_lanes) {
      for (std::size_t lane = 0; lane < n_lanes; ++lane) sums[is_left[i + lane]][lane] += number_of(i + lane);
    }
    for (std::size_t i = n_whole; i < n_rows; ++i) sums[is_left[i]][i - n_whole] += number_of(i);
    const auto total = [](const double* lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); };
    return {total(sums[0]), total(sums[1])};
  }

  // A rule from the prior for the loaded rows, some of which differ. Most features vary: one that does not is drawn again.
  Rule draw_rule() {
    while (true) {
      const std::uint32_t feature = random_.below(static_cast<std::uint32_t>(table_.n_features));
      slice_.load(table_, feature, rows_);
      const bool varies =
          slice_.varies() || slice_.levels.size() > 1 || (slice_.has_missing && slice_.low <= slice_.high);
      if (varies) return Rules(table_, feature, slice_).draw(random_);
    }
  }

  void split(Tree& tree, NodeId id, const Rule& rule, const Side& left, const Side& right) {
    release(tree);
    tree.split(id, rule, left, right, rows_, [&](std::size_t i) { return is_left_[i]; });
  }

  // What the tree has said of the loaded rows goes back into their residuals: the leaves that they get have the value 0.
  void release(Tree&) {
    for (std::size_t i = 0; i < rows_.size(); ++i) residual_[rows_[i]] = partial_[i];
  }

  // The loaded rows become one leaf.
  void merge(Tree& tree, NodeId top) {
    release(tree);
    tree.merge(top, rows_);
    TreeNode& leaf = tree[top];
    leaf.value = leaf.sum = 0.0;
    for (std::size_t i = 0; i < rows_.size(); ++i) leaf.sum += weight(rows_[i]) * partial_[i];
  }

  // --- the moves

  struct Numbers {
    std::size_t n_growable, n_splits, n_prunable;
  };

  Numbers count(Tree& tree) {
    Numbers numbers{};
    for (NodeId id = 0; id < tree.n_nodes(); ++id) {
      const TreeNode& node = tree[id];
      if (node.is_free) continue;
      numbers.n_growable += node.is_leaf() && node.can_split;
      numbers.n_splits += !node.is_leaf();
      numbers.n_prunable += tree.is_prunable(node);
    }
    return numbers;
  }

  // The weights of grow, prune and change in a tree with these numbers.
  std::array<double, 3> allowed(const Numbers& numbers) const {
    const auto& w = settings_.move_weights;
    return {numbers.n_growable > 0 ? w[0] : 0.0, numbers.n_splits > 0 ? w[1] : 0.0, numbers.n_splits > 0 ? w[2] : 0.0};
  }

  double log_move(Move move, const Numbers& numbers) const {
    const auto weights = allowed(numbers);
    return std::log(weights[static_cast<std::size_t>(move)] / (weights[0] + weights[1] + weights[2]));
  }

  std::size_t move_tree(Tree& tree, SumResult& result) {
    const bool regrows = settings_.regrow_share > 0.0 && random_.uniform() < settings_.regrow_share;
    const Numbers numbers = count(tree);
    const auto move = static_cast<std::size_t>(regrows ? Move::regrow : draw_move(numbers));
    ++result.n_proposed[move];
    const bool accepted = move == static_cast<std::size_t>(Move::regrow)  ? regrow(tree)
                          : move == static_cast<std::size_t>(Move::grow)  ? grow(tree, numbers)
                          : move == static_cast<std::size_t>(Move::prune) ? prune(tree, numbers)
                                                                          : change(tree, numbers);
    result.n_accepted[move] += accepted;
    return move;
  }

  Move draw_move(const Numbers& numbers) {
    const auto weights = allowed(numbers);
    double point = random_.uniform() * (weights[0] + weights[1] + weights[2]);
    if (point < weights[0]) return Move::grow;
    return point - weights[0] < weights[1] || weights[2] == 0.0 ? Move::prune : Move::change;
  }

  NodeId draw_among(const std::vector<NodeId>& nodes) {
    return nodes[random_.below(static_cast<std::uint32_t>(nodes.size()))];
  }

  bool accept(double log_ratio) { return std::log(random_.uniform()) < log_ratio; }
  double log_marginal(const Side& side) const { return family_->log_marginal(side.weight, side.sum); }
  double log_marginal(const TreeNode& leaf) const { return family_->log_marginal(leaf.weight, leaf.sum); }

  // log [pi(T') / pi(T)] for a leaf at a depth that becomes a split; the density of its rule cancels (chain.h).
  double log_split_ratio(std::uint32_t depth, std::size_t n_that_can_split, double log_ratio_of_marginals) {
    const double log_stop_below = prior_.at(depth + 1).log_stop;
    const TreePrior::AtDepth here = prior_.at(depth);
    return here.log_split - here.log_stop + static_cast<double>(n_that_can_split) * log_stop_below +
           log_ratio_of_marginals;
  }

  // log [m_prune(T') / W(T')] - log [m_grow(T) / G(T)] for a tree T and the tree T' that it grows to.
  double log_way_back(const Numbers& before, const Numbers& after) const {
    return log_move(Move::prune, after) - std::log(static_cast<double>(after.n_prunable)) -
           log_move(Move::grow, before) + std::log(static_cast<double>(before.n_growable));
  }

  bool grow(Tree& tree, const Numbers& numbers) {
    if (numbers.n_growable == 0) return false;
    const NodeId id =
        draw_among(tree.nodes_that([](const TreeNode& node) { return node.is_leaf() && node.can_split; }));
    load(tree, id);
    const Rule rule = draw_rule();
    const std::uint32_t depth = tree[id].depth;
    const auto [left, right] = divide(rule, depth);
    const NodeId parent = tree[id].parent;
    const bool replaces_parent = parent != Tree::none && tree.is_prunable(tree[parent]);
    const std::size_t n_that_can_split = std::size_t{left.can_split} + right.can_split;
    const Numbers after{numbers.n_growable - 1 + n_that_can_split, numbers.n_splits + 1,
                        numbers.n_prunable + 1 - replaces_parent};
    const double log_ratio_of_marginals = log_marginal(left) + log_marginal(right) - log_marginal(tree[id]);
    if (!accept(log_split_ratio(depth, n_that_can_split, log_ratio_of_marginals) + log_way_back(numbers, after))) {
      return false;
    }
    split(tree, id, rule, left, right);
    return true;
  }

  bool prune(Tree& tree, const Numbers& numbers) {
    if (numbers.n_splits == 0) return false;
    const NodeId id = draw_among(tree.nodes_that([&](const TreeNode& node) { return tree.is_prunable(node); }));
    const TreeNode &left = tree[tree[id].left], &right = tree[tree[id].right];
    const std::size_t n_that_can_split = std::size_t{left.can_split} + right.can_split;
    const NodeId parent = tree[id].parent;
    const bool restores_parent = parent != Tree::none && is_prunable_with_leaf(tree, parent, id);
    const Numbers after{numbers.n_growable - n_that_can_split + 1, numbers.n_splits - 1,
                        numbers.n_prunable - 1 + restores_parent};
    const double log_together = family_->log_marginal(left.weight + right.weight, left.sum + right.sum);
    const double log_ratio_of_marginals = log_marginal(left) + log_marginal(right) - log_together;
    if (!accept(-log_split_ratio(tree[id].depth, n_that_can_split, log_ratio_of_marginals) -
                log_way_back(after, numbers))) {
      return false;
    }
    load(tree, id);
    merge(tree, id);
    return true;
  }

  // Would a node be prunable if one of its children were a leaf?
  static bool is_prunable_with_leaf(const Tree& tree, NodeId id, NodeId child) {
    const NodeId other = tree[id].left == child ? tree[id].right : tree[id].left;
    return tree[other].is_leaf();
  }

  // The rule comes from the prior, and so cancels, and as many splits could be changed before and after. What may differ is
  // which children could be split.
  bool change(Tree& tree, const Numbers& numbers) {
    if (numbers.n_splits == 0) return false;
    const NodeId id = draw_among(tree.nodes_that([&](const TreeNode& node) { return tree.is_prunable(node); }));
    const TreeNode &left = tree[tree[id].left], &right = tree[tree[id].right];
    load(tree, id);
    const Rule rule = draw_rule();
    const std::uint32_t depth = tree[id].depth;
    const auto [new_left, new_right] = divide(rule, depth);
    const std::size_t n_before = std::size_t{left.can_split} + right.can_split;
    const std::size_t n_after = std::size_t{new_left.can_split} + new_right.can_split;
    Numbers after = numbers;
    after.n_growable += n_after;
    after.n_growable -= n_before;
    const double log_ratio =
        log_marginal(new_left) + log_marginal(new_right) - log_marginal(left) - log_marginal(right) +
        (static_cast<double>(n_after) - static_cast<double>(n_before)) * prior_.at(depth + 1).log_stop +
        log_move(Move::change, after) - log_move(Move::change, numbers);
    if (!accept(log_ratio)) return false;
    tree.merge(id, rows_);
    split(tree, id, rule, new_left, new_right);
    return true;
  }

  // --- particle Gibbs

  bool regrow(Tree& tree) {
    const std::uint32_t row = random_.below(static_cast<std::uint32_t>(table_.n_rows));
    const NodeId top = tree.first_with_at_most(draw_block_size(), row);
    if (top == Tree::none || !tree[top].can_split) return false;
    load(tree, top);
    const Region region = prepare_region(tree[top].depth);
    Filter<Table, Leaf, Watch> filter(table_, *leaf_, prior_, settings_.filter, random_, watch_, &region);
    const std::optional<DecisionTree> drawn = filter.regrow(tree.decisions(top));
    if (!drawn) return false;
    plant(tree, top, *drawn);
    return true;
  }

  // The largest number of rows of the block to regrow, its log uniform between those of 2 and of e times all rows: blocks of
  // all sizes are chosen about alike, whole trees among them.
  std::size_t draw_block_size() {
    const double low = std::log(2.0), high = 1.0 + std::log(static_cast<double>(table_.n_rows));
    return static_cast<std::size_t>(std::exp(low + random_.uniform() * (high - low)));
  }

  // Grows a whole tree, and does not look at its weight.
  std::size_t grow_whole(Tree& tree) {
    if (tree[Tree::root].can_split) {
      load(tree, Tree::root);
      const Region region = prepare_region(0);
      FilterSettings settings = settings_.filter;
      settings.n_particles = 1;
      Filter<Table, Leaf, Watch> filter(table_, *leaf_, prior_, settings, random_, watch_, &region);
      plant(tree, Tree::root, filter.grow());
    }
    return n_moves + 1;
  }

  // The loaded rows as the leaf model of a filter sees them.
  Region prepare_region(std::uint32_t depth) {
    region_rows_ = rows_;
    for (std::size_t i = 0; i < rows_.size(); ++i) leaf_->terms().row(rows_[i])[1] = weight(rows_[i]) * partial_[i];
    std::size_t n_visits = 0;
    varying_ = varying_among(table_, rows_, all_features_, n_visits);
    return {region_rows_, depth, &varying_};
  }

  // Puts a tree in the place of the subtree below a node.
  void plant(Tree& tree, NodeId top, const DecisionTree& decisions) {
    load(tree, top);
    merge(tree, top);
    plant_below(tree, top, decisions, 0);
  }

  void plant_below(Tree& tree, NodeId id, const DecisionTree& decisions, std::uint32_t number) {
    if (!decisions[number].is_split) return;
    load(tree, id);
    slice_.load(table_, decisions[number].feature, rows_);
    const std::optional<Rule> rule = Rules(table_, decisions[number].feature, slice_).with(decisions[number].rule);
    require(rule.has_value() && tree[id].can_split, "a tree of the sum cannot be grown on these rows");
    const auto [left, right] = divide(*rule, tree[id].depth);
    split(tree, id, *rule, left, right);
    plant_below(tree, tree[id].left, decisions, decisions[number].left);
    plant_below(tree, tree[id].right, decisions, decisions[number].right);
  }

  Table table_;
  TreePrior prior_;
  std::span<const double> target_, weights_;
  SumSettings settings_;
  Random& random_;
  NormalDraws draws_;
  Watch& watch_;
  double noise_variance_;
  double total_weight_ = 0.0;
  std::vector<double> residual_;  // the target, or the latent normals less the offset, less all trees
  std::vector<double> latent_;
  std::vector<std::uint32_t> all_features_;
  ResidualFamily* family_ = nullptr;  // of leaf_
  std::unique_ptr<Leaf> leaf_;
  std::vector<Tree> trees_;
  std::vector<std::int32_t> structures_;  // of each tree, as of the last draw that was kept
  static constexpr std::size_t n_lanes = 4;
  std::vector<double> sums_;                     // of the nodes of a tree, in lanes
  std::vector<double> deltas_, values_;          // of the nodes of a tree
  std::vector<typename Tree::LeafId> one_leaf_;  // of all rows, where there is no tree
  std::vector<std::uint32_t> rows_;              // the rows of a node,
  std::vector<double> partial_;                  // what is left of their target without this tree,
  std::vector<std::uint8_t> is_left_;            // and their sides
  std::vector<std::uint32_t> region_rows_, varying_;
  RankSlice<typename Table::Rank> slice_;
};

}  // namespace particletree
