"""The verdict on independent runs: what it says of which numbers, and what it never claims."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from particletree import SMC, BayesianTreeClassifier
from particletree._model import Categorical
from particletree._posterior.runs.convergence import Convergence, ConvergenceReport, MoveCount
from particletree._posterior.summary.agreement import Agreement
from particletree._posterior.summary.verdict import Evidence, chain_verdict, island_verdict

NO_EVIDENCE = Evidence(np.nan, np.nan, -100.0)


def islands(predictions: float = 0.0, gain_shares: float = 0.0, n_runs: int = 3) -> Agreement:
    """Return an agreement of three runs, of which the distances between seeds are the distances themselves."""
    return Agreement(n_runs, predictions, gain_shares)


def make_report(rhat: float = 1.001, ess: float = 2000.0, n_chains: int = 4) -> ConvergenceReport:
    """Return a report whose worst numbers are those given."""
    good = Convergence(1.0, 9999.0, 9999.0)
    moves = (MoveCount("grow", 60, 30), MoveCount("prune", 40, 10), MoveCount("change", 0, 0), MoveCount("swap", 1, 0))
    return ConvergenceReport(n_chains, 1000, 900, 5000.0, moves, good, Convergence(rhat, ess, 50.0), replace(good))


def test_what_is_the_same_in_all_draws_has_nothing_to_converge() -> None:
    constant = Convergence(np.nan, np.nan, np.nan)
    one_depth = replace(make_report(), depth=constant)
    assert one_depth.has_settled
    assert one_depth.has_converged
    assert of_chains(one_depth).startswith("The chains agree on log posterior")
    never_moved = replace(one_depth, log_posterior=constant, leaves=constant)
    assert not never_moved.has_settled
    assert not never_moved.has_converged
    assert of_chains(never_moved).startswith("Nothing shows whether the chains have settled")


def of_chains(report: ConvergenceReport) -> str:
    return chain_verdict(report, islands(n_runs=report.n_chains), Categorical.paper())


class TestIslands:
    @pytest.mark.parametrize(
        ("distance", "words"), [(0.01, "agree (another"), (0.03, "agree roughly (another"), (0.2, "differ (another")]
    )
    def test_predictions(self, distance: float, words: str) -> None:
        text = island_verdict(islands(predictions=distance), NO_EVIDENCE, Categorical.paper())
        assert f"predictions {words} seed would move class probabilities by about {distance:.2g})" in text
        assert ("More islands (n_islands) stabilise predictions." in text) == (distance > 0.02)

    @pytest.mark.parametrize(
        ("distance", "words"),
        [(0.05, "agree (about 5%"), (0.2, "agree roughly (about 20%"), (0.9, "differ (about 90%")],
    )
    def test_gain_shares(self, distance: float, words: str) -> None:
        text = island_verdict(islands(gain_shares=distance), NO_EVIDENCE, Categorical.paper())
        assert f"gain shares {words}" in text
        assert f"(about {distance:.0%} of the total would move to other features)" in text
        assert ("stabilise gain shares" in text) == (distance > 0.1)

    @pytest.mark.parametrize(("error", "words"), [(0.2, "agree"), (1.0, "agree roughly"), (9.0, "differ")])
    def test_evidence(self, error: float, words: str) -> None:
        text = island_verdict(islands(), Evidence(-50.0, error, -60.0), Categorical.paper())
        assert f"evidences {words} (the log of their mean has a standard error of {error:.2g})" in text
        assert ("tends to come out too low" in text) == (error > 0.5)
        assert "prove" not in text

    @pytest.mark.parametrize("n_runs", [1, 3])
    def test_a_bound_above_the_estimate_is_said(self, n_runs: int) -> None:
        text = island_verdict(islands(n_runs=n_runs), Evidence(-77.6, 0.1, -69.9), Categorical.paper())
        assert "prove that the log evidence is at least -69.90: the estimate of -77.60 is too low" in text

    def test_one_island_tells_nothing(self) -> None:
        assert "one island only" in island_verdict(Agreement(1, np.nan, np.nan), NO_EVIDENCE, Categorical.paper())

    def test_no_kept_rows(self) -> None:
        assert "predictions were not compared" in island_verdict(
            islands(predictions=np.nan), NO_EVIDENCE, Categorical.paper()
        )

    @pytest.mark.parametrize("agreement", [islands(), islands(0.5, 0.9)])
    def test_agreement_is_never_taken_for_a_proof(self, agreement: Agreement) -> None:
        text = island_verdict(agreement, Evidence(-50.0, 0.01, -60.0), Categorical.paper())
        assert "Agreement cannot show what all islands have missed." in text
        assert "hang on the seed" not in text

    def test_noise_in_many_features_is_no_agreement_on_gain_shares(self) -> None:
        """Two seeds on noise have no top feature in common; both were once said to agree."""
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(60, 2000)), rng.integers(0, 2, 60)
        fits = [
            BayesianTreeClassifier(sampler=SMC.paper(n_particles=50), random_state=seed).fit(X, y) for seed in (0, 1)
        ]
        top = [set(np.argsort(-fit.posterior_.gain_shares())[:5]) for fit in fits]
        assert not top[0] & top[1]
        for fit in fits:
            assert "gain shares differ" in fit.posterior_.summary().verdict


class TestChains:
    @pytest.mark.parametrize(
        ("rhat", "ess", "n_chains", "start"),
        [
            (1.005, 401, 4, "The chains agree on"),
            (1.005, 400, 4, "The chains agree roughly on"),
            (1.01, 4000, 4, "The chains agree roughly on"),
            (1.049, 4000, 4, "The chains agree roughly on"),
            (1.05, 4000, 4, "The chains are in different places:"),
            (np.inf, 4, 4, "The chains are in different places:"),
            (1.005, 101, 1, "The chain agrees with itself, early and late, but"),
            (1.005, 99, 1, "The chain agrees with itself roughly on"),
            (1.2, 101, 1, "The chain has not settled:"),
        ],
    )
    def test_start(self, rhat: float, ess: float, n_chains: int, start: str) -> None:
        text = of_chains(make_report(rhat, ess, n_chains))
        assert text.startswith(start)
        assert ("Agreement cannot show what all chains have missed" in text) == (n_chains > 1)

    def test_of_what_is_undefined(self) -> None:
        nothing = Convergence(np.nan, np.nan, np.nan)
        report = make_report()
        unknown = replace(report, log_posterior=nothing, leaves=nothing, depth=nothing)
        assert of_chains(unknown).startswith("Nothing shows whether")
        assert of_chains(replace(report, depth=nothing)) == of_chains(report)

    def test_says_what_to_do(self) -> None:
        text = of_chains(make_report(rhat=2.0))
        for part in ("Predictions average", "best tree", "gain shares", "more iterations", 'initial="smc"', "SMC"):
            assert part in text
        assert "effective sample size of about 120" in of_chains(make_report(ess=120))
        assert "run two or more" in of_chains(make_report(n_chains=1))
