"""Posteriors of numbers can do what those of classes can: files, merging, words, ArviZ, earlier states of chains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from particletree import (
    MCMC,
    SMC,
    BayesianTreeClassifier,
    Exact,
    Exponential,
    Gaussian,
    GaussianKnownVariance,
    Poisson,
    Posterior,
    TreePrior,
)
from particletree._data import TrainingData, make_regression_data
from particletree._model.leaf import LeafModel
from particletree._model.target import Numbers

Floats = NDArray[np.float64]

LEAVES: list[LeafModel] = [Gaussian(), GaussianKnownVariance(), Poisson(), Exponential()]
ISLANDS = SMC.paper(n_particles=20, n_islands=3)
CHAINS = MCMC(n_iterations=400, n_chains=2, burn_in=101)
SAMPLERS = [ISLANDS, CHAINS]


def name_of(part: object) -> str:
    return type(part).__name__


def make_data(n_targets: int = 1, seed: int = 0, **parts: Any) -> TrainingData:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 6, 50)])
    rate = (1 + np.arange(n_targets)) * np.where(X[:, :1] > 0.3, 9.0, 2.0)
    return make_regression_data(X, rng.poisson(rate).astype(float), **parts)


def run(
    leaf: LeafModel, sampler: Any = ISLANDS, seed: int = 0, data: TrainingData | None = None, n_targets: int = 1
) -> Posterior:
    posterior: Posterior = sampler.run(
        make_data(n_targets) if data is None else data,
        TreePrior.paper(),
        leaf,
        seed=np.random.SeedSequence(seed),
        feature_names=["age", "rooms"],
    )
    return posterior


POINTS = np.array([[-1.0, 2.0], [0.2, 3.0], [0.4, 0.0], [2.0, 5.0]])


def answers(posterior: Posterior) -> list[Floats]:
    predictions = posterior.predictions
    y = np.full((len(POINTS), posterior.target.n_outputs), 3.0)
    columns = {column.name: np.array([0.5, 1.0, 2.0, 3.0]) for column in posterior.leaf.declared_columns}
    return [
        posterior.predictive(POINTS),
        posterior.predictive_interval(POINTS),
        predictions.quantiles(POINTS, (0.1, 0.9), columns),
        predictions.log_densities(POINTS, y, columns),
        predictions.observations(POINTS, 3, np.random.default_rng(0), columns),
        *predictions.variances(POINTS),
        posterior.feature_importances(),
        posterior.gain_shares(),
    ]


def assert_same_answers(one: Posterior, two: Posterior) -> None:
    for ours, theirs in zip(answers(one), answers(two), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=name_of)
@pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
class TestFiles:
    @pytest.mark.parametrize("n_targets", [1, 2])
    def test_what_is_saved_comes_back(self, leaf: LeafModel, sampler: Any, n_targets: int, tmp_path: Path) -> None:
        posterior = run(leaf, sampler, n_targets=n_targets)
        posterior.save(tmp_path / "posterior.npz")
        loaded = Posterior.load(tmp_path / "posterior.npz")
        assert loaded.leaf == posterior.leaf
        assert loaded.target == posterior.target
        assert loaded.fingerprint == posterior.fingerprint
        assert str(loaded.best_tree()) == str(posterior.best_tree())
        assert str(loaded.summary()) == str(posterior.summary())
        assert_same_answers(loaded, posterior)

    def test_names_of_targets_come_back(self, leaf: LeafModel, sampler: Any, tmp_path: Path) -> None:
        data = make_data(2)
        named = replace(data, observations=replace(data.observations, target=Numbers(2, ("price", "rent"))))
        run(leaf, sampler, data=named).save(tmp_path / "posterior.npz")
        loaded = Posterior.load(tmp_path / "posterior.npz")
        assert loaded.target == Numbers(2, ("price", "rent"))
        assert "rent: " in str(loaded.best_tree())

    def test_apart_as_together(self, leaf: LeafModel, sampler: Any, tmp_path: Path) -> None:
        parts = [run(leaf, sampler, seed=seed) for seed in range(3)]
        for number, part in enumerate(parts):
            part.save(tmp_path / f"{number}.npz")
        loaded = [Posterior.load(tmp_path / f"{number}.npz") for number in range(3)]
        merged = Posterior.merge(loaded)
        assert merged.n_islands == sum(part.n_islands for part in parts)
        expected = np.mean([part.predictive(POINTS) for part in parts], axis=0)
        np.testing.assert_allclose(merged.predictive(POINTS), expected, rtol=1e-12)
        assert_same_answers(merged, Posterior.merge(parts))


class TestMergingRefuses:
    def refuse(self, one: Posterior, two: Posterior, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Posterior.merge([one, two])

    def test_another_leaf_model(self) -> None:
        poisson, gaussian = (run(leaf, seed=seed) for seed, leaf in enumerate((Poisson(2.0), Gaussian(2.0))))
        self.refuse(poisson, gaussian, r"differ in the leaf model: Poisson\(.* and Gaussian\(")

    def test_other_parameters(self) -> None:
        one, two = (run(Poisson(2.0, shape), seed=seed) for seed, shape in enumerate((1.0, 2.0)))
        self.refuse(one, two, r"differ in the leaf model: Poisson\(prior_mean=2.0, shape=1.0\) and .*shape=2.0")

    def test_another_number_of_targets(self) -> None:
        one, two = (run(Poisson(2.0), seed=n, n_targets=n) for n in (1, 2))
        self.refuse(one, two, "differ in the (leaf model|target)")

    def test_other_names_of_targets(self) -> None:
        data = make_data()
        named = replace(data, observations=replace(data.observations, target=Numbers(1, ("price",))))
        message = r"differ in the target: Numbers\(n_targets=1, names=None\) and .*'price'"
        self.refuse(run(Poisson(), data=data), run(Poisson(), seed=1, data=named), message)

    @pytest.mark.parametrize(
        "parts",
        [{"weights": np.r_[2.0, np.ones(49)]}, {"exposure": np.full(50, 2.0)}, {"exposure": np.r_[3.0, np.ones(49)]}],
        ids=["weights", "exposure", "exposure of one row"],
    )
    def test_other_weights_and_exposure(self, parts: dict[str, Any]) -> None:
        self.refuse(
            run(Poisson(2.0)), run(Poisson(2.0), seed=1, data=make_data(**parts)), "training data|different data"
        )

    def test_numbers_that_are_the_same_in_another_order(self) -> None:
        data = make_data()
        turned = replace(data, observations=replace(data.observations, values=data.observations.values[::-1].copy()))
        leaf = Gaussian(5.0, noise_sd=2.0)
        self.refuse(run(leaf, data=data), run(leaf, seed=1, data=turned), "fitted to different data")

    def test_classes(self) -> None:
        data = make_data()
        classes = (
            BayesianTreeClassifier(TreePrior.paper(), sampler=ISLANDS, random_state=0)
            .fit(POINTS, [0, 1, 0, 1])
            .posterior_
        )
        self.refuse(run(Gaussian(), data=data), classes, "differ in the leaf model")


@pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
class TestWords:
    def test_a_summary(self, leaf: LeafModel) -> None:
        text = str(run(leaf).summary())
        unit = "a count with the mean rate" if name_of(leaf) == "Poisson" else "the target"
        assert f"standard deviations of {unit}" in " ".join(text.split())
        assert "class" not in text
        assert "nan" not in text
        assert "age" in text

    def test_a_printed_tree(self, leaf: LeafModel) -> None:
        tree = run(leaf).best_tree()
        lines = str(tree).splitlines()
        assert "age <=" in lines[0]
        word = {"Poisson": "total", "Exponential": "mean"}.get(name_of(leaf), "sd")
        leaves = [line for line in lines if " <= " not in line]
        assert all(word in line for line in leaves)
        printed = [float(line.partition(": ")[2].partition(" ± ")[0]) for line in leaves]
        assert printed == pytest.approx(tree.means[tree.feature < 0, 0], abs=0.06)

    def test_an_exact_posterior(self, leaf: LeafModel) -> None:
        data = make_regression_data([[0.0], [1.0], [1.5], [4.0]], [1.0, 2.0, 0.0, 7.0])
        posterior = Exact(n_draws=30).run(data, TreePrior.paper(), leaf, seed=np.random.SeedSequence(0))
        assert posterior.summary().verdict.startswith("Evidence, predictions and intervals are exact")
        posterior.check()


class TestChains:
    @pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
    def test_until_is_a_shorter_run(self, leaf: LeafModel) -> None:
        whole = run(leaf, CHAINS)
        short = run(leaf, MCMC(n_iterations=250, n_chains=2, burn_in=101))
        until = whole.until(250)
        until.check()
        np.testing.assert_allclose(until.predictive(POINTS), short.predictive(POINTS), rtol=1e-12)
        np.testing.assert_allclose(
            until.predictions.quantiles(POINTS, (0.5,)), short.predictions.quantiles(POINTS, (0.5,)), rtol=1e-9
        )

    def test_along_chains(self) -> None:
        posterior = run(Gaussian(), CHAINS)
        assert [len(values) for values in posterior.along_chains(posterior.n_leaves)] == [299, 299]

    @pytest.mark.parametrize("sampler", SAMPLERS, ids=name_of)
    def test_arviz(self, sampler: Any) -> None:
        az = pytest.importorskip("arviz")
        posterior = run(Poisson(), sampler)
        data = posterior.to_arviz(n_draws=60)
        assert data.posterior.sizes["chain"] == posterior.n_islands
        tree = data.sample_stats["tree"].values
        np.testing.assert_array_equal(data.posterior["log_likelihood"].values, posterior.log_likelihoods[tree])
        assert "n_leaves" in az.summary(data).index
