"""A prior from outside the package in every sampler: one header, one module, one word for CMake.

Its splits depend on the rows and not on the depth, which shows that nothing outside the slot knows Chipman's prior.
"""

from pathlib import Path

import numpy as np
import pytest

import oracle
import sum_oracle
from extension.by_rows import ByRows
from particletree import (
    MCMC,
    SMC,
    BARTRegressor,
    BayesianTreeClassifier,
    Categorical,
    Exact,
    ParticleGibbs,
    Posterior,
    TreePrior,
    _kernel,
)
from particletree._data import make_training_data
from particletree._model.prior import PRIORS
from statistical import test_sums_against_exact as sums
from statistical.against_exact import Exact as ExactAnswers
from statistical.against_exact import check_chains, check_islands
from sum_oracle import SumModel

LEAF = Categorical(concentration=1.5)
DATA = oracle.TWO_CLASSES
needs_kernel = pytest.mark.skipif(
    "by_rows" not in _kernel.PRIORS,
    reason="the kernel was built without PARTICLETREE_EXTRA_PRIORS=tests/extension/by_rows.h",
)
each_prior = pytest.mark.parametrize("prior", [ByRows(3.0), ByRows(6.0, feature_weights=(1.0, 4.0))], ids=str)


def answers(prior: ByRows) -> ExactAnswers:
    return ExactAnswers(make_training_data(DATA.X, DATA.y, 2), LEAF, DATA.points(), prior)


def run(sampler: SMC | MCMC | ParticleGibbs | Exact, prior: ByRows, exact: ExactAnswers) -> Posterior:
    return sampler.run(exact.data, prior, LEAF, seed=np.random.SeedSequence(1))


@needs_kernel
@each_prior
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_filters_agree_with_the_exact_posterior(proposal: str, prior: ByRows) -> None:
    exact = answers(prior)
    sampler = SMC(n_islands=400, n_particles=10, ess_threshold=0.5, proposal=proposal, n_candidates=3)
    check_islands(run(sampler, prior, exact), exact, proposal)


@needs_kernel
@each_prior
@pytest.mark.parametrize("moves", [(0.5, 0.5, 0.0, 0.0), (0.2, 0.2, 0.6, 0.0), (0.2, 0.2, 0.0, 0.6)], ids=str)
def test_chains_agree_with_the_exact_posterior(moves: tuple[float, ...], prior: ByRows) -> None:
    exact = answers(prior)
    sampler = MCMC(n_iterations=10_000, n_chains=20, burn_in=500, thin=20, move_weights=moves)
    check_chains(run(sampler, prior, exact), exact, str(moves))


@needs_kernel
@each_prior
@pytest.mark.parametrize("proposal", ["optimal", "lookahead"])
def test_particle_gibbs_agrees_with_the_exact_posterior(proposal: str, prior: ByRows) -> None:
    exact = answers(prior)
    sampler = ParticleGibbs(
        n_iterations=2000, n_chains=20, burn_in=100, proposal=proposal, n_particles=3, n_candidates=2, regrow_share=0.8
    )
    check_chains(run(sampler, prior, exact), exact, proposal)


@needs_kernel
@pytest.mark.parametrize("moves", ["grow, prune and change", "regrow, lookahead, 3 particles"])
def test_sums_agree_with_the_exact_posterior(moves: str) -> None:
    model = SumModel(ByRows(3.0), 1, leaf_sd=0.4, noise_sd=0.25)
    sums.check(sum_oracle.SEVEN, model, sums.MOVES[moves], n_iterations=2000)


@needs_kernel
def test_estimators_take_it() -> None:
    clf = BayesianTreeClassifier(ByRows(2.0), random_state=0).fit(DATA.X, DATA.y)
    assert clf.posterior_.prior == ByRows(2.0)
    assert clf.set_params(prior__half=5.0).fit(DATA.X, DATA.y).posterior_.prior.half == 5.0
    reg = BARTRegressor(n_trees=3, n_iterations=20, n_chains=1, prior=ByRows(2.0), random_state=0)
    assert reg.fit(DATA.X, DATA.X[:, 0]).posterior_.prior == ByRows(2.0)


def test_its_weights_are_checked() -> None:
    with pytest.raises(ValueError, match=r"ByRows.feature_weights must have finite weights of at least 0, got -1"):
        ByRows(2.0, feature_weights=[1, -1])


class TestRegistration:
    def test_posteriors_are_saved_and_loaded(self, tmp_path: Path) -> None:
        posterior = run(Exact(n_draws=20), ByRows(3.0), answers(ByRows(3.0))).draws()  # type: ignore[attr-defined]
        posterior.save(tmp_path / "p")
        assert Posterior.load(tmp_path / "p").prior == ByRows(3.0)

    def test_what_is_not_registered_is_neither_saved_nor_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        posterior = run(Exact(n_draws=20), ByRows(3.0), answers(ByRows(3.0))).draws()  # type: ignore[attr-defined]
        posterior.save(tmp_path / "p")
        monkeypatch.delitem(PRIORS.known, "ByRows")
        with pytest.raises(ValueError, match=r"prior ByRows cannot be saved; known are TreePrior.*register\(ByRows\)"):
            posterior.save(tmp_path / "q")
        with pytest.raises(ValueError, match="the prior must be one of TreePrior, MondrianPrior, got 'ByRows'"):
            Posterior.load(tmp_path / "p")


@pytest.mark.skipif("by_rows" in _kernel.PRIORS, reason="the kernel has the prior")
def test_a_kernel_without_it_says_so() -> None:
    with pytest.raises(ValueError, match="unknown prior: by_rows; this build of the kernel has chipman"):
        run(SMC(), ByRows(3.0), answers(ByRows(3.0)))


class TestFeatureWeights:
    X = np.column_stack([DATA.X, DATA.X[:, 0]])

    def fit(self, weights: object) -> BayesianTreeClassifier:
        return BayesianTreeClassifier(TreePrior(feature_weights=weights), random_state=0).fit(self.X, DATA.y)

    def test_a_feature_of_weight_zero_is_never_used(self) -> None:
        assert self.fit([1, 0, 2]).posterior_.inclusion_probabilities()[1] == 0

    def test_a_mapping_names_some_features(self) -> None:
        assert self.fit({1: 0, 2: 2.5}).posterior_.prior.feature_weights == (1.0, 0.0, 2.5)

    def test_equal_weights_change_nothing(self) -> None:
        equal, none = self.fit(np.full(3, 0.3)), self.fit(None)
        assert equal.posterior_.prior.feature_weights is None
        assert equal.predict_proba(self.X).tolist() == none.predict_proba(self.X).tolist()

    def test_a_block_in_which_only_features_of_weight_zero_vary_stops(self) -> None:
        clf = BayesianTreeClassifier(TreePrior(0.99, 0.0, feature_weights=[0, 1]), random_state=0)
        clf.fit(np.column_stack([np.arange(20.0), np.repeat([0.0, 1.0], 10)]), np.arange(20) % 2)
        assert set(clf.posterior_.n_leaves.tolist()) <= {1, 2}

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1, 2], "has 2 weights, but the data have 3 features"),
            ({"x": 1}, "names 'x', which is not a feature of the data; the features are 0, 1, 2"),
            ([0, 0, 0], "no feature of the data a positive weight"),
            ([1, -1, 1], "finite weights of at least 0, got -1"),
            ([1, np.nan, 1], "finite weights of at least 0, got nan"),
            ([1, "a", 1], "must have numbers, got 'a'"),
            ("abc", "must be a mapping from names of features to weights"),
        ],
    )
    def test_wrong_weights(self, weights: object, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            self.fit(weights)
