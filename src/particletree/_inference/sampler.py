"""Base of all samplers: check the parameters, make independent runs, and join them to a posterior.

A sampler is a dataclass of parameters with the method `run(data, prior, leaf, *, seed, ...) -> posterior`, which is
defined here. The module of a sampler defines its parameters, how one run is made, and what a run records. Samplers of
single trees are :class:`TreeSampler`; that of sums of trees is in ``bart/sampler.py``.

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
from particletree._data.row_columns import check_observed_columns
from particletree._inference.defaults import default_prior
from particletree._inference.parallel import Task, noticed_interrupts, run_in_parallel, spawn, to_island
from particletree._inference.progress import Budget, RunWords, end_line, is_shown
from particletree._model.leaf import LeafModel
from particletree._model.parameters import Parameters
from particletree._model.prior import Prior
from particletree._model.target import Observations
from particletree._posterior import Island, Posterior
from particletree._posterior.base import BasePosterior
from particletree._posterior.runs.provenance import RECORD_OF_KIND, describe_run
from particletree._user_warnings import warn_caller

AnySampler = TypeVar("AnySampler", bound="Sampler[Any, Any, Any]")
Leaf = TypeVar("Leaf", bound=Parameters)  # what the model has besides the prior over trees
Runs = TypeVar("Runs")
Result = TypeVar("Result", bound=BasePosterior)
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
    check_observed_columns(leaf, observations)
    leaf.check_observations(observations)


def resolved(leaf: LeafModel, observations: Observations) -> LeafModel:
    """Return the leaf model with a value for every parameter; those that are None are estimated from the data."""
    model = leaf.resolve(observations)
    model.check_observations(observations)  # again: what can be computed depends on the parameters
    return model


@dataclass(frozen=True)
class Work(Generic[Leaf, Result]):
    """The input of a sampler: data, model and seed, how many runs in parallel, and the posterior that is added to."""

    data: TrainingData
    prior: Prior
    leaf: Leaf
    seed: np.random.SeedSequence
    feature_names: list[str] | None
    n_jobs: int | None
    show_progress: bool
    earlier: Result | None


@dataclass(kw_only=True)
class Sampler(Parameters, ABC, Generic[Leaf, Runs, Result]):
    """Base of the samplers."""

    def run(
        self,
        data: TrainingData,
        prior: Prior,
        leaf: Leaf,
        *,
        seed: np.random.SeedSequence,
        feature_names: list[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        earlier: Result | None = None,
    ) -> Result:
        """Compute the posterior of a model given data.

        The result depends on `seed` alone: not on `n_jobs`, nor on joblib's backend.

        Parameters
        ----------
        data : TrainingData
            The checked data.
        prior : Prior
            The prior over trees.
        leaf : LeafModel or SumPrior
            The leaf model, or for sums of trees the prior of leaf values and noise. In the posterior's copy, parameters
            that are None here have values estimated from the data.
        seed : SeedSequence
            Seed of the runs; it is not modified.
        feature_names : list of str, optional
            Names of the features, which the posterior keeps.
        n_jobs : int, optional
            Number of runs in parallel, in threads; None means 1, or the setting of `joblib.parallel_config`.
        verbose : int, default 0
            1 shows the progress of the runs.
        earlier : Posterior or BARTPosterior, optional
            A posterior of the same data and model, to which islands or chains are added. Chains over sums continue
            those of the posterior, without a burn-in.
        """
        for parameters in (self, prior, leaf):
            parameters.validate()
        if earlier is not None:
            check_same_rows(earlier, data)
        sampler = self.for_data(data)
        prior, leaf = sampler._model(data, prior, leaf)
        prior = prior.resolved(data.table.n_features, feature_names, data.table.counted_values)
        if earlier is not None:
            check_same_model(earlier, (prior, leaf))
        work = Work(data, prior, leaf, seed, feature_names, n_jobs, is_shown(verbose), earlier)
        posterior = sampler._to_posterior(work, sampler._sample(work))
        return posterior if earlier is None else sampler._added(earlier, posterior)

    def for_data(self: AnySampler, data: TrainingData) -> AnySampler:
        """Return this sampler with the settings that are used on these data instead of None."""
        return self

    @abstractmethod
    def _model(self, data: TrainingData, prior: Prior, leaf: Leaf) -> tuple[Prior, Leaf]:
        """Return the model with a value for every parameter; refuse one that does not fit the data."""

    @abstractmethod
    def _sample(self, work: Work[Leaf, Result]) -> Runs:
        """Make the runs."""

    @abstractmethod
    def _to_posterior(self, work: Work[Leaf, Result], runs: Runs) -> Result:
        """Return the posterior of the runs."""

    @abstractmethod
    def _added(self, earlier: Result, later: Result) -> Result:
        """Return the posterior of the runs of an earlier and a later fit."""


def check_same_rows(earlier: BasePosterior, data: TrainingData) -> None:
    """Refuse to add runs to those of other rows."""
    difference = earlier.fingerprint and earlier.fingerprint.difference(data.fingerprint, earlier.feature_names)
    if difference:
        raise ValueError(
            "warm_start=True adds to the previous fit, but the rows are not those of that fit: they differ in "
            f"{difference}. Pass the same X, y and weights again, or set warm_start=False to start anew."
        )


def check_same_model(earlier: BasePosterior, model: tuple[Parameters, Parameters]) -> None:
    """Refuse to add runs to those of another model."""
    if earlier.model != model:
        had, given = (" and ".join(map(repr, parts)) for parts in (earlier.model, model))
        raise ValueError(
            f"warm_start=True adds to the previous fit, but the model is not that of that fit: it had {had}, got other "
            f"parameters, {given}. Give the same parameters again, or set warm_start=False to start anew."
        )


@dataclass(kw_only=True)
class TreeSampler(Sampler[LeafModel, Sequence[Run], Posterior]):
    """Base of the samplers of single trees, whose runs are islands."""

    kind: ClassVar[str]  # of the runs, see _posterior/runs/provenance.py

    def _model(self, data: TrainingData, prior: Prior, leaf: LeafModel) -> tuple[Prior, LeafModel]:
        check_target(leaf, data.observations)
        return prior.completed(default_prior(data, prior)), resolved(leaf, data.observations)

    def _to_posterior(self, work: Work[LeafModel, Posterior], runs: Sequence[Run]) -> Posterior:
        data = work.data
        kept_rows, kept_row_numbers = data.some_rows(N_KEPT_ROWS)
        posterior = Posterior.from_islands(
            [self._to_island(run) for run in runs],
            leaf=work.leaf,
            prior=work.prior,
            n_features=data.table.n_features,
            feature_names=work.feature_names,
            target=data.observations.target,
            fingerprint=data.fingerprint,
            island_weighting=self._island_weighting(),
            kept_rows=kept_rows,
            provenance=describe_run(self.kind, type(self).__name__, self.get_params(), work.seed),
        )
        return self._finish(replace(posterior, columns=data.columns, kept_row_numbers=kept_row_numbers), runs)

    def _added(self, earlier: Posterior, later: Posterior) -> Posterior:
        try:
            return Posterior.merge([earlier, later], self._island_weighting())
        except ValueError as error:
            raise ValueError(f"warm_start=True adds to the previous fit: {error} Or set warm_start=False.") from error

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
class KernelSampler(TreeSampler[Run]):
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

    def _sample(self, work: Work[LeafModel, Posterior]) -> Sequence[Run]:
        task, budget = Task.prepare(work.data, work.prior, work.leaf), self._time_budget()
        if budget is None:
            return self._run_some(work, task, 0, self.n_runs)
        return self._run_until(work, task, budget)

    def _run_some(
        self, work: Work[LeafModel, Posterior], task: Task, first: int, n: int, budget: Budget | None = None
    ) -> list[Run]:
        n_earlier = 0 if work.earlier is None else work.earlier.n_islands
        return run_in_parallel(
            self._make_run(),
            self,
            task,
            spawn(work.seed, n, n_earlier + first),
            n_jobs=work.n_jobs,
            show_progress=work.show_progress,
            words=self.words,
            budget=budget,
        )

    def _run_until(self, work: Work[LeafModel, Posterior], task: Task, limit: float) -> list[Run]:
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
