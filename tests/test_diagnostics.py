"""The summary: its numbers, its words and its verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from forests import Grower, make_data, make_island, make_posterior
from particletree.diagnostics import Summary, most_used_features, share_between, spread, summarize, verdict
from particletree.model import Categorical, TreePrior
from particletree.posterior import Posterior


def make_islands_of_different_size(small: float = 0.3, large: float = 0.99) -> Posterior:
    """Return a posterior whose two islands hold small and large trees."""
    rng = np.random.default_rng(0)
    X, y = make_data(rng)
    grower = Grower(X, y, 3, rng)
    islands = [make_island(grower, Categorical(), 20, p) for p in (small, large)]
    return Posterior.from_islands(islands, leaf=Categorical(), prior=TreePrior(), n_features=3)


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
        assert summary.log_evidence_sd == pytest.approx(posterior.log_evidence_se * np.sqrt(3))
        assert summary.island_leaves == pytest.approx(posterior.island_weights @ posterior.n_leaves)

    def test_text_names_everything(self) -> None:
        posterior, _ = make_posterior(feature_names=["petal length", "b", "c"])
        text = str(summarize(posterior))
        for part in (
            "distinct trees from 3 islands",
            "leaves",
            "depth",
            "log evidence",
            "standard error",
            "petal length",
        ):
            assert part in text
        assert text.endswith(posterior.summary().verdict)
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
        assert "log evidence" not in text
        assert np.isnan(posterior.summary().log_evidence_sd)

    def test_text_without_a_split(self) -> None:
        rng = np.random.default_rng(0)
        X, y = make_data(rng)
        island = make_island(Grower(X, y, 3, rng), Categorical(), 3, split_probability=0.0)
        posterior = Posterior.from_islands([island], leaf=Categorical(), prior=TreePrior(), n_features=3)
        assert "1 distinct tree from 1 island, worth 1.0" in str(posterior.summary())
        assert "no tree cuts any" in str(posterior.summary())


class TestFeatures:
    def test_most_important_first(self) -> None:
        posterior, _ = make_posterior(n_features=9)
        features = most_used_features(posterior, n=4)
        importances = [use.importance for use in features]
        assert importances == sorted(posterior.feature_importances(), reverse=True)[:4]
        assert features[0].name == f"x[{posterior.feature_importances().argmax()}]"
        assert all(0 < use.inclusion <= 1 for use in features)


class TestAgreement:
    def test_share_between_is_a_part_of_the_variance(self) -> None:
        posterior = make_islands_of_different_size()
        dense = posterior.island_weights.toarray()
        means = dense @ posterior.n_leaves
        within = np.mean([w @ (posterior.n_leaves - m) ** 2 for w, m in zip(dense, means, strict=True)])
        assert share_between(posterior) == pytest.approx(means.var() / (means.var() + within))

    def test_share_between_of_equal_islands_is_zero(self) -> None:
        rng = np.random.default_rng(0)
        X, y = make_data(rng)
        island = make_island(Grower(X, y, 3, rng), Categorical(), 5)
        posterior = Posterior.from_islands([island, island], leaf=Categorical(), prior=TreePrior(), n_features=3)
        assert share_between(posterior) == pytest.approx(0)
        assert "islands agree:" in posterior.summary().verdict

    def test_islands_with_other_trees_disagree(self) -> None:
        posterior = make_islands_of_different_size(small=0.1)
        assert share_between(posterior) > 0.5
        assert posterior.summary().verdict.startswith("The islands disagree")

    @pytest.mark.parametrize(
        ("sd", "between", "start"),
        [
            (0.5, 0.1, "The islands agree:"),
            (0.5, 0.3, "The islands agree roughly:"),
            (2.0, 0.1, "The islands agree roughly:"),
            (80.0, 0.1, "The islands disagree:"),
            (0.5, 0.9, "The islands disagree:"),
            (np.nan, 0.1, "The islands agree:"),
            (np.nan, 0.9, "The islands disagree:"),
        ],
    )
    def test_verdict(self, sd: float, between: float, start: str) -> None:
        assert verdict(5, sd, between).startswith(start)

    def test_verdict_says_what_to_do(self) -> None:
        assert 'use more particles, or proposal="optimal"' in verdict(5, 80.0, 0.1)
        assert "run longer chains" in verdict(5, np.nan, 0.9)
        assert "run two or more" in verdict(1, np.nan, np.nan)
