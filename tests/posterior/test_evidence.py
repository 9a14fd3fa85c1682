"""The log of a mean of evidences, its error, and the bound that trees prove."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import t

import oracle
from particletree import MCMC, SMC, Categorical, Exact, TreePrior
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._model import Forest
from particletree._posterior.runs.evidence import log_lower_bound, log_mean, standard_error

PRIOR, LEAF = TreePrior.paper(), Categorical(1.0)


def test_log_mean() -> None:
    assert log_mean(np.log([1.0, 3.0])) == pytest.approx(np.log(2))
    assert log_mean(np.array([-1e4, -1e4])) == -1e4


@pytest.mark.parametrize("n_islands", [2, 5, 20, 100])
def test_a_small_spread_has_students_error(n_islands: int) -> None:
    logs = np.random.default_rng(0).normal(-900, 0.01, size=n_islands)
    expected = logs.std(ddof=1) / np.sqrt(n_islands) * t(n_islands - 1).ppf(0.975) / 1.96
    assert standard_error(logs) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("sd", [0.1, 1.0, 5.0])
def test_is_never_smaller_than_what_resampled_islands_show(sd: float) -> None:
    rng = np.random.default_rng(1)
    logs = rng.normal(-80, sd, size=30) + (np.arange(30) == 7) * 3 * sd
    resampled = [log_mean(rng.choice(logs, size=30)) for _ in range(3000)]
    assert standard_error(logs) >= np.std(resampled)


@pytest.mark.parametrize("n_islands", [5, 100, 500])
def test_is_the_distance_from_the_truth_of_skewed_islands(n_islands: int) -> None:
    """The mean of log-normal evidences is nearly always too low; the spread from run to run is a third of the error."""
    rng = np.random.default_rng(2)
    runs = rng.normal(-80, 5.0, size=(400, n_islands))
    errors = [standard_error(logs) for logs in runs[:40]]
    truth = -80 + 5.0**2 / 2
    distance = np.sqrt(np.mean((log_mean(runs) - truth) ** 2))
    assert 0.6 * distance < np.median(errors) < 1.6 * distance
    assert np.median(errors) > 0.9 * log_mean(runs).std()


def test_of_one_island_is_not_known_and_the_same_evidences_have_the_same_error() -> None:
    assert np.isnan(standard_error(np.array([-3.0])))
    assert standard_error(np.array([-3.0, -4.0])) == standard_error(np.array([-3.0, -4.0]))
    assert standard_error(np.full(7, -3.0)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("sampler", [SMC.paper(n_particles=200), MCMC(n_iterations=2000, burn_in=0)], ids=repr)
@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_the_bound_is_what_the_distinct_trees_have_and_below_the_evidence(data_set, sampler) -> None:
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    posterior = sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence(0))
    joint = {
        (tree.feature.tobytes(), tree.gap_low.tobytes()): float(score)
        for tree, score in zip(posterior.trees, posterior.log_prior_masses + posterior.log_likelihoods, strict=True)
    }
    assert len(joint) < posterior.forest.n_trees
    assert posterior.log_evidence_bound == pytest.approx(logsumexp(list(joint.values())))
    assert posterior.log_evidence_bound < ExactRecursion(data, PRIOR, LEAF).log_evidence


def test_the_bound_reaches_the_evidence_when_every_tree_is_found() -> None:
    data = make_training_data([[0.0], [1.0], [3.0]], [0, 0, 1], 2)
    exact = ExactRecursion(data, PRIOR, LEAF).log_evidence
    posterior = SMC.paper(n_particles=2000).run(data, PRIOR, LEAF, seed=np.random.SeedSequence(0))
    assert posterior.log_evidence_bound == pytest.approx(exact, abs=1e-9)
    assert Exact().run(data, PRIOR, LEAF, seed=np.random.SeedSequence(0)).log_evidence_bound == exact


def test_thresholds_within_a_gap_are_one_tree() -> None:
    leaf = np.nan
    forest = Forest.from_preorder(
        offsets=[0, 3, 6],
        feature=[0, -1, -1] * 2,
        threshold=[1.2, leaf, leaf, 1.7, leaf, leaf],
        gap_low=[1.0, leaf, leaf] * 2,
        gap_high=[2.0, leaf, leaf] * 2,
        right=[2, -1, -1] * 2,
        block=[0, 1, 2] * 2,
        statistics=np.array([[4.0, 3.0], [4.0, 0.0], [0.0, 3.0]]),
    )
    assert log_lower_bound(forest, np.array([-3.0, -3.0])) == pytest.approx(-3.0)
    nodes = forest.nodes.copy()
    nodes["block"][nodes["left"][forest.roots[1]]] = 3
    other = replace(
        forest, nodes=nodes, statistics=forest.statistics[[0, 1, 2, 1]], row_hashes=np.arange(4, dtype=np.uint64)
    )
    assert log_lower_bound(other, np.array([-3.0, -3.0])) == pytest.approx(-3.0 + np.log(2))
