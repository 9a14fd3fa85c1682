"""The Mondrian prior as an object: parameters, the measure that the first fit fixes, files, and the estimators."""

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import particletree
from particletree import (
    MCMC,
    SMC,
    BARTClassifier,
    BARTRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    MondrianPrior,
    ParticleGibbs,
    TreePrior,
    _kernel,
)
from particletree._data import make_table
from particletree._model.measure import Measure, UnitScale

RNG = np.random.default_rng(7)
X = np.column_stack([RNG.normal(size=80), RNG.exponential(size=80), RNG.integers(0, 4, size=80)])
X[::9, 0] = np.nan
Y = (X[:, 1] > 0.7).astype(int)


def fixed(prior: MondrianPrior, rows: np.ndarray = X) -> MondrianPrior:
    table = make_table(rows)
    return prior.resolved(table.n_features, ["a", "b", "c"][: table.n_features], table.counted_values)


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"rate": 0}, "MondrianPrior.rate must be a number above 0, and finite"),
            ({"rate": "much"}, "rate must be a number"),
            ({"rho": 1.0}, "rho must be a number of at least 0, and below 1"),
            ({"feature_weights": [1, -1]}, "finite weights of at least 0"),
            ({"ranges": [(0, 1)]}, "must map names of features to"),
            ({"ranges": {"a": (2.0, 1.0)}}, "two finite numbers, the lower one first, for feature 'a'"),
            ({"measure": 3}, "measure must be a Measure"),
            ({"max_depth": 3}, "has no max_depth: a limit would make the prior depend on which rows there are"),
            ({"min_samples_split": 3}, "has no min_samples_split: a limit"),
        ],
    )
    def test_wrong_ones(self, parameters: dict[str, object], message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            MondrianPrior(**parameters)
        prior = MondrianPrior(0.5)
        with pytest.raises((TypeError, ValueError), match=message):
            prior.set_params(**parameters)
        assert prior == MondrianPrior(0.5)

    def test_what_only_an_estimator_knows(self) -> None:
        with pytest.raises(ValueError, match="rate='auto' of MondrianPrior is chosen for the data by an estimator"):
            MondrianPrior().split_probability(0, 5, 0.5)
        with pytest.raises(ValueError, match="measure of MondrianPrior is fixed at the first fit"):
            MondrianPrior(0.1).kernel_parameters()

    def test_the_probability_of_a_split_is_the_share_of_the_mass(self) -> None:
        assert MondrianPrior(0.25).split_probability(3, 100, 0.75) == 0.75


def grown(rate: float, shares: np.ndarray, rng: np.random.Generator) -> int:
    """Return the number of leaves of a killed Mondrian process on a box, cell by cell."""
    cells, n_leaves = [shares], 0
    while cells:
        cell = cells.pop()
        if rng.random() * (rate + cell.sum()) < rate:
            n_leaves += 1
            continue
        d, u = rng.choice(cell.size, p=cell / cell.sum()), rng.random()
        for side in (u, 1 - u):
            cells.append(np.where(np.arange(cell.size) == d, cell * side, cell))
    return n_leaves


class TestExpectedLeaves:
    @pytest.mark.parametrize("n_features", [1, 3])
    def test_it_is_the_mean_of_the_process(self, n_features: int) -> None:
        prior = MondrianPrior.expecting(4.0, n_features)
        rng, shares = np.random.default_rng(2), np.full(n_features, (1 - prior.rho) / n_features)
        sizes = [grown(prior.number, shares, rng) for _ in range(3000)]
        assert abs(np.mean(sizes) - 4.0) < 4 * np.std(sizes) / math.sqrt(len(sizes))
        table = make_table(np.random.default_rng(3).normal(size=(9, n_features)))
        assert prior.resolved(n_features, None, table.counted_values).mean_leaves() == pytest.approx(4.0)

    def test_one_feature_has_a_formula(self) -> None:
        assert MondrianPrior.expecting(21.0, rho=0.0).rate == pytest.approx(1 / 20)

    @pytest.mark.parametrize("n_leaves", [1.0, 2e6, "many"])
    def test_numbers_that_no_rate_gives(self, n_leaves: object) -> None:
        with pytest.raises((TypeError, ValueError), match="n_leaves must"):
            MondrianPrior.expecting(n_leaves)  # type: ignore[arg-type]


class TestMeasure:
    def test_it_is_fixed_from_the_rows(self) -> None:
        measure = fixed(MondrianPrior(feature_weights={"b": 2.0})).measure
        assert measure is not None
        assert measure.weights.tolist() == [0.25, 0.5, 0.25]
        assert measure.scales[0] == UnitScale.of_values(X[:, 0])
        assert measure == fixed(MondrianPrior(feature_weights=[1, 2, 1])).measure
        assert measure != fixed(MondrianPrior()).measure

    def test_a_range_is_given_by_name_or_number(self) -> None:
        by_name, by_number = (fixed(MondrianPrior(ranges={key: (0.0, 5.0)})).measure for key in ("b", 1))
        assert by_name == by_number
        assert by_name is not None
        assert by_name.scales[1] == UnitScale.of_range(0.0, 5.0)
        with pytest.raises(ValueError, match="ranges has 'z', which is not a numeric feature"):
            fixed(MondrianPrior(ranges={"z": (0, 1)}))

    def test_one_that_is_given_is_kept(self) -> None:
        measure = fixed(MondrianPrior()).measure
        assert fixed(MondrianPrior(0.1, measure=measure), X[:20]).measure == measure
        weighted = fixed(MondrianPrior(0.1, feature_weights=[0, 1, 1], measure=measure)).measure
        assert weighted is not None
        assert weighted.weights.tolist() == [0, 0.5, 0.5]
        with pytest.raises(ValueError, match="fixed for other features"):
            fixed(MondrianPrior(0.1, measure=measure), X[:, :2])

    def test_plain_values_and_back(self) -> None:
        measure = fixed(MondrianPrior()).measure
        assert measure is not None
        assert Measure.from_plain(measure.to_plain()) == measure

    @pytest.mark.parametrize(
        "damage",
        [
            {"weights": [0.5, 0.5]},
            {"weights": [0.5, 0.6, 0.1]},
            {"rho": 1.0},
            {"rho": "x"},
            {"scales": [None, None]},
            {"scales": [{"knots": [2.0, 1.0], "positions": [0.2, 0.8], "spread": 1.0}, None, None]},
            {"scales": [{"knots": [1.0, 2.0], "positions": [0.2, 1.0], "spread": 1.0}, None, None]},
            {"scales": [{"knots": [1.0, 2.0], "positions": [0.2, 0.8], "spread": 0.0}, None, None]},
            {"scales": [{"knots": [], "positions": [], "spread": 1.0}, None, None]},
        ],
    )
    def test_invalid_values(self, damage: dict[str, object]) -> None:
        measure = fixed(MondrianPrior()).measure
        assert measure is not None
        with pytest.raises(ValueError, match="the measure of the prior is not valid"):
            Measure.from_plain(measure.to_plain() | damage)

    def test_the_kernel_refuses_a_measure_that_ends_too_early(self) -> None:
        table, numbers = make_table(X), fixed(MondrianPrior(0.1)).kernel_parameters()
        for wrong in (numbers[:-1], numbers[:1], [-1.0, *numbers[1:]], [0.1, 1.5, *numbers[2:]]):
            with pytest.raises(ValueError, match=r"measure|rate|rho|spread|knots|weight"):
                _kernel.SumProblem(
                    table.ranks,
                    table.values,
                    table.offsets,
                    table.n_levels,
                    np.empty(0),
                    prior="mondrian",
                    prior_parameters=np.array(wrong),
                    feature_weights=np.empty(0),
                )


class TestEstimators:
    @pytest.mark.parametrize(
        "sampler", [SMC(n_islands=2), MCMC(n_iterations=200, n_chains=2), ParticleGibbs(n_iterations=20, n_chains=2)]
    )
    def test_posteriors_keep_the_measure(self, sampler: object, tmp_path: Path) -> None:
        clf = BayesianTreeClassifier(MondrianPrior(0.2), sampler=sampler, categorical_features=[2], random_state=0)
        posterior = clf.fit(X, Y).posterior_
        assert posterior.prior.measure.scales[2] is None
        assert "Mondrian of rate 0.2; questions fixed at the first fit: 3 features, 1 of them" in str(
            posterior.summary()
        )
        posterior.save(tmp_path / "p")
        loaded = particletree.load(tmp_path / "p")
        assert loaded.prior == posterior.prior
        assert pickle.loads(pickle.dumps(posterior)).prior == posterior.prior

    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_extreme_values_give_valid_trees(self, proposal: str) -> None:
        extreme = np.array([-1.7e308, -1e-300, 0.0, 1.0, np.nextafter(1.0, 2.0), 1e10, 1.7e308, np.nan, np.nan, 3.0])
        rows = np.column_stack([extreme, np.arange(10.0)])
        sampler = SMC(n_islands=5, proposal=proposal)
        clf = BayesianTreeClassifier(MondrianPrior(0.05), sampler=sampler, random_state=0).fit(rows, np.arange(10) % 2)
        clf.posterior_.check()
        assert np.isfinite(clf.predict_proba(rows)).all()

    def test_more_values_than_knots(self) -> None:
        rows = np.random.default_rng(5).normal(size=(3000, 2))
        clf = BayesianTreeClassifier(MondrianPrior(0.3), random_state=0).fit(rows, (rows[:, 0] > 0.3).astype(int))
        assert clf.posterior_.prior.measure.scales[0].knots.size <= 1024
        assert clf.score(rows, (rows[:, 0] > 0.3).astype(int)) > 0.98

    def test_the_rate_is_chosen_by_the_evidence(self) -> None:
        clf = BayesianTreeClassifier(MondrianPrior(), random_state=0).fit(X, Y)
        assert set(clf.posterior_.choice.settings[0]) == {"rate"}
        assert clf.posterior_.prior.rate in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
        reg = BayesianTreeRegressor(MondrianPrior(None), random_state=0).fit(X, Y)
        assert reg.posterior_.prior.rate == 0.1

    def test_scikit_learn_copies_and_searches(self) -> None:
        clf = BayesianTreeClassifier(MondrianPrior(0.2), random_state=0)
        assert clone(clf).prior == clf.prior
        again = clone(BayesianTreeClassifier(clf.fit(X, Y).posterior_.prior, random_state=0)).fit(X, Y)
        assert again.predict_proba(X).tolist() == clf.predict_proba(X).tolist()
        search = GridSearchCV(clf, {"prior__rate": [0.1, 1.0]}, cv=2).fit(X, Y)
        assert search.best_estimator_.prior_.rate in (0.1, 1.0)

    def test_a_fit_is_continued_with_its_measure(self) -> None:
        clf = BayesianTreeClassifier(MondrianPrior(0.2), sampler=SMC(n_islands=2), random_state=0, warm_start=True)
        assert clf.fit(X, Y).fit(X, Y).posterior_.n_islands == 4

    def test_sums_of_trees_take_it(self, tmp_path: Path) -> None:
        small = {"n_trees": 3, "n_iterations": 20, "n_chains": 1, "random_state": 0}
        reg = BARTRegressor(prior=MondrianPrior(None), **small).fit(X, X[:, 1])
        assert reg.posterior_.prior.rate == 0.5
        assert "Mondrian of rate 0.5" in str(reg.posterior_.summary())
        reg.posterior_.save(tmp_path / "p")
        assert particletree.load(tmp_path / "p").prior == reg.posterior_.prior
        assert BARTClassifier(prior=MondrianPrior(1.0), **small).fit(X, Y).posterior_.prior.rate == 1.0
        with pytest.raises(ValueError, match=r'rate of the prior cannot be "auto".*prior=MondrianPrior\(rate=0.5'):
            BARTRegressor(prior=MondrianPrior(), **small).fit(X, X[:, 1])

    def test_a_feature_of_weight_zero_is_never_used(self) -> None:
        clf = BayesianTreeClassifier(MondrianPrior(0.1, feature_weights=[1, 0, 2]), random_state=0).fit(X, Y)
        assert clf.posterior_.inclusion_probabilities()[1] == 0

    def test_another_prior_is_another_prior(self) -> None:
        assert TreePrior(0.9, 0.5).measure is None
        assert TreePrior(0.9, 0.5).describe() == ""
