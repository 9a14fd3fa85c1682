r"""Markov chain Monte Carlo over trees: the sampler of Chipman, George & McCulloch (1998).

The paper compares the particle filter with it: a Metropolis-Hastings chain whose state is one tree, with moves that
grow a leaf, prune a pair of leaves, change a rule, or swap the rules of a split and its parent. ``kernel/chain.h``
derives the acceptance ratio of each move. The posterior averages over the kept iterations; a tree at which the chain
stays is stored once, weighted by the number of iterations.

Chains are independent. `posterior.summary()` reports the convergence diagnostics: split R-hat, effective sample sizes,
and the acceptance rate of each move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from particletree._inference.chain_sampler import ChainSampler, check_move_weights


@dataclass(kw_only=True)
class MCMC(ChainSampler):
    """Markov chain Monte Carlo: Metropolis-Hastings with the moves grow, prune, change and swap.

    Parameters
    ----------
    n_iterations : int, default 10_000
        Iterations per chain; more reduce the Monte Carlo error.
    n_chains : int, default 4
        Number of independent chains; at least two are needed for convergence diagnostics.
    burn_in : int, default None
        Iterations at the start of each chain that are discarded, before it has converged to the posterior; None means
        half of `n_iterations`, and 0 averages over all of them, as the paper does.
    thin : int, default 1
        Keep every `thin`-th iteration after the burn-in; larger values save memory.
    move_weights : tuple of 4 floats, default (0.25, 0.25, 0.25, 0.25)
        Relative frequencies of grow, prune, change and swap; moves that a tree does not allow (a single leaf cannot be
        pruned) are left out and the others rescaled. Grow and prune must be positive: without them a chain cannot reach
        every tree.
    initial : {"root", "smc"}, default "root"
        The initial tree of a chain: a single leaf, or a draw from a quick particle filter, which shortens the burn-in.

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
