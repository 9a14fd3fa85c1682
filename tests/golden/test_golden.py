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
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

from particletree import (
    MCMC,
    SMC,
    BARTClassifier,
    BARTRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Categorical,
    Exponential,
    Gaussian,
    GaussianKnownVariance,
    ParticleGibbs,
    Poisson,
    TreePrior,
)
from particletree.inference import BARTMoves

FILE = Path(__file__).with_name("iris.json")
NUMBERS_FILE = Path(__file__).with_name("diabetes.json")
WAYS = {
    f"{proposal}, {expansion}, {resampling}": SMC.paper(
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
} | {"likelihood first": SMC.paper(n_particles=30, n_islands=2, priority="likelihood")}


def figures(sampler):
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(TreePrior.paper(), Categorical.paper(), sampler, random_state=2013).fit(X, y)
    best = model.posterior_.best_tree()
    return {
        "log_evidences": model.posterior_.log_evidences.tolist(),
        "n_trees": model.posterior_.forest.n_trees,
        "best_features": best.feature.tolist(),
        "best_thresholds": [t for t in best.threshold.tolist() if t == t],
        "predicted": model.predict_proba(X[[0, 70, 106, 149]]).ravel().tolist(),
    }


PROPOSALS = ("prior", "empirical", "optimal", "lookahead")
GAUSSIAN = Gaussian(prior_mean=150.0, mean_strength=0.25, noise_sd=40.0, noise_df=3.0)
LEAVES = (GAUSSIAN, GaussianKnownVariance(150.0, 80.0, 50.0), Poisson(150.0, shape=1.0), Exponential(150.0, shape=2.0))
SETTINGS = {"n_particles": 30, "n_islands": 2, "n_candidates": 10, "ess_threshold": 0.5}
WAYS_FOR_NUMBERS = {
    f"{type(leaf).__name__}, {proposal}": (leaf, SMC.paper(proposal=proposal, **SETTINGS))
    for leaf, proposal in zip(LEAVES, PROPOSALS, strict=True)
} | {
    "Gaussian, layer": (GAUSSIAN, SMC.paper(expansion="layer", **SETTINGS)),
    "Gaussian, chain": (GAUSSIAN, MCMC(n_iterations=300, n_chains=2)),
}
GIBBS_AND_SUMS_FILE = Path(__file__).with_name("gibbs_and_sums.json")
WAYS_OF_GIBBS = {
    f"particle Gibbs, {proposal}": ParticleGibbs(
        n_iterations=60, n_chains=2, proposal=proposal, n_particles=5, regrow_share=0.7, ess_threshold=1.0
    )
    for proposal in PROPOSALS
}
CHAINS = {"n_trees": 5, "n_iterations": 40, "n_chains": 2, "random_state": 2013}
WAYS_OF_SUMS = {
    "sums, numbers": BARTRegressor(**CHAINS),
    "sums, numbers, mostly regrown": BARTRegressor(**CHAINS, moves=BARTMoves(n_start=3, regrow_share=0.7)),
    "sums, three classes": BARTClassifier(**CHAINS),
}


def figures_of_numbers(leaf, sampler):
    X, y = load_diabetes(return_X_y=True)
    exposure = 1.0 + np.arange(len(y)) % 3 if isinstance(leaf, Poisson) else None
    model = BayesianTreeRegressor(TreePrior.paper(), leaf, sampler, random_state=2013).fit(X, y, exposure=exposure)
    best, rows = model.posterior_.best_tree(), X[[0, 100, 200, 441]]
    evidences = model.posterior_.log_evidences
    return {
        "log_evidences": [] if evidences is None else evidences.tolist(),
        "n_trees": model.posterior_.forest.n_trees,
        "best_features": best.feature.tolist(),
        "best_thresholds": [t for t in best.threshold.tolist() if t == t],
        "predicted": model.predict(rows).tolist(),
        "interval": model.predict_interval(rows).ravel().tolist(),
    }


def figures_of_gibbs(sampler):
    X, y = load_iris(return_X_y=True)
    posterior = (
        BayesianTreeClassifier(TreePrior.paper(), Categorical.paper(), sampler, random_state=2013).fit(X, y).posterior_
    )
    return {
        "n_trees": posterior.forest.n_trees,
        "n_leaves": [leaves.tolist() for leaves in posterior.along_chains(posterior.n_leaves)],
        "predicted": posterior.predictive(X[[0, 70, 106, 149]]).ravel().tolist(),
    }


def figures_of_sums(estimator):
    X, y = (load_iris if isinstance(estimator, BARTClassifier) else load_diabetes)(return_X_y=True)
    posterior = clone(estimator).fit(X, y).posterior_
    return {
        "n_leaves": [record.trace["n_leaves"].tolist() for record in posterior.records],
        "noise": [] if posterior.is_classes else posterior.noise_sd.tolist(),
        "predicted": posterior.predictive(X[[0, 70, 106, 149]]).ravel().tolist(),
        "interval": posterior.predictive_interval(X[[0, 70, 106, 149]]).ravel().tolist(),
    }


def assert_same_figures(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("way", WAYS)
def test_same_seed_same_figures(way):
    assert_same_figures(figures(WAYS[way]), json.loads(FILE.read_text(encoding="utf-8"))[way])


@pytest.mark.parametrize("way", WAYS_FOR_NUMBERS)
def test_same_seed_same_figures_of_numbers(way):
    expected = json.loads(NUMBERS_FILE.read_text(encoding="utf-8"))[way]
    assert_same_figures(figures_of_numbers(*WAYS_FOR_NUMBERS[way]), expected)


@pytest.mark.parametrize("way", WAYS_OF_GIBBS)
def test_same_seed_same_figures_of_particle_gibbs(way):
    expected = json.loads(GIBBS_AND_SUMS_FILE.read_text(encoding="utf-8"))[way]
    assert_same_figures(figures_of_gibbs(WAYS_OF_GIBBS[way]), expected)


@pytest.mark.parametrize("way", WAYS_OF_SUMS)
def test_same_seed_same_figures_of_sums(way):
    expected = json.loads(GIBBS_AND_SUMS_FILE.read_text(encoding="utf-8"))[way]
    assert_same_figures(figures_of_sums(WAYS_OF_SUMS[way]), expected)


if __name__ == "__main__":
    labels = {way: figures(sampler) for way, sampler in WAYS.items()}
    numbers = {way: figures_of_numbers(*parts) for way, parts in WAYS_FOR_NUMBERS.items()}
    others = {way: figures_of_gibbs(sampler) for way, sampler in WAYS_OF_GIBBS.items()}
    others |= {way: figures_of_sums(estimator) for way, estimator in WAYS_OF_SUMS.items()}
    for file, content in ((FILE, labels), (NUMBERS_FILE, numbers), (GIBBS_AND_SUMS_FILE, others)):
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
