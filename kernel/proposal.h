// The interface of a proposal: how particles decide on a block that they consider, and how their weights change.
//
// With s the split probability, r = marginal(left) marginal(right) / marginal(block), a feature drawn by weight among
// those that vary, its range in the block, and the gaps between its adjacent distinct values there:
//
//   proposal   draws                                                       weight is multiplied by
//   prior      split with probability s; cut uniform over the range        r if it split, else 1
//   empirical  split with probability s; gap uniform, cut uniform within   r * gap * (number of gaps) / range, else 1
//   optimal    every decision in proportion to prior * likelihood          the sum of those products
//   lookahead  some rules from the prior; stop with weight (1 - s),        (1 - s) + s * mean of r over the rules
//              or each of K rules with weight s * r / K
//
// A proposal is one header in proposals/ and a line in proposals.h. The parts that do not depend on it (counting the
// sides of the cuts, drafts, outcomes) are in proposer.h, which calls it step by step, each step for many particles at
// a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "block.h"
#include "counting.h"
#include "leaf_model.h"
#include "random.h"
#include "require.h"
#include "retained.h"
#include "rule.h"
#include "tree_prior.h"
#include "watch.h"

namespace particletree {

// Equal particles during a stage: a lineage and its decisions so far.
struct Candidate {
  std::uint32_t lineage;
  std::uint32_t copies;
  std::uint32_t draft;  // the last split of this stage, or `no_draft`
  double log_weight;
};

// A rule to be evaluated, and the copies of a candidate that split by it.
struct Draw {
  std::uint32_t member = 0;  // index of the candidate in the group
  std::uint32_t copies = 1;
  std::uint32_t evaluated = 0;  // the index of the evaluated cut
  Rule rule{};
  double log_ratio = 0.0;   // log r, once the cut is evaluated
  double log_weight = 0.0;  // the log of the factor on the particle's weight
};

// The context of a proposal.
template <class Table, LeafModel Leaf>
struct ProposalContext {
  const Table& table;
  const Leaf& leaf;
  const TreePrior& prior;
  BlockStore<Table, Leaf>& blocks;
  Random& random;
  Watch& watch;
  std::uint32_t n_candidates;  // rules per particle, for a proposal that chooses among them
};

template <class Table, LeafModel Leaf>
class Proposal {
 public:
  using Context = ProposalContext<Table, Leaf>;
  using Rules = FeatureRules<Table>;
  using Slice = RankSlice<typename Table::Rank>;

  explicit Proposal(const Context& context) : context_(context) {}
  virtual ~Proposal() = default;
  Proposal(const Proposal&) = delete;
  Proposal& operator=(const Proposal&) = delete;

  // For a conditional filter (retained.h). Then the distribution of the particles' decisions must not depend on whether
  // the retained one is among those that consider the block: it must be the same whichever particle is retained.
  void make_conditional() { is_conditional_ = true; }

  // For a conditional filter: the decision that the last candidate of the next group replays; null if none does.
  void set_retained(const Decision* retained) {
    retained_ = retained;
    retained_draw_ = no_draw;
  }

  // 1. For each candidate of a group, which copies stop (appended to the outcomes) and which split (appended to the
  // draws, at least with their feature). Or, for a proposal with `choose`, the rules to choose among.
  virtual void draw(BlockId id, std::span<const Candidate> group, std::vector<Draw>& draws,
                    std::vector<Candidate>& outcomes) = 0;

  // 2. Draws the rules of the chosen draws, which all split on one feature, from `rules`; the slice has its ranks.
  virtual void draw_rules(const Rules& rules, const Slice& slice, std::span<const std::uint32_t> chosen,
                          std::vector<Draw>& draws) = 0;

  // 3. The factors on the weights of the chosen draws, now that their cuts are evaluated.
  virtual void weigh(std::span<const std::uint32_t> chosen, std::vector<Draw>& draws) = 0;

  // 4. For a proposal that draws more rules than are taken, once all of them are evaluated: replaces the draws by those
  // that are taken, with the copies that take them, and appends the copies that stop to the outcomes.
  virtual void choose(BlockId, std::span<const Candidate>, std::vector<Draw>&, std::vector<Candidate>&) {}

 protected:
  // The candidates of a group that draw: all but the one that replays, if any.
  std::span<const Candidate> drawing(std::span<const Candidate> group) const {
    return retained_ ? group.first(group.size() - 1) : group;
  }

  // The retained candidate stops, or gets a draw whose rule is known.
  void replay(std::span<const Candidate> group, double log_weight, std::vector<Draw>& draws,
              std::vector<Candidate>& outcomes) {
    if (!retained_) return;
    if (!retained_->is_split) return stop(group.back(), 1, log_weight, outcomes);
    retained_draw_ = static_cast<std::uint32_t>(draws.size());
    draws.push_back({.member = static_cast<std::uint32_t>(group.size() - 1), .log_weight = log_weight});
    draws.back().rule.feature = retained_->feature;
  }

  bool is_retained(std::uint32_t draw) const { return draw == retained_draw_; }

  // The rule that the retained particle takes, among those of its feature in the block.
  Rule retained_rule(const Rules& rules) const {
    const std::optional<Rule> rule = rules.with(retained_->rule);
    require(rule.has_value(), "a rule of the retained tree leaves one of its sides without rows");
    return *rule;
  }

  static void stop(const Candidate& from, std::uint32_t copies, double log_weight, std::vector<Candidate>& outcomes) {
    if (copies > 0) outcomes.push_back({from.lineage, copies, from.draft, from.log_weight + log_weight});
  }

  static constexpr std::uint32_t no_draw = std::numeric_limits<std::uint32_t>::max();

  Context context_;
  bool is_conditional_ = false;
  const Decision* retained_ = nullptr;
  std::uint32_t retained_draw_ = no_draw;  // the index of its draw, if it splits
};

}  // namespace particletree
