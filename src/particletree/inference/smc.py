r"""Sequential Monte Carlo over trees: the paper's particle filter (section 3 and Algorithm 1).

Particles are partial trees that grow from the root. In a stage each particle considers one block that it has not
decided on yet (``expansion="node"``) or all of them (``"layer"``), and stops or splits it; its weight is multiplied by
how much better the labels are explained than expected (the table in ``kernel/proposal.h``). When the weights have
become uneven, so that the effective sample size is below `ess_threshold` of the particles, particles are drawn anew in
proportion to their weights. The product of the mean weights estimates the evidence :math:`p(Y \mid X)` without bias.

An island is one such filter on all the data. Islands run in parallel and their posteriors are averaged, which costs a
little bias and saves much variance (section 4.1.3 of the paper).

What the algorithm does is easier to read in ``reference.py``; this module hands the data to the kernel, which does the
same on blocks that particles share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from particletree import _kernel
from particletree.callers import warn_caller
from particletree.inference.parallel import Task
from particletree.inference.progress import RunWords
from particletree.inference.sampler import KernelSampler, MakeRun, records
from particletree.model.parameters import check_choice, check_integer, check_real
from particletree.posterior import Island, Posterior
from particletree.posterior.genealogy import DESCENDANT
from particletree.posterior.provenance import FILTER

NO_LIMIT = 2**62  # stages: trees are finite
FEWEST_CANDIDATES, MOST_BY_ROWS, ROWS_PER_CANDIDATE = 5, 80, 500


class TruncatedTreesWarning(UserWarning):
    """The filter reached `max_stages` before every block was decided on."""


@dataclass(kw_only=True)
class SMC(KernelSampler["_kernel.IslandArrays"]):
    """Top-down particle filtering.

    Parameters
    ----------
    n_particles : int, default 100
        Particles per island.
    n_islands : int, default 5
        Independent filters whose posteriors are averaged.
    proposal : {"prior", "empirical", "optimal", "lookahead"}, default "prior"
        How a decision is drawn: blindly from the prior, with the cut between two adjacent data points, in proportion
        to prior times likelihood, or in the same proportion among a few cuts from the prior. `optimal` needs few
        particles, and wins where most features are noise; `lookahead` comes close to it in a fraction of the time.
    n_candidates : int, default None
        For `lookahead`: how many cuts are drawn for each particle that considers a block; the particles that consider
        it together choose among all of theirs. Few are as quick as `prior`, many as well informed as `optimal`. None
        means 5; or a quarter of the number of features, or one per 500 rows up to 80, where that is more: deep blocks
        of a large table have many rows, and few particles consider them together. The other proposals ignore it.
    expansion : {"node", "layer"}, default "node"
        Consider one block per stage, or all that are open.
    priority : {"oldest", "likelihood"}, default "oldest"
        Which block comes first: the oldest, or the one with the lowest marginal likelihood.
    resampling : {"multinomial", "systematic", "stratified", "residual"}, default "multinomial"
        How particles are drawn anew.
    ess_threshold : float, default 0.1
        Resample when the effective sample size is below this share of the particles: 0 never, 1 always.
    max_stages : int, default None
        Blocks that are undecided after this many stages become leaves, with a warning. None lets trees grow to their
        end; the paper's programs stop after 5,000.
    island_weighting : {"uniform", "evidence"}, default "uniform"
        Whether islands count the same or in proportion to their evidence.
    time_budget : float, default None
        Seconds. If given, islands are added until the time is used, one after the other or `n_jobs` at a time, and
        `n_islands` is not looked at; the island that is running then is finished, so that there is at least one. Ctrl-C
        ends the fit with the islands that are done. The same seed gives the same islands, but how many depends on the
        machine.

    Examples
    --------
    >>> from particletree import SMC
    >>> SMC(n_particles=500, n_islands=1, proposal="optimal").n_particles
    500
    """

    kind: ClassVar[str] = FILTER
    words: ClassVar[RunWords] = RunWords(runs="islands", step="stage", value="ESS")

    n_particles: int = 100
    n_islands: int = 5
    proposal: str = "prior"
    n_candidates: int | None = None
    expansion: str = "node"
    priority: str = "oldest"
    resampling: str = "multinomial"
    ess_threshold: float = 0.1
    max_stages: int | None = None
    island_weighting: str = "uniform"
    time_budget: float | None = None

    def validate(self) -> None:
        """Check every parameter."""
        check_integer(self, "n_particles", at_least=1)
        check_integer(self, "n_islands", at_least=1)
        check_choice(self, "proposal", _kernel.PROPOSALS)
        if self.n_candidates is not None:
            check_integer(self, "n_candidates", at_least=1)
        check_choice(self, "expansion", ("node", "layer"))
        check_choice(self, "priority", ("oldest", "likelihood"))
        check_choice(self, "resampling", ("multinomial", "systematic", "stratified", "residual"))
        check_real(self, "ess_threshold", "between 0 and 1", low=0, high=1, closed="both")
        if self.max_stages is not None:
            check_integer(self, "max_stages", at_least=1)
        check_choice(self, "island_weighting", ("uniform", "evidence"))
        if self.time_budget is not None:
            check_real(self, "time_budget", "of seconds, above 0", low=0, high=math.inf, closed="neither")

    @property
    def n_runs(self) -> int:
        """Number of islands."""
        return self.n_islands

    def candidates_for(self, n_rows: int, n_features: int) -> int:
        """Return the number of candidate rules per particle on a table of this size."""
        if self.n_candidates is not None:
            return self.n_candidates
        return max(FEWEST_CANDIDATES, n_features // 4, min(MOST_BY_ROWS, n_rows // ROWS_PER_CANDIDATE))

    def _make_run(self) -> MakeRun[_kernel.IslandArrays]:
        return _run_island

    def _time_budget(self) -> float | None:
        return self.time_budget

    def _island_weighting(self) -> str:
        return self.island_weighting

    def _to_island(self, run: _kernel.IslandArrays) -> Island:
        return replace(super()._to_island(run), genealogy=records(run, "genealogy", DESCENDANT))

    def _finish(self, posterior: Posterior, runs: Sequence[_kernel.IslandArrays]) -> Posterior:
        n_truncated = sum(run["truncated"] for run in runs)
        if n_truncated:
            warn_caller(
                f"{n_truncated} of {len(runs)} islands reached max_stages={self.max_stages} before every block was "
                "decided on; the open blocks were made leaves. Raise max_stages to let the trees grow to their end.",
                TruncatedTreesWarning,
            )
        return posterior


def _run_island(
    settings: SMC, task: Task, seed: np.random.SeedSequence, monitor: _kernel.Monitor, island: int
) -> _kernel.IslandArrays:
    return _kernel.run_island(
        problem=task.problem,
        n_particles=settings.n_particles,
        proposal=settings.proposal,
        expansion=settings.expansion,
        priority=settings.priority,
        resampling=settings.resampling,
        ess_threshold=settings.ess_threshold,
        max_stages=NO_LIMIT if settings.max_stages is None else settings.max_stages,
        generator=np.random.PCG64(seed),
        monitor=monitor,
        island=island,
        n_candidates=settings.candidates_for(task.data.table.n_rows, task.data.table.n_features),
    )
