r"""Sequential Monte Carlo over trees: the paper's particle filter (section 3 and Algorithm 1).

Particles are partial trees that grow from the root. In a stage each particle considers one block that is not decided
yet (``expansion="node"``) or all of them (``"layer"``), and stops or splits it; its weight is multiplied by the factor
in the table of ``kernel/proposal.h``. When the weights have become uneven, so that the effective sample size is below
`ess_threshold` times the number of particles, the particles are resampled in proportion to their weights. The product
of the mean weights is an unbiased estimate of the evidence (marginal likelihood) :math:`p(Y \mid X)`.

An island is one such filter on all the data. Islands run in parallel and their posteriors are averaged, which adds a
little bias and removes much variance (section 4.1.3 of the paper).

The algorithm is easier to read in ``reference/filter.py``; this module passes the data to the kernel, which does the
same with blocks that are shared between particles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from particletree import _kernel
from particletree._data import TrainingData
from particletree._inference.defaults import candidates_for, filter_defaults
from particletree._inference.parallel import Task
from particletree._inference.progress import RunWords
from particletree._inference.sampler import KernelSampler, MakeRun, records
from particletree._model.parameters import check_choice, check_integer, check_real
from particletree._posterior import Island, Posterior
from particletree._posterior.runs.genealogy import DESCENDANT
from particletree._posterior.runs.provenance import FILTER
from particletree._user_warnings import warn_caller

NO_LIMIT = 2**62  # stages, more than any tree needs


class TruncatedTreesWarning(UserWarning):
    """The filter reached `max_stages` before every block was decided on."""


@dataclass(kw_only=True)
class SMC(KernelSampler["_kernel.IslandArrays"]):
    """Sequential Monte Carlo: top-down particle filtering.

    None means what is chosen for the data at hand; `SMC.paper()` has the paper's settings, 5 islands of 100 particles
    with the prior proposal.

    Parameters
    ----------
    n_particles : int, default None
        Particles per island; more find more trees and a more precise evidence, and take proportionally longer.
    n_islands : int, default None
        Independent filters, whose posteriors are averaged; more make predictions less dependent on the seed, and take
        proportionally longer, but can run in parallel.
    proposal : {"prior", "empirical", "optimal", "lookahead"}, default None
        How a decision is drawn: `prior` ignores the targets; `empirical` does too, but draws the gap between adjacent
        data points uniformly; `optimal` draws in proportion to prior times likelihood over all rules; `lookahead` does
        the same over a few rules from the prior. `optimal` needs few particles, and is best if most features are noise;
        `lookahead` comes close to it in a fraction of the time.
    n_candidates : int, default None
        For `lookahead`: the number of rules drawn per particle that considers a block; particles that consider the same
        block choose among all of theirs. Few are as fast as `prior`, many are as good as `optimal`. None means the
        largest of 5, a quarter of the number of features, and one per 500 rows up to 80; fewer on large tables if the
        proposal is None too. The other proposals ignore it.
    expansion : {"node", "layer"}, default "node"
        Whether a stage considers one block per particle, or all blocks that are not decided yet.
    priority : {"oldest", "likelihood"}, default "oldest"
        Which block a particle considers next: the oldest, or the one with the lowest marginal likelihood.
    resampling : {"multinomial", "systematic", "stratified", "residual"}, default "multinomial"
        The resampling scheme; the last three add less noise than `multinomial`, the paper's.
    ess_threshold : float, default None
        Resample when the effective sample size is below this share of the particles: 0 never, 1 always. Higher values
        give up particles of low weight earlier, and with them diversity.
    max_stages : int, default None
        Blocks that are undecided after this many stages become leaves, with a warning. None means no limit; the
        paper's programs stop after 5,000.
    island_weighting : {"uniform", "evidence"}, default "uniform"
        Whether islands have equal weights, or weights in proportion to their evidence.
    time_budget : float, default None
        Time in seconds. If given, `n_islands` is ignored and islands are added, `n_jobs` in parallel, until the time is
        used; running islands are finished, so that there is at least one. Ctrl-C ends the fit with the finished
        islands. The same seed gives the same islands, but their number depends on the machine.

    Examples
    --------
    >>> from particletree import SMC
    >>> SMC(n_particles=500, n_islands=1, proposal="optimal").n_particles
    500
    """

    kind: ClassVar[str] = FILTER
    words: ClassVar[RunWords] = RunWords(runs="islands", step="stage", value="ESS")

    n_particles: int | None = None
    n_islands: int | None = None
    proposal: str | None = None
    n_candidates: int | None = None
    expansion: str = "node"
    priority: str = "oldest"
    resampling: str = "multinomial"
    ess_threshold: float | None = None
    max_stages: int | None = None
    island_weighting: str = "uniform"
    time_budget: float | None = None

    def validate(self) -> None:
        """Check every parameter."""
        for name in ("n_particles", "n_islands", "n_candidates", "max_stages"):
            if getattr(self, name) is not None:
                check_integer(self, name, at_least=1)
        if self.proposal is not None:
            check_choice(self, "proposal", _kernel.PROPOSALS)
        check_choice(self, "expansion", ("node", "layer"))
        check_choice(self, "priority", ("oldest", "likelihood"))
        check_choice(self, "resampling", ("multinomial", "systematic", "stratified", "residual"))
        if self.ess_threshold is not None:
            check_real(self, "ess_threshold", "between 0 and 1", low=0, high=1, closed="both")
        check_choice(self, "island_weighting", ("uniform", "evidence"))
        if self.time_budget is not None:
            check_real(self, "time_budget", "of seconds, above 0", low=0, high=math.inf, closed="neither")

    @classmethod
    def paper(cls, **changes: Any) -> SMC:
        """Return the paper's settings: 5 islands of 100 particles, the prior proposal, resampling below a tenth.

        Examples
        --------
        >>> from particletree import SMC
        >>> SMC.paper(n_islands=1).n_particles
        100
        """
        settings: dict[str, Any] = {"n_particles": 100, "n_islands": 5, "proposal": "prior", "ess_threshold": 0.1}
        return cls(**settings | changes)

    @property
    def n_runs(self) -> int:
        """Number of islands."""
        assert self.n_islands is not None  # `for_data` has chosen it
        return self.n_islands

    def for_data(self, data: TrainingData) -> SMC:
        """Return this sampler with the settings that are used on these data instead of None.

        Examples
        --------
        >>> import numpy as np
        >>> from particletree import SMC, BayesianTreeClassifier
        >>> X, y = np.arange(5000.0)[:, None], np.arange(5000) >= 2500
        >>> sampler = BayesianTreeClassifier(sampler=SMC(n_islands=50)).fit(X, y).sampler_
        >>> sampler.n_islands, sampler.n_particles, sampler.proposal, sampler.n_candidates
        (50, 10, 'lookahead', 10)
        """
        chosen = asdict(filter_defaults(data))
        n_candidates = chosen.pop("n_candidates") if self.proposal is None else None
        sampler = replace(self, **{name: value for name, value in chosen.items() if getattr(self, name) is None})
        if sampler.proposal != "lookahead" or sampler.n_candidates is not None:
            return sampler
        return replace(sampler, n_candidates=n_candidates or candidates_for(data.table.n_rows, data.table.n_features))

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
    names = ("n_particles", "proposal", "expansion", "priority", "resampling", "ess_threshold")
    chosen: dict[str, Any] = {name: getattr(settings, name) for name in names}
    return _kernel.run_island(
        problem=task.problem,
        **chosen,
        max_stages=NO_LIMIT if settings.max_stages is None else settings.max_stages,
        generator=np.random.PCG64(seed),
        monitor=monitor,
        island=island,
        n_candidates=settings.n_candidates or 1,  # only `lookahead` has candidates
    )
