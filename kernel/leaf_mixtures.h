// The leaves that rows may fall into, with their posterior probabilities, for credible intervals.
//
// Rows that pass through the same junctions fall into the same leaves of the same trees. There are far fewer such kinds
// of rows than rows, and results that depend on the leaves are computed only once per kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiled_forest.h"
#include "forest_walk.h"

namespace particletree {

struct LeafMixtures {
  std::vector<std::uint32_t> kind;  // of each row
  std::vector<std::size_t> offsets{0};
  std::vector<CompiledForest::Leaf> leaves;  // kind by kind, each block once, in the order of their numbers

  std::size_t n_kinds() const { return offsets.size() - 1; }
  std::span<const CompiledForest::Leaf> leaves_of(std::size_t kind) const {
    return std::span(leaves).subspan(offsets[kind], offsets[kind + 1] - offsets[kind]);
  }

  // Adds a kind with these leaves, which are sorted.
  void add_kind(std::vector<CompiledForest::Leaf>& all) {
    std::ranges::stable_sort(all, {}, &CompiledForest::Leaf::block);
    for (const CompiledForest::Leaf& leaf : all) {
      if (leaves.size() > offsets.back() && leaves.back().block == leaf.block) {
        leaves.back().weight += leaf.weight;
      } else {
        leaves.push_back(leaf);
      }
    }
    offsets.push_back(leaves.size());
  }
};

class LeafMixer {
 public:
  LeafMixer(const CompiledForest& forest, std::size_t n_trees) : forest_(forest), walk_(forest), n_trees_(n_trees) {}

  LeafMixtures mix(const RowsView& X) {
    result_.kind.reserve(X.n_rows);
    const std::size_t step = std::min(batch_size(forest_), 1 + most_visits / (1 + n_trees_));
    for (std::size_t first = 0; first < X.n_rows; first += step) {
      const std::size_t n_rows = std::min(step, X.n_rows - first);
      record_visits(X, first, n_rows);
      for (std::size_t row = 0; row < n_rows; ++row) {
        const auto begin = visited_.begin() + static_cast<std::ptrdiff_t>(first_visit_[row]);
        const auto end = visited_.begin() + static_cast<std::ptrdiff_t>(first_visit_[row + 1]);
        result_.kind.push_back(kind_of(std::span<const std::uint32_t>(begin, end)));
      }
    }
    return std::move(result_);
  }

 private:
  struct Visit {
    std::uint32_t row, junction;
  };
  static constexpr std::size_t most_visits = 1 << 22;  // per batch: at most one per row and tree

  // Lists the junctions with leaves that each row passes through: those of a row start at its first_visit_ in visited_.
  void record_visits(const RowsView& X, std::size_t first, std::size_t n_rows) {
    visits_.clear();
    first_visit_.assign(n_rows + 2, 0);
    walk_.run(X, first, n_rows, [&](std::uint32_t junction, std::span<const std::uint32_t> rows) {
      for (const std::uint32_t row : rows) {
        visits_.push_back({row, junction});
        ++first_visit_[row + 2];
      }
    });
    for (std::size_t row = 2; row < first_visit_.size(); ++row) first_visit_[row] += first_visit_[row - 1];
    visited_.resize(visits_.size());
    for (const Visit& visit : visits_) visited_[first_visit_[visit.row + 1]++] = visit.junction;
  }

  std::uint32_t kind_of(std::span<const std::uint32_t> junctions) {
    std::uint64_t hash = junctions.size();
    for (const std::uint32_t junction : junctions) {
      hash = (hash ^ junction) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 32;
    }
    const auto [first, last] = known_.equal_range(hash);
    for (auto known = first; known != last; ++known) {
      if (std::ranges::equal(junctions_of(known->second), junctions)) return known->second;
    }
    const auto kind = static_cast<std::uint32_t>(result_.n_kinds());
    known_.emplace(hash, kind);
    junctions_.insert(junctions_.end(), junctions.begin(), junctions.end());
    first_junction_.push_back(junctions_.size());
    add_leaves(junctions);
    return kind;
  }

  std::span<const std::uint32_t> junctions_of(std::uint32_t kind) const {
    return std::span(junctions_).subspan(first_junction_[kind], first_junction_[kind + 1] - first_junction_[kind]);
  }

  // Trees may reach the same block by different cuts, and so through different junctions.
  void add_leaves(std::span<const std::uint32_t> junctions) {
    gathered_.clear();
    for (const std::uint32_t number : junctions) {
      const auto leaves = forest_.leaves_of(forest_.junctions[number]);
      gathered_.insert(gathered_.end(), leaves.begin(), leaves.end());
    }
    result_.add_kind(gathered_);
  }

  const CompiledForest& forest_;
  BatchWalk walk_;
  std::size_t n_trees_;
  std::vector<Visit> visits_;
  std::vector<std::size_t> first_visit_;
  std::vector<std::uint32_t> visited_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;  // kinds by the hash of their junctions
  std::vector<std::uint32_t> junctions_;                         // of each kind
  std::vector<std::size_t> first_junction_{0};
  std::vector<CompiledForest::Leaf> gathered_;
  LeafMixtures result_;
};

}  // namespace particletree
