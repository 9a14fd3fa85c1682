"""The question: how much longer does the Markov chain take to predict as well as the particle filter.

The filter (5 islands of 100 particles) is fitted with many seeds; its time is the median, its quality the mean
log-probability of the test rows. Chains run for a few hundred times that long. What a chain would have answered earlier
is the mean of its predictions so far (`posterior.until`), over all iterations or over their second half, whichever is
better. Its time leaves out preparing the data, which the filter's includes; both favour the chain. Where a chain does
not get there, the ratio is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.data_sets import main_data_sets
from benchmarks.models import bayesian_tree
from benchmarks.settings import Settings
from benchmarks.timing import time_once
from particletree._commands.cart import mean_log_probability
from particletree._model.target import class_labels
from particletree._posterior import Posterior
from particletree.datasets import Split
from particletree.inference import MCMC, SMC

PILOT_ITERATIONS = 5_000
MAX_ITERATIONS = 5_000_000


@dataclass(frozen=True)
class Comparison:
    """Comparison of the filter with chains on one data set."""

    data: str
    n_chains: int
    filter_seconds: float
    filter_log_probability: float
    chain_seconds: float  # until the filter's log-probability is reached; all the time there was if it is not
    reached: bool
    ratio: float  # of the two times: a lower bound where it is not reached
    best_log_probability: float  # of the chains, at any moment
    curve_seconds: tuple[float, ...]
    curve_log_probability: tuple[float, ...]


def measure(settings: Settings) -> Iterator[Comparison]:
    """Compare on the main data sets, with one chain and with four."""
    n_seeds = settings.choose(tiny=2, quick=1, full=3)
    n_kept = settings.choose(tiny=100, quick=300, full=1500)
    times_longer = settings.choose(tiny=2, quick=30, full=400)
    for data in main_data_sets(settings):
        filters = [measure_filter(data, seed) for seed in range(settings.choose(tiny=2, quick=3, full=10))]
        limit = times_longer * float(np.median([seconds for seconds, _ in filters]))
        for n_chains in (1, 4):
            settings.say(f"{data.name}, {_chains(n_chains)}, about {markdown.duration(limit)} a run")
            curves = []
            for seed in range(n_seeds):
                curves.append(measure_chains(data, n_chains, limit, n_kept, seed))
                filters.append(measure_filter(data, len(filters)))
            yield compare(data.name, n_chains, filters, curves)


def measure_filter(data: Split, seed: int) -> tuple[float, float]:
    """Return the time of a fit, and its mean test log-probability."""
    model = bayesian_tree(SMC.paper(n_particles=100, n_islands=5), seed)
    seconds = time_once(lambda: model.fit(data.X_train, data.y_train))
    return seconds, mean_log_probability(model.predict_proba(data.X_test), model.classes_, data.y_test)


def measure_chains(data: Split, n_chains: int, seconds: float, n_kept: int, seed: int) -> NDArray[np.float64]:
    """Run chains for about `seconds` in all; return times and log-probabilities, shape (2, n_readings)."""
    pilot = bayesian_tree(MCMC(n_iterations=PILOT_ITERATIONS, n_chains=1, burn_in=0, thin=PILOT_ITERATIONS), seed)
    pilot.fit(data.X_train, data.y_train)
    rate = PILOT_ITERATIONS / float(pilot.posterior_.trace[0]["seconds"][-1])
    n_iterations = int(np.clip(rate * seconds / n_chains, 500, MAX_ITERATIONS))
    thin = max(1, n_iterations * n_chains // n_kept)
    model = bayesian_tree(MCMC(n_iterations=n_iterations, n_chains=n_chains, burn_in=0, thin=thin), seed)
    model.fit(data.X_train, data.y_train)
    return read_curve(model.posterior_, thin, data)


def read_curve(posterior: Posterior, thin: int, data: Split) -> NDArray[np.float64]:
    """Return the chains' times and the quality of their predictions, at geometrically spaced iterations."""
    n_kept = reading_points(posterior.trace[0].size)
    means = {k: posterior.until(k * thin).predictive(data.X_test) for k in n_kept}
    readings = []
    for k in n_kept:
        seconds = sum(float(trace["seconds"][k - 1]) for trace in posterior.trace)
        candidates = (means[k], later_half(means, k))
        scores = [
            mean_log_probability(p.clip(min=1e-12), class_labels(posterior.target), data.y_test) for p in candidates
        ]
        readings.append((seconds, max(scores)))
    return np.array(readings).T


def later_half(means: Mapping[int, NDArray[np.float64]], k: int) -> NDArray[np.float64]:
    """Return the mean over the later half of the first k draws, from the means over all draws up to each reading.

    If no reading is early enough to leave out a first half, it is the mean over all of them.

    Examples
    --------
    >>> float(later_half({2: np.array(1.0), 4: np.array(3.0)}, 4))  # the first two draws average 1, the others 5
    5.0
    """
    halves = [h for h in means if h <= k / 2]
    if not halves:
        return means[k]
    h = max(halves)
    return np.asarray((k * means[k] - h * means[h]) / (k - h), dtype=np.float64)


def reading_points(n: int) -> list[int]:
    """Return the numbers 4, 6, 8, 11, 16, ... up to n, growing by the square root of 2, and n itself.

    Examples
    --------
    >>> reading_points(20)
    [4, 6, 8, 11, 16, 20]
    """
    points = [round(4 * 2 ** (i / 2)) for i in range(64)]
    return [*(k for k in points if k < n), n]


def compare(
    data: str, n_chains: int, filters: Sequence[tuple[float, float]], curves: Sequence[NDArray[np.float64]]
) -> Comparison:
    """Find where the chains' mean curve reaches the filter's mean log-probability."""
    seconds, log_prob = float(np.median([s for s, _ in filters])), float(np.mean([p for _, p in filters]))
    times, log_probs = mean_curve(curves)
    reached_at = first_crossing(times, log_probs, log_prob)
    chain_seconds = float(times[-1]) if reached_at is None else reached_at
    return Comparison(
        data=data,
        n_chains=n_chains,
        filter_seconds=seconds,
        filter_log_probability=log_prob,
        chain_seconds=chain_seconds,
        reached=reached_at is not None,
        ratio=chain_seconds / seconds,
        best_log_probability=float(log_probs.max()),
        curve_seconds=tuple(times.tolist()),
        curve_log_probability=tuple(log_probs.tolist()),
    )


def mean_curve(curves: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over runs of the log-probability, at times that all runs cover, interpolated in log time.

    Examples
    --------
    >>> times, log_probs = mean_curve([np.array([[1.0, 4.0], [-3.0, -1.0]]), np.array([[2.0, 4.0], [-5.0, -3.0]])])
    >>> times.tolist(), log_probs.tolist()
    ([2.0, 4.0], [-3.5, -2.0])
    """
    begin, end = max(curve[0, 0] for curve in curves), min(curve[0, -1] for curve in curves)
    times = np.unique(np.concatenate([curve[0] for curve in curves]).clip(begin, end))
    lines = [np.interp(np.log(times), np.log(curve[0]), curve[1]) for curve in curves]
    return times, np.mean(lines, axis=0)


def first_crossing(times: NDArray[np.float64], values: NDArray[np.float64], level: float) -> float | None:
    """Return the first time at which the curve is at `level` or above, by interpolation in log time.

    Examples
    --------
    >>> round(first_crossing(np.array([1.0, 100.0]), np.array([-2.0, -1.0]), level=-1.5), 6)
    10.0
    """
    at_level = np.flatnonzero(values >= level)
    if at_level.size == 0:
        return None
    i = int(at_level[0])
    if i == 0:
        return float(times[0])
    share = (level - values[i - 1]) / (values[i] - values[i - 1])
    return float(np.exp(np.log(times[i - 1]) + share * np.log(times[i] / times[i - 1])))


def _chains(n_chains: int) -> str:
    return "1 chain" if n_chains == 1 else f"{n_chains} chains"


def to_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as a Markdown table."""
    return markdown.table(
        ["data", "against"],
        ["filter's fit", "its log-probability", "chain reaches it after", "x the filter's time", "chain's best"],
        [
            [
                c.data,
                _chains(c.n_chains),
                markdown.duration(c.filter_seconds),
                f"{c.filter_log_probability:.3f}",
                markdown.duration(c.chain_seconds) if c.reached else f"not within {markdown.duration(c.chain_seconds)}",
                ("" if c.reached else "more than ") + markdown.ratio(c.ratio),
                f"{c.best_log_probability:.3f}",
            ]
            for c in comparisons
        ],
    )
