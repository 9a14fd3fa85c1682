"""Findings: each on a fit that is made to show it, and not on one that is not."""

from __future__ import annotations

import html
import json
import re
import tracemalloc
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import oracle
from forests import make_posterior
from particletree import (
    MCMC,
    SMC,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Exact,
    GaussianKnownVariance,
    Poisson,
    Posterior,
    TreePrior,
)
from particletree._inference.smc import TruncatedTreesWarning
from particletree._posterior.findings import ADVICE, CHECKS, GROUPS, Examined, Finding, Findings
from particletree._posterior.findings.run_checks import _drift, first_split, have_own_first_splits, root_divisions
from particletree._posterior.summary.agreement import Agreement
from plots.made_posteriors import small_posterior

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
NOISE = np.random.default_rng(10).integers(0, 2, 200)
CLEAR = (X[:, 0] > 0).astype(int)
THREE_LABELS = np.random.default_rng(1).integers(0, 3, 200)
STEPS = np.where(RNG.random(200) < 0.15, 1 - CLEAR, CLEAR) + 2 * (X[:, 1] > 0.3)


@cache
def good():
    """Return a posterior of which nothing but good is to be said: one clear split, and many islands of particles."""
    sampler = SMC.paper(n_particles=300, n_islands=10, proposal="optimal")
    return BayesianTreeClassifier(TreePrior(0.5, 2.0), sampler=sampler, random_state=0).fit(X, CLEAR).posterior_


@cache
def long_chains():
    data = oracle.TWO_CLASSES
    sampler = MCMC(n_iterations=20_000, n_chains=4, burn_in=1000)
    return BayesianTreeClassifier(TreePrior(0.5, 1.0), sampler=sampler, random_state=0).fit(data.X, data.y).posterior_


def fit(y=STEPS, sampler=None, prior=None, features=X, seed=0):
    model = BayesianTreeClassifier(prior, sampler=sampler or SMC.paper(n_particles=30), random_state=seed)
    return model.fit(features, y).posterior_


def find(posterior, name):
    """Return the finding with this name, which the threshold in the check's docstring must go with; None if none."""
    found = [finding for finding in posterior.findings() if finding.name == name]
    assert len(found) <= 1
    return found[0] if found else None


def agreeing(posterior, agreement):
    """Return the posterior as if its runs agreed so far."""
    vars(posterior)["agreement"] = agreement  # a cached property
    return posterior


class TestAgreement:
    @pytest.mark.parametrize(
        ("distance", "level"), [(0.01, "good"), (0.03, "note"), (0.2, "warning")], ids=["agree", "roughly", "differ"]
    )
    def test_predictions(self, distance, level):
        posterior = agreeing(make_posterior()[0], Agreement(3, distance, 0.0))
        finding = find(posterior, "predictions")
        assert (finding.level, finding.number) == (level, pytest.approx(distance))
        assert finding.threshold == (0.05 if level == "warning" else 0.02)
        assert (finding.advice == "") == (level == "good")
        assert f"by about {distance:.2g}" in finding.finding

    @pytest.mark.parametrize(("distance", "level"), [(0.05, "good"), (0.2, "note"), (0.9, "note")])
    def test_gain_shares(self, distance, level):
        posterior = agreeing(make_posterior()[0], Agreement(3, 0.0, distance))
        finding = find(posterior, "gain_shares")
        assert (finding.level, finding.number) == (level, pytest.approx(distance))
        assert finding.threshold == 0.1

    def test_on_fits(self):
        assert find(good(), "predictions").level == "good"
        assert find(good(), "gain_shares").level == "good"
        rng = np.random.default_rng(0)
        many = fit(rng.integers(0, 2, 60), features=rng.normal(size=(60, 300)), sampler=SMC.paper(n_particles=50))
        assert find(many, "gain_shares").level == "note"
        assert find(many, "gain_shares").number > 0.25
        assert find(many, "predictions").level != "good"

    def test_chains_are_told_of_chains(self):
        chains = fit(sampler=MCMC(n_iterations=300))
        finding = find(agreeing(chains, Agreement(4, 0.5, 0.5)), "gain_shares")
        assert finding.finding.startswith("Of the 4 chains, gain shares")
        assert finding.advice == "More chains (n_chains) stabilise gain shares."

    def test_evidence(self):
        errors = {"good": -50 + np.array([0.0, 0.01, 0.02, 0.0]), "note": np.array([-80.0, -70.0, -60.0, -90.0])}
        for level, log_evidences in errors.items():
            posterior = small_posterior(((0.5, 0.3, 0.2),) * 4, log_evidences.tolist())
            finding = find(posterior, "evidence")
            if level == "good":
                assert (finding.level, finding.number) == (level, posterior.log_evidence_se)
            else:
                assert finding is None  # nothing rests on an evidence that was not used
        assert find(long_chains(), "evidence") is None

    @pytest.mark.parametrize(
        "settings",
        [
            {"sampler": SMC.paper(n_particles=10, n_islands=4, island_weighting="evidence")},
            {"prior": TreePrior("auto", 0.5)},
        ],
    )
    def test_evidence_that_was_used(self, settings):
        posterior = fit(**settings)
        finding = find(posterior, "evidence")
        assert posterior.log_evidence_se > 2
        assert (finding.level, finding.threshold) == ("warning", 2)
        assert "compared" not in finding.finding

    def test_evidence_bound(self):
        low = small_posterior(log_evidences=[-50.0])
        finding = find(low, "evidence_bound")
        assert (finding.level, finding.number) == ("warning", pytest.approx(low.log_evidence_bound + 50))
        assert find(small_posterior(log_evidences=[0.0]), "evidence_bound") is None
        assert find(good(), "evidence_bound") is None

    def test_one_island(self):
        assert find(fit(sampler=SMC.paper(n_islands=1)), "one_island").level == "warning"
        assert find(good(), "one_island") is None
        assert find(fit(sampler=SMC.paper(n_islands=1)), "predictions") is None

    def test_island_share(self):
        shown = fit(sampler=SMC.paper(n_particles=10, n_islands=4, island_weighting="evidence"))
        finding = find(shown, "island_share")
        assert (finding.level, finding.number) == ("warning", shown.island_shares.max())
        assert find(fit(sampler=SMC.paper(n_particles=20, n_islands=4)), "island_share") is None

    def test_exact(self):
        data = oracle.TWO_CLASSES
        posterior = BayesianTreeClassifier(sampler=Exact(n_draws=50), random_state=0).fit(data.X, data.y).posterior_
        assert find(posterior, "exact").level == "good"
        assert find(posterior, "evidence") is None
        assert find(good(), "exact") is None


class TestFilters:
    def test_few_trees(self):
        shown = fit(sampler=SMC.paper(n_particles=3, n_islands=2))
        assert find(shown, "few_trees").number == shown.effective_sample_size < 10
        assert find(fit(sampler=SMC.paper(n_particles=100, n_islands=10)), "few_trees") is None

    def test_first_split(self):
        shown = fit(sampler=SMC.paper(n_particles=5, n_islands=6))
        finding = find(shown, "first_split")
        first = shown.credible_splits(1e-9)[0]
        assert finding.number == first.probability < 0.5
        assert f"is that of {first.n_runs} of 6 islands" in finding.finding
        assert "rest on 6 draws" in finding.finding
        assert find(shown, "sizes_between_islands") is None  # its consequence is not told beside it
        assert find(good(), "first_split") is None

    def test_first_splits_in_about_the_same_place_agree(self):
        rng = np.random.default_rng(0)
        features = rng.normal(size=(500, 3))
        y = (features[:, 0] + 0.3 * features[:, 1] > 0.1) ^ (rng.random(500) < 0.1)
        posterior = BayesianTreeClassifier(random_state=0).fit(features, y).posterior_
        assert have_own_first_splits(posterior)  # by their thresholds
        assert find(posterior, "first_split") is None

    def test_first_splits_are_told_apart_by_rows(self):
        posterior = fit(sampler=SMC.paper(n_particles=20))
        expected = []
        for tree in posterior.trees:
            left = X[:, tree.feature[0]] <= tree.threshold[0] if tree.n_leaves > 1 else np.ones(200, dtype=bool)
            expected.append((int(tree.feature[0]), left.tobytes()))
        number = root_divisions(posterior.forest)
        pairs = set(zip(number.tolist(), expected, strict=True))
        assert len(pairs) == len(set(expected)) == len(set(number.tolist()))

    def test_sizes_between_islands(self):
        binary = np.column_stack([CLEAR, X[:, 1:]])  # the first split is clear, the later ones are not
        sampler = SMC.paper(n_particles=3, n_islands=6, proposal="lookahead")
        shown = fit(4 * CLEAR + THREE_LABELS, sampler, features=binary)
        finding = find(shown, "sizes_between_islands")
        means = shown.island_weights @ shown.n_leaves
        assert f"standard deviation of {np.std(means, ddof=1):.1f}" in finding.finding
        assert finding.number > 1
        assert find(good(), "sizes_between_islands") is None

    def test_truncated(self):
        with pytest.warns(TruncatedTreesWarning):
            shown = fit(sampler=SMC.paper(n_particles=20, n_islands=3, max_stages=2))
        assert (find(shown, "truncated").level, find(shown, "truncated").number) == ("warning", 3)
        assert find(fit(sampler=SMC.paper(n_particles=20, n_islands=3, max_stages=5000)), "truncated") is None


class TestChains:
    def test_chains_that_have_settled(self):
        for name in ("rhat", "chain_ess"):
            assert find(long_chains(), name).level == "good"
        for name in ("one_chain", "burn_in"):
            assert find(long_chains(), name) is None
        assert not any(finding.level == "warning" for finding in long_chains().findings())

    def test_chains_in_different_places(self):
        shown = fit(sampler=MCMC(n_iterations=200))
        assert (find(shown, "rhat").level, find(shown, "rhat").threshold) == ("warning", 1.05)
        assert find(shown, "rhat").number > 1.1
        assert find(shown, "chain_ess").level == "note"
        assert find(shown, "chain_ess").number < find(shown, "chain_ess").threshold == 400

    def test_too_few_draws(self):
        finding = find(fit(sampler=MCMC(n_iterations=3, burn_in=0)), "rhat")
        assert (finding.level, finding.number) == ("warning", None)
        assert "not defined" in finding.finding

    def test_one_chain(self):
        assert find(fit(sampler=MCMC(n_iterations=200, n_chains=1)), "one_chain").level == "warning"

    def test_burn_in(self):
        shown = fit(sampler=MCMC(n_iterations=600, burn_in=0))
        assert find(shown, "burn_in").level == "warning"
        assert find(shown, "burn_in").number > 2
        assert find(fit(sampler=MCMC(n_iterations=20, burn_in=0)), "burn_in") is None
        assert _drift(np.r_[np.zeros(10), np.tile([9.0, 11.0], 45)]) == pytest.approx(10)
        assert _drift(np.ones(100)) == 0
        assert _drift(np.r_[np.zeros(10), np.ones(90)]) == np.inf

    def test_islands_have_none_of_these(self):
        names = {check.__name__ for check in GROUPS["Markov chains"]}
        assert names == {"one_chain", "rhat", "chain_ess", "burn_in"}
        assert not names & {finding.name for finding in good().findings()}


class TestTrees:
    def test_noise(self):
        shown = fit(NOISE, prior=TreePrior(0.5, 2.0), sampler=SMC.paper(n_particles=200))
        assert find(shown, "roots_alone").number == shown.weights[shown.n_leaves == 1].sum() > 0.5

    def test_signal(self):
        assert find(good(), "roots_alone") is None

    def test_larger_than_prior(self):
        prior = TreePrior(0.2, 2.0)
        shown = fit(prior=prior, sampler=SMC.paper(n_particles=200, proposal="optimal"))
        finding = find(shown, "larger_than_prior")
        assert finding.number == pytest.approx(shown.weights @ shown.n_leaves / prior.mean_leaves())
        assert finding.number > 3
        assert find(good(), "larger_than_prior") is None

    def test_depth_limit(self):
        shown = fit(prior=TreePrior.paper(max_depth=1))
        assert find(shown, "depth_limit").number == shown.weights[shown.depths == 1].sum()
        assert find(fit(prior=TreePrior.paper(max_depth=50)), "depth_limit") is None
        assert find(good(), "depth_limit") is None

    def test_rows_alone(self):
        y = RNG.normal(size=60)
        leaf = GaussianKnownVariance(noise_sd=1e-4)
        model = BayesianTreeRegressor(
            TreePrior(0.99, 0.1), leaf, SMC.paper(n_particles=20, proposal="optimal"), random_state=0
        )
        posterior = model.fit(X[:60], y).posterior_
        alone = [(tree.n_rows[tree.feature < 0] == 1).sum() / 60 for tree in posterior.trees]
        assert find(posterior, "rows_alone").number == pytest.approx(posterior.weights @ alone)
        assert find(posterior, "rows_alone").level == "warning"
        assert find(good(), "rows_alone") is None

    def test_unused_features(self):
        wide = np.column_stack([CLEAR, RNG.normal(size=(200, 99))])
        shown = fit(
            CLEAR, features=wide, prior=TreePrior(0.5, 2.0), sampler=SMC.paper(n_particles=50, proposal="optimal")
        )
        n_unused = int((shown.inclusion_probabilities() == 0).sum())
        assert find(shown, "unused_features").finding == f"{n_unused} of 100 features are in no tree."
        assert find(good(), "unused_features") is None

    def test_identifying_feature(self):
        order = np.argsort(STEPS, kind="stable")
        frame = pd.DataFrame({"row": np.arange(200.0), "x": X[order, 2]})
        shown = fit(STEPS[order], features=frame)
        assert find(shown, "identifying_feature").finding.startswith("'row' has a gain share of")
        measured = frame.assign(row=frame["row"] * 10 + X[:, 3])
        assert find(fit(STEPS[order], features=measured), "identifying_feature") is None
        assert find(fit(STEPS[order], features=frame.assign(row=frame["row"] // 2)), "identifying_feature") is None

    def test_identifying_levels(self):
        frame = pd.DataFrame({"name": [f"person {i}" for i in range(40)]})
        shown = fit(np.arange(40) % 2, features=frame, sampler=SMC.paper(n_particles=500, proposal="optimal"))
        finding = find(shown, "identifying_feature")
        assert shown.gain_shares()[0] == 1
        assert finding.number == 1

    def test_without_rows(self, tmp_path):
        posterior = good()
        posterior.save(tmp_path / "trees.npz")
        loaded = Posterior.load(tmp_path / "trees.npz")
        assert find(loaded, "predictions") == find(posterior, "predictions")
        bare = replace(make_posterior()[0], kept_rows=None)
        assert find(bare, "predictions").finding == "Of the 3 islands, predictions were not compared."


class TestHeldOut:
    def test_a_clear_split_beats_the_class_shares(self):
        X_test = np.random.default_rng(5).normal(size=(100, 4))
        finding = {each.name: each for each in good().findings(X_test, X_test[:, 0] > 0)}["held_out"]
        assert finding.level == "good"
        p = good().predictive(X_test)[np.arange(100), (X_test[:, 0] > 0).astype(int)]
        assert f"mean log probability {np.log(p).mean():.3g} against" in finding.finding
        assert finding.number > finding.threshold == 2
        assert find(good(), "held_out") is None

    def test_trees_that_lose_to_the_mean(self):
        rng = np.random.default_rng(0)
        features = rng.normal(size=(300, 3))
        y = rng.lognormal(sigma=2.5, size=300)  # heavy tails, and no feature that predicts: the evidence rises anyway
        posterior = BayesianTreeRegressor(random_state=0).fit(features[:200], y[:200]).posterior_
        assert posterior.log_evidence > posterior.leaf.log_marginal(posterior.root_statistics) + 3
        found = {each.name: each for each in posterior.findings(features[200:], y[200:])}
        mean = posterior.predictive(features[200:])[:, 0]
        errors = [
            np.sqrt(np.square(each - y[200:]).mean()) for each in (mean, posterior.leaf.mean(posterior.root_statistics))
        ]
        assert errors[0] > errors[1]
        assert found["held_out"].level == "warning"
        assert f"error (RMSE) {errors[0]:.4g} against {errors[1]:.4g}" in found["held_out"].finding

    def test_a_root_alone_is_as_good_as_a_constant(self):
        posterior = fit(prior=TreePrior.paper(max_depth=0))
        finding = {each.name: each for each in posterior.findings(X, STEPS)}["held_out"]
        assert (finding.level, finding.number) == ("note", 0.0)

    def test_counts_over_their_exposure(self):
        rng = np.random.default_rng(0)
        exposure = rng.uniform(1, 100, 400)
        features = rng.normal(size=(400, 2))
        y = rng.poisson(exposure * np.where(features[:, 0] > 0, 0.5, 0.1))
        model = BayesianTreeRegressor(leaf=Poisson(), random_state=0).fit(
            features[:200], y[:200], exposure=exposure[:200]
        )
        test = (features[200:], y[200:])
        found = {each.name: each for each in model.posterior_.findings(*test, exposure_test=exposure[200:])}
        assert found["held_out"].level == "good"
        expected = np.sqrt(np.square(model.predict(features[200:]) * exposure[200:] - y[200:]).mean())
        assert f"error (RMSE) {expected:.4g} against" in found["held_out"].finding
        with pytest.raises(ValueError, match="was fitted with exposure: give exposure_test"):
            model.posterior_.findings(*test)

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ((X, None), "need both X_test and y_test"),
            ((X, CLEAR[:50]), "X_test has 200 rows, but y_test has 50 values"),
            ((X, CLEAR + 1), "labels that are not among the classes"),
        ],
    )
    def test_rows_that_do_not_fit(self, rows, expected):
        with pytest.raises(ValueError, match=expected):
            good().findings(*rows)


class TestTogether:
    POSTERIORS = (
        good,
        long_chains,
        lambda: fit(),
        lambda: fit(NOISE),
        lambda: fit(sampler=MCMC(n_iterations=200)),
        lambda: fit(sampler=SMC.paper(n_islands=1)),
        lambda: small_posterior(log_evidences=[-50.0]),
    )

    @pytest.mark.parametrize("make", POSTERIORS)
    def test_summary_and_findings_do_not_contradict(self, make):
        posterior = make()
        verdict, found = posterior.summary().verdict, posterior.findings()
        for name, steady in (("predictions", "predictions agree ("), ("gain_shares", "gain shares agree (")):
            finding = find(posterior, name)
            assert finding is None or (finding.level == "good") == (steady in verdict)
        of_evidence = find(posterior, "evidence")
        assert of_evidence is None or (of_evidence.advice in verdict)
        assert ("prove that the log evidence" in verdict) == (find(posterior, "evidence_bound") is not None)
        assert ("one island only" in verdict) == (find(posterior, "one_island") is not None)
        if posterior.is_chain:
            assert ("in different places" in verdict) == (find(posterior, "rhat").level == "warning")
        assert len(found) >= 1

    @pytest.mark.parametrize("make", POSTERIORS)
    def test_order_and_json(self, make):
        found = make().findings()
        levels = [finding.level for finding in found]
        assert levels == sorted(levels, key=["warning", "note", "good"].index)
        read = json.loads(json.dumps(found.to_dict(), allow_nan=False))["findings"]
        assert [entry["name"] for entry in read] == [finding.name for finding in found]
        assert set(read[0]) == {"level", "name", "finding", "number", "threshold", "advice"}
        for finding in found:
            assert finding.finding[0].isupper() or finding.finding.startswith("'")
            assert finding.finding.endswith(".")
            assert (finding.advice == "") == (finding.level == "good")

    @pytest.mark.parametrize("make", POSTERIORS)
    def test_thresholds_are_those_of_the_docstrings(self, make):
        documented = {check.__name__: check.__doc__ for check in CHECKS}
        posterior = make()
        for finding in posterior.findings():
            if finding.threshold is None:
                continue
            threshold = finding.threshold / (posterior.n_islands if finding.name == "chain_ess" else 1)
            words = set(re.findall(r"\d+(?:\.\d+)?%?", documented[finding.name]))
            assert {f"{threshold:g}", f"{threshold:.0%}"} & words, finding

    def test_text_and_notebook(self):
        found = Findings([Finding("warning", "x", "<b> " + "word " * 40, 1.0, 2.0, "Do this.")])
        assert all(len(line) <= 100 for line in str(found).splitlines())
        assert found._repr_html_() == f"<pre>{html.escape(str(found))}</pre>"
        assert "<b>" not in found._repr_html_()
        assert found.of_level("warning") == found
        assert found.of_level("good") == ()
        with pytest.raises(ValueError, match="level must be one of warning, note, good, got 'bad'"):
            found.of_level("bad")
        assert Finding("note", "x", "y", np.inf, np.nan, "").to_dict()["number"] is None

    def test_every_piece_of_advice_belongs_to_a_check(self):
        names = {check.__name__ for check in CHECKS}
        assert set(ADVICE) - {"rows_needed"} == names - {"exact"}
        assert len(names) == len(CHECKS)

    def test_a_check_alone(self):
        assert all(check(Examined(good(), good().agreement)) in (*good().findings(), None) for check in CHECKS)


def test_many_islands_take_no_dense_table_of_weights():
    posterior = (
        BayesianTreeClassifier(sampler=SMC.paper(n_particles=10, n_islands=300), random_state=0)
        .fit(X, NOISE)
        .posterior_
    )
    examined = Examined(posterior, posterior.agreement)
    tracemalloc.start()
    try:
        first_split(examined)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * posterior.n_islands * posterior.forest.n_trees
