"""Genealogy of the particles: which lineages have descendants at the end, and how few ancestors all particles have.

Every lineage of equal particles is a band, whose width is its number of copies. From one resampling to the next bands
divide, and those without offspring taper off. Bands are ordered by their parents, so that none crosses another. If
there are many resamplings, some are left out, more of them further back, because the number of ancestors changes
mostly towards the end. ``_posterior/runs/genealogy.py`` explains what few remaining ancestors mean (path degeneracy).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._plots.names import posterior_of
from particletree._plots.style import BLUE, filled, finish, panels_or_new
from particletree._posterior.runs.genealogy import generations, has_descendants, n_ancestors, thinned

if TYPE_CHECKING:
    from particletree._plots.style import Axes

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MAX_GENERATIONS = 24
MAX_TICKS = 8
WIDE = 0.01  # bands of at least this share of the particles have a visible edge


@dataclass(frozen=True, eq=False)
class Bands:
    """The genealogy of one island: bands between generations, and the number of ancestors.

    Attributes
    ----------
    n_particles : int
        Particles of the island, the height of the plot.
    n_resamplings : int
        Number of resamplings.
    stages : ndarray of int, shape (n_generations,)
        The stage of each resampling that is shown, and the last stage.
    ancestors : ndarray of int, shape (n_generations,)
        Number of lineages of each generation that have descendants at the end.
    generation : ndarray of int, shape (n_bands,)
        The generation at which each band ends; it begins at the one before, the first ones at the root.
    start, end : ndarray, shape (n_bands, 2)
        Lower and upper edge at its beginning and end, in particles; a band that ends in a point has no offspring.
    survives : ndarray of bool, shape (n_bands,)
        Whether the band has descendants at the end.
    """

    n_particles: int
    n_resamplings: int
    stages: Indices
    ancestors: Indices
    generation: Indices
    start: Floats
    end: Floats
    survives: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Generation:
    """Lineages of one generation: the position of each, and whether it has descendants at the end."""

    low: Floats
    copies: Floats
    survives: NDArray[np.bool_]


def genealogy_data(model: Any, island: int = 0, max_generations: int = MAX_GENERATIONS) -> Bands:
    """Return the bands of an island's lineages, and the number of remaining ancestors of each generation.

    Parameters
    ----------
    model : estimator or Posterior
        A model fitted with `SMC`.
    island : int, default 0
        Index of the island.
    max_generations : int, default 24
        Maximal number of generations to show, at least 2: the first, the last, and others mostly near the end.

    Returns
    -------
    Bands
        The bands (`generation`, `start`, `end`, `survives`) and, for each generation, `stages` and `ancestors`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from particletree import SMC, BayesianTreeClassifier
    >>> from particletree.plots import genealogy_data
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BayesianTreeClassifier(sampler=SMC.paper(n_particles=200, n_islands=2), random_state=0).fit(X, y)
    >>> data = genealogy_data(clf, island=1)
    >>> data.stages.tolist(), data.ancestors.tolist()
    ([1, 3, 5, 6, 12, 52], [5, 5, 13, 14, 39, 89])
    """
    posterior = posterior_of(model)
    if posterior.genealogy is None:
        raise ValueError("This posterior has no genealogy: only SMC records it, and posteriors put together may not.")
    if not 0 <= island < posterior.n_islands:
        raise ValueError(f"island must be from 0 to {posterior.n_islands - 1}, got {island!r}.")
    resampled = posterior.trace[island]["resampled"]
    kept = shown_generations(int(resampled.sum()) + 1, max_generations)
    genealogy = thinned(posterior.genealogy[island], kept.tolist())
    parts = generations(genealogy)
    steps = bands_of(parts, has_descendants(genealogy))
    return Bands(
        n_particles=int(parts[0]["copies"].sum()),
        n_resamplings=int(resampled.sum()),
        stages=np.append(np.flatnonzero(resampled) + 1, resampled.size)[kept],
        ancestors=n_ancestors(genealogy),
        generation=np.repeat(np.arange(len(parts)), [len(survives) for *_, survives in steps]),
        start=np.concatenate([start for start, _, _ in steps]),
        end=np.concatenate([end for _, end, _ in steps]),
        survives=np.concatenate([survives for *_, survives in steps]),
    )


def shown_generations(n_generations: int, at_most: int) -> Indices:
    """Return the generations to show: all, or some whose distances from the end are evenly spaced on a log scale.

    Examples
    --------
    >>> from particletree._plots.genealogy import shown_generations
    >>> shown_generations(100, 6).tolist()
    [0, 60, 84, 94, 97, 99]
    """
    if at_most < 2:
        raise ValueError(f"max_generations must be at least 2, got {at_most!r}.")
    if n_generations <= at_most:
        return np.arange(n_generations)
    distances = np.round(np.geomspace(1, n_generations, at_most)).astype(np.int64) - 1
    return np.unique(n_generations - 1 - distances)


def bands_of(parts: list[NDArray[Any]], survives: list[NDArray[np.bool_]]) -> list[tuple[Floats, Floats, Any]]:
    """Return the bands that lead to each generation: their start, their end, and whether they survive."""
    older = Generation(np.zeros(1), np.array([float(parts[0]["copies"].sum())]), np.ones(1, dtype=np.bool_))
    steps = []
    for part, alive in zip(parts, survives, strict=True):
        parent, copies = part["parent"].astype(np.int64), part["copies"].astype(np.float64)
        younger = Generation(placed(older.low[parent], copies, alive), copies, alive)
        steps.append(bands_between(older, younger, parent))
        older = younger
    return steps


def placed(parent_low: Floats, copies: Floats, survives: NDArray[np.bool_]) -> Floats:
    """Return the lower edge of each lineage: ordered by parent, then those with descendants, then by size."""
    order = np.lexsort((-copies, ~survives, parent_low))
    low = np.empty(copies.size)
    low[order] = np.cumsum(copies[order]) - copies[order]
    return low


def bands_between(older: Generation, younger: Generation, parent: Indices) -> tuple[Floats, Floats, Any]:
    """Return the bands from parents to their children; a parent without children has one that ends in a point.

    Children share the width of their parent in proportion to their copies.
    """
    offspring = np.bincount(parent, younger.copies, minlength=older.copies.size).astype(np.float64)
    first = placed(older.low, offspring, np.ones(offspring.size, dtype=np.bool_))  # lower edge of the children of each
    scale = older.copies[parent] / offspring[parent]
    begin = older.low[parent] + (younger.low - first[parent]) * scale
    childless = np.flatnonzero(offspring == 0)
    low, point = older.low[childless], first[childless]
    start = np.vstack((edges(begin, younger.copies * scale), edges(low, older.copies[childless])))
    end = np.vstack((edges(younger.low, younger.copies), edges(point, 0.0)))
    return start, end, np.append(younger.survives, np.zeros(childless.size, dtype=np.bool_))


def edges(low: Floats, width: Any) -> Floats:
    """Return lower and upper edges."""
    return np.stack((low, low + width), axis=1)


def plot_genealogy(model: Any, axes: Any = None, *, island: int = 0) -> list[Axes]:
    """Draw the genealogy of an island's particles and, below it, the remaining ancestors of each resampling.

    Each band is a lineage of equal particles, whose width is its number of copies: blue if particles at the end descend
    from it, grey if it dies out.

    Parameters
    ----------
    model : estimator or Posterior
        A model fitted with `SMC`.
    axes : two Axes, optional
        Where to draw, the upper panel first; None makes a new figure.
    island : int, default 0
        Index of the island.

    Returns
    -------
    list of Axes
        The upper and the lower panel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from particletree import SMC, BayesianTreeClassifier
    >>> from particletree.plots import plot_genealogy
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BayesianTreeClassifier(sampler=SMC.paper(n_particles=200, n_islands=2), random_state=0).fit(X, y)
    >>> print(plot_genealogy(clf, island=1)[0].get_title())
    island 2 of 2: all 200 particles descend from
    5 trees of the first resampling
    """
    data, posterior = genealogy_data(model, island), posterior_of(model)
    panels = panels_or_new(axes, 2, height=3.4, is_stacked=True, ratios=(2.2, 1.0))
    draw_bands(panels[0], data)
    steps = np.arange(1, data.ancestors.size + 1)
    panels[1].plot(steps, data.ancestors, color=BLUE, linewidth=1.2, marker="o", markersize=2.5)
    finish(panels[0], "", "particles", describe(data, island, posterior.n_islands))
    is_thinned = data.stages.size <= data.n_resamplings
    finish(panels[1], f"stage of the resampling{' (some left out)' * is_thinned}", "ancestors\nleft")
    panels[1].set_yscale("log")
    panels[1].set_ylim(0.8, 1.3 * data.n_particles)
    powers = 10 ** np.arange(int(np.log10(data.n_particles)) + 1)
    panels[1].set_yticks(powers, [str(power) for power in powers])
    n = data.stages.size
    ticks = np.unique(np.linspace(0, n, min(n + 1, MAX_TICKS)).round().astype(int))
    names = ["0", *(str(stage) for stage in data.stages[:-1]), "end"]
    for panel in panels:
        panel.set_xlim(0, n)
        panel.set_xticks(ticks, [names[tick] for tick in ticks])
    return panels


def describe(data: Bands, island: int, n_islands: int) -> str:
    """Return the title of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._plots.genealogy import Bands, describe
    >>> numbers, none = np.array([2, 5]), np.zeros(0)
    >>> print(describe(Bands(9, 1, numbers, np.array([1, 3]), none, none, none, none), 0, 2))
    island 1 of 2: all 9 particles descend from
    1 tree of the first resampling
    """
    if data.stages.size == 1:
        return f"island {island + 1} of {n_islands}: {data.n_particles} particles, never resampled"
    return (
        f"island {island + 1} of {n_islands}: all {data.n_particles} particles descend from\n"
        f"{data.ancestors[0]} {'tree' if data.ancestors[0] == 1 else 'trees'} of the first resampling"
    )


def draw_bands(ax: Axes, data: Bands) -> None:
    """Draw the bands, those that die out below the others."""
    wide = np.maximum(np.ptp(data.start, axis=1), np.ptp(data.end, axis=1)) >= WIDE * data.n_particles
    for survives, colour in ((False, "#DDDDDD"), (True, "#6BAED6")):
        for has_edge in (False, True):
            shown = np.flatnonzero((data.survives == survives) & (wide == has_edge))
            x = data.generation[shown].astype(np.float64)
            heights = np.hstack((data.start[shown], data.end[shown][:, ::-1]))
            corners = np.stack((np.stack((x, x, x + 1, x + 1), axis=1), heights), axis=2)  # (n, 4, 2)
            filled(ax, corners, colour, "white" if has_edge else colour)
    ax.set_ylim(0, data.n_particles)
