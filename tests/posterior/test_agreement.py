"""How far runs agree: the distances by hand, and what another seed really brings."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from particletree import MCMC, SMC, BayesianTreeClassifier
from particletree._model.forest import Forest
from particletree._posterior import Posterior
from particletree._posterior.joining import islands_of
from particletree._posterior.summary.agreement import Agreement, gain_shares_distance, measure_agreement


def fit(sampler, seed: int = 0, load=load_wine) -> BayesianTreeClassifier:
    return BayesianTreeClassifier(sampler=sampler, random_state=seed).fit(*load(return_X_y=True))


@pytest.mark.parametrize(
    "sampler", [SMC.paper(), SMC.paper(island_weighting="evidence"), MCMC(n_iterations=500)], ids=repr
)
def test_distances_by_hand(sampler) -> None:
    posterior = fit(sampler).posterior_
    alone = [
        Posterior.from_islands(
            [island],
            leaf=posterior.leaf,
            prior=posterior.prior,
            n_features=posterior.n_features,
            target=posterior.target,
        )
        for island in islands_of(posterior)
    ]
    kept = posterior.kept_rows
    X = kept[np.unique(np.linspace(0, len(kept) - 1, 100).astype(int))]
    predictions = [np.abs(one.predictive(X) - posterior.predictive(X)).sum(axis=1).mean() / 2 for one in alone]
    gain_shares = [np.abs(one.gain_shares() - posterior.gain_shares()).sum() / 2 for one in alone]
    found = posterior.agreement
    assert found.predictions == pytest.approx(posterior.island_shares @ predictions)
    assert found.gain_shares == pytest.approx(posterior.island_shares @ gain_shares)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("n_islands", [5, 20])
def test_foretells_the_distance_to_another_seed(load, n_islands: int) -> None:
    X, _ = load(return_X_y=True)
    fits = [fit(SMC.paper(n_islands=n_islands), seed, load) for seed in range(8)]
    pairs = [(fits[i], fits[i + 1]) for i in range(0, 8, 2)]
    predictions = [np.abs(a.predict_proba(X) - b.predict_proba(X)).sum(axis=1).mean() / 2 for a, b in pairs]
    posteriors = [(a.posterior_, b.posterior_) for a, b in pairs]
    gain_shares = [np.abs(a.gain_shares() - b.gain_shares()).sum() / 2 for a, b in posteriors]
    foretold = [model.posterior_.agreement for model in fits]
    assert np.mean([f.predictions_between_seeds for f in foretold]) == pytest.approx(np.mean(predictions), rel=0.35)
    assert np.mean([f.gain_shares_between_seeds for f in foretold]) == pytest.approx(np.mean(gain_shares), rel=0.35)


def test_equal_runs_agree_and_one_run_says_nothing() -> None:
    posterior = fit(SMC.paper(n_islands=1)).posterior_
    one = measure_agreement(posterior)
    assert np.isnan(one.predictions)
    assert np.isnan(one.predictions_between_seeds)
    island = islands_of(posterior) * 3
    same = Posterior.from_islands(
        island,
        leaf=posterior.leaf,
        prior=posterior.prior,
        n_features=13,
        target=posterior.target,
        kept_rows=posterior.kept_rows,
    )
    assert same.agreement == Agreement(3, pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))


def test_pickles_keep_the_rows() -> None:
    posterior = fit(SMC.paper()).posterior_
    copy = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copy.kept_rows, posterior.kept_rows)
    assert copy.agreement == posterior.agreement
    without = pickle.loads(pickle.dumps(posterior.without_rows()))
    assert without.kept_rows is without.kept_row_numbers is None
    assert np.isnan(measure_agreement(replace(posterior, kept_rows=None)).predictions)


def test_kept_rows_are_rows_of_the_training_data() -> None:
    X, _ = load_wine(return_X_y=True)
    rows = fit(SMC.paper()).posterior_.kept_rows
    assert rows.shape == (178, 13)
    assert {tuple(row) for row in rows.tolist()} <= {tuple(row) for row in X.tolist()}


def test_runs_do_not_each_take_a_pass_over_all_trees(monkeypatch) -> None:
    posterior = fit(SMC.paper(n_particles=5, n_islands=60)).posterior_
    passes = []
    monkeypatch.setattr(Forest, "node_weights", lambda *given: passes.append(given))
    assert 0 < gain_shares_distance(posterior) < 1
    assert not passes
