// The empirical proposal: as the prior proposal, but with the cut in a gap that is uniform over the gaps between adjacent
// distinct values of the block, and uniform within. The weight makes up for that: gap * (number of gaps) / range.
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
    const Table& table = this->context_.table;
    Random& random = this->context_.random;
    const std::uint32_t feature = draws[chosen[0]].rule.feature;
    find_distinct_ranks(slice);
    const auto n_gaps = static_cast<std::uint32_t>(distinct_.size() - 1);
    for (std::uint32_t i : chosen) {
      const std::uint32_t chosen_gap = random.below(n_gaps);
      const Gap gap{feature, distinct_[chosen_gap], distinct_[chosen_gap + 1]};
      draws[i].rule = draw_within(gap, table, random);
      draws[i].log_weight =
          log_volume(gap, table) + rules.log_density(draws[i].rule) + std::log(static_cast<double>(n_gaps));
    }
  }

 private:
  void find_distinct_ranks(const Slice& slice) {
    distinct_.clear();
    if (slice.is_dense()) {
      present_.assign(slice.n_ranks(), 0);
      for (const auto rank : slice.ranks) present_[rank - slice.low] = 1;
      for (std::uint32_t i = 0; i < present_.size(); ++i) {
        if (present_[i]) distinct_.push_back(slice.low + i);
      }
    } else {
      distinct_.assign(slice.ranks.begin(), slice.ranks.end());
      std::sort(distinct_.begin(), distinct_.end());
      distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    }
  }

  std::vector<std::uint8_t> present_;
  std::vector<std::uint32_t> distinct_;
};

}  // namespace particletree
