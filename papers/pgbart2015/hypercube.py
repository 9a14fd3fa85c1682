r"""Hypercube-D: one tree with one leaf per corner of a cube, and how well chains mix over it.

*Data*, as in the authors' published scripts: there are 10 training rows around each of the :math:`2^D` corners
:math:`\{-1, 1\}^D`, with normal noise of standard deviation 0.1 in every feature; the target is one number per corner,
from :math:`N(0, 3^2)`, without noise. A sum of trees with m = 1 and the prior :math:`\alpha_s = 0.95, \beta_s = 0.5`
has to find all corners: the tree must be D deep, and a split improves the fit little before those below it exist.

*Chains* start at a single leaf, and a sweep is one move of the tree, a draw of its leaf values and one of the noise.
The paper's three samplers are grow and prune; Chipman's moves; and particle Gibbs, which redraws a whole tree with 10
particles and the prior proposal. Our Chipman's moves for sums have no swap. We add three samplers: particle Gibbs with
the proposals `lookahead` and `optimal` and few particles, and a mixture in which one in five moves is particle Gibbs.
Cheap moves get ten times as many sweeps, of which every tenth is kept.

*Effective sample size* (ESS) is that of the log likelihood over 4 chains without their first halves, rank-normalised
and split, so that it is small for chains in different modes. Next to it is the sum of the ESS of each chain alone,
which can be large for a chain that never moves its tree. The last columns are R-hat, and the share of chains that found
the corners: whose last tree explains 99% of the variance.

*Several data sets* are needed, because the ESS of four chains varies between them by an order of magnitude. Samplers
are compared on the same data sets: the mean of the log of the ratio of their ESS per second to that of Chipman's moves,
with its standard error.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks import markdown
from particletree import BARTRegressor, TreePrior
from particletree._inference.bart.sampler import BARTMoves
from particletree._posterior.runs.convergence import bulk_ess, split_rhat

Floats = NDArray[np.float64]
DIMENSIONS = (2, 3, 4, 5, 6, 7)
ROWS_PER_CORNER, FEATURE_SD, CORNER_SD = 10, 0.1, 3.0
N_ITERATIONS, N_CHAINS = 2_000, 4
EXPLAINED = 0.99
THIN = 10  # for cheap moves
PRIOR = TreePrior(alpha=0.95, beta=0.5)
CHIPMAN = "grow, prune, change"


def _gibbs(proposal: str, n_particles: int, share: float = 1.0) -> dict[str, Any]:
    return {"regrow_share": share, "proposal": proposal, "n_particles": n_particles, "n_candidates": 20}


METHODS: dict[str, dict[str, Any]] = {
    "grow, prune": {"regrow_share": 0.0, "move_weights": (0.5, 0.5, 0.0, 0.0)},
    CHIPMAN: {"regrow_share": 0.0},
    "particle Gibbs, prior, 10 particles": _gibbs("prior", 10),
    "particle Gibbs, lookahead, 4 particles": _gibbs("lookahead", 4),
    "particle Gibbs, optimal, 4 particles": _gibbs("optimal", 4),
    "one in five: particle Gibbs, optimal, 4 particles": _gibbs("optimal", 4, 0.2),
}


@dataclass(frozen=True)
class Result:
    """One sampler on one hypercube."""

    dimension: int
    method: str
    seconds: float  # CPU time of all chains
    ess: float
    ess_apart: float  # sum over chains of the ESS of each alone
    rhat: float
    found: float  # share of chains that found the corners

    @property
    def ess_per_second(self) -> float:
        """Effective sample size per CPU second."""
        return self.ess / self.seconds


def hypercube(dimension: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Return features and target.

    Examples
    --------
    >>> X, y = hypercube(3)
    >>> X.shape, len(np.unique(y))
    ((80, 3), 8)
    """
    generator = np.random.default_rng(seed)
    corners = np.stack(np.meshgrid(*[(-1.0, 1.0)] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    corner_of_row = np.repeat(np.arange(len(corners)), ROWS_PER_CORNER)
    X = corners[corner_of_row] + FEATURE_SD * generator.standard_normal((len(corner_of_row), dimension))
    return X, (CORNER_SD * generator.standard_normal(len(corners)))[corner_of_row]


def measure(
    dimensions: Sequence[int] = DIMENSIONS, n_iterations: int = N_ITERATIONS, seed: int = 0
) -> Iterator[Result]:
    """Run every sampler on every hypercube."""
    for dimension in dimensions:
        for name in METHODS:
            yield run(dimension, name, n_iterations, seed)


def run(dimension: int, method: str, n_iterations: int, seed: int = 0) -> Result:
    """Run the chains of one sampler, and measure how well they mix."""
    X, y = hypercube(dimension, seed)
    thin = 1 if METHODS[method]["regrow_share"] == 1.0 else THIN
    model = BARTRegressor(
        n_trees=1,
        prior=PRIOR,
        n_iterations=thin * n_iterations,
        thin=thin,
        n_chains=N_CHAINS,
        moves=BARTMoves(n_start=0, **METHODS[method]),
        n_jobs=1,
        random_state=seed,
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how the chains mix is what is measured
        model.fit(X, y)
    seconds = time.process_time() - start
    trace = model.posterior_.records[0].trace["log_likelihood"].reshape(N_CHAINS, -1)
    apart = sum(bulk_ess(chain[None]) for chain in trace)
    return Result(dimension, method, seconds, bulk_ess(trace), apart, split_rhat(trace), share_found(model, X, y))


def share_found(model: BARTRegressor, X: Floats, y: Floats) -> float:
    """Return the share of chains whose last draw explains 99% of the variance."""
    last = model.posterior_.predictions.functions(X).reshape(len(y), N_CHAINS, -1)[:, :, -1]
    unexplained = np.mean((last - y[:, None]) ** 2, axis=0) / np.var(y)
    return float(np.mean(unexplained < 1 - EXPLAINED))


@dataclass(frozen=True)
class Comparison:
    """One sampler on several hypercubes of one dimension, compared with Chipman's moves on the same."""

    dimension: int
    method: str
    ess_per_second: float  # geometric mean
    log_ratio: float  # of ESS per second to that of Chipman's moves, mean over data sets
    standard_error: float
    found: float

    def describe_ratio(self) -> str:
        """Return the ratio, with its interval of two standard errors."""
        if self.method == CHIPMAN:
            return markdown.ABSENT
        low, middle, high = np.exp(self.log_ratio + 2 * self.standard_error * np.arange(-1, 2))
        return f"{middle:.2g} ({low:.2g} to {high:.2g})"


def compare(results: Sequence[Result]) -> list[Comparison]:
    """Compare every sampler in every dimension with Chipman's moves; results are ordered by data set."""
    comparisons = []
    for dimension in dict.fromkeys(r.dimension for r in results):
        here = {name: [r for r in results if (r.dimension, r.method) == (dimension, name)] for name in METHODS}
        logs = {name: np.log([r.ess_per_second for r in of_method]) for name, of_method in here.items()}
        for name, of_method in here.items():
            ratios = logs[name] - logs[CHIPMAN]
            error = float(np.std(ratios, ddof=1) / np.sqrt(len(ratios))) if len(ratios) > 1 else np.nan
            found = float(np.mean([r.found for r in of_method]))
            mean = float(np.exp(logs[name].mean()))
            comparisons.append(Comparison(dimension, name, mean, float(ratios.mean()), error, found))
    return comparisons


def comparisons_to_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as a Markdown table."""
    return markdown.table(
        ["D", "sampler"],
        ["ESS per second", "times that of Chipman's moves", "chains that found the corners"],
        [
            [str(c.dimension), c.method, markdown.ratio(c.ess_per_second), c.describe_ratio(), f"{c.found:.0%}"]
            for c in comparisons
        ],
    )


def to_markdown(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    return markdown.table(
        ["D", "sampler"],
        ["CPU", "ESS", "ESS per second", "ESS of chains apart", "R-hat", "chains that found the corners"],
        [
            [
                str(r.dimension),
                r.method,
                markdown.duration(r.seconds),
                f"{r.ess:,.0f}",
                markdown.ratio(r.ess_per_second),
                f"{r.ess_apart:,.0f}",
                f"{r.rhat:.2f}",
                f"{r.found:.0%}",
            ]
            for r in results
        ],
    )
