// The prior proposal: a decision is drawn from the prior, independent of the targets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../proposal.h"

namespace particletree {

template <class Table, LeafModel Leaf>
class PriorProposal : public Proposal<Table, Leaf> {
 public:
  using Base = Proposal<Table, Leaf>;
  using Base::Base;
  using typename Base::Rules;
  using typename Base::Slice;

  void draw(BlockId id, std::span<const Candidate> group, std::vector<Draw>& draws,
            std::vector<Candidate>& outcomes) override {
    auto& [table, leaf, prior, blocks, random, watch, n_candidates] = this->context_;
    const double split = prior.at(blocks.facts(id)).split;
    const auto candidates = this->drawing(group);
    for (std::uint32_t member = 0; member < candidates.size(); ++member) {
      const Candidate& candidate = candidates[member];
      const std::uint32_t n_splits = random.successes(candidate.copies, split);
      this->stop(candidate, candidate.copies - n_splits, 0.0, outcomes);
      draws.resize(draws.size() + n_splits, Draw{.member = member});
    }
    if (!draws.empty()) {
      const Loan varying = blocks.varying(id);
      for (Draw& draw : draws) draw.rule.feature = (*varying).draw(random);
    }
    this->replay(group, 0.0, draws, outcomes);
  }

  void draw_rules(const Rules& rules, const Slice&, std::span<const std::uint32_t> chosen,
                  std::vector<Draw>& draws) override {
    for (std::uint32_t i : chosen) {
      draws[i].rule = this->is_retained(i) ? this->retained_rule(rules) : rules.draw(this->context_.random);
    }
  }

  void weigh(std::span<const std::uint32_t> chosen, std::vector<Draw>& draws) override {
    for (std::uint32_t i : chosen) draws[i].log_weight += draws[i].log_ratio;
  }
};

}  // namespace particletree
