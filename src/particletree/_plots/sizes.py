r"""The size of trees: number of leaves and depth under the posterior and under the prior.

The prior depends on the table, because a block of one row cannot be cut. If the training rows are given, trees are
drawn from the prior on them, by the particle filter with a flat likelihood (`Flat`).

Without the rows, a branching process that uses only their number is simulated: a node at depth d splits with
probability :math:`\alpha / (1 + d)^\beta`, the cut sends a uniformly distributed number of the rows to the left (as a
uniform cut of uniform values does), and a node with fewer than two rows, or beyond the limits of the prior, stops. This
tends to be too large: ties and long tails make the trees of the prior smaller. With the default prior it has 21 leaves
on average for iris and 33 for breast cancer, and the prior on the rows 18 and 19.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._estimators import BayesianTreeClassifier
from particletree._inference import SMC
from particletree._model import Flat
from particletree._model.prior import Prior
from particletree._plots.names import posterior_of
from particletree._plots.style import BLUE, ORANGE, finish, legend_above, panels_or_new
from particletree._posterior import Posterior

if TYPE_CHECKING:
    from particletree._plots.style import Axes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_NODES = 2_000_000  # of all simulated trees together
N_BINS = 24


@dataclass(frozen=True, eq=False)
class Sizes:
    """Distributions of the number of leaves and the depth.

    Attributes
    ----------
    leaves, depths : ndarray of int
        The sizes, in increasing order.
    leaves_posterior, leaves_prior, depths_posterior, depths_prior : ndarray
        Their probabilities; those under the prior are frequencies in random draws.
    """

    leaves: Ints
    leaves_posterior: Floats
    leaves_prior: Floats
    depths: Ints
    depths_posterior: Floats
    depths_prior: Floats


def sizes_data(model: Any, X: Any = None, *, n_draws: int = 500, random_state: int = 0) -> Sizes:
    """Return the posterior and the prior of the number of leaves and of the depth.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    X : array-like or data frame, optional
        The training rows, on which trees are drawn from the prior; without them the prior is approximated by a
        branching process that uses only their number, and tends to be too large.
    n_draws : int, default 500
        Number of trees drawn from the prior; fewer on large tables without X.
    random_state : int, default 0
        Seed of these draws.

    Returns
    -------
    Sizes
        The sizes `leaves` and `depths`, with probabilities `leaves_posterior`, `leaves_prior`, `depths_posterior` and
        `depths_prior`.
    """
    posterior = posterior_of(model)
    if X is None:
        n_rows = max(1, int(posterior.leaf.n_rows(posterior.root_statistics)))
        rng = np.random.default_rng(random_state)
        leaves, depths = simulate_prior(posterior.prior, n_rows, max(20, min(n_draws, MOST_NODES // n_rows)), rng)
    else:
        leaves, depths = draw_prior(posterior, X, n_draws, random_state)
    return Sizes(
        *distributions(posterior.n_leaves, posterior.weights, leaves),
        *distributions(posterior.depths, posterior.weights, depths),
    )


def draw_prior(posterior: Posterior, X: Any, n_draws: int, random_state: int) -> tuple[Ints, Ints]:
    """Return the leaves and depths of trees drawn from the prior on rows, with arbitrary labels, which are ignored."""
    flat = BayesianTreeClassifier(
        prior=posterior.prior,
        leaf=Flat(),
        sampler=SMC.paper(n_particles=n_draws, n_islands=1, proposal="prior"),
        categorical_features=sorted(posterior.columns.levels) or None,
        random_state=random_state,
    )
    drawn = flat.fit(X, np.arange(len(X)) % 2).posterior_
    counts = np.rint(drawn.weights * n_draws).astype(np.int64)  # all particles have equal weights
    return np.repeat(drawn.n_leaves, counts), np.repeat(drawn.depths, counts)


def simulate_prior(prior: Prior, n_rows: int, n_draws: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the leaves and depths of trees drawn by the branching process above."""
    leaves, depths = np.ones(n_draws, dtype=np.int64), np.zeros(n_draws, dtype=np.int64)
    tree, rows = np.arange(n_draws), np.full(n_draws, n_rows)
    depth, deepest = 0, np.inf if prior.max_depth is None else prior.max_depth
    while tree.size and depth < deepest:
        sizes, place = np.unique(rows, return_inverse=True)
        s = np.array([prior.split_probability(depth, int(n)) for n in sizes])[place]
        splits = (rng.random(tree.size) < s) & (rows >= max(2, prior.min_samples_split))
        tree, rows = tree[splits], rows[splits]
        left = rng.integers(1, np.maximum(rows, 2))
        leaves += np.bincount(tree, minlength=n_draws)
        depth += 1
        depths[tree] = depth
        tree, rows = np.tile(tree, 2), np.concatenate((left, rows - left))
    return leaves, depths


def distributions(sizes: Ints, weights: Floats, draws: Ints) -> tuple[Ints, Floats, Floats]:
    """Return the sizes that occur, their probabilities under these weights, and their shares among the draws."""
    values = np.unique(np.concatenate((sizes, draws)))
    of_posterior = np.bincount(np.searchsorted(values, sizes), weights=weights, minlength=values.size)
    of_prior = np.bincount(np.searchsorted(values, draws), minlength=values.size) / draws.size
    return values, of_posterior.astype(np.float64), of_prior


def plot_sizes(model: Any, X: Any = None, axes: Any = None, *, n_draws: int = 500) -> list[Axes]:
    """Draw the posterior (bars) and the prior (line) of the number of leaves and of the depth.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    X : array-like or data frame, optional
        The training rows; without them the prior is approximated, and tends to be too large.
    axes : two Axes, optional
        Where to draw; None makes a new figure.
    n_draws : int, default 500
        Number of trees drawn from the prior.

    Returns
    -------
    list of Axes
        The panels of the leaves and of the depth.
    """
    data = sizes_data(model, X, n_draws=n_draws)
    panels = panels_or_new(axes, 2, height=1.9)
    prior = "prior (rough)" if X is None else "prior"
    draw_sizes(panels[0], data.leaves, data.leaves_posterior, data.leaves_prior, prior)
    draw_sizes(panels[1], data.depths, data.depths_posterior, data.depths_prior, prior)
    finish(panels[0], "leaves", "probability")
    finish(panels[1], "depth")
    legend_above(panels[0], 1)
    return panels


def draw_sizes(ax: Axes, sizes: Ints, of_posterior: Floats, of_prior: Floats, prior: str) -> None:
    """Draw both distributions in common bins, which are wide enough that there are few."""
    edges = bin_edges(sizes)
    heights = [np.histogram(sizes, edges, weights=weights)[0] for weights in (of_posterior, of_prior)]
    ax.bar(edges[:-1], heights[0], np.diff(edges), align="edge", color=BLUE, alpha=0.6, label="posterior")
    ax.stairs(heights[1], edges, color=ORANGE, linewidth=1.3, label=prior)
    if is_wide(sizes):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")


def is_wide(sizes: Ints) -> bool:
    """Tell whether sizes need a logarithmic axis."""
    return bool(sizes[0] > 0 and sizes[-1] > 30 * sizes[0])


def bin_edges(sizes: Ints) -> Floats:
    """Return bin edges at half-integers: one bin per size if there is room, otherwise of equal width on the axis.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._plots.sizes import bin_edges
    >>> bin_edges(np.array([0, 2]))
    array([-0.5,  0.5,  1.5,  2.5])
    """
    low, high = int(sizes[0]), int(sizes[-1])
    if high - low < N_BINS:
        return np.arange(low, high + 2, dtype=np.float64) - 0.5
    spaced = np.geomspace if is_wide(sizes) else np.linspace
    return np.asarray(np.unique(np.floor(spaced(low, high + 1, N_BINS + 1))) - 0.5, dtype=np.float64)
