r"""Chains over sums of trees: Bayesian backfitting with particle Gibbs.

A sweep updates the trees of a sum in turn. Each tree is fitted to the *residual*, the target minus the other trees: the
tree is moved with its leaf values integrated out, then its leaf values are drawn. The noise is drawn at the end of a
sweep or, for classes, the latent normal variables at its start (Chipman, George & McCulloch 2010). A tree is moved by

- *grow, prune and change*, Metropolis-Hastings moves that cost little, or
- *regrow*: a conditional particle filter regrows a block of the tree, often the whole tree, with one particle that
  replays the present subtree (Lakshminarayanan, Roy & Teh 2015; ``particle_gibbs.py``).

A chain can start with some *grow-from-root* sweeps, in which each whole tree is grown with one particle (He & Hahn
2023); none of their draws is kept. The default has none: they cost more than they save (``docs/additive.md`` has the
measurements behind every default).

Chains are independent, and so are the sums of several classes (``_model/bart.py``): each is one call of the kernel
with its own seed, so that the result does not depend on how many run in parallel. After Ctrl-C the sweeps done so far
are kept, if the chains ran in this process (``stretches.py``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from particletree import _kernel
from particletree._data import TrainingData
from particletree._inference.bart.regressions import Regression, class_order_of, regressions_of
from particletree._inference.bart.segments import Stretch, longest_common, stretches_of
from particletree._inference.chain_sampler import check_move_weights
from particletree._inference.interrupts import noticed_interrupts
from particletree._inference.parallel import prior_for_kernel, run_in_parallel, spawn
from particletree._inference.progress import RunWords, is_shown
from particletree._model.bart import Scaling, SumPrior
from particletree._model.parameters import Parameters, check_choice, check_integer, check_real
from particletree._model.prior import Prior
from particletree._posterior.bart_posterior import BARTPosterior
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs.sum_records import SUM_TRACE, SumRecord
from particletree._user_warnings import warn_caller

N_KEPT_ROWS = 100
FIRST_LATER_SEED = 10**9  # children of the seed from here on are never used by a first fit
Arrays: TypeAlias = "_kernel.SumArrays"


@dataclass(kw_only=True)
class SumMoves(Parameters):
    """How the trees of a sum are updated.

    Parameters
    ----------
    n_start : int, default 0
        Grow-from-root sweeps at the start of each chain.
    regrow_share : float, default 0.01
        Probability that a tree is regrown by a conditional particle filter instead of a grow, prune or change move.
        Regrowing changes more of a tree at once and takes longer.
    move_weights : tuple of 4 floats, default (0.4, 0.4, 0.2, 0.0)
        Relative frequencies of grow, prune and change among the other moves; swap, the last, is not used.
    n_particles : int, default 2
        Particles of the conditional filter, including the one that replays the tree; at least 2. More make a larger
        change likelier and take longer.
    proposal : {"prior", "empirical", "optimal", "lookahead"}, default "lookahead"
        How its particles decide; as for `SMC`.
    n_candidates : int, default 10
        Number of rules per particle among which `proposal="lookahead"` chooses.
    ess_threshold : float, default 0.5
        Resample when the effective sample size is below this share of the particles: 0 never, 1 always.

    Examples
    --------
    >>> from particletree.inference import SumMoves
    >>> SumMoves(regrow_share=1.0).n_particles
    2
    """

    n_start: int = 0
    regrow_share: float = 0.01
    move_weights: tuple[float, float, float, float] = (0.4, 0.4, 0.2, 0.0)
    n_particles: int = 2
    proposal: str = "lookahead"
    n_candidates: int = 10
    ess_threshold: float = 0.5

    def validate(self) -> None:
        """Check every parameter."""
        check_integer(self, "n_start", at_least=0)
        check_real(self, "regrow_share", "between 0 and 1", low=0, high=1, closed="both")
        check_move_weights(np.asarray(self.move_weights, dtype=np.float64), "SumMoves.move_weights")
        check_integer(self, "n_particles", at_least=2)
        check_choice(self, "proposal", _kernel.PROPOSALS)
        check_integer(self, "n_candidates", at_least=1)
        check_real(self, "ess_threshold", "between 0 and 1", low=0, high=1, closed="both")

    def kernel_settings(self) -> dict[str, Any]:
        """Return the kernel's arguments for the moves."""
        return self.get_params() | {"move_weights": np.array(self.move_weights, dtype=np.float64)}


@dataclass(kw_only=True)
class SumChains(Parameters):
    """Markov chains over sums of trees: their length, and which draws are kept.

    Parameters
    ----------
    n_iterations : int, default 500
        Sweeps per chain, after the grow-from-root sweeps.
    burn_in : int, default None
        Sweeps at the start of each chain that are discarded; None means half of `n_iterations`.
    thin : int, default 1
        Keep every `thin`-th sweep after the burn-in.
    n_chains : int, default 4
        Number of independent chains.
    moves : SumMoves
        How trees are updated.
    """

    words: ClassVar[RunWords] = RunWords(runs="chains", step="sweep", value="noise sd")

    n_iterations: int = 500
    burn_in: int | None = None
    thin: int = 1
    n_chains: int = 4
    moves: SumMoves = field(default_factory=SumMoves)

    @property
    def n_burn_in(self) -> int:
        """Number of sweeps that are discarded."""
        return self.n_iterations // 2 if self.burn_in is None else self.burn_in

    def validate(self) -> None:
        """Check every parameter."""
        check_integer(self, "n_iterations", at_least=1)
        if self.burn_in is not None:
            check_integer(self, "burn_in", at_least=0)
        check_integer(self, "thin", at_least=1)
        check_integer(self, "n_chains", at_least=1)
        self.moves.validate()
        if self.thin > self.n_iterations - self.n_burn_in:
            raise ValueError(
                f"burn_in={self.burn_in} and thin={self.thin} keep none of n_iterations={self.n_iterations} sweeps; "
                "make them smaller."
            )

    def run(
        self,
        data: TrainingData,
        prior: Prior,
        sum_prior: SumPrior,
        *,
        seed: np.random.SeedSequence,
        feature_names: list[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        earlier: BARTPosterior | None = None,
    ) -> BARTPosterior:
        """Draw from the posterior of sums of trees; the result depends on `seed` alone, not on `n_jobs`.

        Parameters
        ----------
        data : TrainingData
            The checked data.
        prior, sum_prior : Prior, SumPrior
            The prior of the trees' structure, and that of leaf values and noise.
        seed : SeedSequence
            Seed of the chains; it is not modified.
        feature_names : list of str, optional
            Names of the features, which the posterior keeps.
        n_jobs : int, optional
            Number of chains that run in parallel, in threads; None means 1, or the setting of `joblib.parallel_config`.
        verbose : int, default 0
            1 shows the progress of the chains.
        earlier : BARTPosterior, optional
            A posterior of the same data and model, whose chains are continued for `n_iterations` sweeps without a
            burn-in; the draws are added to its own.

        Examples
        --------
        >>> import numpy as np
        >>> from particletree import TreePrior
        >>> from particletree._data import make_regression_data
        >>> data = make_regression_data([[0.0], [1.0], [2.0], [3.0]], [0.1, 0.0, 1.1, 0.9])
        >>> chains = SumChains(n_iterations=20, n_chains=2)
        >>> seed = np.random.SeedSequence(0)
        >>> chains.run(data, TreePrior(0.95, 2.0), SumPrior(n_trees=3), seed=seed).n_draws
        20
        """
        for parameters in (self, prior, sum_prior):
            parameters.validate()
        if prior.grid():
            raise ValueError(
                f'{" and ".join(prior.grid())} of the prior cannot be "auto": that is a choice by the evidence, which '
                "chains over sums of trees do not estimate. Give numbers, e.g. prior=TreePrior(alpha=0.95, beta=2.0), "
                "or None for what the estimator chooses."
            )
        prior = prior.resolved(data.table.n_features, feature_names, data.table.counted_values)
        if earlier is not None:
            check_can_go_on(earlier, data, prior, sum_prior)
        task = SumTask(regressions_of(data), prior, sum_prior, () if earlier is None else earlier.states)
        seeds = self._seeds(seed, len(task.regressions), earlier)
        runs = self._run_all(task, seeds, n_jobs, is_shown(verbose))
        posterior = self._to_posterior(data, task, runs, feature_names)
        return posterior if earlier is None else earlier.extended(posterior)

    def _seeds(
        self, seed: np.random.SeedSequence, n_sums: int, earlier: BARTPosterior | None
    ) -> list[np.random.SeedSequence]:
        """Return one seed per run; continued chains get new seeds, which depend on the sweeps already done."""
        if earlier is None:
            return spawn(seed, self.n_chains * n_sums)
        return spawn(spawn(seed, 1, FIRST_LATER_SEED + earlier.n_iterations)[0], earlier.n_chains * n_sums)

    def _stretches(self, task: SumTask) -> list[Stretch]:
        return stretches_of(self.n_iterations, 0 if task.states else self.n_burn_in, self.thin)

    def _run_all(
        self, task: SumTask, seeds: list[np.random.SeedSequence], n_jobs: int | None, show: bool
    ) -> dict[int, list[Arrays]]:
        """Return the stretches of each run by its number; after Ctrl-C, those of the chains that can be pooled."""
        order = _Order(self, done={number: [] for number in range(len(seeds))})
        with noticed_interrupts():
            try:
                runs = (
                    run_in_parallel(_run_one, order, task, seeds, n_jobs=n_jobs, show_progress=show, words=self.words)
                    if seeds
                    else []
                )
                return dict(enumerate(runs))
            except KeyboardInterrupt:
                kept = self._kept(order.done, task)
                if not kept:
                    raise
                return kept

    def _kept(self, done: dict[int, list[Arrays]], task: SumTask) -> dict[int, list[Arrays]]:
        """Return the stretches that are kept after Ctrl-C, if any; of continued chains all are kept or none."""
        n_sums = len(task.regressions)
        n_chains = len(done) // n_sums
        n_done = [min(len(done[chain * n_sums + part]) for part in range(n_sums)) for chain in range(n_chains)]
        n_kept, chains = longest_common([min(n_done)] * n_chains if task.states else n_done)
        if not chains:
            return {}
        numbers = [chain * n_sums + part for chain in chains for part in range(n_sums)]
        sweeps = f"{self._stretches(task)[n_kept - 1].end:,} of {self.n_iterations:,} sweeps"
        warn_caller(f"Interrupted: the posterior has {sweeps} of {len(chains)} of {n_chains} chains.")
        return {number: done[number][:n_kept] for number in numbers}

    def _to_posterior(
        self, data: TrainingData, task: SumTask, runs: dict[int, list[Arrays]], feature_names: list[str] | None
    ) -> BARTPosterior:
        n_sums = len(task.regressions)
        by_sum = [[runs[number] for number in sorted(runs) if number % n_sums == part] for part in range(n_sums)]
        kept_rows, kept_row_numbers = data.some_rows(N_KEPT_ROWS)
        return BARTPosterior(
            sums=tuple(
                TreeSums.join([_to_sums(stretch, chain) for chain, run in enumerate(part) for stretch in run])
                for part in by_sum
            ),
            records=tuple(SumRecord.join([_to_record(stretch) for run in part for stretch in run]) for part in by_sum),
            offsets=tuple(regression.offset for regression in task.regressions),
            scaling=task.regressions[0].scaling if task.regressions else Scaling(),
            class_order=class_order_of(data),
            prior=task.prior,
            sum_prior=task.sum_prior,
            target=data.observations.target,
            columns=data.columns,
            n_features=data.table.n_features,
            feature_names=feature_names,
            fingerprint=data.fingerprint,
            n_iterations=self._stretches(task)[len(runs[min(runs)]) - 1].end if runs else self.n_iterations,
            n_burn_in=0 if task.states else self.n_burn_in,
            thin=self.thin,
            states=tuple(runs[number][-1]["state"] for number in sorted(runs)),
            kept_rows=kept_rows,
            kept_row_numbers=kept_row_numbers,
        )


def check_can_go_on(earlier: BARTPosterior, data: TrainingData, prior: Prior, sum_prior: SumPrior) -> None:
    """Refuse to continue chains of other data, of another model, or of a loaded posterior."""
    if earlier.sums and not earlier.states:
        raise ValueError("A posterior that was loaded does not know where its chains stand: fit with warm_start=False.")
    difference = earlier.fingerprint and earlier.fingerprint.difference(data.fingerprint, earlier.feature_names)
    if difference:
        raise ValueError(
            "warm_start=True continues the chains of the previous fit, but the rows are not those of that fit: they "
            f"differ in {difference}. Pass the same X, y and weights again, or set warm_start=False to start anew."
        )
    if (earlier.prior, earlier.sum_prior) != (prior, sum_prior):
        raise ValueError(
            f"Chains can go on with the same model only: they had {earlier.prior} and {earlier.sum_prior}, got other "
            f"parameters, {prior} and {sum_prior}. Fit with warm_start=False."
        )


@dataclass(frozen=True)
class SumTask:
    """The common input of all runs: the data of each sum, and the model. It can be sent to other processes.

    `states` are the states from which runs are continued; empty for new chains.
    """

    regressions: tuple[Regression, ...]
    prior: Prior
    sum_prior: SumPrior
    states: tuple[dict[str, Any], ...] = ()

    @cached_property
    def problems(self) -> list[_kernel.SumProblem]:
        """The kernel's view of the data, one per sum for all chains in a process."""
        prior = prior_for_kernel(self.prior)
        return [_kernel.SumProblem(**regression.arrays(), **prior) for regression in self.regressions]

    def __sizeof__(self) -> int:
        """Return the size including the arrays, from which Dask estimates the cost of keeping or moving a task."""
        return object.__sizeof__(self) + sum(regression.n_bytes for regression in self.regressions)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to other processes: everything but the kernel's view, which is rebuilt there."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True)
class _Order:
    """The settings of the runs, and the finished stretches of those in this process, to be kept after Ctrl-C."""

    chains: SumChains
    done: dict[int, list[Arrays]]


def _run_one(
    order: _Order, task: SumTask, seed: np.random.SeedSequence, monitor: _kernel.Monitor, number: int
) -> list[Arrays]:
    """Run one chain of one sum; run number = chain number * number of sums + number of the sum."""
    chains, generator = order.chains, np.random.PCG64(seed)
    run, state = order.done[number], task.states[number] if task.states else None
    for stretch in chains._stretches(task):
        seconds = run[-1]["trace_seconds"][-1] if run else 0.0
        result = _run_stretch(chains, task, stretch, state, generator, monitor, number)
        result["trace_seconds"] += seconds
        state = result["state"]
        run.append(result)
    return run


def _run_stretch(
    chains: SumChains,
    task: SumTask,
    stretch: Stretch,
    state: dict[str, Any] | None,
    generator: np.random.PCG64,
    monitor: _kernel.Monitor,
    number: int,
) -> Arrays:
    part = number % len(task.regressions)
    return _kernel.run_sum_of_trees(
        problem=task.problems[part],
        **task.regressions[part].kernel_settings(task.sum_prior),
        n_trees=task.sum_prior.n_trees,
        **asdict(stretch),
        thin=chains.thin,
        **chains.moves.kernel_settings() | ({} if state is None else {"n_start": 0}),
        initial=state,
        generator=generator,
        monitor=monitor,
        chain=number,
    )


def _to_sums(run: Arrays, chain: int) -> TreeSums:
    n_draws = len(run["structure_of"])
    chains = np.full(n_draws, chain, dtype=np.int32)
    return TreeSums(run["nodes"], run["starts"], run["structure_of"], run["values"], chains)


def _to_record(run: Arrays) -> SumRecord:
    trace = np.empty(len(run["structure_of"]), dtype=SUM_TRACE)
    for name in SUM_TRACE.names or ():
        trace[name] = run[f"trace_{name}"]  # type: ignore[literal-required]
    return SumRecord(trace, run["moves_proposed"], run["moves_accepted"])
