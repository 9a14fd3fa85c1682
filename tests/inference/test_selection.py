"""Settings that the evidence chooses: the search on the grid, what is kept of it, and refusals."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

import oracle
from particletree import (
    SMC,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Categorical,
    Exact,
    Exponential,
    Gaussian,
    GaussianKnownVariance,
    MondrianPrior,
    Poisson,
    Posterior,
    TreePrior,
)
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.parallel import spawn
from particletree._inference.selection import QUICK, climb
from particletree._posterior.runs.provenance import Choice, decode_choice, encode_choice

SMALL = SMC.paper(n_particles=10, n_islands=2)
IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("sizes", [(5,), (3, 4), (4, 3, 3)])
def test_the_search_finds_the_top_of_a_hill_from_the_middle(sizes):
    for top in itertools.product(*map(range, sizes)):
        asked = []

        def value(place, top=top, asked=asked):
            asked.append(place)
            return -sum(abs(i - j) for i, j in zip(place, top, strict=True))

        tried = climb(tuple(n // 2 for n in sizes), sizes, value)
        assert max(tried, key=tried.get) == top
        assert len(asked) == len(set(asked)) == len(tried)
        assert all(0 <= i < n for place in asked for i, n in zip(place, sizes, strict=True))


def test_what_is_given_stays_and_what_is_auto_comes_from_the_grid():
    model = BayesianTreeClassifier(TreePrior(0.8, "auto"), Categorical("auto"), SMALL, random_state=0).fit(*IRIS)
    posterior = model.posterior_
    assert posterior.prior.alpha == 0.8
    assert posterior.prior.beta in (0.1, 0.2, 0.5, 1.0)
    assert posterior.leaf.concentration in (0.1, 0.3, 1.0, 3.0)
    assert posterior.choice.chosen == {"beta": posterior.prior.beta, "concentration": posterior.leaf.concentration}
    assert len(posterior.choice.settings) == len(posterior.choice.log_evidences) >= 3
    assert "chosen        beta" in str(posterior.summary())
    assert model.get_params()["leaf"].concentration == "auto"  # the parameters of the estimator are left alone


def test_given_the_choice_the_fit_is_that_of_the_chosen_settings():
    auto = BayesianTreeClassifier(TreePrior("auto", "auto"), Categorical("auto"), SMALL, random_state=3).fit(*IRIS)
    chosen = auto.posterior_
    given = BayesianTreeClassifier(chosen.prior, chosen.leaf, SMALL, random_state=3).fit(*IRIS)
    np.testing.assert_array_equal(auto.predict_proba(IRIS[0]), given.predict_proba(IRIS[0]))
    assert given.posterior_.choice is None


def seeds_of_islands(monkeypatch, n_fits, **settings):
    """Return the states of the seeds of all islands of a fit with "auto", in the order in which they run."""
    seen = []

    def noting(*args, **kwargs):
        seeds = spawn(*args, **kwargs)
        seen.extend(tuple(seed.generate_state(4)) for seed in seeds)
        return seeds

    monkeypatch.setattr("particletree._inference.sampler.spawn", noting)
    model = BayesianTreeClassifier(TreePrior.paper(), Categorical("auto"), SMALL, random_state=3, **settings)
    for _ in range(n_fits):
        model.fit(*IRIS)
    return seen


@pytest.mark.parametrize("n_fits", [1, 2])
def test_no_island_of_the_fit_has_the_seed_of_the_search(monkeypatch, n_fits):
    seen = seeds_of_islands(monkeypatch, n_fits, warm_start=True)
    n_of_fits = n_fits * SMALL.n_islands  # a fit that adds islands keeps the choice
    searched, fitted = set(seen[:-n_of_fits]), set(seen[-n_of_fits:])
    assert len(searched) == 1  # common random numbers
    assert len(fitted) == n_of_fits
    assert not searched & fitted


def test_the_evidence_of_the_chosen_setting_is_unbiased():
    """An island with the seed of the search would have the luck of the winner: 2.7 times the evidence here."""
    data_set = oracle.THREE_CLASSES
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes)
    exact = {}
    ratios = []
    for seed in range(200):
        model = BayesianTreeClassifier(TreePrior("auto", "auto"), Categorical("auto"), QUICK, random_state=seed)
        chosen = model.fit(data_set.X, data_set.y).posterior_
        if repr(chosen.choice.chosen) not in exact:
            exact[repr(chosen.choice.chosen)] = ExactRecursion(data, chosen.prior, chosen.leaf).log_evidence
        ratios.append(np.exp(chosen.log_evidence - exact[repr(chosen.choice.chosen)]))
    oracle.assert_mean(ratios, 1.0, "evidence after the choice")


def test_the_choice_is_near_the_best_of_the_exact_evidences():
    """On data that are small enough to know every evidence: within the noise of one quick island."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(14, 1)), np.arange(14) // 7
    X[:, 0] = np.sort(X[:, 0])
    data = make_training_data(X, y, 2)
    model = BayesianTreeClassifier(TreePrior.paper(), Categorical("auto"), Exact(n_draws=5), random_state=0).fit(X, y)
    exact = {c: ExactRecursion(data, TreePrior.paper(), Categorical(c)).log_evidence for c in (0.1, 0.3, 1.0, 3.0)}
    assert exact[model.posterior_.leaf.concentration] > max(exact.values()) - 0.5


@pytest.mark.parametrize(
    ("leaf", "name"),
    [
        (Gaussian(noise_sd="auto"), "noise_sd"),
        (GaussianKnownVariance(noise_sd="auto"), "noise_sd"),
        (Poisson(shape="auto"), "shape"),
        (Exponential(shape="auto"), "shape"),
    ],
)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_leaf_models_of_numbers(leaf, name, n_targets, tmp_path):
    X, y = load_diabetes(return_X_y=True)
    target = y if n_targets == 1 else np.column_stack([y, y[::-1]])
    model = BayesianTreeRegressor(leaf=leaf, sampler=SMALL, random_state=0).fit(X, target)
    (chosen,) = model.posterior_.choice.chosen.values()
    np.testing.assert_array_equal(np.broadcast_to(chosen, n_targets), getattr(model.posterior_.leaf, name))
    assert list(model.posterior_.choice.chosen) == [name]
    model.posterior_.save(tmp_path / "p")
    assert Posterior.load(tmp_path / "p").choice == model.posterior_.choice


def test_a_model_with_auto_cannot_be_used_without_a_choice():
    data = make_training_data([[0.0], [1.0]], [0, 1], 2)
    with pytest.raises(ValueError, match="chosen for the data by an estimator"):
        SMALL.run(data, TreePrior("auto"), Categorical.paper(), seed=np.random.SeedSequence(0))
    with pytest.raises(ValueError, match="concentration='auto' is chosen for the data"):
        Categorical("auto").mean([1, 2])
    with pytest.raises(ValueError, match='noise_sd is "auto"'):
        Gaussian(prior_mean=0.0, mean_strength=1.0, noise_sd="auto").mean([1.0, 0.0, 0.0])
    with pytest.raises(TypeError, match='or "auto"'):
        Categorical("automatic")


class TestChoice:
    def test_a_toss_up_is_called_so(self):
        assert "toss-up" in str(Choice(({"beta": 0.2}, {"beta": 0.5}), (-103.2, -103.9)))
        assert "17.7 nats above the next" in str(Choice(({"beta": 0.2}, {"beta": 0.5}), (-103.2, -120.9)))

    def test_round_trip(self):
        choice = Choice(({"noise_sd": (1.0, 2.0)}, {"noise_sd": (3.0, 4.0)}), (-1.0, -2.0))
        assert decode_choice(encode_choice(choice)) == choice
        assert decode_choice(None) is None

    @pytest.mark.parametrize(
        "parts",
        [
            3,
            {},
            {"settings": [], "log_evidences": []},
            {"settings": [{"a": 1.0}], "log_evidences": []},
            {"settings": [{"a": 1.0}], "log_evidences": [float("nan")]},
            {"settings": [{"a": "b"}], "log_evidences": [1.0]},
            {"settings": [{"a b": 1.0}], "log_evidences": [1.0]},
            {"settings": [{"a": [float("inf")]}], "log_evidences": [1.0]},
            {"settings": [7], "log_evidences": [1.0]},
        ],
    )
    def test_anything_else_is_refused(self, parts):
        with pytest.raises(ValueError, match=r"choice|setting"):
            decode_choice(parts)


@pytest.mark.parametrize("prior", [TreePrior(alpha="auto"), MondrianPrior()], ids=str)
def test_the_search_knows_the_names_of_the_features(prior):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["age", "noise"])
    prior.set_params(feature_weights={"noise": 0})
    clf = BayesianTreeClassifier(prior=prior, random_state=0).fit(X, X["age"] > 0)
    assert len(clf.posterior_.choice.settings) > 1
    assert clf.posterior_.inclusion_probabilities()[1] == 0
