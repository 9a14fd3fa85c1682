"""A row column from outside the package, from the fit to the report: the event of times that may be censored.

Nothing in the package knows it. What is tested by the exact sampler and the reference needs no kernel that has the leaf
model; .ci/run builds one with PARTICLETREE_EXTRA_LEAF_MODELS.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import oracle
from extension.censored import Censored, ObservedTimes
from model.scipy_distributions import to_scipy
from model.test_leaf_models import TestEveryLeafModel, TestEveryLeafModelOfNumbers  # noqa: F401
from particletree import MCMC, SMC, BayesianTreeRegressor, Exact, Exponential, Posterior, TreePrior, _kernel
from particletree._commands.main import main
from particletree._data import make_regression_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.parallel import Task
from particletree._model.leaf import LeafModel
from particletree.report import report_data, write_report

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LEAF = Censored(prior_mean=4.0, shape=2.5)
X = oracle.TWO_CLASSES.X
TIME = np.array([0.5, 7.0, 3.0, 4.0, 9.0, 0.1, 2.0, 2.5, 6.0, 1.0, 5.0, 8.0])
EVENT = np.array([1.0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0])
WEIGHTS = np.array([1.0, 0.25, 2.0, 0.0, 1.5, 3.0, 0.5, 1.0, 0.0, 2.0, 1.0, 0.6])

needs_kernel = pytest.mark.skipif(
    "censored" not in _kernel.LEAF_MODELS,
    reason="the kernel was built without PARTICLETREE_EXTRA_LEAF_MODELS=tests/extension/censored.h",
)

# The tests of every leaf model (TestEveryLeafModel and the other class imported above) run on this one, with events.


@pytest.fixture
def model() -> type[LeafModel]:
    return Censored


@pytest.fixture
def number_model() -> type[LeafModel]:
    return Censored


@to_scipy.register
def _(distributions: ObservedTimes) -> Any:
    return stats.lomax(distributions.shape, scale=distributions.scale)


def fit(sampler: Any = None, weights: Any = None, event: Any = EVENT) -> BayesianTreeRegressor:
    model = BayesianTreeRegressor(PRIOR, LEAF, sampler or Exact(n_draws=40), random_state=0)
    return model.fit(X, TIME, weights, event=event)


def draws(**given: Any) -> Posterior:
    """Return a posterior that can be saved."""
    posterior: Posterior = fit(**given).posterior_.draws()
    return posterior


class TestTheLeafModel:
    @pytest.mark.parametrize("events", [(1, 1, 1), (0, 1, 0), (0, 0, 0)])
    def test_the_marginal_is_the_integral_over_the_rate(self, events: tuple[int, ...]) -> None:
        data = make_regression_data(np.zeros((3, 1)), [1.0, 3.0, 0.5], event=events)
        statistics = LEAF.row_statistics(data.observations).sum(axis=0)

        def density(rate: float) -> float:
            return float(rate ** sum(events) * np.exp(-4.5 * rate) * stats.gamma.pdf(rate, 2.5, scale=1 / (2.5 * 4.0)))

        integral, _ = integrate.quad(density, 0, np.inf, epsabs=0, epsrel=1e-10)
        assert float(LEAF.log_marginal(statistics)) == pytest.approx(np.log(integral), abs=1e-8)

    @pytest.mark.parametrize("weights", [None, WEIGHTS])
    def test_with_an_event_in_each_row_it_is_the_exponential_one(self, weights: Any) -> None:
        exponential = Exponential(prior_mean=4.0, shape=2.5)
        theirs = ExactRecursion(make_regression_data(X, TIME, weights), PRIOR, exponential)
        for columns in ({}, {"event": np.ones(12)}):
            ours = ExactRecursion(make_regression_data(X, TIME, weights, **columns), PRIOR, LEAF)
            assert ours.log_evidence == pytest.approx(theirs.log_evidence, rel=1e-12)
            assert ours.predictive(X) == pytest.approx(theirs.predictive(X), rel=1e-12)


class TestTheEstimator:
    @pytest.mark.parametrize("weights", [None, WEIGHTS])
    def test_the_density_of_a_row_is_a_ratio_of_evidences(self, weights: Any) -> None:
        """Exact for one more row at a place that is in the data, whose prior of trees is that of the data."""
        model = fit(weights=weights)
        counts = np.ones(12) if weights is None else weights
        row = 4
        for event in (0.0, 1.0):
            again = (np.vstack((X, X[row])), np.append(TIME, 2.0), np.append(counts, 1.0))
            more = make_regression_data(*again, event=np.append(EVENT, event))
            ratio = ExactRecursion(more, PRIOR, LEAF).log_evidence - model.log_evidence_
            assert model.predict_log_density(X[[row]], [2.0], event=[event])[0] == pytest.approx(ratio, rel=1e-9)

    def test_censored_times_raise_the_mean(self) -> None:
        assert (fit().predict(X) > fit(event=None).predict(X)).all()

    def test_times_to_come_have_no_event(self) -> None:
        model = fit()
        assert model.predict_interval(X).shape == (12, 2)
        for ask in (model.predict_interval, lambda X, event: model.predict_quantiles(X, 0.5, event=event)):
            with pytest.raises(ValueError, match="event has no meaning for observations that are still to come"):
                ask(X, event=EVENT)
        with pytest.raises(ValueError, match=r'event has no meaning with of="mean", the interval of the mean'):
            model.predict_interval(X, of="mean", event=EVENT)

    def test_observations_need_it(self) -> None:
        model = fit()
        assert model.score(X, TIME, event=EVENT) <= 1
        for ask in (model.score, model.predict_log_density):
            with pytest.raises(ValueError, match=r"was fitted with event, without which .* pass event=\.\.\."):
                ask(X, TIME)

    def test_errors_name_the_callers_row(self) -> None:
        """Rows 3 and 8 have the weight 0, and may hold anything."""
        event = EVENT.copy()
        event[3], event[8] = np.nan, 7.0
        fit(weights=WEIGHTS, event=event)
        event[9] = 0.5
        with pytest.raises(ValueError, match=r"Event that is neither 0 nor 1 in row 9 \(counted from 0\)"):
            fit(weights=WEIGHTS, event=event)

    def test_other_leaf_models_refuse_it(self) -> None:
        with pytest.raises(ValueError, match=r"^Exponential has no use for event; leave it out, or fit with leaf=Cens"):
            BayesianTreeRegressor(leaf=Exponential()).fit(X, TIME, event=EVENT)
        with pytest.raises(TypeError, match=r"^evnt is neither an argument nor a row column that Censored declares"):
            BayesianTreeRegressor(leaf=Censored()).fit(X, TIME, evnt=EVENT)


class TestThePosterior:
    def test_saved_and_loaded(self, tmp_path: Path) -> None:
        posterior = draws(weights=WEIGHTS)
        posterior.save(tmp_path / "p")
        loaded = Posterior.load(tmp_path / "p")
        assert loaded.leaf == LEAF
        assert loaded.row_columns == ("event",)
        again = BayesianTreeRegressor.from_posterior(loaded)
        mine = BayesianTreeRegressor.from_posterior(posterior)
        ours, theirs = (each.predict_log_density(X, TIME, event=EVENT) for each in (again, mine))
        assert ours.tolist() == theirs.tolist()

    def test_the_fingerprint_tells_other_events(self) -> None:
        with_them, without = (make_regression_data(X, TIME, event=event).fingerprint for event in (EVENT, None))
        others = make_regression_data(X, TIME, event=1 - EVENT).fingerprint
        assert with_them.difference(others) == with_them.difference(without) == "the event of the rows"
        assert without.difference(with_them) == "the event of the rows"
        with pytest.raises(ValueError, match="the event of the rows"):
            Posterior.merge([draws(), draws(event=EVENT[::-1])])  # as many events

    def test_consensus_findings_and_explanation(self) -> None:
        posterior = draws()
        assert posterior.consensus_tree().n_leaves >= 1
        names = {finding.name for finding in posterior.findings(X, TIME, event_test=EVENT)}
        assert "held_out" in names
        with pytest.raises(ValueError, match="was fitted with event: give event_test"):
            posterior.findings(X, TIME)
        with pytest.raises(TypeError, match=r"findings\(\) got 'event', which is not known"):
            posterior.findings(X, TIME, event=EVENT)
        neighbours = posterior.explain(X[2]).neighbours
        assert all(neighbour.values == tuple(X[neighbour.row]) for neighbour in neighbours)


class TestTheReport:
    def test_times_are_scored_with_their_event(self) -> None:
        posterior = draws()
        model = BayesianTreeRegressor.from_posterior(posterior)
        data = report_data(posterior, X, TIME, event=EVENT)
        assert (data["scores"]["origin"], data["scores"]["rows"]) == ("training", 12)
        density = model.predict_log_density(X, TIME, event=EVENT).mean()
        assert data["scores"]["scores"][1]["value"] == pytest.approx(density, rel=1e-5)
        held_out = report_data(posterior, X_test=X, y_test=TIME, event_test=EVENT)
        assert held_out["scores"]["origin"] == "held out"

    def test_without_it_they_are_not(self) -> None:
        data = report_data(draws(), X, TIME)
        assert data["scores"] is None
        assert data["unscored"].startswith("Predictions are not scored here: the event of the observations was not giv")
        assert "--event COL" in data["unscored"]

    def test_a_wrong_event_is_named_by_its_row(self) -> None:
        time, event = TIME.copy(), EVENT.copy()
        time[:3], event[:2], event[5] = np.nan, np.nan, 3.0
        with pytest.raises(ValueError, match=r"Event that is neither 0 nor 1 in row 5 \(counted from 0\)"):
            report_data(draws(), X, time, event=event)
        with pytest.raises(ValueError, match=r"Event_test that is neither 0 nor 1 in row 5 \(counted from 0\)"):
            report_data(draws(), X_test=X, y_test=time, event_test=event)

    def test_the_command_takes_the_column(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        saved, table, page = (str(tmp_path / name) for name in ("times.npz", "times.csv", "page.html"))
        frame = pd.DataFrame(X, columns=["size", "age"])
        model = BayesianTreeRegressor(PRIOR, LEAF, Exact(n_draws=40), random_state=0).fit(frame, TIME, event=EVENT)
        posterior = model.posterior_.draws()
        posterior.save(saved)
        rows = np.column_stack((X, TIME, EVENT))
        np.savetxt(table, rows, delimiter=",", header="size,age,time,event", comments="", fmt="%.17g")
        command = ["report", saved, "-o", page, "--data", table, "--target", "time"]
        assert main([*command, "--event", "event"]) == 0
        by_command = Path(page).read_text("utf-8")
        assert capsys.readouterr().err == ""
        write_report(posterior, page, frame, TIME, target_name="time", event=EVENT)
        assert Path(page).read_text("utf-8") == by_command
        assert main(command) == 0
        assert "not scored, because the posterior was fitted with event; give --event COL" in capsys.readouterr().err
        assert main([*command, "--event", "time"]) == 1
        assert "--target and --event must name two different columns, got 'time' twice" in capsys.readouterr().err


def some_rows(n: int, n_targets: int = 1, weighted: bool = False, with_events: bool = True) -> Any:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 2))
    y = rng.exponential(np.where(features[:, :1] > 0, 5.0, 1.0), (n, n_targets))
    event = rng.integers(0, 2, n) if with_events else None
    return make_regression_data(features, y, rng.uniform(0.1, 3.0, n) if weighted else None, event=event)


@needs_kernel
class TestTheKernel:
    @pytest.mark.parametrize("with_events", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("n_targets", [1, 3])
    @pytest.mark.parametrize("sampler", [SMC.paper(n_particles=20, n_islands=2), MCMC(n_iterations=300, n_chains=1)])
    def test_marginals_of_trees_are_those_of_the_python_side(
        self, sampler: SMC | MCMC, n_targets: int, weighted: bool, with_events: bool
    ) -> None:
        data = some_rows(80, n_targets, weighted, with_events)
        posterior = sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence(1))
        log_marginals = posterior.leaf.log_marginal(posterior.forest.statistics)
        everything = posterior.leaf.row_statistics(data.observations).sum(axis=0)
        for tree, log_likelihood in zip(posterior.trees, posterior.log_likelihoods, strict=True):
            blocks = tree.nodes["block"][tree.feature < 0]
            assert posterior.forest.statistics[blocks].sum(axis=0) == pytest.approx(everything, rel=1e-12)
            assert log_likelihood == pytest.approx(log_marginals[blocks].sum(), rel=1e-10, abs=1e-10)

    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_the_evidence_is_unbiased(self, proposal: str) -> None:
        data = make_regression_data(X, TIME, WEIGHTS, event=EVENT)
        exact = ExactRecursion(data, PRIOR, LEAF).log_evidence
        sampler = SMC.paper(proposal=proposal, n_particles=10, n_islands=1000, ess_threshold=0.5)
        posterior = sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence(1))
        assert posterior.log_evidences is not None
        oracle.assert_mean(np.exp(posterior.log_evidences - exact), 1.0, f"evidence, {proposal}")

    def test_the_estimator(self) -> None:
        model = fit(SMC.paper(n_particles=100, n_islands=20))
        assert model.predict(X) == pytest.approx(fit().predict(X), rel=0.15)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [({"event": np.array([0.5, 1.0])}, "zeros and ones"), ({"evnt": np.ones(2)}, "no use for the row column evnt")],
    )
    def test_refusals(self, columns: dict[str, Any], message: str) -> None:
        data = make_regression_data([[0.0], [1.0]], [1.0, 2.0])
        data = replace(data, observations=replace(data.observations, row_columns=columns))
        with pytest.raises(ValueError, match=message):
            _ = Task.prepare(data, PRIOR, LEAF).problem
