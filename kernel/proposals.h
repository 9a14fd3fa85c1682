// The proposals by name. To add one, write a header in proposals/ and add it to the list.
#pragma once

#include <memory>

#include "proposal.h"
#include "proposals/empirical.h"
#include "proposals/lookahead.h"
#include "proposals/optimal.h"
#include "proposals/prior.h"

namespace particletree {

#define PARTICLETREE_PROPOSALS(X) \
  X(prior, PriorProposal)         \
  X(empirical, EmpiricalProposal) \
  X(optimal, OptimalProposal)     \
  X(lookahead, LookaheadProposal)

#define PARTICLETREE_NAME(name, Type) name,
enum class ProposalKind { PARTICLETREE_PROPOSALS(PARTICLETREE_NAME) };
#undef PARTICLETREE_NAME

struct NamedProposal {
  const char* name;
  ProposalKind kind;
};
#define PARTICLETREE_NAME(name, Type) {#name, ProposalKind::name},
inline constexpr NamedProposal named_proposals[] = {PARTICLETREE_PROPOSALS(PARTICLETREE_NAME)};
#undef PARTICLETREE_NAME

template <class Table, LeafModel Leaf>
std::unique_ptr<Proposal<Table, Leaf>> make_proposal(ProposalKind kind, const ProposalContext<Table, Leaf>& context) {
  switch (kind) {
#define PARTICLETREE_CASE(name, Type) \
  case ProposalKind::name:            \
    return std::make_unique<Type<Table, Leaf>>(context);
    PARTICLETREE_PROPOSALS(PARTICLETREE_CASE)
#undef PARTICLETREE_CASE
  }
  return nullptr;
}

}  // namespace particletree
