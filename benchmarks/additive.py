"""The question: what do sums of trees cost beside other packages for BART, at equal test error.

One run per package, length of chains and seed, on the same rows, with 200 trees and one thread, all else as each
package does by default; several chains are pooled. Ours is run as it is by default, without particle Gibbs (no
regrowing), with 5% of the trees regrown in a sweep, and with k = 3 as well, whose spread of leaf values is about that
of stochtree's default. The error is the root mean square error on the test rows, or the share of wrong classes; the log
score is the mean log of the predictive density there, or of the probability of the class.

The speed-up is a rival's CPU time of the fit, without compilation, over that of our quickest fit that is as good: an
error at most 1% above the rival's, and a log score at most 0.01 below; the least and the most over the rival's lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.bart_packages import Length, Package, Run, has_classes, installed, particletree
from benchmarks.settings import Settings
from benchmarks.tables import diabetes, friedman, paper_table, r_table
from particletree._posterior.predictions.sums import mixture_log_density, mixture_quantile
from particletree.datasets import Split

Floats = NDArray[np.float64]
OURS = "particletree"
N_TREES = 200
LARGE = 5_000  # rows to train: chains of a fifth of the length, and one seed
LONGEST = Length(1_000, 1_000, 2)  # of our chains on the largest table
N_TRAIN, N_TEST = 20_000, 2_000
WORSE_ERROR, WORSE_SCORE = 1.01, 0.01  # tolerances within which results count as equal
FOUR_CHAINS = [Length(n, n, 4) for n in (25, 50, 125, 250, 1_250)]
LENGTHS: dict[str, list[Length]] = {
    OURS: FOUR_CHAINS,
    "particletree, no regrowing": FOUR_CHAINS,
    "particletree, 5% regrown": [*(Length(n, n) for n in (25, 50, 100)), *FOUR_CHAINS],
    "particletree, k = 3, 5% regrown": FOUR_CHAINS,
    "stochtree": [
        Length(0, 100, n_start=10),
        *(Length(n, n) for n in (100, 250, 1_000)),
        *(Length(n, n, 4) for n in (25, 50, 125)),
    ],
    "bartz": [*(Length(n, n) for n in (100, 500)), *(Length(n, n, 4) for n in (25, 125))],
    "pymc_bart": [Length(100, 100)],
}


@dataclass(frozen=True)
class Result:
    """One package with one length of chain on one table."""

    data: str
    package: str
    length: str
    fit_seconds: float
    predict_seconds: float
    compile_seconds: float
    error: float
    log_score: float
    coverage: float | None  # of intervals of new observations; None for classes


def measure(settings: Settings) -> Iterator[Result]:
    """Run every package on every table."""
    packages = {OURS: particletree} if settings.scale == "tiny" else installed(settings.say)
    for tables in tables_of(settings):
        for name, run in packages.items():
            for length in lengths_of(name, tables[0], settings) if is_able(name, tables[0]) else []:
                settings.say(f"{tables[0].name}, {name}, {describe(length)}")
                yield mean_result([score(data, run, name, length, seed) for seed, data in enumerate(tables)])


def is_able(package: str, data: Split) -> bool:
    """Return whether a package is run on a table: pymc-bart only on small regression tables, on which it is slow."""
    return package != "pymc_bart" or (len(data.X_train) <= LARGE and not has_classes(data))


def tables_of(settings: Settings) -> Iterator[list[Split]]:
    """Yield each table, as a list with one split per seed."""
    if settings.scale == "tiny":
        yield [friedman(60, seed) for seed in range(2)]
        return
    seeds = range(settings.choose(tiny=1, quick=1, full=2))
    yield [few_to_test(friedman(1_000, seed)) for seed in seeds]
    yield [diabetes(seed) for seed in seeds]
    if settings.scale == "full":
        large = (friedman(10_000), r_table("diamonds", settings), paper_table("MAGIC", settings, 0))
        yield from ([few_to_test(data)] for data in large if data is not None)


def few_to_test(data: Split) -> Split:
    """Return a table with at most 20,000 rows to train and 2,000 to test."""
    return replace(
        data,
        X_train=data.X_train[:N_TRAIN],
        y_train=data.y_train[:N_TRAIN],
        X_test=data.X_test[:N_TEST],
        y_test=data.y_test[:N_TEST],
    )


def lengths_of(package: str, data: Split, settings: Settings) -> list[Length]:
    """Return the lengths of a package's chains; shorter on large tables, only the first two in a quick run."""
    if settings.scale == "tiny":
        return [Length(5, 10), Length(10, 20)]
    divisor = 5 if len(data.X_train) > LARGE else 1
    lengths = [replace(n, n_burn_in=n.n_burn_in // divisor, n_kept=n.n_kept // divisor) for n in LENGTHS[package]]
    lengths += [LONGEST] if package == "particletree, 5% regrown" and has_classes(data) else []
    return lengths[: settings.choose(tiny=2, quick=2, full=None)]


def describe(length: Length) -> str:
    """Return a length in a few characters.

    Examples
    --------
    >>> describe(Length(100, 200, n_chains=4)), describe(Length(0, 100, n_start=10))
    ('4 x (100 + 200)', '1 x (10 from the root + 0 + 100)')
    """
    start = f"{length.n_start} from the root + " if length.n_start else ""
    return f"{length.n_chains} x ({start}{length.n_burn_in:,} + {length.n_kept:,})"


def score(data: Split, package: Package, name: str, length: Length, seed: int) -> Result:
    """Run a package once, and score its predictions."""
    run = package(data, N_TREES, length, seed)
    scores = class_scores(data, run) if has_classes(data) else number_scores(data, run)
    return Result(data.name, name, describe(length), run.fit_seconds, run.predict_seconds, run.compile_seconds, *scores)


def number_scores(data: Split, run: Run) -> tuple[float, float, float]:
    """Return root mean square error, mean log density and coverage; every package by the same formulas."""
    assert run.noise_sd is not None
    error = np.sqrt(np.mean((run.draws.mean(axis=1) - data.y_test) ** 2))
    log_density = np.mean(mixture_log_density(data.y_test, run.draws, run.noise_sd))
    low, high = (mixture_quantile(run.draws, run.noise_sd, q) for q in (0.05, 0.95))
    return float(error), float(log_density), float(np.mean((low <= data.y_test) & (data.y_test <= high)))


def class_scores(data: Split, run: Run) -> tuple[float, float, None]:
    """Return the share of wrong classes and the mean log-probability."""
    probability, is_second = run.draws.mean(axis=1), data.y_test == np.unique(data.y_train)[1]
    of_label = np.where(is_second, probability, 1 - probability)
    return float(np.mean(of_label < 0.5)), float(np.mean(np.log(of_label))), None


def mean_result(results: Sequence[Result]) -> Result:
    """Return the mean over seeds; the compilation time is that of the first, because the others reuse it."""
    names = ("fit_seconds", "predict_seconds", "error", "log_score")
    means: dict[str, Any] = {name: float(np.mean([getattr(r, name) for r in results])) for name in names}
    covered = [r.coverage for r in results if r.coverage is not None]
    compiled = max(r.compile_seconds for r in results)
    return replace(results[0], **means, compile_seconds=compiled, coverage=float(np.mean(covered)) if covered else None)


def is_ours(result: Result) -> bool:
    """Return whether a line is for this package, with any prior."""
    return result.package.startswith(OURS)


def as_good(rival: Result, results: Sequence[Result]) -> Result | None:
    """Return our fastest result on the same table that is as good as the rival's, None if there is none."""
    ours = [
        r
        for r in results
        if is_ours(r)
        and r.data == rival.data
        and r.error <= WORSE_ERROR * rival.error
        and r.log_score >= rival.log_score - WORSE_SCORE
    ]
    return min(ours, key=lambda r: r.fit_seconds, default=None)


def to_markdown(results: Sequence[Result]) -> str:
    """Return one row per table and rival: its best scores beside ours, and the range of our speed-up."""
    rows = []
    for data, package in dict.fromkeys((r.data, r.package) for r in results if not is_ours(r)):
        theirs = [r for r in results if (r.data, r.package) == (data, package)]
        ours = [r for r in results if r.data == data and is_ours(r)]
        times = sorted(r.fit_seconds / good.fit_seconds for r in theirs if (good := as_good(r, results)))
        span = [markdown.ratio(times[i]) for i in (0, -1)] if times else [markdown.ABSENT] * 2
        best = [f"{min(r.error for r in own):.4g}" for own in (theirs, ours)]
        best += [f"{max(r.log_score for r in own):.3f}" for own in (theirs, ours)]
        rows.append([data, package, *best, f"{len(times)} of {len(theirs)}", *span])
    names = ["least error", "ours", "best log score", "ours", "lengths that we match", "speed-up, least", "most"]
    return markdown.table(["data", "package"], names, rows)
