// Bayesian additive regression trees (Chipman, George & McCulloch 2010): the target is a sum of m small trees and
// noise.
//
//   y_i = f_1(x_i) + ... + f_m(x_i) + e_i,   e_i ~ N(0, v),   leaf values ~ N(0, t^2),   v ~ nu lambda / chi^2(nu).
//
// A row of weight w counts as w rows.
//
// Backfitting (their section 3.1): a sweep moves each tree in turn given the residual of the others, and draws the
// values of its leaves; at the end of the sweep the noise variance is drawn. A tree is moved with its leaf values
// integrated out (residual_family.h), by one of
//
//   grow, prune   as for a single tree (moves.h)
//   change        a new rule from the prior for a split whose children are leaves
//   regrow        particle Gibbs: the subtree below a block is redrawn by a conditional filter (retained.h)
//
// each of which leaves the posterior invariant. It is that of a prior without trees of more than `most_nodes` nodes
// (sum_tree.h): a move to one is rejected, which is right because every move, regrow included, is reversible. The
// first sweeps may grow every tree from its root by an unconditional filter with one particle whose weight is ignored
// (grow-from-root, He & Hahn 2023): a quick start, none of whose draws is kept.
//
// Probit (their section 4): y_i = 1 if a latent normal z_i ~ N(offset + sum of trees, 1) is positive; z is drawn in
// each sweep and replaces the target, with v = 1.
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

#include "../counting.h"
#include "../feature_rules.h"
#include "../filter.h"
#include "../leaves/row_sums.h"
#include "../moves.h"
#include "../normal_draws.h"
#include "../random.h"
#include "../retained.h"
#include "../tree_prior.h"
#include "../watch.h"
#include "residual_family.h"
#include "residuals.h"
#include "row_loops.h"
#include "sum_result.h"
#include "sum_tree.h"

namespace particletree {

template <class Table>
class SumOfTrees {
 public:
  SumOfTrees(const Table& table, const TreePrior& prior, std::span<const double> target,
             std::span<const double> weights, const SumSettings& settings, const SumState* initial, Random& random,
             Watch& watch)
      : table_(table),
        prior_(prior),
        target_(target),
        settings_(settings),
        random_(random),
        draws_(random),
        watch_(watch),
        moves_(prior, without_swap(settings.move_weights), settings.regrow_share, random),
        noise_variance_(settings.noise_sd * settings.noise_sd),
        residuals_(table_, weights),
        features_(prior.weights().positive(table.n_features)),
        any_feature_(prior.weights().of(features_)) {
    make_leaf_model();
    const Side all = whole();
    total_weight_ = all.weight;
    trees_.assign(settings.n_trees, Tree(all, settings.most_nodes));
    if (initial) restore(*initial);
    if (settings.is_probit) start_latent(initial);
    refresh();
  }

  SumResult run() {
    SumResult result;
    structures_.assign(trees_.size(), -1);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < settings_.n_start; ++i) sweep(true, result);
    for (std::size_t i = 0; i < settings_.n_iterations; ++i) {
      if ((i + 1) % n_until_fresh == 0) refresh();
      sweep(false, result);
      watch_.stage(settings_.n_before + i + 1, std::sqrt(noise_variance_));
      if (i < settings_.burn_in || (i + 1 - settings_.burn_in) % settings_.thin != 0) continue;
      keep(result);
      result.trace.push_back({static_cast<std::uint32_t>(settings_.n_before + i + 1), std::sqrt(noise_variance_),
                              log_likelihood(), count_leaves(),
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
  static constexpr std::size_t n_until_fresh = 64;  // sweeps

  // --- the state

  void make_leaf_model() {
    RowTerms terms(table_.n_rows, 3);
    for (std::size_t row = 0; row < table_.n_rows; ++row) terms.row(row)[0] = residuals_.weight(row);
    const std::size_t largest = residuals_.has_weights() ? 0 : table_.n_rows;
    auto family = std::make_unique<ResidualFamily>(settings_.value_sd, largest);
    family_ = family.get();
    leaf_ = std::make_unique<Leaf>(std::move(terms), std::move(family));
    family_->set_noise_variance(noise_variance_);
  }

  Side whole() {
    Side all{.n_rows = static_cast<std::uint32_t>(table_.n_rows)};
    for (std::size_t row = 0; row < table_.n_rows; ++row) all.weight += residuals_.weight(row);
    rows_.resize(table_.n_rows);
    std::iota(rows_.begin(), rows_.end(), 0u);
    if (table_.measure) all.mass = varying_by(prior_, table_, rows_, features_).total;
    all.can_split = can_split(
        all.facts(), [this] { return rows_differ(table_, rows_, features_, [](std::size_t) { return true; }); });
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
    }
    set_noise_variance(state.noise_sd * state.noise_sd);
  }

  // Recomputes the residuals from time to time, because they are floats in which rounding errors accumulate.
  void refresh() {
    std::vector<double> left(target_.begin(), target_.end());
    if (settings_.is_probit) {
      for (std::size_t row = 0; row < table_.n_rows; ++row) left[row] = latent_[row] - settings_.offset;
    }
    for (const Tree& tree : trees_) {
      const LeafId* leaf_of_row = tree.leaf_of_row();
      for (std::size_t row = 0; row < table_.n_rows; ++row) left[row] -= tree[leaf_of_row[row]].value;
    }
    for (std::size_t row = 0; row < table_.n_rows; ++row) residuals_.set(row, left[row]);
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

  std::uint32_t count_leaves() const {
    std::uint32_t n = 0;
    for (const Tree& tree : trees_) n += static_cast<std::uint32_t>(tree.leaves().size());
    return n;
  }

  // --- a sweep

  void sweep(bool is_start, SumResult& result) {
    if (settings_.is_probit) draw_latent();
    const Tree* before = nullptr;
    for (Tree& tree : trees_) {
      residuals_.settle(before, &tree);
      if (is_start) {
        grow_whole(tree);
        ++result.n_proposed.back(), ++result.n_accepted.back();
      } else {
        move_tree(tree, result);
      }
      draw_values(tree);
      before = &tree;
      watch_.check_interrupt(table_.n_rows);
    }
    residuals_.settle(before, nullptr);
    if (settings_.noise_df > 0.0 && !settings_.is_probit) draw_noise();
  }

  void draw_values(Tree& tree) {
    for (const NodeId id : tree.leaves()) {
      TreeNode& leaf = tree[id];
      const double value = family_->draw_value(leaf.weight, leaf.sum, draws_);
      residuals_.note(tree, id, leaf.value, value);
      leaf.value = value;
    }
  }

  void draw_noise() {
    const double squares = residuals_.sum_of_squares();
    set_noise_variance((settings_.noise_df * settings_.noise_scale + squares) /
                       draws_.chi_square(settings_.noise_df + total_weight_));
  }

  void set_noise_variance(double variance) {
    noise_variance_ = variance;
    family_->set_noise_variance(variance);
  }

  // --- probit

  void start_latent(const SumState* initial) {
    const bool is_given = initial && initial->latent.size() == table_.n_rows;
    latent_ = is_given ? initial->latent : std::vector<double>(table_.n_rows, settings_.offset);
  }

  // The residual is the latent normal minus its mean, the offset plus the trees.
  void draw_latent() {
    for (std::size_t row = 0; row < table_.n_rows; ++row) {
      const double mean = latent_[row] - residuals_[row];
      latent_[row] = target_[row] > 0.5 ? draws_.positive_normal(mean) : draws_.negative_normal(mean);
      residuals_.set(row, latent_[row] - mean);
    }
  }

  double log_likelihood() const {
    double sum = 0.0;
    if (settings_.is_probit) {
      for (std::size_t row = 0; row < table_.n_rows; ++row) {
        const double mean = latent_[row] - residuals_[row];
        sum += std::log(0.5 * std::erfc((target_[row] > 0.5 ? -mean : mean) * std::sqrt(0.5)));
      }
      return sum;
    }
    return -0.5 * total_weight_ * std::log(2.0 * std::numbers::pi * noise_variance_) -
           0.5 * residuals_.sum_of_squares() / noise_variance_;
  }

  // --- rules and their sides

  // `differ()` tells whether some of the rows differ; it is called only if they are few enough to be identical.
  template <class Differ>
  bool can_split(const BlockFacts& block, Differ differ) const {
    if (!prior_.allows(block)) return false;
    return block.n_rows > table_.most_identical || (block.n_rows > 1 && differ());
  }

  // Collects the rows of two leaves, which may be the same leaf.
  void collect(const Tree& tree, NodeId one, NodeId other) {
    const LeafId* leaf_of_row = tree.leaf_of_row();
    rows_.clear();
    for (std::uint32_t row = 0; row < table_.n_rows; ++row) {
      if (leaf_of_row[row] == one || leaf_of_row[row] == other) rows_.push_back(row);
    }
  }

  // The extent of a feature in the rows of two leaves.
  const Extent& extent_of(const Tree& tree, NodeId one, NodeId other, std::uint32_t feature) {
    if (!table_.is_plain(feature)) {
      collect(tree, one, other);
      slice_.load(table_, feature, rows_);
      return slice_;
    }
    typename Table::Rank low, high;
    find_extent(table_.column(feature), tree.leaf_of_row(), static_cast<LeafId>(one), static_cast<LeafId>(other),
                table_.n_rows, low, high);
    extent_.low = low;
    extent_.high = high;
    return extent_;
  }

  // A rule from the prior for the rows of two leaves, some of which differ. Most features vary, so a feature that does
  // not is rejected and drawn again. With a measure the features' masses are needed to begin with.
  Rule draw_rule(const Tree& tree, NodeId one, NodeId other) {
    if (table_.measure) {
      collect(tree, one, other);
      const std::uint32_t feature = varying_by(prior_, table_, rows_, features_).draw(random_);
      return Rules(table_, feature, extent_of(tree, one, other, feature)).draw(random_);
    }
    while (true) {
      const std::uint32_t feature = any_feature_.draw(random_);
      const Extent& extent = extent_of(tree, one, other, feature);
      const bool varies =
          extent.varies() || extent.levels.size() > 1 || (extent.has_missing && extent.low <= extent.high);
      if (varies) return Rules(table_, feature, extent).draw(random_);
    }
  }

  // Both sides of a rule of the rows of two leaves, which are or could be children of a node at this depth.
  std::pair<Side, Side> divide(const Tree& tree, NodeId one, NodeId other, const Rule& rule, std::uint32_t depth) {
    residuals_.mark(rule);
    Side left, right;
    residuals_.add_to_sides(tree, one, left, right);
    if (other != one) residuals_.add_to_sides(tree, other, left, right);
    const auto complete = [&](Side& side, bool is_left) {
      side.depth = depth + 1;
      const auto takes = [&](std::uint32_t row) { return residuals_.is_left()[row] == is_left; };
      if (table_.measure) {
        collect(tree, one, other);
        std::erase_if(rows_, [&](std::uint32_t row) { return !takes(row); });
        side.mass = varying_by(prior_, table_, rows_, features_).total;
      }
      side.can_split = can_split(side.facts(), [&] {
        collect(tree, one, other);
        return rows_differ(table_, rows_, features_, [&](std::size_t i) { return takes(rows_[i]); });
      });
    };
    complete(left, true);
    complete(right, false);
    return {left, right};
  }

  // --- the moves

  static std::array<double, n_moves> without_swap(std::array<double, n_moves> weights) {
    weights[place_of(Move::swap)] = 0.0;
    return weights;
  }

  TreeNumbers count(const Tree& tree) const {
    TreeNumbers numbers;
    for (const NodeId id : tree.leaves()) numbers.n_growable += tree[id].can_split;
    numbers.n_splits = tree.leaves().size() - 1;
    for (NodeId id = 0; id < tree.n_nodes(); ++id)
      numbers.n_prunable += !tree[id].is_free && tree.is_prunable(tree[id]);
    return numbers;
  }

  void move_tree(Tree& tree, SumResult& result) {
    const TreeNumbers numbers = count(tree);
    const std::optional<Move> move = moves_.draw(numbers);
    if (!move) return;
    ++result.n_proposed[place_of(*move)];
    result.n_accepted[place_of(*move)] += propose(*move, tree, numbers);
  }

  bool propose(Move move, Tree& tree, const TreeNumbers& numbers) {
    switch (move) {
      case Move::grow:
        return grow(tree, numbers);
      case Move::prune:
        return prune(tree, numbers);
      case Move::change:
        return change(tree, numbers);
      case Move::regrow:
        return regrow(tree);
      case Move::swap:  // has no weight
        break;
    }
    return false;
  }

  NodeId draw_among(const std::vector<NodeId>& nodes) {
    return nodes[random_.below(static_cast<std::uint32_t>(nodes.size()))];
  }
  NodeId draw_prunable(Tree& tree) {
    return draw_among(tree.nodes_that([&](const TreeNode& node) { return tree.is_prunable(node); }));
  }

  NodeTerms terms(const TreeNode& leaf) const {
    return {leaf.facts(), leaf.can_split, family_->log_marginal(leaf.weight, leaf.sum)};
  }
  NodeTerms terms(const Side& side) const {
    return {side.facts(), side.can_split, family_->log_marginal(side.weight, side.sum)};
  }

  bool grow(Tree& tree, const TreeNumbers& numbers) {
    if (!tree.has_room_for(2)) return false;
    const NodeId id =
        draw_among(tree.nodes_that([](const TreeNode& node) { return node.is_leaf() && node.can_split; }));
    const TreeNode& leaf = tree[id];
    const Rule rule = draw_rule(tree, id, id);
    const auto [left, right] = divide(tree, id, id, rule, leaf.depth);
    const bool replaces_parent = leaf.parent != Tree::none && tree.is_prunable(tree[leaf.parent]);
    if (!moves_.accept_grow(terms(leaf), terms(left), terms(right), numbers, replaces_parent)) {
      return false;
    }
    tree.split(id, rule, left, right, residuals_.is_left());
    return true;
  }

  bool prune(Tree& tree, const TreeNumbers& numbers) {
    const NodeId id = draw_prunable(tree);
    const TreeNode &split = tree[id], &left = tree[split.left], &right = tree[split.right];
    const double log_marginal = family_->log_marginal(left.weight + right.weight, left.sum + right.sum);
    const NodeTerms together{split.facts(), split.can_split, log_marginal};
    if (!moves_.accept_prune(together, terms(left), terms(right), numbers)) return false;
    residuals_.merge(tree, id);
    return true;
  }

  // As many splits can be changed afterwards. What may differ is which children can be split.
  bool change(Tree& tree, const TreeNumbers& numbers) {
    const NodeId id = draw_prunable(tree);
    const NodeId left_id = tree[id].left, right_id = tree[id].right;
    const TreeNode &left = tree[left_id], &right = tree[right_id];
    const std::uint32_t depth = tree[id].depth;
    const Rule rule = draw_rule(tree, left_id, right_id);
    const auto [new_left, new_right] = divide(tree, left_id, right_id, rule, depth);
    TreeNumbers after = numbers;
    after.n_growable += std::size_t{new_left.can_split} + new_right.can_split;
    after.n_growable -= std::size_t{left.can_split} + right.can_split;
    const double log_ratio = moves_.log_leaf(terms(new_left)) + moves_.log_leaf(terms(new_right)) -
                             moves_.log_leaf(terms(left)) - moves_.log_leaf(terms(right));
    if (!moves_.accept_rules(Move::change, log_ratio, numbers, after)) return false;
    residuals_.merge(tree, id);
    tree.split(id, rule, new_left, new_right, residuals_.is_left());
    return true;
  }

  // --- particle Gibbs

  bool regrow(Tree& tree) {
    const std::uint32_t row = random_.below(static_cast<std::uint32_t>(table_.n_rows));
    const NodeId top = tree.first_with_at_most(draw_block_size(), row);
    if (top == Tree::none || !tree[top].can_split) return false;
    const Region region = prepare_region(tree, top);
    Filter<Table, Leaf> filter(table_, *leaf_, prior_, settings_.filter, random_, watch_, &region);
    const DecisionTree present = tree.decisions(top);
    const std::optional<DecisionTree> drawn = filter.regrow(present);
    if (!drawn || !tree.has_room_for(drawn->size(), present.size())) return false;
    plant(tree, top, *drawn);
    return true;
  }

  // The largest number of rows of the block to regrow, with log uniform between those of 2 and of e times all rows:
  // blocks of all sizes are chosen about equally often, whole trees included.
  std::size_t draw_block_size() {
    const double low = std::log(2.0), high = 1.0 + std::log(static_cast<double>(table_.n_rows));
    return static_cast<std::size_t>(std::exp(low + random_.uniform() * (high - low)));
  }

  // Grows a whole tree, and ignores its weight.
  void grow_whole(Tree& tree) {
    if (!tree[Tree::root].can_split) return;
    const Region region = prepare_region(tree, Tree::root);
    FilterSettings settings = settings_.filter;
    settings.n_particles = 1;
    Filter<Table, Leaf> filter(table_, *leaf_, prior_, settings, random_, watch_, &region);
    plant(tree, Tree::root, filter.grow());
  }

  // The rows below a node, and their residuals without this tree, prepared for the leaf model of a filter.
  Region prepare_region(Tree& tree, NodeId top) {
    const auto& is_below = tree.below(top);
    const LeafId* leaf_of_row = tree.leaf_of_row();
    region_rows_.clear();
    for (std::uint32_t row = 0; row < table_.n_rows; ++row) {
      const LeafId leaf = leaf_of_row[row];
      if (!is_below[leaf]) continue;
      region_rows_.push_back(row);
      leaf_->terms().row(row)[1] = residuals_.weight(row) * (residuals_[row] + tree[leaf].value);
    }
    varying_ = varying_by(prior_, table_, region_rows_, features_);
    return {region_rows_, tree[top].depth, &varying_};
  }

  // Replaces the subtree below a node by a tree, or by its first splits in preorder if there is no room for all: only a
  // tree that is grown whole, to start from, can be that large.
  void plant(Tree& tree, NodeId top, const DecisionTree& decisions) {
    residuals_.merge(tree, top);
    std::vector<std::pair<NodeId, std::uint32_t>> pending{{top, 0}};  // a leaf, and its number among the decisions
    while (!pending.empty() && tree.has_room_for(2)) {
      const auto [id, number] = pending.back();
      pending.pop_back();
      if (!decisions[number].is_split) continue;
      const std::uint32_t feature = decisions[number].feature;
      const std::optional<Rule> rule =
          Rules(table_, feature, extent_of(tree, id, id, feature)).with(decisions[number].rule);
      require(rule.has_value() && tree[id].can_split, "a tree of the sum cannot be grown on these rows");
      const auto [left, right] = divide(tree, id, id, *rule, tree[id].depth);
      tree.split(id, *rule, left, right, residuals_.is_left());
      pending.push_back({tree[id].right, decisions[number].right});
      pending.push_back({tree[id].left, decisions[number].left});
    }
  }

  Table table_;
  const TreePrior& prior_;
  std::span<const double> target_;
  SumSettings settings_;
  Random& random_;
  NormalDraws draws_;
  Watch& watch_;
  Moves moves_;
  double noise_variance_;
  double total_weight_ = 0.0;
  Residuals<Table> residuals_;
  std::vector<double> latent_;
  std::vector<std::uint32_t> features_;  // that trees can use
  Varying any_feature_;                  // with their weights, if they are the same in every block
  ResidualFamily* family_ = nullptr;     // of leaf_
  std::unique_ptr<Leaf> leaf_;
  std::vector<Tree> trees_;
  std::vector<std::int32_t> structures_;  // of each tree, as of the last draw that was kept
  std::vector<std::uint32_t> rows_, region_rows_;
  Varying varying_;  // in the region
  Extent extent_;
  RankSlice<typename Table::Rank> slice_;
};

}  // namespace particletree
