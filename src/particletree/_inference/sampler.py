"""Base of all samplers: check the parameters, make independent runs, and join their trees to a posterior.

A sampler is a dataclass of parameters with the method `run(data, prior, leaf, *, seed, ...) -> Posterior`, which is
defined here. The module of a sampler defines its parameters, how one run is made, and what a run records.

The runs of most samplers are calls of the kernel (:class:`KernelSampler`): a function of the sampler's module makes one
run, and one run per island or chain is made in parallel (``parallel.py``), each with a child of the seed.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from particletree import _kernel
from particletree._data import TrainingData
from particletree._inference.defaults import default_prior
from particletree._inference.interrupts import noticed_interrupts
from particletree._inference.parallel import Task, run_in_parallel, spawn, to_island
from particletree._inference.progress import Budget, RunWords, end_line, is_shown
from particletree._model.leaf import LeafModel
from particletree._model.parameters import Parameters
from particletree._model.prior import Prior
from particletree._model.target import Observations
from particletree._posterior import Island, Posterior
from particletree._posterior.runs.provenance import RECORD_OF_KIND, Choice, describe_run
from particletree._user_warnings import warn_caller

AnySampler = TypeVar("AnySampler", bound="Sampler[Any]")
Run = TypeVar("Run")  # the result of one run: the kernel's arrays, for example
N_KEPT_ROWS = 1000  # training rows on which trees and islands are compared
MakeRun: TypeAlias = Callable[[Any, Task, np.random.SeedSequence, _kernel.Monitor, int], Run]


def check_target(leaf: LeafModel, observations: Observations) -> None:
    """Refuse a leaf model that does not fit these observations."""
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


def resolved(leaf: LeafModel, observations: Observations) -> LeafModel:
    """Return the leaf model with a value for every parameter; those that are None are estimated from the data."""
    model = leaf.resolve(observations)
    model.check_observations(observations)  # again: what can be computed depends on the parameters
    return model


@dataclass(frozen=True)
class Work:
    """The input of a sampler: data, model and seed, the number of parallel runs, and whether to show progress."""

    data: TrainingData
    prior: Prior
    leaf: LeafModel
    seed: np.random.SeedSequence
    n_jobs: int | None
    show_progress: bool
    first_run: int = 0  # the seeds of the runs are the children of `seed` from this number on


@dataclass(kw_only=True)
class Sampler(Parameters, ABC, Generic[Run]):
    """Base of the samplers."""

    kind: ClassVar[str]  # of the runs, see _posterior/runs/provenance.py

    def run(
        self,
        data: TrainingData,
        prior: Prior,
        leaf: LeafModel,
        *,
        seed: np.random.SeedSequence,
        feature_names: list[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        first_run: int = 0,
        choice: Choice | None = None,
    ) -> Posterior:
        """Compute the posterior of a model given data.

        The result depends on `seed` alone: not on `n_jobs`, nor on joblib's backend.

        Parameters
        ----------
        data : TrainingData
            The checked data.
        prior : Prior
            The prior over trees.
        leaf : LeafModel
            The leaf model; in the posterior's copy, parameters that are None here have values estimated from the data.
        seed : SeedSequence
            Seed of the runs; it is not modified.
        feature_names : list of str, optional
            Names of the features, which the posterior keeps.
        n_jobs : int, optional
            Number of runs in parallel, in threads; None means 1, or the setting of `joblib.parallel_config`.
        verbose : int, default 0
            1 shows the progress of the runs.
        first_run : int, default 0
            Number of the first run, whose seed is this child of `seed`. Runs that are added to earlier ones continue
            their numbers.
        choice : Choice, optional
            How the evidence chose the prior and the leaf model (``selection.py``), which the posterior keeps.
        """
        for parameters in (self, prior, leaf):
            parameters.validate()
        check_target(leaf, data.observations)
        prior = prior.completed(default_prior(data, prior))
        sampler = self.for_data(data)
        prior = prior.resolved(data.table.n_features, feature_names, data.table.counted_values)
        leaf = resolved(leaf, data.observations)
        kept_rows, kept_row_numbers = data.some_rows(N_KEPT_ROWS)
        runs = sampler._sample(Work(data, prior, leaf, seed, n_jobs, is_shown(verbose), first_run))
        posterior = Posterior.from_islands(
            [sampler._to_island(run) for run in runs],
            leaf=leaf,
            prior=prior,
            n_features=data.table.n_features,
            feature_names=feature_names,
            target=data.observations.target,
            fingerprint=data.fingerprint,
            island_weighting=sampler._island_weighting(),
            kept_rows=kept_rows,
            provenance=describe_run(sampler.kind, type(sampler).__name__, sampler.get_params(), seed),
        )
        posterior = replace(posterior, choice=choice, columns=data.columns, kept_row_numbers=kept_row_numbers)
        return sampler._finish(posterior, runs)

    def for_data(self: AnySampler, data: TrainingData) -> AnySampler:
        """Return this sampler with the settings that are used on these data instead of None."""
        return self

    @abstractmethod
    def _sample(self, work: Work) -> Sequence[Run]:
        """Make the runs."""

    @abstractmethod
    def _to_island(self, run: Run) -> Island:
        """Return the trees of a run with its trace."""

    def _island_weighting(self) -> str:
        """Return how the runs are weighted in the posterior."""
        return "uniform"

    def _finish(self, posterior: Posterior, runs: Sequence[Run]) -> Posterior:
        """Return the posterior; subclasses can modify it, or warn about the runs."""
        return posterior


@dataclass(kw_only=True)
class KernelSampler(Sampler[Run]):
    """Base of the samplers whose runs are independent, parallel calls of the kernel.

    The kernel returns a dictionary of arrays per run, with one array per field of the trace's records.
    """

    words: ClassVar[RunWords]

    @property
    @abstractmethod
    def n_runs(self) -> int:
        """Number of independent runs."""

    @abstractmethod
    def _make_run(self) -> MakeRun[Run]:
        """Return the function that makes one run; it must be defined in a module, so that it can be pickled."""

    def _time_budget(self) -> float | None:
        """Return the seconds after which no further run is started; None if the number of runs is given."""
        return None

    def _sample(self, work: Work) -> Sequence[Run]:
        task, budget = Task.prepare(work.data, work.prior, work.leaf), self._time_budget()
        if budget is None:
            return self._run_some(work, task, 0, self.n_runs)
        return self._run_until(work, task, budget)

    def _run_some(self, work: Work, task: Task, first: int, n: int, budget: Budget | None = None) -> list[Run]:
        return run_in_parallel(
            self._make_run(),
            self,
            task,
            spawn(work.seed, n, work.first_run + first),
            n_jobs=work.n_jobs,
            show_progress=work.show_progress,
            words=self.words,
            budget=budget,
        )

    def _run_until(self, work: Work, task: Task, limit: float) -> list[Run]:
        """Make runs, `n_jobs` in parallel, until the time is used; after Ctrl-C the finished runs are kept."""
        runs: list[Run] = []
        start = time.perf_counter()
        n_at_a_time = 1 if work.n_jobs is None else int(effective_n_jobs(work.n_jobs))
        with noticed_interrupts() as interrupted:
            try:
                while not runs or ((used := time.perf_counter() - start) < limit and not interrupted()):
                    budget = Budget(len(runs), used if runs else 0.0, limit)
                    runs += self._run_some(work, task, len(runs), n_at_a_time, budget)
            except KeyboardInterrupt:
                if not runs:
                    raise
            end_line(show=work.show_progress)
            if interrupted():
                warn_caller(f"Interrupted: the posterior has the {len(runs)} {self.words.runs} that were done.")
        return runs

    def _to_island(self, run: Run) -> Island:
        arrays: Any = run
        return to_island(arrays, arrays.get("log_evidence"), records(arrays, "trace", RECORD_OF_KIND[self.kind]))


def records(arrays: Any, what: str, layout: np.dtype[Any]) -> NDArray[Any]:
    """Return the records of a run as one structured array, from the kernel's arrays, one per field."""
    columns = {name: arrays[f"{what}_{name}"] for name in layout.names or ()}
    result = np.empty(len(next(iter(columns.values()))), dtype=layout)
    for name, column in columns.items():
        result[name] = column
    return result
