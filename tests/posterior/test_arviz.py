"""The hand-over to ArviZ, in whichever of its forms is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import particletree
from forests import make_data, make_posterior
from particletree import MCMC, BARTClassifier, BARTRegressor, Categorical, Posterior, TreePrior
from particletree._data import make_training_data
from particletree._posterior.exports.arviz import draw_from_islands

VARIABLES = {"log_posterior", "log_likelihood", "log_prior", "n_leaves", "depth"}


def run_chains(**settings: Any) -> Posterior:
    X, y = make_data(np.random.default_rng(0), n_rows=40)
    sampler = MCMC(**{"n_iterations": 600, "n_chains": 3, "burn_in": 101, "thin": 2} | settings)
    return sampler.run(
        make_training_data(X, y, 3), TreePrior.paper(), Categorical(3.0), seed=np.random.SeedSequence(1), n_jobs=1
    )


def group_names(data: Any) -> set[str]:
    """Return the groups of an `InferenceData` or a `DataTree`."""
    groups = data.groups() if callable(data.groups) else data.groups
    return {name.strip("/") for name in groups} - {""}


def test_without_arviz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r'pip install "particletree\[arviz\]"'):
        make_posterior()[0].to_arviz()


class TestDraws:
    def test_frequencies_are_the_weights(self) -> None:
        posterior, _ = make_posterior(n_islands=2, n_trees=5)
        trees = draw_from_islands(posterior, 20_000, random_state=0)
        assert trees.shape == (2, 20_000)
        expected = posterior.island_weights.toarray()
        found = np.array([np.bincount(row, minlength=posterior.forest.n_trees) for row in trees]) / 20_000
        z = (found - expected) / np.sqrt(np.maximum(expected * (1 - expected), 1e-12) / 20_000)
        assert np.abs(z).max() < 4

    def test_seed(self) -> None:
        posterior, _ = make_posterior()
        assert np.array_equal(draw_from_islands(posterior, 9), draw_from_islands(posterior, 9, 0))
        assert not np.array_equal(draw_from_islands(posterior, 9), draw_from_islands(posterior, 9, 1))

    def test_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match="n_draws must be at least 1, got 0"):
            draw_from_islands(make_posterior()[0], 0)


@pytest.fixture
def az() -> Any:
    return pytest.importorskip("arviz")


@pytest.mark.usefixtures("az")
class TestForm:
    def test_type_is_what_arviz_itself_makes(self, az: Any) -> None:
        own = az.convert_to_inference_data if "InferenceData" in vars(az) else az.convert_to_datatree
        assert type(make_posterior()[0].to_arviz()) is type(own({"a": np.zeros((2, 5))}))

    def test_chains(self) -> None:
        posterior = run_chains()
        data = posterior.to_arviz()
        assert group_names(data) == {"posterior", "sample_stats"}
        assert set(data.posterior.data_vars) == VARIABLES
        assert dict(data.posterior.sizes) == {"chain": 3, "draw": 249}
        assert data.sample_stats["tree"].dims == ("chain", "draw")
        assert data.posterior["draw"].values.tolist() == list(range(249))
        for name, by_tree in {
            "log_posterior": posterior.log_likelihoods + posterior.log_priors,
            "log_likelihood": posterior.log_likelihoods,
            "log_prior": posterior.log_priors,
            "n_leaves": posterior.n_leaves,
            "depth": posterior.depths,
        }.items():
            np.testing.assert_array_equal(data.posterior[name].values, posterior.along_chains(by_tree))
        for name in ("tree", "accepted", "move"):
            np.testing.assert_array_equal(data.sample_stats[name].values, [trace[name] for trace in posterior.trace])
        assert data.sample_stats["accepted"].dtype == bool

    def test_islands(self) -> None:
        posterior, _ = make_posterior()
        data = posterior.to_arviz(n_draws=70)
        assert group_names(data) == {"posterior", "sample_stats"}
        assert dict(data.posterior.sizes) == {"chain": 3, "draw": 70}
        tree = data.sample_stats["tree"].values
        np.testing.assert_array_equal(tree, draw_from_islands(posterior, 70))
        np.testing.assert_array_equal(data.posterior["n_leaves"].values, posterior.n_leaves[tree])
        assert make_posterior()[0].to_arviz().posterior.sizes["draw"] == 1000

    def test_attributes(self) -> None:
        attributes = run_chains().to_arviz().posterior.attrs
        assert attributes["inference_library"] == "particletree"
        assert attributes["inference_library_version"] == particletree.__version__
        assert attributes["sampler"] == "MCMC"
        assert attributes["moves"] == "0 grow, 1 prune, 2 change, 3 swap, 4 regrow"
        posterior, _ = make_posterior()
        attributes = posterior.to_arviz().posterior.attrs
        assert attributes["sampler"] == "SMC"
        assert attributes["island_shares"] == posterior.island_shares.tolist()
        assert posterior.log_evidences is not None
        assert attributes["log_evidences"] == posterior.log_evidences.tolist()

    def test_one_chain_and_one_island(self) -> None:
        assert run_chains(n_chains=1).to_arviz().posterior.sizes["chain"] == 1
        assert make_posterior(n_islands=1)[0].to_arviz().posterior.sizes["chain"] == 1

    def test_arviz_can_use_it(self, az: Any) -> None:
        for posterior in (run_chains(), make_posterior()[0]):
            assert set(az.summary(posterior.to_arviz()).index) == VARIABLES  # no index of a tree

    def test_our_statistics_are_those_of_arviz(self, az: Any) -> None:
        posterior = run_chains(n_iterations=3000)
        data, chains = posterior.to_arviz(), posterior.summary().convergence
        assert chains is not None
        rhat, ess = az.rhat(data), az.ess(data, method="bulk")
        for name, found in {
            "log_posterior": chains.log_posterior,
            "n_leaves": chains.leaves,
            "depth": chains.depth,
        }.items():
            # In 1.x these are trees too, with the variables where they were, or plain datasets.
            assert found.rhat == pytest.approx(float(getattr(rhat, "posterior", rhat)[name]))
            assert found.ess_bulk == pytest.approx(float(getattr(ess, "posterior", ess)[name]))

    def test_goes_through_a_file(self, tmp_path: Path) -> None:
        pytest.importorskip("h5netcdf")
        pytest.importorskip("h5py")
        for posterior in (run_chains(), make_posterior()[0]):
            data = posterior.to_arviz()
            data.to_netcdf(tmp_path / "data.nc", engine="h5netcdf")
            assert (tmp_path / "data.nc").stat().st_size > 0


class TestSumsOfTrees:
    def test_numbers(self, az: Any) -> None:
        X, y = load_diabetes(return_X_y=True)
        model = BARTRegressor(n_trees=5, n_iterations=40, n_chains=2, random_state=0).fit(X, y)
        posterior = model.posterior_
        found = posterior.to_arviz(X[:4]).posterior
        assert dict(found.sizes) == {"chain": 2, "draw": 20, "function_dim_0": 4}
        np.testing.assert_array_equal(found["noise_sd"], np.stack(posterior.along_chains(posterior.noise_sd)))
        np.testing.assert_allclose(found["function"].mean(("chain", "draw")), model.predict(X[:4]))
        assert set(az.summary(posterior.to_arviz(), var_names=["noise_sd", "n_leaves"]).index) == {
            "noise_sd",
            "n_leaves",
        }

    def test_classes(self, az: Any) -> None:
        X, y = load_iris(return_X_y=True)
        model = BARTClassifier(n_trees=5, n_iterations=20, n_chains=2, random_state=0).fit(X, y)
        found = model.posterior_.to_arviz(X[:4]).posterior
        assert "noise_sd" not in found
        draws = model.posterior_.predictive_draws(X[:4])
        np.testing.assert_allclose(found["probability"].mean(("chain", "draw")), draws.mean(axis=1))

    def test_a_single_class_has_no_chains(self, az: Any) -> None:
        model = BARTClassifier(n_trees=5, n_iterations=20).fit([[0.0], [1.0]], [1, 1])
        with pytest.raises(ValueError, match="single class"):
            model.posterior_.to_arviz()
