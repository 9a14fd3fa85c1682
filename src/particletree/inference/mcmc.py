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
from typing import Any, ClassVar

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray

from particletree import _kernel
from particletree.inference.parallel import Task, spawn
from particletree.inference.progress import RunWords
from particletree.inference.sampler import KernelSampler, MakeRun
from particletree.inference.smc import SMC
from particletree.model.node import LEAF
from particletree.model.parameters import check_choice, check_integer
from particletree.posterior.provenance import CHAIN

QUICK_FILTER = SMC(n_particles=100, n_islands=1)


@dataclass(kw_only=True)
class MCMC(KernelSampler["_kernel.ChainArrays"]):
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

    kind: ClassVar[str] = CHAIN
    words: ClassVar[RunWords] = RunWords(runs="chains", step="iteration", value="leaves")

    n_iterations: int = 10_000
    n_chains: int = 4
    burn_in: int | None = None
    thin: int = 1
    move_weights: tuple[float, float, float, float] = (0.25, 0.25, 0.25, 0.25)
    initial: str = "root"

    @property
    def n_burn_in(self) -> int:
        """Number of iterations at the start of each chain that are left out."""
        return self.n_iterations // 2 if self.burn_in is None else self.burn_in

    def validate(self) -> None:
        """Check every parameter."""
        check_integer(self, "n_iterations", at_least=1)
        check_integer(self, "n_chains", at_least=1)
        if self.burn_in is not None:
            check_integer(self, "burn_in", at_least=0)
        check_integer(self, "thin", at_least=1)
        check_choice(self, "initial", ("root", "smc"))
        self._check_kept()
        self._check_move_weights()

    def _check_kept(self) -> None:
        """Check that some iteration is kept."""
        if self.n_burn_in >= self.n_iterations:
            raise ValueError(
                f"MCMC.burn_in={self.burn_in} leaves none of n_iterations={self.n_iterations} to keep; make it smaller."
            )
        if self.thin > self.n_iterations - self.n_burn_in:
            raise ValueError(
                f"MCMC.thin={self.thin} keeps none of the {self.n_iterations - self.n_burn_in} iterations after the "
                "burn-in; make it smaller."
            )

    def _check_move_weights(self) -> None:
        weights = np.asarray(self.move_weights, dtype=np.float64)
        if weights.shape != (4,) or not np.isfinite(weights).all() or (weights < 0).any() or (weights[:2] == 0).any():
            raise ValueError(
                "MCMC.move_weights must be four finite numbers of at least 0, for grow, prune, change and swap, "
                f"the first two above 0, got {self.move_weights!r}."
            )

    @property
    def n_runs(self) -> int:
        """Number of chains."""
        return self.n_chains

    def _make_run(self) -> MakeRun[_kernel.ChainArrays]:
        return _run_chain


def _run_chain(
    settings: MCMC, task: Task, seed: np.random.SeedSequence, monitor: _kernel.Monitor, chain: int
) -> _kernel.ChainArrays:
    seed_of_start, seed_of_chain = spawn(seed, 2)
    nodes = _initial_tree(settings, task, seed_of_start)
    return _kernel.run_chain(
        problem=task.problem,
        n_iterations=settings.n_iterations,
        burn_in=settings.n_burn_in,
        thin=settings.thin,
        move_weights=np.array(settings.move_weights, dtype=np.float64),
        initial_nodes=nodes.view(np.uint8).reshape(nodes.size, -1),
        generator=np.random.PCG64(seed_of_chain),
        monitor=monitor,
        chain=chain,
    )


def _initial_tree(settings: MCMC, task: Task, seed: np.random.SeedSequence) -> NDArray[Any]:
    """Return the nodes of the tree to start from, in preorder."""
    if settings.initial == "root":
        return LEAF.reshape(1)
    seed_of_filter, seed_of_draw = spawn(seed, 2)
    with parallel_config(backend="sequential"):  # here, where the chain runs: a cluster would be asked from within
        posterior = QUICK_FILTER.run(task.data, task.prior, task.leaf, seed=seed_of_filter)
    (tree,) = posterior.sample(1, np.random.default_rng(seed_of_draw))
    return np.ascontiguousarray(tree.nodes)
