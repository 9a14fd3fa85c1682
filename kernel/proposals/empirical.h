// The empirical proposal: as the prior proposal, but with the cut in a gap that is uniform over the gaps between adjacent
// distinct values of the block, and uniform within. The weight makes up for that: gap * (number of gaps) / range. What else
// a rule has, the side of missing values or the levels of a set, is drawn from the prior.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "prior.h"

namespace particletree {

template <class Table, LeafModel Leaf, class Watch>
class EmpiricalProposal final : public PriorProposal<Table, Leaf, Watch> {
 public:
  using Base = PriorProposal<Table, Leaf, Watch>;
  using Base::Base;
  using typename Base::Rules;
  using typename Base::Slice;

  void draw_rules(const Rules& rules, const Slice& slice, std::span<const std::uint32_t> chosen,
                  std::vector<Draw>& draws) override {
    Random& random = this->context_.random;
    if (rules.is_categorical() || !slice.varies()) {
      for (std::uint32_t i : chosen) draws[i].rule = rules.draw(random);
      return;
    }
    find_distinct_ranks(slice);
    for (std::uint32_t i : chosen) {
      const Rule from_prior = slice.has_missing ? rules.draw(random) : Rule{};
      if (slice.has_missing && !from_prior.has_gap()) {
        draws[i].rule = from_prior;
      } else {
        draw_cut_in_gap(rules, slice.has_missing ? class_of(from_prior.kind) : RuleClass::Kind::cut_coin, draws[i]);
      }
    }
  }

 private:
  static RuleClass::Kind class_of(RuleKind kind) { return static_cast<RuleClass::Kind>(kind); }

  void draw_cut_in_gap(const Rules& rules, RuleClass::Kind kind, Draw& draw) {
    auto& [table, leaf, prior, blocks, random, watch, n_candidates] = this->context_;
    const auto n_gaps = static_cast<std::uint32_t>(distinct_.size() - 1);
    const std::uint32_t chosen = random.below(n_gaps);
    const RuleClass cuts{rules.feature(), kind, distinct_[chosen], distinct_[chosen + 1]};
    draw.rule = draw_cut(cuts, table, random);
    draw.log_weight =
        log_volume(cuts, table) + rules.log_density_of_threshold() + std::log(static_cast<double>(n_gaps));
  }

  void find_distinct_ranks(const Slice& slice) {
    distinct_.clear();
    if (slice.is_dense()) {
      present_.assign(slice.n_ranks(), 0);
      for (const auto rank : slice.ranks) {
        if (rank >= slice.low) present_[rank - slice.low] = 1;  // the rank of missing values is below
      }
      for (std::uint32_t i = 0; i < present_.size(); ++i) {
        if (present_[i]) distinct_.push_back(slice.low + i);
      }
    } else {
      distinct_.assign(slice.ranks.begin(), slice.ranks.end());
      if (slice.has_missing) std::erase(distinct_, 0u);
      std::sort(distinct_.begin(), distinct_.end());
      distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    }
  }

  std::vector<std::uint8_t> present_;
  std::vector<std::uint32_t> distinct_;
};

}  // namespace particletree
