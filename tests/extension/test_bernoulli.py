"""A leaf model from outside the package, by the guide docs/extending.md: what it promises, and the kernel against it.

The Python side is tested everywhere. The kernel has the leaf model only where it was built with
PARTICLETREE_EXTRA_LEAF_MODELS; .ci/run does that in its build with sanitizers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import oracle
from extension.bernoulli import Bernoulli, ZeroOrOne
from model.scipy_distributions import to_scipy
from model.test_leaf_models import TestEveryLeafModel, TestEveryLeafModelOfNumbers  # noqa: F401
from particletree import (
    MCMC,
    SMC,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Categorical,
    Exact,
    Posterior,
    TreePrior,
    _kernel,
)
from particletree._data import make_regression_data, make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._model.leaf import LeafModel
from particletree._model.leaves import LEAVES, register_leaf_model, registered_leaf_models
from particletree._model.leaves.numbers import NumbersLeaf
from particletree._model.target import Numbers, Observations
from particletree.reference import Problem, particle_filter, predictive

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LEAF = Bernoulli(a=0.7, b=1.6)
WEIGHTS = [1.0, 0.25, 2.0, 1.0, 1.5, 3.0, 0.5, 1.0, 0.75, 2.0, 1.0, 0.6]

needs_kernel = pytest.mark.skipif(
    "bernoulli" not in _kernel.LEAF_MODELS,
    reason="the kernel was built without PARTICLETREE_EXTRA_LEAF_MODELS=tests/extension/bernoulli.h",
)

# The tests of every leaf model (TestEveryLeafModel and the other class imported above) run on this one.


@pytest.fixture
def model() -> type[LeafModel]:
    return Bernoulli


@pytest.fixture
def number_model() -> type[LeafModel]:
    return Bernoulli


@to_scipy.register
def _(distributions: ZeroOrOne) -> Any:
    return stats.bernoulli(distributions.ones / (distributions.zeros + distributions.ones))


def twelve_rows(weighted: bool = False) -> Any:
    return make_regression_data(oracle.TWO_CLASSES.X, oracle.TWO_CLASSES.y, WEIGHTS if weighted else None)


def run(sampler: SMC | MCMC | Exact, data: Any, leaf: LeafModel = LEAF, seed: int = 3) -> Posterior:
    return sampler.run(data, PRIOR, leaf, seed=np.random.SeedSequence(seed))


class TestTheLaw:
    LAWS = ZeroOrOne(np.array([1.0, 3.0, 1e-20]), np.array([1.0, 1e-20, 3.0]))

    @pytest.mark.parametrize("x", [-1.0, 0.0, 0.5, 1.0, 2.0])
    def test_agrees_with_scipy(self, x: float) -> None:
        points, theirs = np.full(3, x), to_scipy(self.LAWS)
        assert self.LAWS.cdf(points) == pytest.approx(theirs.cdf(points), rel=1e-12)
        assert self.LAWS.survival(points)[:2] == pytest.approx(theirs.sf(points)[:2], rel=1e-12)
        assert self.LAWS.log_density(points)[0] == pytest.approx(theirs.logpmf(points)[0], rel=1e-12)

    def test_small_probabilities_keep_their_digits(self) -> None:
        assert self.LAWS.survival(np.zeros(3))[1] == pytest.approx(1e-20 / 3, rel=1e-12, abs=0)
        assert self.LAWS.cdf(np.zeros(3))[2] == pytest.approx(1e-20 / 3, rel=1e-12, abs=0)

    def test_quantiles_are_the_smallest_that_reach(self) -> None:
        distributions = ZeroOrOne(np.array([1.0, 3.0]), np.array([3.0, 1.0]))
        assert distributions.quantile(0.25).tolist() == [0.0, 0.0]
        assert distributions.quantile(0.26).tolist() == [1.0, 0.0]
        assert distributions.quantile(0.25, upper=True).tolist() == [1.0, 0.0]
        assert distributions.quantile(0.24, upper=True).tolist() == [1.0, 1.0]

    def test_draws(self) -> None:
        distributions = ZeroOrOne(np.full(4000, 1.0), np.full(4000, 3.0))
        oracle.assert_mean(distributions.draw(np.random.default_rng(0)), 0.75, "ones")


class TestThePythonSide:
    """Nothing here needs the kernel's part."""

    @pytest.mark.parametrize("a", [1e-6, 0.3, 1.0, 50.0, 1e8])
    @pytest.mark.parametrize("b", [1e-6, 1.0, 1e3])
    def test_the_marginal_agrees_with_exact_arithmetic(self, a: float, b: float) -> None:
        leaf = Bernoulli(a, b)
        for ones, zeros in ((0.0, 1.0), (3.0, 0.0), (17.0, 4.5)):
            exact = log_marginal(a, b, ones, zeros)
            assert float(leaf.log_marginal([ones + zeros, ones, zeros])) == pytest.approx(exact, rel=1e-9, abs=1e-6)

    def test_what_is_neither_zero_nor_one_is_refused(self) -> None:
        observations = Observations(Numbers(1), np.array([[0.0], [1.0], [0.5]]))
        with pytest.raises(ValueError, match=r"The value 0.5 in row 2 \(counted from 0\) is neither 0 nor 1"):
            LEAF.check_observations(observations)

    def test_words(self) -> None:
        statistics = np.array([8.0, 5.0, 3.0])
        assert Bernoulli().describe_prediction(statistics, Numbers()) == "0.600 ± 0.490"
        assert Bernoulli().describe_rows(statistics, Numbers()) == "8 rows: 5 ones"

    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_exact_evidence_is_that_of_two_classes(self, weighted: bool) -> None:
        classes = make_training_data(oracle.TWO_CLASSES.X, oracle.TWO_CLASSES.y, 2, WEIGHTS if weighted else None)
        ours = ExactRecursion(twelve_rows(weighted), PRIOR, Bernoulli(0.8, 0.8))
        theirs = ExactRecursion(classes, PRIOR, Categorical(1.6))
        points = oracle.TWO_CLASSES.points()
        assert ours.log_evidence == pytest.approx(theirs.log_evidence, rel=1e-12)
        assert ours.predictive(points)[:, 0] == pytest.approx(theirs.predictive(points)[:, 1], rel=1e-9)

    def test_the_estimator_predicts_by_the_exact_sampler(self) -> None:
        X, y = oracle.TWO_CLASSES.X, oracle.TWO_CLASSES.y
        model = BayesianTreeRegressor(prior=PRIOR, leaf=LEAF, sampler=Exact(n_draws=20), random_state=0).fit(X, y)
        p = model.predict(X)
        assert p == pytest.approx(ExactRecursion(twelve_rows(), PRIOR, LEAF).predictive(X)[:, 0])
        assert model.predict_log_density(X, np.ones(12)) == pytest.approx(np.log(p))
        assert sum(model.predict_variance(X)) == pytest.approx(p * (1 - p))
        assert model.predict_quantiles(X, 0.5).tolist() == (p > 0.5).tolist()
        low, high = model.predict_interval(X, of="mean").T
        assert ((low > 0) & (low < p) & (p < high) & (high < 1)).all()
        assert set(np.unique(model.sample_predictive(X, 5, random_state=0))) == {0.0, 1.0}

    @pytest.mark.parametrize("proposal", ["prior", "empirical", "optimal", "lookahead"])
    def test_the_reference_filter_is_unbiased(self, proposal: str) -> None:
        X, y = oracle.SIX_ROWS.X, oracle.SIX_ROWS.y
        data = make_regression_data(X, y)
        exact, problem = ExactRecursion(data, PRIOR, LEAF), Problem(X, rows_of(data), PRIOR, LEAF)
        ratios, errors = [], []
        for seed in range(200):
            rng = np.random.default_rng([7, seed])
            result = particle_filter(problem, n_particles=4, proposal=proposal, ess_threshold=0.5, rng=rng)
            ratios.append(math.exp(result.log_evidence - exact.log_evidence))
            errors.append(ratios[-1] * (predictive(result, X[:1]) - exact.predictive(X[:1])).item())
        oracle.assert_mean(ratios, 1.0, f"evidence, {proposal}")
        oracle.assert_mean(errors, 0.0, f"predictive, {proposal}")


def rows_of(data: Any) -> NDArray[np.float64]:
    return LEAF.row_statistics(data.observations)


def log_marginal(a: float, b: float, ones: float, zeros: float) -> float:
    with mp.workdps(60):
        return float(mp.log(mp.beta(mp.mpf(a) + ones, mp.mpf(b) + zeros)) - mp.log(mp.beta(a, b)))


class TestRegistration:
    def test_posteriors_are_saved_and_loaded(self, tmp_path: Path) -> None:
        posterior = run(Exact(n_draws=20), twelve_rows(weighted=True)).draws()  # type: ignore[attr-defined]
        posterior.save(tmp_path / "p")
        loaded = Posterior.load(tmp_path / "p")
        assert loaded.leaf == LEAF
        points = oracle.TWO_CLASSES.points()
        assert loaded.predictions.means(points).tolist() == posterior.predictions.means(points).tolist()

    def test_what_is_not_registered_is_neither_saved_nor_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        posterior = run(Exact(n_draws=20), twelve_rows()).draws()  # type: ignore[attr-defined]
        posterior.save(tmp_path / "p")
        monkeypatch.delitem(registry(), "Bernoulli")
        with pytest.raises(ValueError, match=r"Bernoulli cannot be saved; .*register_leaf_model\(Bernoulli\)"):
            posterior.save(tmp_path / "q")
        with pytest.raises(ValueError, match=r"the leaf model must be one of .* must be imported and registered first"):
            Posterior.load(tmp_path / "p")
        assert [path.name for path in tmp_path.iterdir()] == ["p"]

    def test_a_class_that_is_defined_again_takes_its_own_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(registry(), "Bernoulli", Bernoulli)
        again = dataclass(type("Bernoulli", (Bernoulli,), {"__module__": Bernoulli.__module__}))
        assert register_leaf_model(again) is again
        assert registered_leaf_models()["Bernoulli"] is again

    def test_a_name_belongs_to_one_class(self) -> None:
        other = dataclass(type("Categorical", (Bernoulli,), {}))
        with pytest.raises(ValueError, match=r"leaf model named Categorical already, in particletree\._model\.leaves"):
            register_leaf_model(other)

    @pytest.mark.parametrize("wrong", [LEAF, int, LeafModel, NumbersLeaf, "Bernoulli"])
    def test_what_is_no_leaf_model_is_refused(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match="A leaf model is a dataclass derived from LeafModel"):
            register_leaf_model(wrong)

    def test_a_leaf_model_of_the_wrong_target_is_refused_by_name(self) -> None:
        X, y = oracle.TWO_CLASSES.X, oracle.TWO_CLASSES.y
        with pytest.raises(TypeError, match=r"Categorical, or of another leaf model for ClassLabels, or None, got Ber"):
            BayesianTreeClassifier(leaf=LEAF).fit(X, y)
        with pytest.raises(TypeError, match=r"Exponential, or of another leaf model for Numbers, or None, got Cat"):
            BayesianTreeRegressor(leaf=Categorical.paper()).fit(X, y)


def registry() -> dict[str, type[LeafModel]]:
    return LEAVES.known


@pytest.mark.skipif("bernoulli" in _kernel.LEAF_MODELS, reason="the kernel has the leaf model")
def test_a_kernel_without_it_says_so() -> None:
    with pytest.raises(ValueError, match=r"unknown leaf model: bernoulli; .*exponential.*docs/extending\.md"):
        run(SMC.paper(), twelve_rows())


def some_rows(n: int, n_targets: int = 1, weighted: bool = False, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (rng.random((n, n_targets)) < np.where(X[:, :1] > 0, 0.8, 0.3)).astype(float)
    return make_regression_data(X, y, rng.uniform(0.1, 3.0, n) if weighted else None)


@needs_kernel
class TestTheKernel:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("n_targets", [1, 3])
    @pytest.mark.parametrize(
        "sampler",
        [
            *(SMC.paper(proposal=proposal, n_particles=20, n_islands=2) for proposal in _kernel.PROPOSALS),
            MCMC(n_iterations=300, n_chains=1),
        ],
        ids=lambda sampler: getattr(sampler, "proposal", "chain"),
    )
    def test_marginals_of_trees_are_those_of_the_python_side(
        self, sampler: SMC | MCMC, n_targets: int, weighted: bool
    ) -> None:
        data = some_rows(80, n_targets, weighted)
        posterior = run(sampler, data)
        log_marginals = posterior.leaf.log_marginal(posterior.forest.statistics)
        everything = posterior.leaf.row_statistics(data.observations).sum(axis=0)
        assert posterior.n_leaves.max() > 1
        for tree, log_likelihood in zip(posterior.trees, posterior.log_likelihoods, strict=True):
            blocks = tree.nodes["block"][tree.feature < 0]
            assert posterior.forest.statistics[blocks].sum(axis=0) == pytest.approx(everything, rel=1e-12)
            assert log_likelihood == pytest.approx(log_marginals[blocks].sum(), rel=1e-10, abs=1e-10)

    @pytest.mark.parametrize("a", [1e-6, 0.3, 12.0, 1e8])
    @pytest.mark.parametrize("b", [1e-6, 1.0, 1e8])
    @pytest.mark.parametrize("y", [[0, 1, 1, 0, 1], [1, 1, 1], [0]], ids=str)
    def test_the_marginal_of_one_block_agrees_with_exact_arithmetic(self, y: list[int], a: float, b: float) -> None:
        data = make_regression_data(np.zeros((len(y), 1)), y)
        posterior = run(SMC.paper(n_particles=1, n_islands=1), data, Bernoulli(a, b))
        exact = log_marginal(a, b, sum(y), len(y) - sum(y))
        assert posterior.log_evidence == pytest.approx(exact, rel=1e-13, abs=1e-13)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_the_evidence_is_unbiased(self, proposal: str, weighted: bool) -> None:
        data = twelve_rows(weighted)
        exact = ExactRecursion(data, PRIOR, LEAF).log_evidence
        posterior = run(SMC.paper(proposal=proposal, n_particles=10, n_islands=1000, ess_threshold=0.5), data)
        assert posterior.log_evidences is not None
        oracle.assert_mean(np.exp(posterior.log_evidences - exact), 1.0, f"evidence, {proposal}")

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_each_island_has_the_evidence_of_two_classes(self, proposal: str, weighted: bool) -> None:
        """The rows stand in the order of their labels, as classes are sorted, so that both draw the same trees."""
        rng = np.random.default_rng(5)
        X, y = rng.normal(size=(100, 2)), np.sort(rng.integers(0, 2, 100))
        weights = rng.uniform(0.1, 3.0, 100) if weighted else None
        sampler = SMC.paper(proposal=proposal, n_particles=50, n_islands=4)
        ours = run(sampler, make_regression_data(X, y, weights), Bernoulli(0.8, 0.8))
        theirs = run(sampler, make_training_data(X, y, 2, weights), Categorical(1.6))
        assert ours.log_evidences == pytest.approx(theirs.log_evidences, rel=1e-10)
        assert ours.predictions.means(X[:20])[:, 0] == pytest.approx(theirs.predictions.means(X[:20])[:, 1], rel=1e-9)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"target": np.array([[0.0], [0.5]])}, "the target must be zeros and ones"),
            ({"target": np.array([[0.0], [np.nan]])}, "the target must be finite"),
            ({"leaf_parameters": np.ones(3)}, "the parameters must be a and b of each target"),
            ({"leaf_parameters": np.array([1.0, 0.0])}, "a and b must be positive and finite"),
            ({"leaf_parameters": np.array([np.inf, 1.0])}, "a and b must be positive and finite"),
            ({"row_columns": {"exposure": np.ones(2)}}, "no use for the row column exposure"),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], message: str) -> None:
        arguments: dict[str, Any] = {
            "ranks": np.array([[0, 1]], dtype=np.uint8),
            "values": np.array([0.0, 1.0]),
            "offsets": np.array([0, 2]),
            "n_levels": np.empty(0, dtype=np.uint32),
            "target": np.array([[0.0], [1.0]]),
            "weights": np.empty(0),
            "leaf": "bernoulli",
            "leaf_parameters": np.ones(2),
            "prior": "chipman",
            "prior_parameters": np.array([0.95, 0.5, np.inf, 2.0]),
            "feature_weights": np.empty(0),
        }
        _kernel.Problem(**arguments)
        with pytest.raises(ValueError, match=message):
            _kernel.Problem(**arguments | changes)
