"""Verdicts: results for and against each claim are planted, and each claim must see them."""

import math
import re

import numpy as np
import pytest

import fabricated
from papers.icml2013 import EXPERIMENTS, prior, reasons
from papers.icml2013.experiment import Verdict
from papers.icml2013.methods import PAPERS_MODEL, Cart, Chain, Filter, PriorDraws
from papers.icml2013.scale import FULL, QUICK
from particletree import TreePrior

HOLDS, DIFFERS, FAILS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.FAILS, Verdict.OPEN


def verdict(name, words, make):
    experiment = EXPERIMENTS[name]
    points = fabricated.points(experiment, make)
    assert bool(experiment.reading(points)) == (name not in {"prior", "proposals", "irrelevant"})
    return fabricated.claim(experiment.claims(points), words).verdict


def proposals(node=-0.3, layer=-0.6, optimal=-0.35, optimal_layer=-0.35, only_on=None, **others):
    """Return results in which quality depends on proposal and expansion, on one data set alone if that is named."""

    def make(data, method):
        is_node = method.expansion == "node" or (only_on is not None and data != only_on)
        quality = (
            (node if is_node else layer) if method.proposal == "prior" else (optimal if is_node else optimal_layer)
        )
        if method.proposal == "prior":
            quality -= 1.0 / method.n_particles
        # The prior proposal takes 10 ms for 100 particles, the optimal one 10 ms for each.
        time = 1e-4 * method.total if method.proposal == "prior" else 1e-2 * method.total
        size = 6.0 if method.expansion == "node" else 4.0
        return {"log_probability": quality, "seconds": time, "row_depth": size, "depth": size} | others

    return make


@pytest.mark.parametrize(
    ("words", "make", "expected"),
    [
        ("Node-wise expansion beats", proposals(), HOLDS),
        ("Node-wise expansion beats", proposals(layer=-0.3), FAILS),
        ("Node-wise expansion beats", proposals(layer=-0.2), FAILS),
        ("Node-wise expansion beats", proposals(only_on="MAGIC"), DIFFERS),
        ("Both expansions perform alike", proposals(), HOLDS),
        ("Both expansions perform alike", proposals(optimal_layer=-0.34), HOLDS),  # clear, but within the margin
        ("Both expansions perform alike", proposals(optimal_layer=-0.33), OPEN),  # just at it
        ("Both expansions perform alike", proposals(optimal_layer=-0.32), FAILS),
        ("Both expansions perform alike", proposals(optimal_layer=-0.32, only_on="MAGIC"), DIFFERS),
        ("shallower", proposals(), HOLDS),
        ("shallower", proposals(row_depth=5.0), DIFFERS),
        ("shallower", proposals(row_depth=5.0, depth=5.0), FAILS),
        ("needs fewer particles", proposals(optimal=-0.2), HOLDS),
        ("needs fewer particles", proposals(optimal=-0.4), FAILS),
        ("needs fewer particles", proposals(optimal=-5.0), FAILS),
        ("saturates", proposals(), HOLDS),
        ("more quality per second", proposals(), HOLDS),
        ("more quality per second", proposals(optimal=-0.2), FAILS),
        ("more quality per second", proposals(optimal=-0.304), DIFFERS),  # sooner as good, but hardly better
        ("similar trends", proposals(), OPEN),  # the same accuracy everywhere
    ],
)
def test_proposals(words, make, expected):
    assert verdict("proposals", words, make) is expected


@pytest.mark.parametrize(("factor", "expected"), [(5.0, HOLDS), (1.0, OPEN), (0.2, FAILS)])
def test_spread_between_runs(factor, expected):
    rng = np.random.default_rng(0)

    def make(data, method):
        sd = 0.1 if method.expansion == "node" else 0.1 * factor
        return {"log_probability": sd * rng.normal(), "seconds": 0.1}

    points = fabricated.points(EXPERIMENTS["proposals"], make, FULL)
    assert fabricated.claim(EXPERIMENTS["proposals"].claims(points), "varies more").verdict is expected


def noisy(make, sd):
    """Return the same results with more noise in their scores."""
    rng = np.random.default_rng(1)

    def result(data, method):
        found = make(data, method)
        scores = {name: found.get(name, 0.9) for name in ("log_probability", "accuracy")}
        return found | {name: value + sd * rng.normal() for name, value in scores.items()}

    return result


@pytest.mark.parametrize("words", ["Both expansions perform alike", "saturates"])
def test_a_spread_that_could_hide_a_difference_decides_nothing(words):
    make = noisy(proposals(node=-0.35, layer=-0.35), 0.03)
    points = fabricated.points(EXPERIMENTS["proposals"], make, FULL)
    claim = fabricated.claim(EXPERIMENTS["proposals"].claims(points), words)
    assert claim.verdict is OPEN
    assert re.search(r"[0-4] of 5 (settings|larger numbers) exclude", claim.measured)


def test_an_optimal_proposal_that_goes_on_gaining_is_not_saturated():
    def make(data, method):
        quality = -1.0 + 0.2 * math.log10(method.n_particles)
        return {"log_probability": quality, "seconds": 0.01 * method.total}

    assert verdict("proposals", "saturates", make) is FAILS


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("empirical", {"proposal": "empirical"}),
        ("priorities", {"priority": "likelihood"}),
        ("resampling", {"resampling": "systematic"}),
    ],
)
def test_variants(words, settings):
    def make(change):
        def result(data, method):
            is_other = all(getattr(method, name) == value for name, value in settings.items())
            return {"log_probability": -0.3 + change * is_other, "seconds": 1e-4 * method.total}

        return result

    assert verdict("variants", words, make(0.0)) is HOLDS
    assert verdict("variants", words, make(0.015)) is HOLDS  # clear, but within the margin
    assert verdict("variants", words, make(0.05)) is DIFFERS  # in log-probability, not in accuracy
    points = fabricated.points(EXPERIMENTS["variants"], noisy(make(0.0), 0.02), FULL)
    claim = fabricated.claim(EXPERIMENTS["variants"].claims(points), words)
    assert claim.verdict is OPEN  # no difference was planted, but one could hide
    assert re.search(r"pen-digits: \d of (9|14) settings exclude a difference of 0.02 nats; \d", claim.measured)


@pytest.mark.parametrize(
    ("prior_quality", "expected"),
    [(lambda n: -0.7, HOLDS), (lambda n: -0.3, FAILS), (lambda n: -0.3 - 10 / n, DIFFERS)],
)
def test_irrelevant_features(prior_quality, expected):
    def make(data, method):
        quality = -0.45 if method.proposal == "optimal" else prior_quality(method.n_particles)
        return {"log_probability": quality, "seconds": (1e-1 if method.proposal == "optimal" else 1e-5) * method.total}

    assert verdict("irrelevant", "Madelon", make) is expected


def islands(cliff, gain):
    """Return results that are bad below `cliff` particles an island, and by `gain` better with several islands."""

    def make(data, method):
        return {"log_probability": -0.4 + gain * (method.n_islands > 1) - (method.n_particles < cliff)}

    return make


@pytest.mark.parametrize(
    ("words", "make", "expected"),
    [
        ("drops sharply", islands(100, 0.1), HOLDS),
        ("drops sharply", islands(10, 0.1), DIFFERS),
        ("drops sharply", islands(0, 0.1), FAILS),
        ("several islands beat one", islands(100, 0.1), HOLDS),
        ("several islands beat one", islands(100, 0.0), FAILS),
        ("several islands beat one", islands(100, -0.1), FAILS),
    ],
)
def test_islands(words, make, expected):
    assert verdict("islands", words, make) is expected


def race(chain_seconds, fall=0.0, rise=0.0):
    """Return results in which a chain takes so long to reach what the filter has after 0.1 seconds or so."""

    def make(data, method):
        if isinstance(method, Chain):
            times = [0.01, 0.011, 0.012, chain_seconds, 10 * chain_seconds]
            return fabricated.chain(times, [-1.0, -1.0, -1.0, -0.3, -0.2])
        if isinstance(method, Filter):
            is_large = method.total > 2000
            change = {"log_probability": -0.3 - fall * is_large, "log_evidence": -100.0 + rise * is_large}
            return change | {"seconds": 0.1}
        return {"log_probability": -0.4}

    return make


@pytest.mark.parametrize(("seconds", "expected"), [(50.0, HOLDS), (2.0, DIFFERS), (0.2, FAILS)])
def test_the_filter_against_the_chain(seconds, expected):
    assert verdict("chains", "SMC is at least 10 times faster", race(seconds)) is expected
    assert verdict("sensitivity", "better trade-off of time and quality than MCMC", race(seconds)) is (
        HOLDS if seconds > 1.0 else FAILS
    )


def test_a_chain_that_does_not_get_there_gives_a_lower_bound():
    def make(data, method):
        if isinstance(method, Chain):
            return fabricated.chain([0.01, 0.02, 0.03, 100.0], [-1.0, -1.0, -1.0, -0.9])
        return {"log_probability": -0.3, "seconds": 0.1}

    experiment = EXPERIMENTS["chains"]
    claim = fabricated.claim(experiment.claims(fabricated.points(experiment, make)), "SMC is at least")
    assert claim.verdict is HOLDS
    assert re.search(r"one chain more than (9\d\d|1,0\d\d)\b", claim.measured)  # 100 s against 0.1 s
    assert "| not in 100 s |" in experiment.reading(fabricated.points(experiment, make))


@pytest.mark.parametrize(
    ("end", "expected"), [(-0.5, HOLDS), (-0.3, HOLDS), (-0.29, HOLDS), (-0.28, OPEN), (-0.27, FAILS), (-0.1, FAILS)]
)
def test_the_filter_as_good_as_the_chain(end, expected):
    def make(data, method):
        if isinstance(method, Chain):
            return fabricated.chain([0.01, 0.1, 1.0, 10.0], [-1.0, -0.9, -0.8, end])
        return {"log_probability": -0.3}

    assert verdict("chains", "similar to MCMC's", make) is expected


@pytest.mark.parametrize(("end", "expected"), [(-0.3, HOLDS), (-0.6, DIFFERS)])
def test_the_chain_against_cart(end, expected):
    def make(data, method):
        if isinstance(method, Chain):
            return fabricated.chain([0.01, 0.1, 1.0, 10.0], [-1.0, -0.9, -0.8, end])
        return {"log_probability": -0.4, "accuracy": 0.85}

    assert verdict("chains", "MCMC too", make) is expected


@pytest.mark.parametrize(
    ("fall", "rise", "expected"),
    [(0.1, 50.0, HOLDS), (0.1, -50.0, DIFFERS), (-0.1, 50.0, FAILS), (-0.1, -50.0, FAILS)],
)
def test_more_particles_that_predict_worse(fall, rise, expected):
    assert verdict("chains", "falls beyond 2,000", race(1.0, fall, rise)) is expected


@pytest.mark.parametrize(
    ("gap", "dip", "expected"),
    [
        (0.0, 0.0, HOLDS),
        (4.9, 0.0, HOLDS),
        (5.0, 0.0, OPEN),
        (10.0, 0.0, DIFFERS),
        (10.0, 10.0, DIFFERS),
        (200.0, 0.0, FAILS),
    ],
)
def test_evidence(gap, dip, expected):
    def make(data, method):
        rest = gap if method.n_particles >= 10_000 else 1000.0
        lower = rest if method.proposal == "prior" else dip * (method.n_particles > 10)
        return {"log_evidence": -2000.0 - lower, "log_probability": -0.3}

    assert verdict("evidence", "converge", make) is expected


def test_sensitivity_of_proposals_and_accuracy():
    def make(prior_quality, change):
        def result(data, method):
            if isinstance(method, Chain):
                return fabricated.chain([1.0, 2.0], [-1.0, -0.9])
            if isinstance(method, Cart):
                return {"log_probability": -0.4}
            accuracy = 0.9 + change * (method.model.concentration != PAPERS_MODEL.concentration)
            quality = prior_quality if method.proposal == "prior" else -0.35
            return {
                "log_probability": quality,
                "accuracy": accuracy,
                "seconds": 1e-3 if method.proposal == "prior" else 0.1,
            }

        return result

    words = "better trade-off than the optimal"
    assert verdict("sensitivity", words, make(-0.3, 0.0)) is HOLDS
    assert verdict("sensitivity", words, make(-0.4, 0.0)) is FAILS
    assert verdict("sensitivity", words, make(-0.345, 0.0)) is DIFFERS  # sooner as good, but hardly better
    assert verdict("sensitivity", "accuracies similar", make(-0.3, 0.0)) is HOLDS
    assert verdict("sensitivity", "accuracies similar", make(-0.3, 0.006)) is HOLDS
    assert verdict("sensitivity", "accuracies similar", make(-0.3, 0.008)) is OPEN
    assert verdict("sensitivity", "accuracies similar", make(-0.3, -0.05)) is FAILS


def cart(ours=(0.93, -0.27), small_leaves=(0.92, -0.6), cost=0.5):
    """Return scores of the filter and of CART with smaller leaves, and the filter's time in CART fits."""

    def make(data, method):
        if isinstance(method, Filter):
            return {"accuracy": ours[0], "log_probability": ours[1], "seconds": 10.0 * cost}
        scores = (0.90, -0.41)
        if isinstance(method, Cart) and method.min_samples_leaf < 10:
            scores = small_leaves
        return {"accuracy": scores[0], "log_probability": scores[1], "seconds": 10.0}

    return make


@pytest.mark.parametrize(
    ("words", "make", "expected"),
    [
        ("matches or beats", cart(), HOLDS),
        ("matches or beats", cart(ours=(0.893, -0.27)), HOLDS),
        ("matches or beats", cart(ours=(0.891, -0.27)), OPEN),
        ("matches or beats", cart(ours=(0.88, -0.27)), DIFFERS),
        ("matches or beats", cart(ours=(0.88, -0.5)), FAILS),
        ("50 to 100 times", cart(), FAILS),
        ("50 to 100 times", cart(cost=70.0), HOLDS),
        ("smaller leaves", cart(), HOLDS),
        ("smaller leaves", cart(small_leaves=(0.92, -0.4)), DIFFERS),
        ("smaller leaves", cart(small_leaves=(0.92, -0.43)), DIFFERS),  # lower, but not much
        ("smaller leaves", cart(small_leaves=(0.8, -0.4)), FAILS),
    ],
)
def test_cart(words, make, expected):
    assert verdict("classic", words, make) is expected


@pytest.mark.parametrize(("drawn", "expected"), [(prior.exact_means(TreePrior.paper())[0], HOLDS), (7.0, DIFFERS)])
def test_the_prior(drawn, expected):
    def make(data, method):
        assert isinstance(method, PriorDraws)
        names = [f"depth = {d}" for d in range(17)] + [f"nodes > {n}" for n in (1, 3, 7, 15, 31, 63, 127)]
        return {"depth": drawn, "nodes": 18.3, **dict.fromkeys(names, 0.1)}

    assert verdict("prior", "mean depth of 5.1", make) is expected


def test_exact_means_of_a_prior_that_stops_after_one_split():
    class OneSplit:
        def split_probability(self, depth):
            return 0.6 if depth == 0 else 0.0

    depth, nodes = prior.exact_means(OneSplit())
    assert depth == pytest.approx(0.6)
    assert nodes == pytest.approx(0.4 * 1 + 0.6 * 3)


def support(given_in, make, scale=QUICK):
    """Return the verdict on the reason that an experiment gives, after a look at what the page says of it."""
    points = fabricated.points(EXPERIMENTS["reasons"], make, scale)
    (reason,) = (r for r in reasons.REASONS if r.given_in == given_in)
    claim = reason.judge(points)
    (row,) = (r for r in EXPERIMENTS["reasons"].reading(points).splitlines() if r.startswith(f"| {reason.text}"))
    assert row.endswith(f"| {reasons.WORDS[claim.verdict]} |")
    assert claim.measured in [trial.measured for trial in EXPERIMENTS["reasons"].trials(points)]
    return claim.verdict


def causes(won_back=0.9, everywhere=0.0, kept=10.0, five=-0.3, many=-0.2, chains=-0.2, less=0.5, only_on=None):
    """Return results in which a change of what the reasons call a cause has these effects, or has them on one data set.

    Islands of 10 or fewer lose 1 nat, of which resampling wins a share back, besides what it brings `everywhere`.
    """

    def make(data, method):
        acts = only_on in (None, data)
        if isinstance(method, Chain):
            return fabricated.chain([0.1, 1.0], [-0.9, chains])
        if isinstance(method, Cart):
            is_behind = acts and method.min_samples_leaf == 1 and method.concentration < 5.0
            return {"log_probability": -0.4 - less * is_behind}
        if method.proposal == "optimal":
            return {"log_evidence": -500.0 + kept * (acts and method.ess_threshold == 0.0)}
        resamples_more = acts and method.ess_threshold == 0.5
        lost = (1.0 - won_back * resamples_more) * (method.n_particles <= 10)
        quality = many if acts and method.n_islands == 100 and method.n_particles > 20 else five
        return {"log_probability": quality - lost + everywhere * resamples_more}

    return make


@pytest.mark.parametrize(
    ("given_in", "make", "expected"),
    [
        ("islands", causes(), HOLDS),
        ("islands", causes(won_back=0.55), HOLDS),
        ("islands", causes(won_back=0.45), FAILS),
        ("islands", causes(won_back=0.0), FAILS),
        ("islands", causes(won_back=0.0, everywhere=0.8), FAILS),  # it helps, but not where the reason says
        ("islands", causes(won_back=0.9, only_on="MAGIC"), DIFFERS),
        ("evidence", causes(), HOLDS),
        ("evidence", causes(kept=0.0), OPEN),
        ("evidence", causes(kept=-10.0), FAILS),
        ("chains", causes(), HOLDS),
        ("chains", causes(many=-0.24), HOLDS),
        ("chains", causes(many=-0.26), FAILS),
        ("chains", causes(many=-0.5), FAILS),
        ("chains", causes(only_on="MAGIC"), DIFFERS),
        ("chains", causes(chains=-0.4), OPEN),  # nothing is lacking
        ("classic", causes(), HOLDS),
        ("classic", causes(less=0.02), FAILS),
        ("classic", causes(less=-0.5), FAILS),
        ("classic", causes(only_on="MAGIC"), DIFFERS),
    ],
)
def test_likely_reasons(given_in, make, expected):
    assert support(given_in, make) is expected
    assert support(given_in, make, FULL) is expected


def test_smaller_leaves_that_lose_as_much_with_any_smoothing_say_nothing_about_it():
    def make(data, method):
        if isinstance(method, Cart):
            return {"log_probability": -0.4 - 0.5 * (method.min_samples_leaf == 1)}
        return causes()(data, method)

    assert support("classic", make) is FAILS


def test_islands_that_do_not_fall_leave_nothing_to_explain():
    def make(data, method):
        return {"log_probability": -0.3} if isinstance(method, Filter) else causes()(data, method)

    assert support("islands", make) is OPEN
