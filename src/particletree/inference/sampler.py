"""What all samplers share: the parameters are checked, independent runs are made, and their trees become a posterior.

A sampler is a dataclass of parameters with the method `run(data, prior, leaf, *, seed, ...) -> Posterior`, which stands
here, once. Its own module says what is its own: the parameters, how one run is made, and what it records.

Runs of most samplers are calls of the kernel (:class:`KernelSampler`): a function of the sampler's module makes one,
and as many as there are islands or chains are made side by side (``parallel.py``), each with a child of the seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree.data import TrainingData
from particletree.inference.parallel import Task, run_in_parallel, spawn, to_island
from particletree.inference.progress import RunWords
from particletree.model.leaf import LeafModel
from particletree.model.parameters import Parameters
from particletree.model.prior import TreePrior
from particletree.model.target import Observations
from particletree.posterior import Island, Posterior
from particletree.posterior.provenance import RECORD_OF_KIND, describe_run

Run = TypeVar("Run")  # what one run leaves behind: the kernel's arrays, for example
MakeRun: TypeAlias = Callable[[Any, Task, np.random.SeedSequence, _kernel.Monitor, int], Run]


def resolved(leaf: LeafModel, observations: Observations) -> LeafModel:
    """Return a leaf model with all its parameters, after a check that it is one for these observations."""
    if not isinstance(observations.target, leaf.target_type):
        raise TypeError(
            f"{type(leaf).__name__} is a leaf model for {leaf.target_type.__name__}, but the target is "
            f"{type(observations.target).__name__}."
        )
    if observations.exposure is not None and not leaf.uses_exposure:
        raise ValueError(
            f"{type(leaf).__name__} has no use for exposure, which is for counts; leave it out, or use leaf=Poisson()."
        )
    leaf.check_observations(observations)
    model = leaf.resolve(observations)
    model.check_observations(observations)  # again: what can be computed depends on the parameters
    return model


@dataclass(frozen=True)
class Work:
    """What a sampler is to do: the data, the model and the seed; how many runs at a time, and whether to show them."""

    data: TrainingData
    prior: TreePrior
    leaf: LeafModel
    seed: np.random.SeedSequence
    n_jobs: int | None
    show_progress: bool


@dataclass(kw_only=True)
class Sampler(Parameters, ABC, Generic[Run]):
    """Base of the samplers."""

    kind: ClassVar[str]  # of the runs, see posterior/provenance.py

    def run(
        self,
        data: TrainingData,
        prior: TreePrior,
        leaf: LeafModel,
        *,
        seed: np.random.SeedSequence,
        feature_names: list[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Posterior:
        """Compute the posterior of a model given data.

        The result depends on `seed` alone: not on `n_jobs`, nor on joblib's backend.

        Parameters
        ----------
        data : TrainingData
            The checked data.
        prior : TreePrior
            The prior over trees.
        leaf : LeafModel
            The leaf model; the posterior keeps it with the parameters that were left open taken from the data.
        seed : SeedSequence
            What the runs draw from; it is left as it is.
        feature_names : list of str, optional
            Names of the features, which the posterior keeps.
        n_jobs : int, optional
            Runs at a time, in threads; None means 1, or what `joblib.parallel_config` says.
        verbose : int, default 0
            1 shows the progress of the runs.
        """
        for parameters in (self, prior, leaf):
            parameters.validate()
        leaf = resolved(leaf, data.observations)
        runs = self._sample(Work(data, prior, leaf, seed, n_jobs, show_progress=verbose > 0))
        posterior = Posterior.from_islands(
            [self._to_island(run) for run in runs],
            leaf=leaf,
            prior=prior,
            n_features=data.table.n_features,
            feature_names=feature_names,
            target=data.observations.target,
            fingerprint=data.fingerprint,
            island_weighting=self._island_weighting(),
            kept_rows=data.table.some_rows(),
            provenance=describe_run(self.kind, type(self).__name__, self.get_params(), seed),
        )
        return self._finish(posterior, runs)

    @abstractmethod
    def _sample(self, work: Work) -> Sequence[Run]:
        """Make the runs."""

    @abstractmethod
    def _to_island(self, run: Run) -> Island:
        """Return the trees of a run with what it has recorded."""

    def _island_weighting(self) -> str:
        """Return how the runs are weighted in the posterior."""
        return "uniform"

    def _finish(self, posterior: Posterior, runs: Sequence[Run]) -> Posterior:
        """Return the posterior, after a look at the runs."""
        return posterior


@dataclass(kw_only=True)
class KernelSampler(Sampler[Run]):
    """Base of the samplers whose runs are independent calls of the kernel, side by side.

    The kernel returns a dictionary of arrays for each run, with an array for each field of the records of its kind.
    """

    words: ClassVar[RunWords]

    @property
    @abstractmethod
    def n_runs(self) -> int:
        """Number of independent runs."""

    @abstractmethod
    def _make_run(self) -> MakeRun[Run]:
        """Return the function that makes one run: one of a module, which joblib sends to other processes by name."""

    def _sample(self, work: Work) -> Sequence[Run]:
        return run_in_parallel(
            self._make_run(),
            self,
            Task.prepare(work.data, work.prior, work.leaf),
            spawn(work.seed, self.n_runs),
            n_jobs=work.n_jobs,
            show_progress=work.show_progress,
            words=self.words,
        )

    def _to_island(self, run: Run) -> Island:
        arrays: Any = run
        return to_island(arrays, arrays.get("log_evidence"), _records(arrays, RECORD_OF_KIND[self.kind]))


def _records(arrays: dict[str, NDArray[Any]], layout: np.dtype[Any]) -> NDArray[Any]:
    """Return what a run has recorded, of which the kernel has an array for each field, as one array of records."""
    columns = {name: arrays[f"trace_{name}"] for name in layout.names or ()}
    records = np.empty(len(next(iter(columns.values()))), dtype=layout)
    for name, column in columns.items():
        records[name] = column
    return records
