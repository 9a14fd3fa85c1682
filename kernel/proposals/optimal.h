// The optimal proposal: every decision in proportion to prior * likelihood, from a table of all decisions on the block
// (decision_table.h). The weight's factor is the sum of those products, whatever was drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../decision_table.h"
#include "../proposal.h"

namespace particletree {

template <class Table, LeafModel Leaf>
class OptimalProposal final : public Proposal<Table, Leaf> {
 public:
  using Base = Proposal<Table, Leaf>;
  using typename Base::Context;
  using typename Base::Rules;
  using typename Base::Slice;

  explicit OptimalProposal(const Context& context) : Base(context), tables_(context.table, context.leaf) {}

  void draw(BlockId id, std::span<const Candidate> group, std::vector<Draw>& draws,
            std::vector<Candidate>& outcomes) override {
    Random& random = this->context_.random;
    const DecisionTable& decisions = decisions_on(id);
    const double log_weight = decisions.categories.log_total();
    const auto candidates = this->drawing(group);
    for (std::uint32_t member = 0; member < candidates.size(); ++member) {
      std::uint32_t n_stopped = 0;
      for (std::uint32_t copy = 0; copy < group[member].copies; ++copy) {
        const std::size_t choice = decisions.categories.draw(random);
        if (choice == 0) {
          ++n_stopped;
          continue;
        }
        const Rule rule = draw_rule(decisions.rules[choice - 1]);
        draws.push_back({.member = member, .rule = rule, .log_weight = log_weight});
      }
      this->stop(group[member], n_stopped, log_weight, outcomes);
    }
    this->replay(group, log_weight, draws, outcomes);
  }

  // The weight was computed in the draw, and so was the rule, except the coin flips of a set.
  void draw_rules(const Rules& rules, const Slice& slice, std::span<const std::uint32_t> chosen,
                  std::vector<Draw>& draws) override {
    if (!rules.is_categorical() && !this->retained_) return;
    for (std::uint32_t i : chosen) {
      if (this->is_retained(i)) draws[i].rule = this->retained_rule(rules);
      if (this->is_retained(i) || !rules.is_categorical()) continue;
      const std::uint64_t word = draws[i].rule.word();
      const bool is_listed = slice.levels.size() <= most_levels_to_list;
      draws[i].rule = is_listed ? rules.set_with(word, this->context_.random) : rules.set(word);
    }
  }
  void weigh(std::span<const std::uint32_t>, std::vector<Draw>&) override {}

 private:
  // For a set, the rule holds only its word until the block's levels are available.
  Rule draw_rule(const RuleClass& rules) {
    const Table& table = this->context_.table;
    if (rules.kind == RuleClass::Kind::set)
      return {{.feature = rules.feature}, ValueRule::set_of_levels(rules.word(), false)};
    if (rules.kind == RuleClass::Kind::presence) return presence_rule(table, rules.feature);
    return draw_cut(rules, table, this->context_.random);
  }

  const DecisionTable& decisions_on(BlockId id) {
    auto& [table, leaf, prior, blocks, random, watch, n_candidates] = this->context_;
    auto& decisions = blocks.decisions(id);
    if (decisions && decisions->is_drawn) blocks.drop_decisions(id);
    if (!decisions) {
      const Loan of_block = blocks.rows(id);
      const Loan varying = blocks.varying(id);
      const std::vector<std::uint32_t>& rows = *of_block;
      observations_.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) observations_[i] = leaf.observe(rows[i]);
      decisions = tables_.make({blocks.statistics(id), observations_, rows.size()}, blocks[id].log_marginal, rows,
                               *varying, prior, blocks.facts(id), this->retained_, random, watch);
      blocks.count_decisions(id);
    }
    return *decisions;
  }

  DecisionTableMaker<Table, Leaf> tables_;
  std::vector<typename Leaf::Observation> observations_;
};

}  // namespace particletree
