"""Exact inference with the interface of a sampler: the recursion over all trees (``recursion.py``).

It is for data of a few dozen rows, and for checking the other samplers. Evidence, predictions and intervals are exact;
the trees of the posterior are independent draws, so quantities of the trees themselves (number of leaves, gain shares)
have the Monte Carlo error of `n_draws` draws.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from particletree._inference.exact.blocks import MAX_BLOCKS
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.sampler import TreeSampler, Work
from particletree._model.forest import Forest
from particletree._model.leaf import LeafModel
from particletree._model.parameters import check_integer
from particletree._model.rule import LEAF, RULE
from particletree._posterior import Island, Posterior
from particletree._posterior.predictions.leaf_mixtures import LeafMixtures
from particletree._posterior.predictions.trees import Columns, Predictions
from particletree._posterior.runs.provenance import EXACT_DRAWS
from particletree._posterior.runs.traces import NO_RECORD
from particletree._posterior.structure.splits import SplitGraph
from particletree._posterior.structure.support import Decisions, GraphDecisions

STOP = -1  # the decision of a state that no rule divides


class ExactDraws(NamedTuple):
    """The recursion, and trees that were drawn from it."""

    recursion: ExactRecursion
    forest: Forest
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]


@dataclass(kw_only=True)
class Exact(TreeSampler[ExactDraws]):
    """Exact posterior by summing over all trees, for small data.

    Parameters
    ----------
    n_draws : int, default 1000
        Number of trees that are drawn from the exact posterior, for inspection; predictions and evidence do not depend
        on it.
    max_blocks : int, default 200_000
        Maximal number of (block, depth) states; data that need more are refused. Time and memory grow with it.

    Examples
    --------
    >>> from particletree import Exact
    >>> Exact(n_draws=50)
    Exact(n_draws=50, max_blocks=200000)
    """

    kind: ClassVar[str] = EXACT_DRAWS

    n_draws: int = 1000
    max_blocks: int = MAX_BLOCKS

    def validate(self) -> None:
        """Check that both numbers are integers of at least 1."""
        check_integer(self, "n_draws", at_least=1)
        check_integer(self, "max_blocks", at_least=1)

    def _sample(self, work: Work[LeafModel, Posterior]) -> list[ExactDraws]:
        recursion = ExactRecursion(work.data, work.prior, work.leaf, max_blocks=self.max_blocks)
        return [ExactDraws(recursion, *recursion.draw(self.n_draws, np.random.default_rng(work.seed)))]

    def _to_island(self, run: ExactDraws) -> Island:
        weights, no_records = np.full(self.n_draws, 1.0 / self.n_draws), np.empty(0, NO_RECORD)
        return Island(run.forest, weights, run.log_likelihoods, run.log_priors, run.recursion.log_evidence, no_records)

    def _finish(self, posterior: Posterior, runs: Sequence[ExactDraws]) -> ExactPosterior:
        return ExactPosterior(**_fields_of(posterior), recursion=runs[0].recursion)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExactPosterior(Posterior):
    """The exact posterior: its trees are draws; evidence, predictions and intervals are sums over all trees."""

    recursion: ExactRecursion

    @property
    def is_exact(self) -> bool:
        """True: predictions and evidence are sums over all trees."""
        return True

    @property
    def log_evidence_se(self) -> float:
        """Zero: the evidence is exact."""
        return 0.0

    @property
    def log_evidence_bound(self) -> float:
        """The log evidence itself."""
        return self.log_evidence

    @cached_property
    def predictions(self) -> Predictions:
        """The exact predictions for rows that have been checked."""
        sampled = self.forest, self.weights, self.leaf, self.n_features, self.target.n_outputs
        return ExactPredictions(*sampled, recursion=self.recursion)

    @cached_property
    def splits(self) -> SplitGraph:
        """The decisions on every possible block, with their exact probabilities."""
        return exact_splits(self.recursion)

    @property
    def first_decisions(self) -> Decisions:
        """What all trees decide at the root, with exact probabilities."""
        root = np.arange(self.splits.by_depth[0].stop)
        n_rows = self.leaf.n_rows(self.recursion.statistics)
        return GraphDecisions.of(self.splits, n_rows, root, self.splits.marginal[root])

    def draws(self) -> Posterior:
        """Return the drawn trees as an ordinary posterior, which can be saved and predicts from the draws alone."""
        return Posterior(**_fields_of(self))

    @classmethod
    def from_members(cls, members: dict[str, bytes]) -> Posterior:  # type: ignore[override]
        """Return the drawn trees of a file, which cannot hold more."""
        return Posterior.from_members(members)

    def without_rows(self) -> NoReturn:
        """Raise an error: the exact sums over all trees are computed from the whole table."""
        raise TypeError(
            "An exact posterior is computed from the whole table, and cannot leave rows out. Take the drawn trees: "
            "posterior.draws().without_rows()."
        )

    def save(self, path: str | os.PathLike[str], keep_rows: bool = True) -> None:
        """Raise an error: the file format holds trees, from which the exact results cannot be computed."""
        raise TypeError(
            "An exact posterior is a sum over all trees, which the file format cannot hold. Save the drawn trees with "
            "posterior.draws().save(path), or pickle the whole."
        )


class ExactPredictions(Predictions):
    """Predictions as sums over all trees, independent of the drawn trees."""

    def __init__(self, *sampled: Any, recursion: ExactRecursion) -> None:
        super().__init__(*sampled)
        self._recursion = recursion

    def means(self, rows: NDArray[np.float64], n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the exact predictive means (class probabilities), shape (n_rows, n_outputs)."""
        return self._recursion.predictive(rows)

    def average(self, columns: Columns, rows: NDArray[np.float64], n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the exact averages of `columns(statistics)` for the leaf of each row."""
        mixtures = [self._recursion.leaf_mixture(row) for row in rows]
        return np.array([weights @ columns(statistics) for weights, statistics in mixtures])

    def _draw_trees(self, n: int, rng: np.random.Generator) -> tuple[Forest, NDArray[np.int64]]:
        """Draw n trees from the exact posterior."""
        return self._recursion.draw(n, rng)[0], np.arange(n)

    def mixtures(self, rows: NDArray[np.float64]) -> LeafMixtures:
        """Return the exact mixture of leaves of each row."""
        mixtures = [self._recursion.leaf_mixture(x) for x in rows]
        width = max(weights.size for weights, _ in mixtures)
        padded = np.zeros((len(rows), width))
        blocks = np.zeros((len(rows), width), dtype=np.int64)
        first = 0
        for i, (weights, _) in enumerate(mixtures):
            padded[i, : weights.size] = weights
            blocks[i, : weights.size] = first + np.arange(weights.size)
            first += weights.size
        return LeafMixtures(padded, blocks, np.concatenate([statistics for _, statistics in mixtures]))


def _fields_of(posterior: Posterior) -> dict[str, Any]:
    return {field.name: getattr(posterior, field.name) for field in fields(Posterior)}


def exact_splits(recursion: ExactRecursion) -> SplitGraph:
    """Return the graph of all decisions on all states, with their exact probabilities from the solved recursion.

    Each division is represented by a rule drawn, with a fixed seed, among those that make it.
    """
    rules, rng = recursion.rules, np.random.default_rng(0)
    depths, blocks, chosen, weights = [], [], [], []  # of the decisions, depth by depth; the rule of a stop is STOP
    reach = np.zeros(recursion.n_blocks)  # the probability that a tree has each block at the depth
    reach[0] = 1.0
    for depth, level in enumerate(recursion.levels):
        here = reach[level.blocks]
        p_rule = here[level.parents] * level.p_rule
        depths.append(np.full(level.blocks.size + level.rules.size, depth))
        blocks += [level.blocks, level.blocks[level.parents]]
        chosen += [np.full(level.blocks.size, STOP), level.rules]
        weights += [here * level.p_stop, p_rule]
        sides = (rules.left[level.rules], rules.right[level.rules])
        reach = np.asarray(sum(np.bincount(side, p_rule, minlength=recursion.n_blocks) for side in sides))
    block, rule = np.concatenate(blocks).astype(np.int64), np.concatenate(chosen).astype(np.int64)
    left, right = (np.append(side, 0)[rule].astype(np.uint64) for side in (rules.left, rules.right))  # 0 for a stop
    drawn = {number: rules.draw_rule(number, rng) for number in np.unique(rule[rule != STOP]).tolist()}
    nodes = np.full(rule.size, LEAF)
    nodes["block"] = block
    for place, (name, _) in enumerate(RULE):
        nodes[name] = [nodes[name][i] if n == STOP else drawn[n][place] for i, n in enumerate(rule.tolist())]
    return SplitGraph.from_entries(
        np.concatenate(depths), block.astype(np.uint64), left, right, nodes, np.concatenate(weights)
    )
