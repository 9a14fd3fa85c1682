"""An independent oracle: every tree of a small data set, listed one by one, and draws straight from the prior.

Nothing here is shared with `particletree._inference.exact`: rows are lists, values are the raw floats, nothing is
memoised, and the labels' marginal is the product of the urn's predictive probabilities where there are no weights. A
listed tree stands for all trees whose cuts fall into the same gaps and whose sets agree on the levels of their block;
`low` and `high` are the ends of the gap. With 6 or 7 rows and 2 features there are thousands of them, so larger data
sets are for the recursion, and for the prior's draws.

A missing number is nan. A categorical column, which has a number above 0 in `n_levels`, holds the numbers of levels,
from 0, and after the last that of missing values.

The data sets are asymmetric (uneven gaps, ties, unbalanced classes), so that a cut on the wrong side or a gap of the
wrong length shows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree import TreePrior
from particletree._model.prior import Prior
from particletree._model.tree.tree import Tree as PrintedTree


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows, labels 0..n_classes-1, and weights if any; prints as its name."""

    name: str
    X: NDArray[np.float64]
    y: list[int]
    n_classes: int
    weights: list[float] | None = None
    n_levels: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name

    def weight(self, row: int) -> float:
        return 1.0 if self.weights is None else self.weights[row]

    def counts(self, rows: Sequence[int]) -> list[float]:
        return [math.fsum(self.weight(row) for row in rows if self.y[row] == k) for k in range(self.n_classes)]

    def points(self) -> NDArray[np.float64]:
        """Return points to predict: at rows, between them, beyond them, and where features disagree."""
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        span = high - low + 1.0
        between = (self.X[:-1] * 0.3 + self.X[1:] * 0.7)[:4]
        corners = [low - span, high + span, low + 0.37 * span, [high[0] + 1.0, *(low[1:] - 1.0)]]
        return np.vstack([self.X[:3], self.X[-1:], between, *corners])


def data_set(name: str, rows: list[tuple[float, float, int]], weights: list[float] | None = None) -> DataSet:
    y = [label for *_, label in rows]
    return DataSet(name, np.array([values for *values, _ in rows]), y, max(y) + 1, weights)


# Small enough to list all trees.
SIX_ROWS = data_set(
    "six rows, a tie in each feature",
    [(0.0, 2.0, 0), (1.0, 0.5, 0), (1.0, 3.5, 1), (2.5, 0.5, 1), (7.0, 9.0, 1), (7.5, 1.0, 0)],
)
SEVEN_ROWS = data_set(
    "seven rows, three classes",
    [(-3.0, 0.1, 0), (-2.5, 4.0, 2), (0.0, 0.2, 1), (0.0, 1.0, 2), (1.5, 1.5, 1), (6.0, -8.0, 0), (6.25, 1.0, 1)],
)
DUPLICATED_ROWS = data_set(
    "seven rows, two of them given twice, with different labels",
    [(0.0, 1.0, 0), (0.0, 1.0, 1), (2.0, 1.0, 1), (2.0, 5.0, 0), (3.0, 0.0, 1), (3.0, 0.0, 1), (9.0, 2.5, 1)],
)
WEIGHTED_ROWS = data_set(
    "six rows with weights",
    [(0.0, 2.0, 0), (1.0, 0.5, 2), (1.5, 3.5, 1), (2.5, 0.5, 1), (7.0, 9.0, 1), (7.5, 1.0, 0)],
    weights=[0.5, 2.0, 1.0, 3.25, 0.1, 1.7],
)
SMALL = [SIX_ROWS, SEVEN_ROWS, DUPLICATED_ROWS, WEIGHTED_ROWS]

# For the recursion and the samplers.
TWO_CLASSES = data_set(
    "twelve rows, two classes",
    [
        (0.1, 5.0, 0),
        (0.4, 1.0, 0),
        (0.5, 8.0, 0),
        (1.7, 2.5, 0),
        (2.0, 9.5, 1),
        (2.0, 0.3, 0),
        (3.1, 6.0, 1),
        (5.5, 7.7, 1),
        (6.0, 1.0, 1),
        (6.2, 4.4, 0),
        (9.0, 3.0, 1),
        (9.3, 8.0, 1),
    ],
)
THREE_CLASSES = data_set(
    "twelve rows, three classes",
    [
        (-4.0, 10.0, 2),
        (-3.8, 11.0, 2),
        (-3.8, 30.0, 0),
        (-1.0, 12.0, 2),
        (0.0, 31.0, 0),
        (0.5, 10.5, 1),
        (0.6, 45.0, 0),
        (2.0, 10.0, 1),
        (5.0, 33.0, 1),
        (5.1, 14.0, 1),
        (5.1, 47.0, 0),
        (8.0, 46.0, 2),
    ],
)
TWELVE_WEIGHTED = DataSet(
    "twelve rows with weights",
    THREE_CLASSES.X,
    THREE_CLASSES.y,
    3,
    [1.0, 0.25, 2.0, 1.0, 1.5, 3.0, 0.5, 1.0, 0.75, 2.0, 1.0, 0.6],
)
TWELVE_DUPLICATED = DataSet(
    "twelve rows, some given twice",
    np.vstack([TWO_CLASSES.X[:8], TWO_CLASSES.X[[1, 4, 4, 7]]]),
    [*TWO_CLASSES.y[:8], 0, 1, 0, 1],
    2,
)
TWELVE = [TWO_CLASSES, THREE_CLASSES, TWELVE_WEIGHTED, TWELVE_DUPLICATED]


@dataclass(frozen=True)
class Leaf:
    rows: tuple[int, ...]


NOTHING = Leaf(())


@dataclass(frozen=True)
class Split:
    """A cut that falls into [low, high); a known threshold is written as a gap of length zero.

    A missing value goes left with probability `missing_left`. "Present or not" is a cut at infinity, with the missing
    values on the right.
    """

    feature: int
    low: float
    high: float
    left: Tree = NOTHING
    right: Tree = NOTHING
    missing_left: float = 0.5

    def left_probability(self, x: NDArray[np.float64]) -> float:
        """Return the probability that the threshold, uniform in the gap, is at least x."""
        value = float(x[self.feature])
        if math.isnan(value):
            return self.missing_left
        if value <= self.low:
            return 1.0
        return max(0.0, (self.high - value) / (self.high - self.low)) if value < self.high else 0.0


@dataclass(frozen=True)
class SetSplit:
    """The levels whose side is known; of any other level a coin decides."""

    feature: int
    left_levels: frozenset[int]
    right_levels: frozenset[int]
    left: Tree = NOTHING
    right: Tree = NOTHING

    def left_probability(self, x: NDArray[np.float64]) -> float:
        value = float(x[self.feature])
        if value in self.left_levels:
            return 1.0
        return 0.0 if value in self.right_levels else 0.5


Tree = Leaf | Split | SetSplit


def divide(X: NDArray[np.float64], split: Split | SetSplit, rows: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the rows on the left and on the right of a rule; their sides must be certain."""
    return [tuple(row for row in rows if split.left_probability(X[row]) == side) for side in (1.0, 0.0)]


def leaves(tree: Tree, depth: int = 0) -> list[tuple[Leaf, int]]:
    """Return the leaves, each with its depth."""
    if isinstance(tree, Leaf):
        return [(tree, depth)]
    return leaves(tree.left, depth + 1) + leaves(tree.right, depth + 1)


def n_leaves(tree: Tree) -> int:
    return len(leaves(tree))


def tree_depth(tree: Tree) -> int:
    return max(depth for _, depth in leaves(tree))


def leaf_probabilities(tree: Tree, x: NDArray[np.float64]) -> Iterator[tuple[float, Leaf]]:
    """Yield each leaf with the probability that x falls into it."""
    if isinstance(tree, Leaf):
        yield 1.0, tree
        return
    goes_left = tree.left_probability(x)
    for share, child in ((goes_left, tree.left), (1.0 - goes_left, tree.right)):
        for probability, leaf in leaf_probabilities(child, x):
            yield share * probability, leaf


def leaf_of(tree: Tree, x: NDArray[np.float64]) -> Leaf:
    """Return the leaf that x falls into, in a tree with known thresholds."""
    return next(leaf for probability, leaf in leaf_probabilities(tree, x) if probability == 1.0)


def is_categorical(n_levels: Sequence[int], feature: int) -> bool:
    return len(n_levels) > 0 and n_levels[feature] > 0


def varying_features(X: NDArray[np.float64], rows: Sequence[int]) -> list[int]:
    return [f for f in range(X.shape[1]) if len({str(X[row, f]) for row in rows}) > 1]  # as text nan equals itself


def split_probability(prior: Prior, depth: int, rows: Sequence[int]) -> float:
    if isinstance(prior, TreePrior):
        return float(prior.alpha * (1 + depth) ** -prior.beta)
    return len(rows) / (len(rows) + float(prior.half))  # type: ignore[attr-defined]  # tests/extension/by_rows.py


def features_to_split(X: NDArray[np.float64], prior: Prior, rows: Sequence[int], depth: int) -> dict[int, float]:
    """Return the features by which a block may split, each with its probability; none beyond the prior's limits."""
    too_deep = prior.max_depth is not None and depth >= prior.max_depth
    if too_deep or len(rows) < prior.min_samples_split:
        return {}
    weights = prior.feature_weights or [1.0] * X.shape[1]
    varying = {f: weights[f] for f in varying_features(X, rows) if weights[f] > 0}
    return {f: weight / math.fsum(varying.values()) for f, weight in varying.items()}


def list_rules(
    X: NDArray[np.float64], n_levels: Sequence[int], rows: Sequence[int], f: int
) -> Iterator[tuple[float, Split | SetSplit]]:
    """Yield every rule of a feature, up to what no row of the block depends on, with its prior probability."""
    given = [float(X[row, f]) for row in rows]
    if is_categorical(n_levels, f):
        levels = sorted({int(value) for value in given})
        sets = [frozenset(some) for size in range(1, len(levels)) for some in combinations(levels, size)]
        for left in sets:
            yield 1 / len(sets), SetSplit(f, left, frozenset(levels) - left)
        return
    values = sorted({value for value in given if not math.isnan(value)})
    is_missing = any(math.isnan(value) for value in given)
    chances = {0.5: 1.0} if not is_missing else {0.0: 1 / 3, 1.0: 1 / 3}  # of the side of missing values
    for low, high in pairwise(values):
        for missing_left, chance in chances.items():
            yield chance * (high - low) / (values[-1] - values[0]), Split(f, low, high, missing_left=missing_left)
    if is_missing and values:
        yield 1 / 3 if len(values) > 1 else 1.0, Split(f, math.inf, math.inf, missing_left=0.0)


def list_trees(
    X: NDArray[np.float64], prior: Prior, rows: tuple[int, ...], depth: int = 0, n_levels: Sequence[int] = ()
) -> Iterator[tuple[float, Tree]]:
    """Yield every tree on these rows, up to what no row depends on, with its prior probability."""
    varying = features_to_split(X, prior, rows, depth)
    if not varying:
        yield 1.0, Leaf(rows)
        return
    s = split_probability(prior, depth, rows)
    yield 1.0 - s, Leaf(rows)
    for f, p_feature in varying.items():
        for p_rule, rule in list_rules(X, n_levels, rows, f):
            left, right = divide(X, rule, rows)
            right_trees = list(list_trees(X, prior, right, depth + 1, n_levels))
            for p_left, left_tree in list_trees(X, prior, left, depth + 1, n_levels):
                for p_right, right_tree in right_trees:
                    p = s * p_feature * p_rule * p_left * p_right
                    yield p, replace(rule, left=left_tree, right=right_tree)


def draw_rule_from_prior(
    X: NDArray[np.float64], n_levels: Sequence[int], rows: Sequence[int], f: int, rng: np.random.Generator
) -> Split | SetSplit:
    """Draw a rule with all its coins: of levels by throwing them until the block has rows on both sides."""
    given = [float(X[row, f]) for row in rows]
    if is_categorical(n_levels, f):
        while True:
            left = frozenset(np.flatnonzero(rng.random(n_levels[f] + 2) < 0.5).tolist())
            if 0 < sum(value in left for value in given) < len(given):
                return SetSplit(f, left, frozenset(range(n_levels[f] + 2)) - left)
    values = [value for value in given if not math.isnan(value)]
    is_missing = len(values) < len(given)
    if is_missing and (min(values) == max(values) or rng.integers(3) == 0):
        return Split(f, math.inf, math.inf, missing_left=0.0)
    threshold = rng.uniform(min(values), max(values))
    return Split(f, threshold, threshold, missing_left=float(rng.integers(2)))


def draw_tree_from_prior(
    X: NDArray[np.float64], prior: Prior, rng: np.random.Generator, n_levels: Sequence[int] = ()
) -> Tree:
    """Grow a tree as section 2 of the paper tells it, with no gaps in mind."""

    def grow(rows: tuple[int, ...], depth: int) -> Tree:
        varying = features_to_split(X, prior, rows, depth)
        if not varying or rng.random() >= split_probability(prior, depth, rows):
            return Leaf(rows)
        feature = int(rng.choice(list(varying), p=list(varying.values())))
        rule = draw_rule_from_prior(X, n_levels, rows, feature, rng)
        left, right = (grow(side, depth + 1) for side in divide(X, rule, rows))
        return replace(rule, left=left, right=right)

    return grow(tuple(range(len(X))), 0)


def read_tree(tree: PrintedTree, X: NDArray[np.float64]) -> Tree:
    """Read a tree of a posterior on numbers back into the oracle's words, by sending the raw rows down."""

    def walk(node: int, rows: tuple[int, ...]) -> Tree:
        f, threshold = int(tree.feature[node]), float(tree.threshold[node])
        if f < 0:
            return Leaf(rows)
        left = tuple(row for row in rows if X[row, f] <= threshold)
        right = tuple(row for row in rows if X[row, f] > threshold)
        children = walk(int(tree.left[node]), left), walk(int(tree.right[node]), right)
        return Split(f, threshold, threshold, *children)

    return walk(0, tuple(range(len(X))))


def log_rule_density(
    X: NDArray[np.float64], n_levels: Sequence[int], rows: Sequence[int], rule: Split | SetSplit
) -> float:
    """Return the log of the density of a rule with a known threshold among those of its feature, coins left out."""
    given = X[list(rows), rule.feature]
    if is_categorical(n_levels, rule.feature):
        return -math.log(2 ** len(set(given.tolist())) - 2)
    assert isinstance(rule, Split)
    values = given[~np.isnan(given)]
    extent = values.max() - values.min()
    kinds = 3 if len(values) < len(given) and extent > 0 else 1
    return -math.log(kinds) - (0.0 if rule.low == math.inf else math.log(extent))


def log_prior_density(X: NDArray[np.float64], prior: Prior, tree: Tree, n_levels: Sequence[int] = ()) -> float:
    """Return the log of the density h (equation 5 of the paper) of a tree with known thresholds."""

    def walk(node: Tree, rows: Sequence[int], depth: int) -> float:
        varying, s = features_to_split(X, prior, rows, depth), split_probability(prior, depth, rows)
        if isinstance(node, Leaf):
            return math.log(1.0 - s) if varying else 0.0
        left, right = divide(X, node, rows)
        here = math.log(s) + math.log(varying[node.feature]) + log_rule_density(X, n_levels, rows, node)
        return here + walk(node.left, left, depth + 1) + walk(node.right, right, depth + 1)

    return walk(tree, range(len(X)), 0)


def marginal(data: DataSet, rows: Sequence[int], concentration: float) -> float:
    """Return the probability of the labels of these rows in one leaf."""
    share = concentration / data.n_classes
    if data.weights is not None:
        counts = data.counts(rows)
        log_classes = math.fsum(math.lgamma(m + share) - math.lgamma(share) for m in counts)
        return math.exp(log_classes - math.lgamma(math.fsum(counts) + concentration) + math.lgamma(concentration))
    probability, seen = 1.0, Counter[int]()
    for row in rows:
        probability *= (seen[data.y[row]] + share) / (seen.total() + concentration)
        seen[data.y[row]] += 1
    return probability


def likelihood(data: DataSet, tree: Tree, concentration: float) -> float:
    return math.prod(marginal(data, leaf.rows, concentration) for leaf, _ in leaves(tree))


def leaf_predictive(data: DataSet, leaf: Leaf, concentration: float) -> NDArray[np.float64]:
    pseudo_counts = np.array(data.counts(leaf.rows)) + concentration / data.n_classes
    return np.asarray(pseudo_counts / pseudo_counts.sum())


class Enumeration:
    """All trees of a small data set with their posterior probabilities."""

    def __init__(self, data: DataSet, prior: Prior, concentration: float) -> None:
        self.data, self.concentration = data, concentration
        everything = tuple(range(len(data.X)))
        listed = list(list_trees(data.X, prior, everything, n_levels=data.n_levels))
        self.prior_probabilities = [p for p, _ in listed]
        self.trees = [tree for _, tree in listed]
        joint = [p * likelihood(data, tree, concentration) for p, tree in listed]
        self.evidence = math.fsum(joint)
        self.probabilities = [weight / self.evidence for weight in joint]

    def n_leaves_probabilities(self) -> NDArray[np.float64]:
        """Return the posterior probability of 0, 1, 2, ... leaves."""
        return np.bincount([n_leaves(tree) for tree in self.trees], weights=self.probabilities)

    def depth_probabilities(self) -> NDArray[np.float64]:
        """Return the posterior probability of depth 0, 1, 2, ..."""
        return np.bincount([tree_depth(tree) for tree in self.trees], weights=self.probabilities)

    def leaf_mixture(self, x: NDArray[np.float64]) -> dict[tuple[int, ...], float]:
        """Return the posterior probability of each set of rows to be the leaf that x falls into."""
        mixture: dict[tuple[int, ...], float] = {}
        for weight, tree in zip(self.probabilities, self.trees, strict=True):
            for share, leaf in leaf_probabilities(tree, x):
                if share > 0.0:
                    mixture[leaf.rows] = mixture.get(leaf.rows, 0.0) + weight * share
        return mixture

    def predictive(self, X_new: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior predictive class probabilities of new rows."""
        answers = np.zeros((len(X_new), self.data.n_classes))
        for answer, x in zip(answers, X_new, strict=True):
            for rows, weight in self.leaf_mixture(x).items():
                answer += weight * leaf_predictive(self.data, Leaf(rows), self.concentration)
        return answers


def assert_mean(samples: ArrayLike, expected: float, what: str, limit: float = 4.0) -> None:
    """Assert that the mean of independent samples lies within `limit` standard errors of what is expected."""
    values = np.asarray(samples, dtype=np.float64)
    error = values.std(ddof=1) / math.sqrt(len(values))
    mean = values.mean()
    if error == 0.0:
        assert math.isclose(mean, expected, rel_tol=1e-9), f"{what}: all samples are {mean}, expected {expected}"
        return
    z = (mean - expected) / error
    assert abs(z) < limit, f"{what}: mean {mean:.6g}, expected {expected:.6g}, standard error {error:.3g}, z = {z:.2f}"


def assert_frequencies(counts: ArrayLike, probabilities: ArrayLike, what: str, limit: float = 4.0) -> None:
    """Assert that counts of independent draws agree with probabilities, category by category.

    Categories of fewer than 20 expected draws are pooled, because a count that small is not normal.
    """
    observed, p = np.asarray(counts, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    assert observed.shape == p.shape, f"{what}: {observed.shape} counts for {p.shape} probabilities"
    n = observed.sum()
    rare = n * p < 20
    assert observed[p == 0].sum() == 0, f"{what}: drawn, but impossible: {np.flatnonzero((p == 0) & (observed > 0))}"
    observed = np.append(observed[~rare], observed[rare].sum())
    p = np.append(p[~rare], p[rare].sum())
    error = np.sqrt(n * p * (1 - p))
    tested = n * np.minimum(p, 1 - p) >= 5
    z = (observed[tested] - n * p[tested]) / error[tested]
    assert tested.any(), f"{what}: {n:.0f} draws are too few to test anything"
    assert np.abs(z).max() < limit, (
        f"{what}: counts {observed[tested]}, expected {n * p[tested]}, standard errors {error[tested]}, z = {z}"
    )
