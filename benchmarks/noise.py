"""The question: which prior of the noise do numbers have in a leaf.

`Gaussian()` guesses the noise's standard deviation as a share of the sample's (`NOISE_SHARE`), and gives the guess the
weight of so many rows (`noise_df`). Log evidence of the training rows and log density of the test rows are means per
row, less the best on the same table, so that 0 is the best choice there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import markdown
from benchmarks.settings import Settings
from benchmarks.tables import NumberSplit, number_tables
from particletree import BayesianTreeRegressor, Gaussian
from particletree._model.leaves.numbers import NOISE_SHARE, NOISE_SHARES

DEGREES = (1.0, 3.0, 10.0)
DEFAULT = (NOISE_SHARE, Gaussian().noise_df)


@dataclass(frozen=True)
class Result:
    """One choice on one table."""

    data: str
    share: float
    noise_df: float
    log_evidence: float  # per training row
    log_density: float  # per test row

    @property
    def choice(self) -> tuple[float, float]:
        """The parameters that were chosen."""
        return self.share, self.noise_df


def measure(settings: Settings) -> Iterator[Result]:
    """Fit every choice to every table."""
    n_seeds = settings.choose(tiny=1, quick=1, full=3)
    for data in number_tables(settings):
        settings.say(data.name)
        for share in NOISE_SHARES:
            for noise_df in DEGREES:
                scores = np.mean([score(data, share, noise_df, seed) for seed in range(n_seeds)], axis=0)
                yield Result(data.name, share, noise_df, *map(float, scores))


def score(data: NumberSplit, share: float, noise_df: float, seed: int) -> tuple[float, float]:
    """Return the log evidence per training row and the mean log density of the test rows."""
    leaf = Gaussian(noise_sd=share * np.std(data.y_train), noise_df=noise_df)
    model = BayesianTreeRegressor(leaf=leaf, n_jobs=-1, random_state=seed).fit(data.X_train, data.y_train)
    density = model.predict_log_density(data.X_test, data.y_test).mean()
    return model.log_evidence_ / len(data.y_train), float(density)


def to_markdown(results: Sequence[Result]) -> str:
    """Return the choices over all tables, and the best choice of each table."""
    return "\n\n".join([choices_to_markdown(results), tables_to_markdown(results)])


def choices_to_markdown(results: Sequence[Result]) -> str:
    """Return for every choice its loss against the best one, as the mean and the worst over tables."""
    losses: dict[tuple[float, float], list[tuple[float, float]]] = {}
    for here in by_table(results):
        best_evidence, best_density = max(r.log_evidence for r in here), max(r.log_density for r in here)
        for r in here:
            losses.setdefault(r.choice, []).append((r.log_evidence - best_evidence, r.log_density - best_density))
    rows = []
    for choice, lost in losses.items():
        means, worst = np.mean(lost, axis=0), np.min(lost, axis=0)
        figures = [f"{value:.3f}" for value in (means[0], worst[0], means[1], worst[1])]
        rows.append([f"{choice[0]:g}", f"{choice[1]:g}", *figures, "default" if choice == DEFAULT else ""])
    names = ["log evidence, mean", "at worst", "test log density, mean", "at worst", ""]
    return markdown.table([], ["share of the sd", "degrees of freedom", *names], rows)


def tables_to_markdown(results: Sequence[Result]) -> str:
    """Return for every table the choice with the highest evidence, and its predictions compared with the default."""
    rows = []
    for here in by_table(results):
        chosen = max(here, key=lambda r: r.log_evidence)
        (default,) = (r for r in here if r.choice == DEFAULT)
        choice = f"{chosen.share:g}, {chosen.noise_df:g}"
        lead = f"{chosen.log_evidence - default.log_evidence:.3f}"
        rows.append([chosen.data, choice, lead, f"{chosen.log_density:.3f}", f"{default.log_density:.3f}"])
    names = ["its log evidence - the default's", "its test log density", "the default's"]
    return markdown.table(["data", "highest evidence (share, degrees)"], names, rows)


def by_table(results: Sequence[Result]) -> list[list[Result]]:
    """Return the results of each table."""
    return [[r for r in results if r.data == data] for data in dict.fromkeys(r.data for r in results)]
