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
with its own seed, so that the result does not depend on how many run in parallel.

A chain is run one *segment* at a time: the kernel returns the draws of the segment and the state of the chain, and
continues from there with the same generator. All chains have the same segments, so that chains which are cut off after
the same segment have equal lengths, as pooling and convergence diagnostics require. After Ctrl-C, the chains and the
number of segments of each are chosen that keep the most draws, if the chains ran in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree._data import TrainingData
from particletree._inference.bart.regressions import Regression, class_order_of, regressions_of
from particletree._inference.chain_sampler import ChainLength, check_move_weights
from particletree._inference.parallel import CommonInput, noticed_interrupts, prior_for_kernel, run_in_parallel, spawn
from particletree._inference.progress import RunWords
from particletree._inference.sampler import Sampler, Work
from particletree._model.bart import Scaling, SumPrior
from particletree._model.mondrian import MondrianPrior
from particletree._model.parameters import Parameters, check_choice, check_integer, check_real
from particletree._model.prior import Prior, TreePrior
from particletree._posterior.bart_posterior import BARTPosterior
from particletree._posterior.base import NO_EVIDENCE
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs.traces import SUM_TRACE, SumRecord
from particletree._user_warnings import warn_caller

DEFAULT_PRIOR = TreePrior(alpha=0.95, beta=2.0)  # mostly trees of two or three leaves
DEFAULT_MONDRIAN_PRIOR = MondrianPrior(rate=0.5)
N_KEPT_ROWS = 100
SHORTEST_SEGMENT = 50  # sweeps: continuing a chain costs about as much as two or three
MOST_SEGMENTS = 20
FIRST_LATER_SEED = 10**9  # children of the seed from here on are never used by a first fit
Arrays: TypeAlias = "_kernel.SumArrays"


def default_prior_of_sums(prior: Prior | None) -> Prior:
    """Return the default prior of each tree of a sum, of the kind of `prior` if that is given."""
    return DEFAULT_MONDRIAN_PRIOR if isinstance(prior, MondrianPrior) else DEFAULT_PRIOR


@dataclass(kw_only=True)
class BARTMoves(Parameters):
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
    >>> from particletree.inference import BARTMoves
    >>> BARTMoves(regrow_share=1.0).n_particles
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
        check_move_weights(np.asarray(self.move_weights, dtype=np.float64), "BARTMoves.move_weights")
        check_integer(self, "n_particles", at_least=2)
        check_choice(self, "proposal", _kernel.PROPOSALS)
        check_integer(self, "n_candidates", at_least=1)
        check_real(self, "ess_threshold", "between 0 and 1", low=0, high=1, closed="both")

    def kernel_settings(self) -> dict[str, Any]:
        """Return the kernel's arguments for the moves."""
        return self.get_params() | {"move_weights": np.array(self.move_weights, dtype=np.float64)}


@dataclass(kw_only=True)
class BARTChains(ChainLength, Sampler[SumPrior, "BARTRuns", BARTPosterior]):
    """Markov chains over sums of trees: their length, which draws are kept, and how the trees are updated.

    Parameters
    ----------
    n_iterations : int, default 500
        Sweeps per chain, after the grow-from-root sweeps.
    n_chains : int, default 4
        Number of independent chains.
    burn_in : int, default None
        Sweeps at the start of each chain that are discarded; None means half of `n_iterations`.
    thin : int, default 1
        Keep every `thin`-th sweep after the burn-in.
    moves : BARTMoves
        How trees are updated.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree import TreePrior
    >>> from particletree._data import make_regression_data
    >>> data = make_regression_data([[0.0], [1.0], [2.0], [3.0]], [0.1, 0.0, 1.1, 0.9])
    >>> chains = BARTChains(n_iterations=20, n_chains=2)
    >>> chains.run(data, TreePrior(0.95, 2.0), SumPrior(n_trees=3), seed=np.random.SeedSequence(0)).n_draws
    20
    """

    words: ClassVar[RunWords] = RunWords(runs="chains", step="sweep", value="noise sd")

    n_iterations: int = 500
    moves: BARTMoves = field(default_factory=BARTMoves)

    def validate(self) -> None:
        """Check every parameter."""
        super().validate()
        self.moves.validate()

    def _model(self, data: TrainingData, prior: Prior, leaf: SumPrior) -> tuple[Prior, SumPrior]:
        default = default_prior_of_sums(prior)
        if prior.grid():
            raise ValueError(
                f'{" and ".join(prior.grid())} of the prior cannot be "auto", which is a choice by the evidence. '
                f"{NO_EVIDENCE} Give numbers, e.g. prior={default!r}."
            )
        return prior.completed(default), leaf

    def _sample(self, work: Work[SumPrior, BARTPosterior]) -> BARTRuns:
        """Make the runs; after Ctrl-C keep the segments of the chains that can be pooled."""
        task = BARTTask(regressions_of(work.data), work.prior, work.leaf, _states(work.earlier))
        seeds = self._seeds(work.seed, len(task.regressions), work.earlier)
        if not seeds:
            return BARTRuns(task, {})
        order = _Order(self, done={number: [] for number in range(len(seeds))})
        with noticed_interrupts():
            try:
                runs = run_in_parallel(
                    _run_one,
                    order,
                    task,
                    seeds,
                    n_jobs=work.n_jobs,
                    show_progress=work.show_progress,
                    words=self.words,
                )
                return BARTRuns(task, dict(enumerate(runs)))
            except KeyboardInterrupt:
                kept = self._kept(order.done, task)
                if not kept:
                    raise
                return BARTRuns(task, kept)

    def _seeds(
        self, seed: np.random.SeedSequence, n_sums: int, earlier: BARTPosterior | None
    ) -> list[np.random.SeedSequence]:
        """Return one seed per run; continued chains get new seeds, which depend on the sweeps already done."""
        if earlier is None:
            return spawn(seed, self.n_chains * n_sums)
        return spawn(spawn(seed, 1, FIRST_LATER_SEED + earlier.n_iterations)[0], earlier.n_chains * n_sums)

    def _segments(self, task: BARTTask) -> list[Segment]:
        return segments_of(self.n_iterations, 0 if task.states else self.n_burn_in, self.thin)

    def _kept(self, done: dict[int, list[Arrays]], task: BARTTask) -> dict[int, list[Arrays]]:
        """Return the segments that are kept after Ctrl-C, if any; of continued chains all are kept or none."""
        n_sums = len(task.regressions)
        n_chains = len(done) // n_sums
        n_done = [min(len(done[chain * n_sums + part]) for part in range(n_sums)) for chain in range(n_chains)]
        n_kept, chains = longest_common([min(n_done)] * n_chains if task.states else n_done)
        if not chains:
            return {}
        numbers = [chain * n_sums + part for chain in chains for part in range(n_sums)]
        sweeps = f"{self._segments(task)[n_kept - 1].end:,} of {self.n_iterations:,} sweeps"
        warn_caller(f"Interrupted: the posterior has {sweeps} of {len(chains)} of {n_chains} chains.")
        return {number: done[number][:n_kept] for number in numbers}

    def _to_posterior(self, work: Work[SumPrior, BARTPosterior], runs: BARTRuns) -> BARTPosterior:
        data, (task, segments) = work.data, runs
        n_sums = len(task.regressions)
        by_sum = [
            [segments[number] for number in sorted(segments) if number % n_sums == part] for part in range(n_sums)
        ]
        n_segments = len(next(iter(segments.values()), ()))
        kept_rows, kept_row_numbers = data.some_rows(N_KEPT_ROWS)
        return BARTPosterior(
            sums=tuple(
                TreeSums.join([_to_sums(segment, chain) for chain, run in enumerate(part) for segment in run])
                for part in by_sum
            ),
            records=tuple(SumRecord.join([_to_record(segment) for run in part for segment in run]) for part in by_sum),
            offsets=tuple(regression.offset for regression in task.regressions),
            scaling=task.regressions[0].scaling if task.regressions else Scaling(),
            class_order=class_order_of(data),
            prior=work.prior,
            sum_prior=work.leaf,
            target=data.observations.target,
            columns=data.columns,
            n_features=data.table.n_features,
            feature_names=work.feature_names,
            fingerprint=data.fingerprint,
            n_iterations=self._segments(task)[n_segments - 1].end if segments else self.n_iterations,
            n_burn_in=0 if task.states else self.n_burn_in,
            thin=self.thin,
            states=tuple(segments[number][-1]["state"] for number in sorted(segments)),
            kept_rows=kept_rows,
            kept_row_numbers=kept_row_numbers,
        )

    def _added(self, earlier: BARTPosterior, later: BARTPosterior) -> BARTPosterior:
        return earlier.extended(later)


def _states(earlier: BARTPosterior | None) -> tuple[dict[str, Any], ...]:
    """Return the states from which chains are continued; none for new chains."""
    if earlier is None:
        return ()
    if earlier.sums and not earlier.states:
        raise ValueError(
            "warm_start=True continues the chains of the previous fit, but a posterior that was loaded does not know "
            "where its chains stand. Set warm_start=False to start anew."
        )
    return earlier.states


@dataclass(frozen=True)
class BARTTask(CommonInput):
    """The input of the runs over sums of trees: the data of each sum, and the model.

    `states` are the states from which runs are continued; empty for new chains.
    """

    regressions: tuple[Regression, ...]
    prior: Prior
    sum_prior: SumPrior
    states: tuple[dict[str, Any], ...] = ()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of all regressions by name."""
        return {
            f"{name}_{number}": array
            for number, regression in enumerate(self.regressions)
            for name, array in (regression.arrays() | {"target": regression.target}).items()
        }

    @cached_property
    def problems(self) -> list[_kernel.SumProblem]:
        """The kernel's view of the data, one per sum for all chains in a process."""
        prior = prior_for_kernel(self.prior)
        return [_kernel.SumProblem(**regression.arrays(), **prior) for regression in self.regressions]


class BARTRuns(NamedTuple):
    """The segments of each run by its number, which is chain number * number of sums + number of the sum."""

    task: BARTTask
    segments: dict[int, list[Arrays]]


@dataclass(frozen=True)
class _Order:
    """The settings of the runs, and the finished segments of those in this process, to be kept after Ctrl-C."""

    chains: BARTChains
    done: dict[int, list[Arrays]]


def _run_one(
    order: _Order, task: BARTTask, seed: np.random.SeedSequence, monitor: _kernel.Monitor, number: int
) -> list[Arrays]:
    """Run one chain of one sum, segment by segment."""
    chains, generator = order.chains, np.random.PCG64(seed)
    run, state = order.done[number], task.states[number] if task.states else None
    part = number % len(task.regressions)
    for segment in chains._segments(task):
        seconds = run[-1]["trace_seconds"][-1] if run else 0.0
        result = _kernel.run_sum_of_trees(
            problem=task.problems[part],
            **task.regressions[part].kernel_settings(task.sum_prior),
            n_trees=task.sum_prior.n_trees,
            **asdict(segment),
            thin=chains.thin,
            **chains.moves.kernel_settings() | ({} if state is None else {"n_start": 0}),
            initial=state,
            generator=generator,
            monitor=monitor,
            chain=number,
        )
        result["trace_seconds"] += seconds
        state = result["state"]
        run.append(result)
    return run


def _to_sums(run: Arrays, chain: int) -> TreeSums:
    n_draws = len(run["structure_of"])
    chains = np.full(n_draws, chain, dtype=np.int32)
    return TreeSums(run["nodes"], run["starts"], run["structure_of"], run["values"], chains)


def _to_record(run: Arrays) -> SumRecord:
    trace = np.empty(len(run["structure_of"]), dtype=SUM_TRACE)
    for name in SUM_TRACE.names or ():
        trace[name] = run[f"trace_{name}"]  # type: ignore[literal-required]
    return SumRecord(trace, run["moves_proposed"], run["moves_accepted"])


@dataclass(frozen=True)
class Segment:
    """Sweeps of a chain that are run in one call of the kernel; the first `burn_in` are discarded."""

    n_before: int
    n_iterations: int
    burn_in: int

    @property
    def end(self) -> int:
        """Number of sweeps of the chain up to the end of the segment."""
        return self.n_before + self.n_iterations


def segments_of(n_iterations: int, burn_in: int, thin: int) -> list[Segment]:
    """Return the segments of a chain; each keeps at least one draw, and all together the draws of the whole chain.

    Examples
    --------
    >>> [(each.n_before, each.n_iterations, each.burn_in) for each in segments_of(500, 250, 1)][:2]
    [(0, 300, 250), (300, 50, 0)]
    """
    n_draws = (n_iterations - burn_in) // thin
    n_per_segment = max(-(-SHORTEST_SEGMENT // thin), -(-n_draws // MOST_SEGMENTS))
    ends = [burn_in + n * thin for n in range(n_per_segment, n_draws, n_per_segment)]
    if ends and n_draws % n_per_segment:
        ends.pop()  # the remainder would be a short segment: join it with the one before
    bounds = [0, *ends, n_iterations]
    return [Segment(first, last - first, burn_in if first == 0 else 0) for first, last in pairwise(bounds)]


def longest_common(n_done: Sequence[int]) -> tuple[int, list[int]]:
    """Return the number of segments and the chains that keep the most draws, given the segments done by each.

    Examples
    --------
    >>> longest_common([5, 2, 2, 0])
    (2, [0, 1, 2])
    """
    lengths = sorted({n for n in n_done if n > 0}, reverse=True)
    chains = {length: [chain for chain, n in enumerate(n_done) if n >= length] for length in lengths}
    best = max(lengths, key=lambda length: length * len(chains[length]), default=0)
    return best, chains.get(best, [])
