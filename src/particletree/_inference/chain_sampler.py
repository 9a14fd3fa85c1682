"""Markov chains: their length and which iterations are kept, for any sampler; for single trees the initial tree."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray

from particletree import _kernel
from particletree._inference.parallel import Task, spawn
from particletree._inference.progress import RunWords
from particletree._inference.sampler import KernelSampler, MakeRun
from particletree._inference.smc import SMC
from particletree._model.parameters import Parameters, check_choice, check_integer
from particletree._model.rule import LEAF
from particletree._posterior.runs.provenance import CHAIN

QUICK_FILTER = SMC.paper(n_particles=100, n_islands=1)


@dataclass(kw_only=True)
class ChainLength(Parameters):
    """The parameters of samplers whose runs are Markov chains: how long they are, and which iterations are kept."""

    n_iterations: int = 10_000
    n_chains: int = 4
    burn_in: int | None = None
    thin: int = 1

    @property
    def n_burn_in(self) -> int:
        """Number of iterations at the start of each chain that are discarded."""
        return self.n_iterations // 2 if self.burn_in is None else self.burn_in

    def validate(self) -> None:
        """Check every parameter, and that at least one iteration is kept."""
        check_integer(self, "n_iterations", at_least=1)
        check_integer(self, "n_chains", at_least=1)
        if self.burn_in is not None:
            check_integer(self, "burn_in", at_least=0)
        check_integer(self, "thin", at_least=1)
        name = type(self).__name__
        if self.n_burn_in >= self.n_iterations:
            raise ValueError(
                f"{name}.burn_in={self.burn_in} leaves none of n_iterations={self.n_iterations} to keep; make it "
                "smaller."
            )
        if self.thin > self.n_iterations - self.n_burn_in:
            raise ValueError(
                f"{name}.thin={self.thin} keeps none of the {self.n_iterations - self.n_burn_in} iterations after the "
                "burn-in; make it smaller."
            )


@dataclass(kw_only=True)
class ChainSampler(ChainLength, KernelSampler["_kernel.ChainArrays"]):
    """Base of the samplers whose runs are Markov chains over single trees."""

    kind: ClassVar[str] = CHAIN
    words: ClassVar[RunWords] = RunWords(runs="chains", step="iteration", value="leaves")

    initial: str = "root"

    @property
    def n_runs(self) -> int:
        """Number of chains."""
        return self.n_chains

    @abstractmethod
    def kernel_settings(self) -> dict[str, Any]:
        """Return the kernel's arguments for the moves."""

    def validate(self) -> None:
        """Check every parameter."""
        super().validate()
        check_choice(self, "initial", ("root", "smc"))

    def _make_run(self) -> MakeRun[_kernel.ChainArrays]:
        return _run_chain


def check_move_weights(weights: NDArray[np.float64], name: str) -> None:
    """Check the weights of grow, prune, change and swap."""
    if weights.shape != (4,) or not np.isfinite(weights).all() or (weights < 0).any() or (weights[:2] == 0).any():
        raise ValueError(
            f"{name} must be four finite numbers of at least 0, for grow, prune, change and swap, "
            f"the first two above 0, got {tuple(weights.tolist())!r}."
        )


def _run_chain(
    settings: ChainSampler, task: Task, seed: np.random.SeedSequence, monitor: _kernel.Monitor, chain: int
) -> _kernel.ChainArrays:
    seed_of_start, seed_of_chain = spawn(seed, 2)
    nodes = _initial_tree(settings, task, seed_of_start)
    return _kernel.run_chain(
        problem=task.problem,
        n_iterations=settings.n_iterations,
        burn_in=settings.n_burn_in,
        thin=settings.thin,
        initial_nodes=nodes.view(np.uint8).reshape(nodes.size, -1),
        generator=np.random.PCG64(seed_of_chain),
        monitor=monitor,
        chain=chain,
        **settings.kernel_settings(),
    )


def _initial_tree(settings: ChainSampler, task: Task, seed: np.random.SeedSequence) -> NDArray[Any]:
    """Return the nodes of the initial tree, in preorder."""
    if settings.initial == "root":
        return LEAF.reshape(1)
    seed_of_filter, seed_of_draw = spawn(seed, 2)
    with parallel_config(backend="sequential"):  # in this worker: no nested use of a cluster
        posterior = QUICK_FILTER.run(task.data, task.prior, task.leaf, seed=seed_of_filter)
    (tree,) = posterior.sample(1, np.random.default_rng(seed_of_draw))
    return np.ascontiguousarray(tree.nodes)
