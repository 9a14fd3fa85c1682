"""The benchmark of sums of trees: who is left out, how runs are scored, and what counts as equally good."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks import additive, bart_packages
from benchmarks.bart_packages import Length, Run
from particletree.datasets import Split

ROWS = np.zeros((3, 1))
NUMBERS = Split("numbers", ROWS, np.array([0.0, 1.0, 2.0]), ROWS, np.array([0.5, 1.0, 9.0]))
CLASSES = Split("classes", ROWS, np.array(["a", "b", "a"]), ROWS, np.array(["a", "b", "b"]))


def line(package, fit_seconds, error, log_score=-1.0, data="t"):
    return additive.Result(data, package, "1 x (1 + 1)", fit_seconds, 0.0, 0.0, error, log_score, 0.9)


def test_numbers_are_scored_by_a_mixture_of_normals():
    run = Run(0.0, 0.0, np.array([[0.0, 1.0]] * 3), np.array([1.0, 1.0]))
    error, log_density, coverage = additive.number_scores(NUMBERS, run)
    assert error == pytest.approx(np.sqrt((0.0 + 0.25 + 8.5**2) / 3))
    densities = (norm.pdf(NUMBERS.y_test, 0) + norm.pdf(NUMBERS.y_test, 1)) / 2
    assert log_density == pytest.approx(np.log(densities).mean())
    assert coverage == pytest.approx(2 / 3)


def test_classes_are_scored_by_the_mean_probability():
    run = Run(0.0, 0.0, np.array([[0.2, 0.4], [0.9, 0.7], [0.5, 0.3]]), None)
    error, log_probability, coverage = additive.class_scores(CLASSES, run)
    assert error == pytest.approx(1 / 3)
    assert log_probability == pytest.approx(np.log([0.7, 0.8, 0.4]).mean())
    assert coverage is None


def test_our_quickest_line_that_is_as_good_answers():
    ours = [line("particletree", 1.0, 1.3), line("particletree", 2.0, 1.0), line("particletree", 4.0, 0.9)]
    rival, better = line("stochtree", 20.0, 0.995), line("bartz", 20.0, 0.8)
    others = [line("particletree", 0.1, 0.5, data="u"), line("particletree", 0.1, 0.5, log_score=-1.1)]
    results = [*ours, rival, better, *others]
    assert additive.as_good(rival, results) == ours[1]
    assert additive.as_good(better, results) is None
    page = additive.to_markdown(results)
    assert "| t | stochtree | 0.995 | 0.5 | -1.000 | -1.000 | 1 of 1 | 10.0 | 10.0 |" in page
    assert "| t | bartz | 0.8 | 0.5 | -1.000 | -1.000 | 0 of 1 | - | - |" in page


def test_a_mean_over_seeds():
    both = [line("bartz", 1.0, 2.0), replace(line("bartz", 3.0, 4.0), coverage=0.8)]
    mean = additive.mean_result(both)
    assert (mean.fit_seconds, mean.error, mean.coverage) == (2.0, 3.0, pytest.approx(0.85))


def test_a_package_that_is_not_there_is_left_out(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "particletree" or None)
    said = []
    assert list(bart_packages.installed(said.append)) == [
        "particletree",
        "particletree, no regrowing",
        "particletree, 5% regrown",
        "particletree, k = 3, 5% regrown",
    ]
    assert sorted(said) == [f"{name} is left out: pip install {name}" for name in ("bartz", "pymc_bart", "stochtree")]


@pytest.mark.parametrize("data", [NUMBERS, CLASSES], ids=lambda data: data.name)
def test_our_own_draws(data):
    run = bart_packages.particletree(data, 5, Length(2, 10, n_chains=2), seed=0)
    assert run.draws.shape == (3, 20)
    assert run.fit_seconds > 0
    assert (run.noise_sd is None) == (data is CLASSES)
    if data is CLASSES:
        assert np.all((run.draws > 0) & (run.draws < 1))
