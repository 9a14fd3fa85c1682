// The empirical proposal: as the prior proposal, but the gap of a cut is drawn uniformly from the gaps between adjacent
// distinct values of the block, and the threshold uniformly within the gap. The weight corrects for that:
// gap * (number of gaps) / range. The side of missing values and the levels of a set are drawn from the prior.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "prior.h"

namespace particletree {

template <class Table, LeafModel Leaf>
class EmpiricalProposal final : public PriorProposal<Table, Leaf> {
 public:
  using Base = PriorProposal<Table, Leaf>;
  using Base::Base;
  using typename Base::Rules;
  using typename Base::Slice;

  void draw_rules(const Rules& rules, const Slice& slice, std::span<const std::uint32_t> chosen,
                  std::vector<Draw>& draws) override {
    Random& random = this->context_.random;
    if (rules.is_categorical() || !slice.varies()) {
      return Base::draw_rules(rules, slice, chosen, draws);
    }
    find_distinct_ranks(slice);
    for (std::uint32_t i : chosen) {
      if (this->is_retained(i)) {
        replay_rule(rules, slice, draws[i]);
        continue;
      }
      const Rule from_prior = slice.has_missing ? rules.draw(random) : Rule{};
      if (slice.has_missing && !slice.has_inside(from_prior)) {
        draws[i].rule = from_prior;
      } else {
        draw_cut_in_gap(rules, slice.has_missing ? RuleClass::of_cuts(from_prior.kind()) : RuleClass::Kind::cut_coin,
                        draws[i]);
      }
    }
  }

 private:
  void draw_cut_in_gap(const Rules& rules, RuleClass::Kind kind, Draw& draw) {
    auto& [table, leaf, prior, blocks, random, watch, n_candidates] = this->context_;
    const std::uint32_t chosen = random.below(static_cast<std::uint32_t>(distinct_.size() - 1));
    const RuleClass cuts{rules.feature(), kind, distinct_[chosen], distinct_[chosen + 1]};
    draw.rule = draw_cut(cuts, table, random);
    draw.log_weight = log_correction(rules, cuts);
  }

  void replay_rule(const Rules& rules, const Slice& slice, Draw& draw) {
    draw.rule = this->retained_rule(rules);
    if (!slice.has_inside(draw.rule)) return;
    const auto above = std::upper_bound(distinct_.begin(), distinct_.end(), draw.rule.cut);
    draw.log_weight = log_correction(rules, {rules.feature(), RuleClass::Kind::cut_coin, *(above - 1), *above});
  }

  // The log ratio of the densities of prior and proposal, for the cuts of a gap.
  double log_correction(const Rules& rules, const RuleClass& cuts) const {
    const auto n_gaps = static_cast<double>(distinct_.size() - 1);
    return log_volume(cuts, this->context_.table) + rules.log_density_of_threshold() + std::log(n_gaps);
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
