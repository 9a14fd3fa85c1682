"""The index of values (``kernel/value_index.h``): thresholds are found among many values as by comparing all of them.

A rank that is off by one sends a row to the other side while a tree grows than the threshold does afterwards, so the
statistics of the leaves would not be those of the rows that the thresholds send there.
"""

import numpy as np
import pytest

from particletree import SMC, BayesianTreeClassifier, TreePrior

N_ROWS = 3_000
RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=N_ROWS)
COLUMNS = {
    "evenly spread": RNG.permutation(N_ROWS) / N_ROWS,
    "normal": NORMAL,
    "a long tail": np.exp(6 * NORMAL),
    "nearly all in one interval": np.where(RNG.random(N_ROWS) < 0.01, 1e12, 1.0) * RNG.random(N_ROWS),
    "ties": RNG.normal(size=N_ROWS).round(2),
    "neighbouring doubles": 1.0 + RNG.integers(2000, size=N_ROWS) * 2.0**-52,
    "a range too large for a double": RNG.choice([-1e308, 1.0, 1e308], size=N_ROWS) * RNG.random(N_ROWS),
    "a range too small for an interval": RNG.integers(2000, size=N_ROWS) * 5e-324,
    "missing values": np.where(RNG.random(N_ROWS) < 0.2, np.nan, NORMAL),
}


@pytest.mark.parametrize("proposal", ["prior", "lookahead"])
@pytest.mark.parametrize("name", COLUMNS)
def test_leaves_have_the_rows_that_their_thresholds_send_there(name, proposal):
    X = np.column_stack([COLUMNS[name], NORMAL[::-1]])
    y = np.arange(N_ROWS) % 2
    sampler = SMC.paper(n_particles=5, n_islands=1, proposal=proposal, ess_threshold=0.0)
    large_trees = TreePrior(0.999, 0.0, max_depth=7)  # thresholds everywhere
    posterior = BayesianTreeClassifier(large_trees, sampler=sampler, random_state=0).fit(X, y).posterior_
    assert posterior.n_leaves.min() > 8
    for tree in posterior.trees:
        leaf_of_row = tree.apply(X)
        for label in (0, 1):
            counts = np.bincount(leaf_of_row[y == label], minlength=len(tree.feature))
            is_leaf = tree.feature < 0
            np.testing.assert_array_equal(counts[is_leaf], tree.node_statistics[is_leaf, label])
