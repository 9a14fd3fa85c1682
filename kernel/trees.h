// Weighted trees, the result of a filter or a chain: shared nodes, and the index of each tree's root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "node.h"

namespace particletree {

struct Trees {
  std::vector<Node> nodes;                // children before their parent
  std::vector<std::int32_t> roots;        // of each tree
  std::vector<double> statistics;         // block by block, as many as the leaf model keeps
  std::vector<std::uint64_t> row_hashes;  // of the rows of each block
  std::vector<double> weights;            // of each tree
  std::vector<double> log_likelihoods;
  std::vector<double> log_priors;

  std::size_t size() const { return roots.size(); }

  // Appends a leaf with its factors of prior density and likelihood, and returns its index.
  std::int32_t add_leaf(std::int32_t block, double log_prior, double log_likelihood) {
    Node leaf;
    leaf.block = block;
    return add_node(leaf, {log_prior, log_likelihood});
  }

  // Appends a node that splits, with its own factor of prior density, and returns its index.
  std::int32_t add_split(Node node, std::int32_t left, std::int32_t right, std::int32_t block, double log_prior) {
    node.left = left;
    node.right = right;
    node.block = block;
    const Sums &on_left = sums_[left], &on_right = sums_[right];
    return add_node(
        node, {log_prior + (on_left.log_prior + on_right.log_prior), on_left.log_likelihood + on_right.log_likelihood});
  }

  // Appends the outputs of a block and returns its index.
  template <class Leaf>
  std::int32_t add_block(const typename Leaf::Statistic* sums, std::uint64_t row_hash, const Leaf& leaf) {
    const std::size_t first = statistics.size();
    statistics.resize(first + leaf.n_outputs());
    leaf.write_outputs(sums, &statistics[first]);
    row_hashes.push_back(row_hash);
    return static_cast<std::int32_t>(row_hashes.size() - 1);
  }

  // Appends a tree without weight.
  void add_tree(std::int32_t root) {
    roots.push_back(root);
    weights.push_back(0.0);
    log_likelihoods.push_back(sums_[root].log_likelihood);
    log_priors.push_back(sums_[root].log_prior);
  }

 private:
  struct Sums {
    double log_prior, log_likelihood;
  };

  std::int32_t add_node(const Node& node, const Sums& sums) {
    nodes.push_back(node);
    sums_.push_back(sums);
    return static_cast<std::int32_t>(nodes.size() - 1);
  }

  std::vector<Sums> sums_;  // over the subtree of each node
};

}  // namespace particletree
