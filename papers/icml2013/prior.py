"""Section 4.1: the size of trees under the prior, with alpha 0.95 and beta 0.5.

The paper gives a mean depth of 5.1 and 18.5 nodes. On unlimited data, where every block can split, the prior is a
branching process, whose two means can be computed as well as simulated; on real rows blocks run out of distinct values,
and trees are smaller.
"""

from __future__ import annotations

from papers.harness.panels import Line, Look, Panel
from papers.harness.spread import Estimate, lies_between
from papers.icml2013 import looks
from papers.icml2013.cells import UNLIMITED, Cell, over_seeds
from papers.icml2013.experiment import Claim, Experiment, judge
from papers.icml2013.methods import DEPTHS, NODE_LIMITS, PriorDraws
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Point, Points
from particletree._model.prior import TreePrior

PAPERS_DEPTH, PAPERS_NODES = 5.1, 18.5
TOLERANCE = 0.02  # relative to the paper's figures
LOOKS = (looks.ONE_CHAIN, looks.PRIOR, looks.OPTIMAL)
MANY = 500  # levels, by which a branching process with these probabilities has died out


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: trees from the prior on unlimited data and on each data set's rows."""
    return over_seeds([UNLIMITED, *scale.data], [PriorDraws(scale.n_draws)], scale.n_seeds)


def exact_means(prior: TreePrior) -> tuple[float, float]:
    """Return the mean depth and number of nodes on unlimited data.

    A node at depth d splits with probability s(d), so that a generation is 2 s(d) times as large as the one before.
    The tree is at most h deep with probability q(0), where q(h) = 1 - s(h) and q(d) = 1 - s(d) + s(d) q(d+1)^2.

    Examples
    --------
    >>> from particletree import TreePrior
    >>> [round(mean, 3) for mean in exact_means(TreePrior(0.95, 0.5))]
    [5.095, 18.28]
    """
    s = [prior.split_probability(depth) for depth in range(MANY)]
    n_nodes, generation = 1.0, 1.0
    for split in s:
        generation *= 2 * split
        n_nodes += generation
    return sum(1.0 - at_most(s[: height + 1]) for height in range(MANY)), n_nodes


def at_most(s: list[float]) -> float:
    """Return the probability that no node at the depth of the last of these splits, and the tree is no deeper."""
    q = 1.0 - s[-1]
    for split in reversed(s[:-1]):
        q = 1.0 - split + split * q**2
    return q


def panels(points: Points) -> list[Panel]:
    """Return the distributions of depth and of nodes."""
    looks_by_data = dict(zip(points.data, LOOKS, strict=False))
    return [
        Panel(
            "depth",
            "depth of the tree",
            "share of trees with this depth",
            [distribution(p, "depth = {}", DEPTHS, looks_by_data[p.data]) for p in points.all],
            x_is_log=False,
        ),
        Panel(
            "size",
            "number of nodes",
            "share of trees with more nodes",
            [distribution(p, "nodes > {}", NODE_LIMITS, looks_by_data[p.data]) for p in points.all],
        ),
    ]


def distribution(point: Point, name: str, values: tuple[int, ...], look: Look) -> Line:
    """Return one distribution as a line."""
    spreads = [point[name.format(value)] for value in values]
    label = "unlimited data" if point.data == UNLIMITED else f"rows of {point.data}"
    return Line(label, look, tuple(values), tuple(s.mean for s in spreads), tuple(s.sd for s in spreads))


def claims(points: Points) -> list[Claim]:
    """Compare with the paper's two figures."""
    (unlimited,) = (p for p in points.all if p.data == UNLIMITED)
    depth, nodes = exact_means(TreePrior.paper())
    drawn = f"{unlimited['depth']} and {unlimited['nodes']}"
    on_rows = [p for p in points.all if p.data != UNLIMITED]
    rows = ", ".join(f"{p['depth'].mean:.2f} and {p['nodes'].mean:.1f} ({p.data})" for p in on_rows)
    measured = (
        f"On unlimited data {depth:.3f} and {nodes:.2f} (computed), {drawn} (drawn): {depth / PAPERS_DEPTH - 1:+.1%} "
        f"and {nodes / PAPERS_NODES - 1:+.1%}. On rows {rows}; the paper does not say which data it means."
    )
    computed = {"depth": (Estimate(depth, 0.0), PAPERS_DEPTH), "nodes": (Estimate(nodes, 0.0), PAPERS_NODES)}
    parts = [is_near(ours, papers) for ours, papers in computed.values()]
    parts += [is_near(Estimate(unlimited[m].mean, unlimited[m].se), papers) for m, (_, papers) in computed.items()]
    text = f"Under the prior, trees have a mean depth of 5.1 and 18.5 nodes (on unlimited data; within {TOLERANCE:.0%})"
    return [Claim(text, measured, judge(parts))]


def is_near(ours: Estimate, papers: float) -> bool | None:
    """Return whether our number agrees with the paper's, within the tolerance."""
    return lies_between(ours, papers * (1.0 - TOLERANCE), papers * (1.0 + TOLERANCE))


EXPERIMENT = Experiment(
    name="prior",
    title="The prior itself",
    paper="Section 4.1: with alpha_s = 0.95 and beta_s = 0.5 trees have a mean depth of 5.1 and 18.5 nodes.",
    cells=cells,
    panels=panels,
    claims=claims,
)
