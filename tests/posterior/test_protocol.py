"""What every posterior and every estimator keeps to, single trees and sums of trees alike.

The same name means the same quantity, in the same shape; what cannot exist says so with the same sentence. That copies
answer the same as what was fitted is in `tests/estimators/test_copies.py`.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import particletree
from fitted_estimators import ESTIMATORS, fitted, table
from particletree import BARTPosterior, Posterior, TreePrior
from particletree._posterior.base import NO_EVIDENCE, BasePosterior

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::FutureWarning")
KINDS = (Posterior, BARTPosterior)
ISLANDS, CHAINS = ("classes", "numbers", "counts"), ("chains of 3 classes", "sums", "sums of 2 classes")
NUMBERS = ("numbers", "counts", "sums")


@pytest.fixture(params=list(ESTIMATORS))
def name(request: pytest.FixtureRequest) -> Any:
    return request.param


def public_names(kind: type) -> set[str]:
    return {name for name in (*dir(kind), *kind.__dataclass_fields__) if not name.startswith("_")}  # type: ignore[attr-defined]


def test_all_kinds_are_here() -> None:
    assert set(BasePosterior.families) == set(KINDS)
    assert {type(fitted(name).posterior_) for name in ESTIMATORS} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shared_has_one_signature(kind: type[BasePosterior]) -> None:
    """A kind may add parameters, which have defaults: everything can be called in the way of the base."""
    for shared, method in inspect.getmembers(BasePosterior, inspect.isfunction):
        if shared.startswith("_"):
            continue
        expected, own = (inspect.signature(one).parameters for one in (method, getattr(kind, shared)))
        for parameter in expected.values():
            assert own[parameter.name].default == parameter.default
        assert all(own[more].default is not inspect.Parameter.empty for more in own.keys() - expected.keys())


class TestPosterior:
    def test_describes_the_model_and_the_data(self, name: str) -> None:
        X, _, weights, _ = table(name)
        posterior = fitted(name).posterior_
        posterior.check()
        assert posterior.n_features == X.shape[1] == posterior.columns.n_features
        assert posterior.feature_names == list(X.columns)
        assert posterior.fingerprint is not None
        np.testing.assert_array_equal(np.sort(posterior.kept_row_numbers), np.flatnonzero(weights))
        np.testing.assert_array_equal(posterior.kept_rows, posterior.as_numbers(X)[posterior.kept_row_numbers])
        assert posterior.model[0] is posterior.prior
        assert None not in posterior.model[1].get_params().values()
        assert posterior.weights.sum() == pytest.approx(1.0)

    def test_answers_in_the_same_shapes(self, name: str) -> None:
        X, posterior = table(name)[0][:7], fitted(name).posterior_
        n_outputs = posterior.target.n_outputs
        means, intervals = posterior.predictive(X), posterior.predictive_interval(X, level=0.5)
        assert posterior.as_numbers(X).shape == (7, posterior.n_features)
        assert (means.shape, intervals.shape) == ((7, n_outputs), (7, n_outputs, 2))
        assert ((intervals[..., 0] <= intervals[..., 1]).all(), np.isfinite(means).all()) == (True, True)
        importances = posterior.feature_importances()
        assert importances.shape == (posterior.n_features,)
        assert importances.sum() == pytest.approx(1.0)
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            posterior.predictive_interval(X, level=1.0)

    def test_sums_itself_up(self, name: str) -> None:
        summary = fitted(name).posterior_.summary()
        assert summary.verdict.split()[0] in str(summary)
        assert summary.verdict.split()[0] in fitted(name).posterior_._repr_html_()

    @pytest.mark.parametrize("name", CHAINS)
    def test_chains_say_whether_they_have_converged(self, name: str) -> None:
        posterior = fitted(name).posterior_
        found = posterior.convergence()
        assert (found.n_chains, found.n_iterations) == (2, 60)
        assert found.rhat == max(rhat for rhat, _ in found.quantities.values())
        assert found.ess == min(ess for _, ess in found.quantities.values())
        assert found.has_settled == (found.rhat < 1.05)
        assert not found.has_converged
        assert [values.shape for values in posterior.along_chains(np.arange(posterior.weights.size))] == [(30,)] * 2

    @pytest.mark.parametrize("name", ISLANDS)
    def test_islands_are_no_chains(self, name: str) -> None:
        posterior = fitted(name).posterior_
        with pytest.raises(ValueError, match="islands of particles, not Markov chains"):
            posterior.convergence()
        with pytest.raises(ValueError, match="chains"):
            posterior.along_chains(posterior.n_leaves)

    @pytest.mark.parametrize("name", ["classes", *CHAINS])
    def test_converts_to_arviz(self, name: str) -> None:
        pytest.importorskip("arviz")
        converted = fitted(name).posterior_.to_arviz()
        assert list(converted.posterior.sizes)[:2] == ["chain", "draw"]
        assert {"log_likelihood", "n_leaves"} <= set(converted.posterior.data_vars)

    def test_leaves_out_its_rows(self, name: str, tmp_path: Any) -> None:
        posterior = fitted(name).posterior_
        posterior.save(tmp_path / "file", keep_rows=False)
        for bare in (posterior.without_rows(), type(posterior).load(tmp_path / "file")):
            assert (type(bare), bare.kept_rows, bare.kept_row_numbers) == (type(posterior), None, None)

    def test_a_file_is_of_one_kind(self, name: str, tmp_path: Any) -> None:
        posterior = fitted(name).posterior_
        posterior.save(tmp_path / "file")
        (other,) = set(KINDS) - {type(posterior)}
        assert type(particletree.load(tmp_path / "file")) is type(posterior)
        with pytest.raises(ValueError, match=f"it holds {posterior.family}"):
            other.load(tmp_path / "file")


class TestEstimator:
    def test_answers_in_the_same_shapes(self, name: str) -> None:
        X, y, _, more = table(name)
        X, y, more = X[:7], y[:7], {key: value[:7] for key, value in more.items()}
        model = fitted(name)
        assert model.predict(X).shape == (7,)
        if is_classifier(model):
            n_classes = model.classes_.size
            assert model.predict_proba(X).shape == model.predict_log_proba(X).shape == (7, n_classes)
            assert model.predict_interval(X).shape == (7, n_classes, 2)
            return
        assert model.n_outputs_ == 1
        assert [part.shape for part in model.predict(X, return_std=True)] == [(7,), (7,)]
        for of in ("observation", "mean"):
            assert model.predict_interval(X, of=of).shape == (7, 2)
        assert model.predict_quantiles(X, 0.3).shape == (7,)
        assert model.predict_quantiles(X, [0.3, 0.7, 0.9]).shape == (7, 3)
        assert model.predict_log_density(X, y, **more).shape == (7,)
        assert model.sample_predictive(X, 4, random_state=0).shape == (7, 4)

    @pytest.mark.parametrize("name", NUMBERS)
    def test_rows_are_drawn_jointly(self, name: str) -> None:
        """The i-th draws of all rows have one tree or sum, and its parameters: two equal rows differ by noise alone."""
        model, n = fitted(name), 4000
        X = table(name)[0].iloc[[3, 3, 8, 8]]
        draws = model.sample_predictive(X, n, random_state=0)
        squares = np.square(draws[::2] - draws[1::2]) / 2
        noise = np.mean(model.posterior_.noise_sd**2) if name == "sums" else model.predict_variance(X[::2]).noise
        assert (np.abs(squares.mean(axis=1) - noise) < 4 * squares.std(axis=1) / np.sqrt(n)).all()
        mean, std = model.predict(X, return_std=True)
        assert (np.abs(draws.mean(axis=1) - mean) < 4 * std / np.sqrt(n)).all()

    @pytest.mark.parametrize("name", ["numbers", "sums", "classes", "sums of 2 classes"])
    def test_a_warm_start_needs_the_same_model(self, name: str) -> None:
        X, y, weights, _ = table(name)
        model = clone(fitted(name)).set_params(warm_start=True).fit(X, y, weights)
        with pytest.raises(ValueError, match=r"the model is not that of that fit: it had .*, got other"):
            model.set_params(prior=TreePrior(0.5, 1.0)).fit(X, y, weights)


class TestWhatCannotExist:
    def test_posteriors_say_who_has_it(self, name: str) -> None:
        posterior = fitted(name).posterior_
        (other,) = set(KINDS) - {type(posterior)}
        missing = public_names(other) - public_names(type(posterior))
        assert missing >= ({"noise_sd", "predictive_draws"} if other is BARTPosterior else {"best_tree", "explain"})
        sentence = f"{type(posterior).__name__} has no {{}}, which only a {other.__name__} of {other.family} has."
        for absent in missing:
            with pytest.raises(AttributeError, match=re.escape(sentence.format(absent))):
                getattr(posterior, absent)
            assert not hasattr(posterior, absent)

    @pytest.mark.parametrize("name", ["sums", "sums of 3 classes"])
    def test_estimators_say_who_has_it(self, name: str) -> None:
        model = fitted(name)
        other = type(model).counterpart
        missing = {each for each in dir(other) if not each.startswith("_") and not hasattr(type(model), each)}
        assert missing >= {"explain", "to_sklearn", "to_onnx", "log_evidence_"}
        for absent in missing - {"leaf", "sampler"}:
            sentence = f"{type(model).__name__} has no {absent}, which only {other.__name__} has."
            with pytest.raises(AttributeError, match=re.escape(sentence)):
                getattr(model, absent)

    @pytest.mark.parametrize("name", CHAINS)
    def test_chains_have_no_evidence(self, name: str) -> None:
        model = fitted(name)
        X, y, weights, _ = table(name)
        questions = [
            lambda: model.log_evidence_,
            lambda: model.log_evidence_se_,
            lambda: model.posterior_.log_evidence,
            lambda: model.posterior_.log_evidence_se,
        ]
        for question in questions:
            with pytest.raises(AttributeError, match=re.escape(NO_EVIDENCE)):
                question()
        if "sums" in name:
            with pytest.raises(ValueError, match=re.escape(NO_EVIDENCE)):
                clone(model).set_params(prior__alpha="auto").fit(X, y, weights)
