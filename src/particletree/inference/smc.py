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

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree.data import TrainingData
from particletree.inference.parallel import Task, run_in_parallel, spawn, to_island
from particletree.model.leaf import Categorical
from particletree.model.parameters import Parameters, check_choice, check_integer, check_real
from particletree.model.prior import TreePrior
from particletree.posterior import Island, Posterior
from particletree.posterior.traces import FILTER_RECORD


class TruncatedTreesWarning(UserWarning):
    """The filter reached `max_stages` before every block was decided on."""


@dataclass(kw_only=True)
class SMC(Parameters):
    """Top-down particle filtering.

    Parameters
    ----------
    n_particles : int, default 100
        Particles per island.
    n_islands : int, default 5
        Independent filters whose posteriors are averaged.
    proposal : {"prior", "empirical", "optimal"}, default "prior"
        How a decision is drawn: blindly from the prior, with the cut between two adjacent data points, or in
        proportion to prior times likelihood. `optimal` needs few particles, and wins where most features are noise.
    expansion : {"node", "layer"}, default "node"
        Consider one block per stage, or all that are open.
    priority : {"oldest", "likelihood"}, default "oldest"
        Which block comes first: the oldest, or the one with the lowest marginal likelihood.
    resampling : {"multinomial", "systematic", "stratified", "residual"}, default "multinomial"
        How particles are drawn anew.
    ess_threshold : float, default 0.1
        Resample when the effective sample size is below this share of the particles: 0 never, 1 always.
    max_stages : int, default 5000
        Blocks that are undecided after this many stages become leaves, with a warning.
    island_weighting : {"uniform", "evidence"}, default "uniform"
        Whether islands count the same or in proportion to their evidence.

    Examples
    --------
    >>> from particletree import SMC
    >>> SMC(n_particles=500, n_islands=1, proposal="optimal").n_particles
    500
    """

    n_particles: int = 100
    n_islands: int = 5
    proposal: str = "prior"
    expansion: str = "node"
    priority: str = "oldest"
    resampling: str = "multinomial"
    ess_threshold: float = 0.1
    max_stages: int = 5000
    island_weighting: str = "uniform"

    def validate(self) -> None:
        """Check every parameter."""
        check_integer(self, "n_particles", at_least=1)
        check_integer(self, "n_islands", at_least=1)
        check_choice(self, "proposal", _kernel.PROPOSALS)
        check_choice(self, "expansion", ("node", "layer"))
        check_choice(self, "priority", ("oldest", "likelihood"))
        check_choice(self, "resampling", ("multinomial", "systematic", "stratified", "residual"))
        check_real(self, "ess_threshold", "between 0 and 1", low=0, high=1, closed="both")
        check_integer(self, "max_stages", at_least=1)
        check_choice(self, "island_weighting", ("uniform", "evidence"))

    def run(
        self,
        data: TrainingData,
        prior: TreePrior,
        leaf: Categorical,
        *,
        seed: np.random.SeedSequence,
        feature_names: list[str] | None = None,
        classes: NDArray[Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Posterior:
        """Filter `data` under the model and return the posterior.

        The result depends on `seed` alone: not on `n_jobs`, nor on joblib's backend.
        """
        self.validate()
        task = Task.prepare(data, prior, leaf)
        seeds = spawn(seed, self.n_islands)
        arrays = run_in_parallel(_run_island, self, task, seeds, n_jobs=n_jobs, show_progress=verbose > 0)
        self._warn_if_truncated(arrays)
        return Posterior.from_islands(
            [_to_island(island) for island in arrays],
            leaf=leaf,
            prior=prior,
            n_features=data.table.n_features,
            feature_names=feature_names,
            classes=classes,
            fingerprint=data.fingerprint,
            island_weighting=self.island_weighting,
            kept_rows=data.table.some_rows(),
        )

    def _warn_if_truncated(self, islands: Sequence[_kernel.IslandArrays]) -> None:
        n_truncated = sum(island["truncated"] for island in islands)
        if n_truncated:
            warnings.warn(
                f"{n_truncated} of {len(islands)} islands reached max_stages={self.max_stages} before every block was "
                "decided on; the open blocks were made leaves. Raise max_stages to let the trees grow to their end.",
                TruncatedTreesWarning,
                stacklevel=4,  # run, fit, and who called that
            )


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
        max_stages=settings.max_stages,
        generator=np.random.PCG64(seed),
        monitor=monitor,
        island=island,
    )


def _to_island(arrays: _kernel.IslandArrays) -> Island:
    trace = np.empty(arrays["trace_ess"].size, dtype=FILTER_RECORD)
    trace["ess"] = arrays["trace_ess"]
    trace["resampled"] = arrays["trace_resampled"]
    trace["n_blocks"] = arrays["trace_n_blocks"]
    trace["log_evidence"] = arrays["trace_log_evidence"]
    return to_island(arrays, arrays["log_evidence"], trace)
