"""The question: what do the default settings predict, and how fast, against CART, a forest and other settings.

Every method is fitted to the same training rows and scored on the same test rows, with three seeds (one in a quick
run). CART has at least 10 rows in a leaf, and its leaves are smoothed; the forest has 100 trees, and gives every class
at least half a vote. With "auto" the evidence chooses prior and leaves. The Markov chain (4 x 5,000 iterations, default
prior) has a turn on tables of at most 1,500 rows. Where numbers are predicted CART and the forest have a normal
distribution around their predictions. Differences are paired over test rows, with the standard error of one seed. Times
are CPU times of the first seed, on one thread.

The second table has means over tables, of times geometric ones; for numbers the log density takes the place of the
log-probability. "The default's there" is the gain of the default on the tables that the method was fitted to.

What was chosen looking at which rows: particles, islands, candidates, threshold and prior of the default for classes
were picked by the test log-probability on the tables with a star (and two generated ones that are not here), so that
these flatter the default; the others are the fair ones. The default for numbers was picked on generated tables that are
not here; that distinct values count, and not cells, followed from the time on computer prices and wages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from benchmarks import markdown
from benchmarks.models import FOREST_TREES, bounded_probabilities, random_forest
from benchmarks.regression import leaf_normals
from benchmarks.settings import Settings
from benchmarks.tables import CLASSES, HUGE, LARGE, NUMBERS, SEEN, class_tables, friedman, number_names
from benchmarks.targets import Target
from benchmarks.targets import to_markdown as verdicts_to_markdown
from benchmarks.timing import best_times
from particletree import MCMC, SMC, BayesianTreeClassifier, BayesianTreeRegressor, Categorical, TreePrior
from particletree._commands.cart import make_cart, smoothed_probabilities
from particletree.datasets import Split

Floats = NDArray[np.float64]
CART, FOREST, PAPER, DEFAULT, AUTO, CHAIN = "CART", "forest", "paper", "default", "auto", "MCMC"
CLASS, NUMBER = "class", "number"
SMALL = 1_500  # rows to train on which the Markov chain has a turn
TIMED_ROWS, MOST_TIME = (1_000, 100_000), 3.0


@dataclass(frozen=True)
class Estimate:
    """A mean over test rows, with its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"

    @property
    def signed(self) -> str:
        """A difference, with its sign."""
        return f"{self.value:+.3f} ± {self.error:.3f}"


@dataclass(frozen=True)
class Result:
    """One method on one table; differences are those from another method on the same test rows."""

    data: str
    target: str  # CLASS or NUMBER
    is_seen: bool
    n_rows: int  # to train
    n_features: int
    method: str
    seconds: float
    ratio: float  # to CART
    log_probability: float
    over_cart: Estimate  # of log-probabilities
    over_forest: Estimate | None
    quality: Estimate  # accuracy, or mean square error in units of the variance
    quality_over_cart: Estimate


@dataclass(frozen=True)
class Scores:
    """The scores of a method on the test rows of one seed."""

    logs: Floats  # log-probability or log density of what was observed
    quality: Floats  # 1 where the most probable class is right, or the square error in units of the variance


Models = dict[str, Any]


def measure(settings: Settings) -> Iterator[Result]:
    """Compare on every table, first those with classes."""
    seeds = range(settings.choose(tiny=1, quick=1, full=3))
    for target, name, splits in tables(settings, seeds):
        settings.say(name)
        yield from compare(target, name, splits, settings)


def tables(settings: Settings, seeds: range) -> Iterator[tuple[str, str, list[Split]]]:
    """Yield each available table: the type of its target, its name, and one split per seed."""
    loaders = [(CLASS, name, CLASSES[name]) for name in class_tables(settings)]
    loaders += [(NUMBER, name, NUMBERS[name]) for name in number_names(settings)]
    if settings.scale == "tiny":
        loaders.append((NUMBER, "Friedman #1, 200 rows", lambda settings, seed: friedman(200, seed)))
    for target, name, load in loaders:
        first = load(settings, seeds[0])
        if first is not None:
            later = seeds[1:] if len(first.y_train) <= HUGE else []
            yield target, name, [first, *(split for seed in later if (split := load(settings, seed)) is not None)]


def compare(target: str, name: str, splits: Sequence[Split], settings: Settings) -> Iterator[Result]:
    """Fit all methods to every split, the first one timed, and compare their predictions."""
    first = splits[0]
    models = models_for(target, first, seed=0, n_jobs=1)
    seconds = best_times(fits(models, first), rounds(models, len(first.y_train), settings), time.process_time)
    scores = [score_all(target, models, first)]
    for seed, split in enumerate(splits[1:], start=1):
        models = models_for(target, split, seed, n_jobs=-1)  # these fits are not timed
        for fit in fits(models, split).values():
            fit()
        scores.append(score_all(target, models, split))
    for method in models:
        yield Result(
            data=name,
            target=target,
            is_seen=name in SEEN,
            n_rows=len(first.y_train),
            n_features=first.X_train.shape[1],
            method=method,
            seconds=seconds[method],
            ratio=seconds[method] / seconds[CART],
            log_probability=float(np.mean([s[method].logs.mean() for s in scores])),
            over_cart=mean_over([s[method].logs - s[CART].logs for s in scores]),
            over_forest=mean_over([s[method].logs - s[FOREST].logs for s in scores]) if FOREST in models else None,
            quality=mean_over([s[method].quality for s in scores]),
            quality_over_cart=mean_over([s[method].quality - s[CART].quality for s in scores]),
        )


def models_for(target: str, data: Split, seed: int, n_jobs: int) -> Models:
    """Return the methods: all of them on small tables, the fast ones on huge ones."""
    n_rows = len(data.y_train)
    if target == NUMBER:
        return {
            CART: DecisionTreeRegressor(min_samples_leaf=10, random_state=seed),
            FOREST: RandomForestRegressor(FOREST_TREES, oob_score=True, n_jobs=n_jobs, random_state=seed),
            DEFAULT: BayesianTreeRegressor(n_jobs=n_jobs, random_state=seed),
        }
    ours = partial(BayesianTreeClassifier, n_jobs=n_jobs, random_state=seed)
    models: Models = {CART: make_cart(random_state=seed), DEFAULT: ours()}
    if n_rows <= HUGE:
        models[FOREST] = random_forest(n_jobs=n_jobs, random_state=seed)
        models[PAPER] = ours(TreePrior.paper(), Categorical.paper(), SMC.paper())
        models[AUTO] = ours(TreePrior("auto", "auto"), Categorical("auto"))
    if n_rows <= SMALL:
        models[CHAIN] = ours(sampler=MCMC(n_iterations=5_000, n_chains=4))
    return models


def fits(models: Models, data: Split) -> dict[str, Callable[[], Any]]:
    """Return the fit of each model, to be called."""
    return {name: partial(model.fit, data.X_train, data.y_train) for name, model in models.items()}


def rounds(models: Models, n_rows: int, settings: Settings) -> dict[str, int]:
    """Return how often each is timed: the slow ones once, and all less often on large tables."""
    n_rounds = settings.choose(tiny=1, quick=3, full=9)
    n_rounds = 1 if n_rows > HUGE else min(3, n_rounds) if n_rows > LARGE else n_rounds
    return {name: 1 if name in (FOREST, CHAIN) else n_rounds for name in models}


def score_all(target: str, models: Models, data: Split) -> dict[str, Scores]:
    """Return the scores of each fitted model on the test rows."""
    score = score_classes if target == CLASS else score_numbers
    return {name: score(name, model, data) for name, model in models.items()}


def score_classes(name: str, model: Any, data: Split) -> Scores:
    """Return the log-probability of each test row's class, and whether it is the most probable."""
    rivals: dict[str, Any] = {CART: smoothed_probabilities, FOREST: bounded_probabilities}
    probabilities = rivals[name](model, data.X_test) if name in rivals else model.predict_proba(data.X_test)
    truth = np.searchsorted(model.classes_, data.y_test)
    is_right = probabilities.argmax(axis=1) == truth
    return Scores(np.log(probabilities[np.arange(len(truth)), truth]), is_right.astype(np.float64))


def score_numbers(name: str, model: Any, data: Split) -> Scores:
    """Return the log density of each test row's target, and the squared error of the mean."""
    mean, y = model.predict(data.X_test), data.y_test
    if name == CART:
        logs = norm.logpdf(y, *leaf_normals(model, data))
    elif name == FOREST:
        logs = norm.logpdf(y, mean, np.std(model.oob_prediction_ - data.y_train))
    else:
        logs = model.predict_log_density(data.X_test, y)
    return Scores(np.asarray(logs), np.asarray((mean - y) ** 2 / np.var(data.y_train)))


def mean_over(values: Sequence[Floats]) -> Estimate:
    """Return the mean over seeds, with the standard error of one seed."""
    errors = [v.std(ddof=1) / np.sqrt(len(v)) for v in values]
    return Estimate(float(np.mean([v.mean() for v in values])), float(np.mean(errors)))


def promises(results: Sequence[Result]) -> list[Target]:
    """Compare the default settings with their targets, table by table."""
    rows = []
    for target, measure_name, quality in ((CLASS, "log-probability", "accuracy"), (NUMBER, "log density", "RMSE")):
        ours = [r for r in results if r.method == DEFAULT and r.target == target]
        sign = 1 if target == CLASS else -1  # whether higher or lower is better
        work = f"default, tables with a {target}"
        timed = [r for r in ours if TIMED_ROWS[0] <= r.n_rows <= TIMED_ROWS[1]]
        rows += [
            verdict(
                work,
                f"{measure_name} not below CART's, on every table",
                {shown(r): r.over_cart.signed for r in ours if r.over_cart.value < 0},
                len(ours),
            ),
            verdict(
                work,
                f"{measure_name} not below the forest's, on most tables",
                {shown(r): r.over_forest.signed for r in ours if r.over_forest and r.over_forest.value < 0},
                sum(r.over_forest is not None for r in ours),
                share_allowed=0.5,
            ),
            verdict(
                work,
                f"{quality} not worse than CART's by more than a standard error, on any table",
                {
                    shown(r): r.quality_over_cart.signed
                    for r in ours
                    if sign * r.quality_over_cart.value < -r.quality_over_cart.error
                },
                len(ours),
            ),
            verdict(
                work,
                f"fit <= {MOST_TIME:g} x CART's, {TIMED_ROWS[0]:,} to {TIMED_ROWS[1]:,} rows",
                {shown(r): f"{markdown.ratio(r.ratio)} x" for r in timed if r.ratio > MOST_TIME},
                len(timed),
            ),
        ]
    return rows


def verdict(work: str, promise: str, failures: Mapping[str, str], n_tables: int, share_allowed: float = 0.0) -> Target:
    """Return a target with the tables on which it is not met; undecided if there are no tables."""
    kept = f"{n_tables - len(failures)} of {n_tables} tables"
    but = "; not: " + "; ".join(f"{name} ({figure})" for name, figure in failures.items()) if failures else ""
    return Target(work, promise, kept + but, len(failures) <= share_allowed * n_tables if n_tables else None)


def shown(result: Result) -> str:
    """Return a table's name, with a star if the settings were chosen on its test rows."""
    return result.data + ("*" if result.is_seen else "")


def to_markdown(results: Sequence[Result]) -> str:
    """Return the targets and whether they are met, then every method's gain over CART beside the default's there."""
    rows = []
    for target in (CLASS, NUMBER):
        by_table = group(r for r in results if r.target == target)
        for method in (DEFAULT, PAPER, AUTO, CHAIN, FOREST):
            pairs = [(row[method], row[DEFAULT]) for row in by_table if method in row]
            if pairs:
                gain, default = np.mean([[r.over_cart.value for r in pair] for pair in pairs], axis=0)
                lowest = min(r.over_cart.value for r, _ in pairs)
                time = float(np.exp(np.mean([np.log(r.ratio) for r, _ in pairs])))
                figures = [f"{gain:+.3f}", f"{default:+.3f}", f"{lowest:+.3f}", markdown.ratio(time)]
                rows.append([target, method, str(len(pairs)), *figures])
    names = ["tables", "log-probability - CART's, mean", "the default's there", "at worst", "fit, x CART"]
    return f"{verdicts_to_markdown(promises(results))}\n\n{markdown.table(['target', 'method'], names, rows)}"


def group(results: Iterator[Result]) -> list[dict[str, Result]]:
    """Return for each table its results by method."""
    by_table: dict[str, dict[str, Result]] = {}
    for r in results:
        by_table.setdefault(r.data, {})[r.method] = r
    return list(by_table.values())
