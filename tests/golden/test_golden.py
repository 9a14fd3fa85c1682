"""Golden seeds: the same seed gives the same posterior, from release to release.

The figures change only when the algorithm's use of randomness changes on purpose; then say so in the CHANGELOG and run
`python tests/golden/test_golden.py` to write them anew. They are compared to 1e-9, because exp and log may differ in
the last digit between platforms.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from particletree import SMC, BayesianTreeClassifier, Categorical, TreePrior

FILE = Path(__file__).with_name("iris.json")
WAYS = {
    f"{proposal}, {expansion}, {resampling}": SMC(
        n_particles=30,
        n_islands=2,
        proposal=proposal,
        n_candidates=10,
        expansion=expansion,
        resampling=resampling,
        ess_threshold=0.5,
    )
    for (proposal, expansion), resampling in zip(
        itertools.product(("prior", "empirical", "optimal", "lookahead"), ("node", "layer")),
        itertools.cycle(("multinomial", "systematic", "stratified", "residual")),
        strict=False,
    )
} | {"likelihood first": SMC(n_particles=30, n_islands=2, priority="likelihood")}


def figures(sampler):
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(TreePrior(), Categorical(), sampler, random_state=2013).fit(X, y)
    best = model.posterior_.best_tree()
    return {
        "log_evidences": model.posterior_.log_evidences.tolist(),
        "n_trees": model.posterior_.forest.n_trees,
        "best_features": best.feature.tolist(),
        "best_thresholds": [t for t in best.threshold.tolist() if t == t],
        "predicted": model.predict_proba(X[[0, 70, 106, 149]]).ravel().tolist(),
    }


@pytest.mark.parametrize("way", WAYS)
def test_same_seed_same_figures(way):
    expected = json.loads(FILE.read_text(encoding="utf-8"))[way]
    found = figures(WAYS[way])
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


if __name__ == "__main__":
    FILE.write_text(
        json.dumps({way: figures(sampler) for way, sampler in WAYS.items()}, indent=1) + "\n", encoding="utf-8"
    )
