// Weighted trees in flat arrays: what a filter or a chain leaves behind. See model/tree.py for their meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace particletree {

// One node as a sampler knows it.
struct NodeView {
  std::int32_t block;  // its number in the table of counts
  double log_prior;    // its factors of the tree's prior density and, at a leaf, of the likelihood
  double log_likelihood = 0.0;
  std::int32_t feature = -1;  // -1 at a leaf
  double threshold = std::numeric_limits<double>::quiet_NaN();
  double gap_low = std::numeric_limits<double>::quiet_NaN();  // the neighbouring values that the threshold divides
  double gap_high = std::numeric_limits<double>::quiet_NaN();
  std::uint32_t left = 0;  // the sampler's own names of the children
  std::uint32_t right = 0;
};

struct Trees {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> feature;
  std::vector<double> threshold;
  std::vector<double> gap_low;
  std::vector<double> gap_high;
  std::vector<std::int32_t> left;
  std::vector<std::int32_t> right;
  std::vector<std::int32_t> block;
  std::vector<double> counts;  // class counts, block by block
  std::vector<double> weights;
  std::vector<double> log_likelihoods;
  std::vector<double> log_priors;

  std::size_t size() const { return weights.size(); }

  void reserve(std::size_t n_trees, std::size_t n_nodes) {
    for (auto* column : {&feature, &left, &right, &block}) column->reserve(n_nodes);
    for (auto* column : {&threshold, &gap_low, &gap_high}) column->reserve(n_nodes);
    for (auto* column : {&weights, &log_likelihoods, &log_priors}) column->reserve(n_trees);
    offsets.reserve(n_trees + 1);
  }

  // Appends a tree without weight, in preorder: the left child comes next, the right one waits. `view` describes a node.
  template <class View>
  void append(std::uint32_t root, std::size_t n_nodes, View view) {
    const NodeColumns nodes = make_room(n_nodes);
    double log_prior = 0.0;
    double log_likelihood = 0.0;
    waiting_.assign(1, {root, -1});
    for (std::int32_t number = 0; !waiting_.empty(); ++number) {
      const Visit visit = waiting_.back();
      waiting_.pop_back();
      if (visit.parent >= 0) nodes.right[visit.parent] = number;
      const NodeView& node = view(visit.node);
      const bool is_leaf = node.feature < 0;
      nodes.feature[number] = node.feature;
      nodes.threshold[number] = node.threshold;
      nodes.gap_low[number] = node.gap_low;
      nodes.gap_high[number] = node.gap_high;
      nodes.left[number] = is_leaf ? -1 : number + 1;
      nodes.right[number] = -1;
      nodes.block[number] = node.block;
      log_prior += node.log_prior;
      log_likelihood += node.log_likelihood;
      if (is_leaf) continue;
      waiting_.push_back({node.right, number});
      waiting_.push_back({node.left, -1});
    }
    weights.push_back(0.0);
    log_likelihoods.push_back(log_likelihood);
    log_priors.push_back(log_prior);
  }

  // Appends what is kept of a block and returns its number.
  template <class Leaf>
  std::int32_t add_block(const typename Leaf::Statistic* statistics, const Leaf& leaf) {
    const std::size_t first = counts.size();
    counts.resize(first + leaf.n_outputs());
    leaf.write_outputs(statistics, &counts[first]);
    return static_cast<std::int32_t>(first / leaf.n_outputs());
  }

 private:
  struct Visit {
    std::uint32_t node;
    std::int32_t parent;  // of a right child, whose number the parent has still to learn; -1 otherwise
  };

  // Where the nodes of one tree begin.
  struct NodeColumns {
    std::int32_t *feature, *left, *right, *block;
    double *threshold, *gap_low, *gap_high;
  };

  // Room for the nodes of one tree more.
  NodeColumns make_room(std::size_t n_nodes) {
    const std::size_t first = feature.size();
    for (auto* column : {&feature, &left, &right, &block}) column->resize(first + n_nodes);
    for (auto* column : {&threshold, &gap_low, &gap_high}) column->resize(first + n_nodes);
    offsets.push_back(static_cast<std::int64_t>(first + n_nodes));
    return {&feature[first],   &left[first],    &right[first],   &block[first],
            &threshold[first], &gap_low[first], &gap_high[first]};
  }

  std::vector<Visit> waiting_;
};

}  // namespace particletree
