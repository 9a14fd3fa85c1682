"""The summary: its numbers, its words and its verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forests import Grower, make_data, make_island, make_posterior
from particletree import MCMC
from particletree._data import make_training_data
from particletree._model import Categorical, ClassLabels, TreePrior
from particletree._posterior import Posterior
from particletree._posterior.runs.convergence import Convergence, ConvergenceReport, MoveCount
from particletree._posterior.summary.trees import (
    Summary,
    most_used_features,
    report_convergence,
    spread,
)


def run_chains(n_iterations: int = 600, n_chains: int = 3, burn_in: int = 100, thin: int = 2) -> Posterior:
    X, y = make_data(np.random.default_rng(0), n_rows=40)
    sampler = MCMC(n_iterations=n_iterations, n_chains=n_chains, burn_in=burn_in, thin=thin)
    data, seed = make_training_data(X, y, 3), np.random.SeedSequence(1)
    return sampler.run(data, TreePrior.paper(), Categorical(3.0), seed=seed, n_jobs=1)


def make_report(rhat: float = 1.001, ess: float = 2000.0, n_chains: int = 4) -> ConvergenceReport:
    """Return a report whose worst numbers are those given."""
    good = Convergence(1.0, 9999.0, 9999.0)
    moves = (MoveCount("grow", 60, 30), MoveCount("prune", 40, 10), MoveCount("change", 0, 0), MoveCount("swap", 1, 0))
    return ConvergenceReport(n_chains, 1000, 900, 5000.0, moves, good, Convergence(rhat, ess, 50.0), replace(good))


class TestSpread:
    def test_by_hand(self) -> None:
        found = spread([3, 1, 2], np.array([0.04, 0.06, 0.9]))
        assert found.mean == pytest.approx(1.98)
        assert found.sd == pytest.approx(np.sqrt(0.04 * 1.02**2 + 0.06 * 0.98**2 + 0.9 * 0.02**2))
        assert (found.low, found.high) == (1, 2)
        assert str(found) == "mean 2.0, sd 0.3, 90% between 1 and 2"

    def test_of_one_value(self) -> None:
        found = spread([5], np.ones(1))
        assert (found.mean, found.sd, found.low, found.high) == (5, 0, 5, 5)

    def test_agrees_with_numpy_for_equal_weights(self) -> None:
        values = np.random.default_rng(0).integers(0, 50, size=101)
        found = spread(values, np.full(101, 1 / 101))
        assert (found.mean, found.sd) == pytest.approx((values.mean(), values.std()))
        assert (found.low, found.high) == tuple(np.quantile(values, [0.05, 0.95], method="inverted_cdf"))


class TestSummary:
    def test_numbers_are_those_of_the_posterior(self) -> None:
        posterior, _ = make_posterior(feature_names=["a", "b", "c"])
        summary = posterior.summary()
        assert isinstance(summary, Summary)
        assert (summary.n_trees, summary.n_islands) == (posterior.forest.n_trees, 3)
        assert summary.effective_sample_size == posterior.effective_sample_size
        assert summary.leaves.mean == pytest.approx(posterior.weights @ posterior.n_leaves)
        assert summary.depth.mean == pytest.approx(posterior.weights @ posterior.depths)
        assert summary.log_evidence == posterior.log_evidence
        assert summary.log_evidence_se == posterior.log_evidence_se
        assert summary.log_evidence_bound == posterior.log_evidence_bound
        assert summary.log_evidence_sd == pytest.approx(np.std(posterior.log_evidences, ddof=1))
        assert summary.agreement == posterior.agreement
        assert summary.island_leaves == pytest.approx(posterior.island_weights @ posterior.n_leaves)

    def test_a_name_stays_in_its_line_and_cannot_steer_the_terminal(self) -> None:
        posterior, _ = make_posterior(feature_names=["width\n(cm)", "\x1b[2Jgone", ""])
        text, plain = str(posterior.summary()), str(replace(posterior, feature_names=["a", "b", "c"]).summary())
        assert len(text.splitlines()) == len(plain.splitlines())
        assert all(line.isprintable() for line in text.splitlines())
        shown = {line.partition(" in ")[0].strip() for line in text.splitlines() if ", gain share " in line}
        assert shown == {r"width\n(cm)", r"\x1b[2Jgone", "''"}
        given = {use.name for use in posterior.summary().features}
        assert given == {"width\n(cm)", "\x1b[2Jgone", ""}  # the data of the summary stay as they were

    def test_text_names_everything(self) -> None:
        posterior, _ = make_posterior(feature_names=["petal length", "b", "c"])
        text = str(posterior.summary())
        for part in (
            "distinct trees from 3 islands",
            "leaves",
            "depth",
            "log evidence",
            "standard error",
            "petal length",
        ):
            assert part in text
        assert " ".join(text.splitlines()).endswith(posterior.summary().verdict)
        assert max(len(line) for line in text.splitlines()[:-1]) <= 120

    def test_text_of_one_island_leaves_out_what_does_not_exist(self) -> None:
        posterior, _ = make_posterior(n_islands=1)
        text = str(posterior.summary())
        assert "nan" not in text
        assert "standard error" not in text
        assert "one island only" in text

    def test_text_without_evidence(self) -> None:
        posterior = replace(make_posterior()[0], log_evidences=None)
        text = str(posterior.summary())
        assert "nan" not in text
        assert f"log evidence  lower bound {posterior.log_evidence_bound:.2f}" in text
        assert np.isnan(posterior.summary().log_evidence_sd)

    def test_text_without_a_split(self) -> None:
        rng = np.random.default_rng(0)
        X, y = make_data(rng)
        island = make_island(Grower(X, y, 3, rng), Categorical.paper(), 3, split_probability=0.0)
        posterior = Posterior.from_islands(
            [island], leaf=Categorical.paper(), prior=TreePrior.paper(), n_features=3, target=ClassLabels(np.arange(3))
        )
        assert "1 distinct tree from 1 island, effective sample size 1.0" in str(posterior.summary())
        assert "no tree cuts any" in str(posterior.summary())


class TestFeatures:
    def test_largest_gain_share_first(self) -> None:
        posterior, _ = make_posterior(n_features=9)
        features = most_used_features(posterior, n=4)
        gain_shares = [use.gain_share for use in features]
        assert gain_shares == sorted(posterior.gain_shares(), reverse=True)[:4]
        assert features[0].name == f"x[{posterior.gain_shares().argmax()}]"
        assert all(0 < use.inclusion <= 1 for use in features)


class TestChains:
    def test_numbers_are_those_of_the_trace(self) -> None:
        posterior = run_chains()
        report = report_convergence(posterior)
        trace = np.concatenate(posterior.trace)
        assert (report.n_chains, report.n_iterations, report.n_kept) == (3, 600, 250)
        assert report.acceptance == pytest.approx(trace["accepted"].mean())
        assert [move.n_proposed for move in report.moves] == np.bincount(trace["move"], minlength=4).tolist()
        assert report.iterations_per_second > 0
        assert posterior.summary().convergence == report

    def test_quantities_are_told_apart(self) -> None:
        report = report_convergence(run_chains())
        assert len({report.log_posterior, report.leaves, report.depth}) == 3
        assert report.rhat == max(report.log_posterior.rhat, report.leaves.rhat, report.depth.rhat)
        assert report.ess == min(report.log_posterior.ess_bulk, report.leaves.ess_bulk, report.depth.ess_bulk)

    def test_text_names_everything(self) -> None:
        posterior = run_chains()
        text = str(posterior.summary())
        for part in (
            "distinct trees from 3 chains",
            "600 in each chain, 250 kept",
            "accepted",
            "grow",
            "swap",
            "R-hat         log posterior",
            "bulk ESS      log posterior",
            "tail ESS      log posterior",
        ):
            assert part in text
        assert "island" not in text
        assert "nan" not in text
        assert max(len(line) for line in text.splitlines()) <= 120

    def test_text_of_a_short_chain(self) -> None:
        text = str(run_chains(n_iterations=3, n_chains=1, burn_in=0, thin=1).summary())
        assert "R-hat         log posterior undefined, leaves undefined, depth undefined" in text
        assert "none of 0" in text
        assert "nan" not in text
        assert "Nothing shows whether the chains have settled" in text

    def test_islands_have_no_report(self) -> None:
        assert make_posterior()[0].summary().convergence is None

    def test_saved_chains_keep_their_trace(self, tmp_path: Path) -> None:
        posterior = run_chains()
        posterior.save(tmp_path / "p")
        loaded = Posterior.load(tmp_path / "p")
        assert loaded.is_chain
        for one, two in zip(posterior.trace, loaded.trace, strict=True):
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two)
        assert str(loaded.summary()) == str(posterior.summary())
        np.testing.assert_array_equal(
            loaded.until(300).predictive(np.zeros((1, 3))), posterior.until(300).predictive(np.zeros((1, 3)))
        )

    def test_long_chains_on_small_data_agree(self) -> None:
        posterior = run_chains(n_iterations=30_000, burn_in=1000)
        assert posterior.summary().verdict.startswith("The chains agree")

    def test_text_of_moves(self) -> None:
        lines = make_report().lines()
        assert "40%: grow 50% of 60, prune 25% of 40, change none of 0, swap 0% of 1" in lines[1]
