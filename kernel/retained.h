// The conditional filter: the rows that a subtree divides, and the particle that replays the subtree.
//
// The conditional filter is the kernel of particle Gibbs (Andrieu, Doucet & Holenstein 2010). One particle is
// *retained*: it takes the decisions of a given tree in the order in which the filter considers them, survives every
// resampling, and is weighted like all others. A tree drawn by the final weights then leaves the posterior invariant,
// for any number of particles, because all other particles are drawn from their distribution given the retained one. If
// particles are independent given their common past, this is their usual distribution; if they share draws (candidate
// rules), the draws are made given the one that the retained particle has taken. The headers of the proposals explain
// how.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pair_index.h"
#include "random.h"
#include "resampling.h"
#include "rule.h"
#include "tree_prior.h"

namespace particletree {

// The rows of a filter's root, in increasing order, with its depth and the features that vary in them.
struct Region {
  std::span<const std::uint32_t> rows;
  std::uint32_t depth = 0;
  const Varying* varying = nullptr;
};

// A decision of the retained particle: to stop, or to split by a rule.
struct Decision {
  bool is_split = false;
  std::uint32_t feature = 0;
  ValueRule rule{};
};

// A node of a tree that is replayed or was drawn: its decision, and the indices of its children in a list whose first
// node is the root.
struct DecisionNode : Decision {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

using DecisionTree = std::vector<DecisionNode>;

// The retained particle: the tree that it replays, with the node for each of its blocks. Among the lineages it is the
// last one, a single copy; so it is a candidate by itself in every stage.
class RetainedParticle {
 public:
  RetainedParticle(const DecisionTree& tree, std::size_t lineage) : tree_(tree), node_of_(1, 0), lineage_(lineage) {}

  // Its decision on a block, if it is among the candidates that consider the block; it is moved to their end.
  template <class Candidate>
  const Decision* decide(BlockId block, std::span<Candidate> candidates) const {
    const std::size_t place = find(candidates);
    if (place == candidates.size()) return nullptr;
    std::swap(candidates[place], candidates.back());
    return &tree_[node_of_[block]];
  }

  // It survives, and the other particles' offspring are drawn. Draws are independent, because the other schemes depend
  // on the order and grouping of the particles, and the retained one is always a group by itself: the scheme would
  // treat it differently, and the posterior would not be invariant (the statistical tests detect that).
  static constexpr Resampling resampling = Resampling::multinomial;

  // Its place among the survivors is its own; the offspring that were drawn for it are ordinary particles.
  template <class Candidate>
  void survive(std::vector<Candidate>& candidates) const {
    Candidate& retained = candidates[find(std::span(candidates))];
    Candidate offspring = retained;
    retained.copies = 1;
    if (offspring.copies > 0) candidates.push_back(offspring);
  }

  template <class Candidate>
  void move_to_end(std::vector<Candidate>& candidates) const {
    std::swap(candidates[find(std::span(candidates))], candidates.back());
  }

  // It has split a block as the tree does; `left` is the left child, the right one has the next number.
  void follow(BlockId block, BlockId left) {
    const DecisionNode& node = tree_[node_of_[block]];
    if (node_of_.size() < left + 2) node_of_.resize(left + 2, 0);
    node_of_[left] = node.left;
    node_of_[left + 1] = node.right;
  }

  // There are so many lineages now.
  void become_last_of(std::size_t n_lineages) { lineage_ = n_lineages - 1; }

  // A lineage drawn by the weights of its particles, preferably not the retained one (Liu 1996: a particle k is drawn
  // in proportion to its weight among the others and accepted with probability min(1, (1 - w) / (1 - w_k)), w the
  // weight of the retained particle; this moves more often than a plain draw by the weights and has the same invariant
  // distribution).
  template <class Lineage>
  std::size_t draw(const std::vector<Lineage>& lineages, const Weights& weights, Random& random) const {
    const std::vector<double>& shares = weights.normalised();
    double others = 0.0;
    for (std::size_t i = 0; i < lineage_; ++i) others += shares[i];
    double point = random.uniform() * others;
    std::size_t drawn = 0;
    while (drawn + 1 < lineage_ && point >= shares[drawn]) point -= shares[drawn++];
    const double rest = 1.0 - shares[drawn] / lineages[drawn].copies;
    return random.uniform() * rest < others ? drawn : lineage_;
  }

 private:
  template <class Candidate>
  std::size_t find(std::span<Candidate> candidates) const {
    const auto found = std::find_if(candidates.begin(), candidates.end(),
                                    [this](const Candidate& candidate) { return candidate.lineage == lineage_; });
    return static_cast<std::size_t>(found - candidates.begin());
  }

  const DecisionTree& tree_;
  std::vector<std::uint32_t> node_of_;
  std::size_t lineage_;  // its number
};

}  // namespace particletree
