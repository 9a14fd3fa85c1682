r"""Markov chain Monte Carlo over trees: the sampler of Chipman, George & McCulloch (1998).

It is what the paper compares the particle filter with: a chain whose state is one tree and whose moves grow a leaf,
prune a pair of leaves, change a rule, or swap the rules of a split and its parent, accepted by Metropolis and Hastings'
rule. ``kernel/chain.h`` derives the acceptance ratio of each move. The posterior averages over the kept iterations; a
tree that the chain stays at is stored once, with the number of iterations as its weight.

Chains are independent. How well they agree (split R-hat, effective sample sizes, the acceptance rate of each move) is
what `posterior.summary()` reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from particletree.inference.chain_sampler import ChainSampler, check_move_weights


@dataclass(kw_only=True)
class MCMC(ChainSampler):
    """Metropolis-Hastings with grow, prune, change and swap.

    Parameters
    ----------
    n_iterations : int, default 10_000
        Iterations of each chain.
    n_chains : int, default 4
        Independent chains.
    burn_in : int, default None
        Iterations at the start of each chain that are left out, while it moves from its start towards the posterior;
        None means half of `n_iterations`, and 0 averages over all of them, as the paper does.
    thin : int, default 1
        Keep every `thin`-th iteration after the burn-in.
    move_weights : tuple of 4 floats, default (0.25, 0.25, 0.25, 0.25)
        Weights of grow, prune, change and swap; what a tree does not allow (a single leaf cannot be pruned) is left out
        and the others share. Grow and prune must be positive: without them a chain cannot reach every tree.
    initial : {"root", "smc"}, default "root"
        Where a chain starts: at a single leaf, or at a draw from a quick particle filter.

    Examples
    --------
    >>> from particletree import MCMC
    >>> MCMC(n_iterations=500).n_burn_in
    250
    """

    move_weights: tuple[float, float, float, float] = (0.25, 0.25, 0.25, 0.25)

    def validate(self) -> None:
        """Check every parameter."""
        super().validate()
        check_move_weights(np.asarray(self.move_weights, dtype=np.float64), "MCMC.move_weights")

    def kernel_settings(self) -> dict[str, Any]:
        """Return the weights of the moves."""
        return {"move_weights": np.array(self.move_weights, dtype=np.float64)}
