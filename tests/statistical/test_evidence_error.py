"""Does the estimate of the log evidence, plus or minus two standard errors, hold the exact value?"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import oracle
from particletree import SMC, BayesianTreeClassifier, BayesianTreeRegressor, Categorical, Exact, TreePrior
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._posterior.runs.evidence import log_mean, standard_error

pytestmark = pytest.mark.slow
PRIOR, LEAF, N_RUNS = TreePrior.paper(), Categorical(1.0), 200


def coverage(data_set, sampler):
    """Return the share of runs whose interval holds the log evidence, and that of the old error, sd / sqrt(n)."""
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    exact = ExactRecursion(data, PRIOR, LEAF).log_evidence
    hits = np.zeros((N_RUNS, 2))
    for seed in range(N_RUNS):
        posterior = sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence(seed))
        old = np.std(posterior.log_evidences, ddof=1) / np.sqrt(sampler.n_islands)
        hits[seed] = np.abs(posterior.log_evidence - exact) <= 2 * np.array([posterior.log_evidence_se, old])
    return hits.mean(axis=0)


def report(data_set, sampler, found, old):
    print(f"{data_set}, {sampler.proposal}, {sampler.n_islands} islands: {found:.3f}, by sd / sqrt(n) {old:.3f}")


@pytest.mark.parametrize("n_islands", [5, 20])
@pytest.mark.parametrize(("proposal", "n_particles"), [("prior", 100), ("optimal", 10)])
@pytest.mark.parametrize("data_set", [oracle.TWO_CLASSES, oracle.THREE_CLASSES, oracle.TWELVE_DUPLICATED], ids=str)
def test_two_errors_cover_the_exact_evidence(data_set, proposal, n_particles, n_islands):
    """95% is meant; with 200 runs an interval of that coverage has 0.95 +- 4 x 0.0154."""
    sampler = SMC.paper(proposal=proposal, n_particles=n_particles, n_islands=n_islands)
    found, old = coverage(data_set, sampler)
    report(data_set, sampler, found, old)
    assert found >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / N_RUNS)


@pytest.mark.parametrize("n_islands", [5, 20])
def test_rows_with_large_weights_are_covered_less_often(n_islands):
    """Where a rare tree carries much of the evidence, islands that have not met it cannot know: 80% instead of 95%.

    Two standard errors of a mean of logs hold it in 64 to 69% of the runs.
    """
    sampler = SMC.paper(proposal="optimal", n_particles=10, n_islands=n_islands)
    found, old = coverage(oracle.TWELVE_WEIGHTED, sampler)
    report(oracle.TWELVE_WEIGHTED, sampler, found, old)
    assert old + 0.05 < found < 0.9


class TestDefaults:
    """The default estimators on 200 small tables, with as many islands as by default and with more.

    The spread between islands is about 1.2 nats for numbers and 0.6 for classes, and skewed: it is harder than above.
    """

    N_TABLES, N_ISLANDS = 200, 120

    @staticmethod
    def table(kind, seed):
        """Draw 6 to 12 rows of two features, whose target has no step, a small one or a large one."""
        rng = np.random.default_rng(10_000 + seed)
        n_rows = int(rng.integers(6, 13))
        X = rng.normal(size=(n_rows, 2))
        step = (X[:, 0] > 0) * rng.choice([0.0, 1.0, 3.0])
        if kind is BayesianTreeRegressor:
            return X, step + rng.normal(size=n_rows)
        y = (rng.random(n_rows) < 1 / (1 + np.exp(0.5 - step))).astype(int)
        y[0] = y[0] if y.min() < y.max() else 1 - y[0]
        return X, y

    @staticmethod
    @cache
    def log_ratios(kind):
        """Return the log of each island's evidence less the exact one, tables x islands."""
        rows = []
        for seed in range(TestDefaults.N_TABLES):
            X, y = TestDefaults.table(kind, seed)
            exact = kind(sampler=Exact(n_draws=1), random_state=0).fit(X, y).log_evidence_
            sampler = replace(kind(random_state=0).fit(X, y).sampler_, n_islands=TestDefaults.N_ISLANDS)
            rows.append(kind(sampler=sampler, random_state=seed).fit(X, y).posterior_.log_evidences - exact)
        return np.array(rows)

    @pytest.mark.parametrize(
        ("kind", "n_islands", "documented"),
        [
            (BayesianTreeRegressor, 4, 0.86),
            (BayesianTreeRegressor, 7, 0.87),
            (BayesianTreeRegressor, 30, 0.95),
            (BayesianTreeClassifier, 4, 0.90),
            (BayesianTreeClassifier, 7, 0.89),
            (BayesianTreeClassifier, 30, 0.90),
        ],
    )
    def test_coverage_of_two_errors_is_what_is_documented(self, kind, n_islands, documented):
        """The figures of ``runs/evidence.py``: less than 95%, and the misses are estimates that are too low."""
        runs = self.log_ratios(kind)
        runs = runs[:, : self.N_ISLANDS // n_islands * n_islands].reshape(-1, n_islands)
        estimates, errors = log_mean(runs), np.array([standard_error(run) for run in runs])
        too_low, too_high = (estimates + 2 * errors < 0).mean(), (estimates - 2 * errors > 0).mean()
        found = 1 - too_low - too_high
        print(f"{kind.__name__}, {n_islands} islands: {found:.3f}, too low {too_low:.3f}, too high {too_high:.3f}")
        assert found == pytest.approx(documented, abs=0.02)
        assert too_high < 0.01

    @pytest.mark.parametrize("kind", [BayesianTreeRegressor, BayesianTreeClassifier])
    def test_a_single_island_has_no_error(self, kind):
        assert np.isnan(standard_error(self.log_ratios(kind)[0, :1]))
