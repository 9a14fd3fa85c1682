r"""Agreement of independent runs: on predictions, on the evidence, and on the features' shares of the gain.

Islands (or chains) are independent, so their differences are the Monte Carlo error that more particles (or iterations)
would reduce. Each result has its own measure:

- *Predictions*: the distance between a run's predictions and those of all runs together, averaged over runs and over
  some rows of the training data. For class probabilities it is the total variation distance,
  :math:`\frac12 \sum_k |p_{ik} - \bar p_k|`: 0 means the same probabilities, 1 certainty in different classes. For
  numbers it is the absolute difference of the means, in standard deviations of the target.
- *Gain shares*: the same distance between a run's shares (``structure/importances.py``) and those of all runs together.
- *Evidence*: the error of the log evidence (``evidence.py``).

The mean of n independent runs has a smaller error than the distance of one run from it, by a factor of about the square
root of n - 1 (not n, because the mean includes the run), and the difference of two such means is larger by the square
root of 2. So a distance d of one run suggests a distance of :math:`d \sqrt{2 / (n - 1)}` between this posterior and one
with another seed.

Agreement is necessary, not sufficient: it cannot show what all runs have missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from particletree._model.leaf import total_variation
from particletree._posterior.structure.importances import split_gains
from particletree._posterior.weighted_trees import WeightedTrees

N_COMPARED = 100  # kept rows on which the predictions of runs are compared


@dataclass(frozen=True)
class Agreement:
    """Mean distance of the runs of a posterior from all runs together; nan if it is not known.

    Attributes
    ----------
    n_runs : int
        Number of islands or chains.
    predictions : float
        Mean distance of a run's predictions (``agreement.py``).
    gain_shares : float
        Mean total variation distance of a run's gain shares, between 0 and 1.
    """

    n_runs: int
    predictions: float
    gain_shares: float

    @property
    def predictions_between_seeds(self) -> float:
        """Approximate distance between these predictions and those of another seed."""
        return self._between_seeds(self.predictions)

    @property
    def gain_shares_between_seeds(self) -> float:
        """Approximate distance between these gain shares and those of another seed."""
        return float(np.minimum(1.0, self._between_seeds(self.gain_shares)))

    def _between_seeds(self, distance: float) -> float:
        return float(distance * (2 / (self.n_runs - 1)) ** 0.5) if self.n_runs > 1 else float("nan")


def measure_agreement(posterior: WeightedTrees) -> Agreement:
    """Compare the runs of a posterior; nan for a single run, and for predictions if no rows were kept."""
    if posterior.n_islands == 1:
        return Agreement(1, float("nan"), float("nan"))
    of_predictions = float(posterior.island_shares @ prediction_distances(posterior))
    return Agreement(posterior.n_islands, of_predictions, gain_shares_distance(posterior))


def prediction_distances(posterior: WeightedTrees) -> NDArray[np.float64]:
    """Return the distance of each run's predictions from those of all runs, averaged over kept rows, or nan."""
    if posterior.kept_rows is None:
        return np.full(posterior.n_islands, np.nan)
    places = np.unique(np.linspace(0, len(posterior.kept_rows) - 1, N_COMPARED).astype(np.int64))
    blocks = posterior.leaf_blocks(posterior.kept_rows[places])
    means = posterior.leaf.mean(posterior.forest.statistics)
    of_runs = np.stack([posterior.island_weights @ means[row] for row in blocks])  # rows x runs x outputs
    of_all = np.einsum("i,rio->ro", posterior.island_shares, of_runs)[:, None, :]
    distances = posterior.leaf.distance(of_runs, of_all, posterior.root_statistics)
    return np.asarray(distances.mean(axis=0), dtype=np.float64)


def gain_shares_distance(posterior: WeightedTrees) -> float:
    """Return the mean distance of the runs' gain shares."""
    of_runs = feature_gains(posterior, posterior.island_weights)
    of_all = feature_gains(posterior, csr_array(posterior.weights[None, :]))
    return float(posterior.island_shares @ total_variation(_normalised(of_runs), _normalised(of_all)))


def feature_gains(posterior: WeightedTrees, tree_weights: csr_array[Any]) -> NDArray[np.float64]:
    """Return the mean gain of the splits on each feature that occurs, for each row of weights of the trees.

    All rows go down the trees together, one level at a time, so that the time grows with the nodes that a row's own
    trees have, not with the rows times all nodes.
    """
    forest = posterior.forest
    split, n_nodes = np.flatnonzero(forest.is_split), forest.nodes.size
    used, column = np.unique(forest.feature[split], return_inverse=True)
    gain = csr_array((split_gains(posterior)[split], (split, column)), shape=(n_nodes, used.size))
    sides = np.concatenate((forest.left[split], forest.right[split]))
    child = csr_array((np.ones(sides.size), (np.tile(split, 2), sides)), shape=(n_nodes, n_nodes))  # adds equal ones
    places = tree_weights.data, forest.roots[tree_weights.indices], tree_weights.indptr
    at = csr_array(places, shape=(tree_weights.shape[0], n_nodes))
    total = at @ gain
    while at.nnz:
        at = at @ child
        total = total + at @ gain
    return np.asarray(total.toarray(), dtype=np.float64)


def _normalised(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each feature in the gains of a run; all zero if nothing is gained."""
    positive = np.maximum(gains, 0.0)
    totals = positive.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(positive, totals, out=np.zeros_like(positive), where=totals > 0), dtype=np.float64)
