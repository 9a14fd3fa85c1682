"""The leaf models for numbers against mpmath: log marginals, the sums that are kept, and what samplers make of them.

The formulas below are those of the headers in kernel/leaves/, written down once more, in 60 digits. `magnitude` is how
large the parts are that a log marginal is the sum of: rounding may cost a few units in the last place of that.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

from particletree import _kernel
from particletree._data import make_table
from particletree._model.rule import LEAF, NODE, goes_left

mp.mp.dps = 60
PROPOSALS = _kernel.PROPOSALS


@dataclass(frozen=True)
class Case:
    """A target with a leaf model for it."""

    leaf: str
    y: np.ndarray  # rows x targets
    parameters: tuple[tuple[float, ...], ...]  # of each target
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    exposure: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def n_rows(self):
        return len(self.y)

    def problem(self, X, alpha=0.95, beta=0.5, **changes):
        table = make_table(X)
        arguments: dict[str, Any] = {
            "ranks": table.ranks,
            "values": table.values,
            "offsets": table.offsets,
            "n_levels": np.empty(0, dtype=np.uint32),
            "target": np.ascontiguousarray(self.y, dtype=float),
            "weights": self.weights,
            "row_columns": {"exposure": self.exposure} if self.exposure.size else {},
            "leaf": self.leaf,
            "leaf_parameters": np.ravel(self.parameters),
            "prior": "chipman",
            "prior_parameters": np.array([alpha, beta, np.inf, 2.0]),
            "feature_weights": np.empty(0),
        }
        return _kernel.Problem(**arguments | changes)

    def terms(self):
        """Return what each row adds to the outputs, in mpmath's numbers."""
        weights = [mp.mpf(w) for w in (self.weights if self.weights.size else np.ones(self.n_rows))]
        exposure = [mp.mpf(e) for e in (self.exposure if self.exposure.size else np.ones(self.n_rows))]
        rows = []
        for y, w, e in zip(self.y, weights, exposure, strict=True):
            row = [w, w * e] if self.leaf == "poisson" else [w]
            for value, parameters in zip(y, self.parameters, strict=True):
                row += [w * term for term in TERMS[self.leaf](mp.mpf(value), e, *map(mp.mpf, parameters))]
            rows.append(row)
        return rows

    def sums(self, rows=None):
        terms = self.terms()
        return [mp.fsum(column) for column in zip(*(terms if rows is None else [terms[i] for i in rows]), strict=True)]

    def log_marginal(self, outputs):
        """Return the log marginal of a block by what is kept of it, and its magnitude."""
        n_common = 2 if self.leaf == "poisson" else 1
        common, own = outputs[:n_common], outputs[n_common:]
        per_target = len(own) // len(self.parameters)
        parts = [
            LOG_MARGINALS[self.leaf](*map(mp.mpf, (*common, *own[t * per_target : (t + 1) * per_target], *parameters)))
            for t, parameters in enumerate(self.parameters)
        ]
        return sum(value for value, _ in parts), float(sum(magnitude for _, magnitude in parts))


def standardised(y, _, mean, *others):
    z = (y - mean) / others[-1]
    return z, z * z


TERMS = {
    "gaussian": standardised,
    "gaussian_known_variance": standardised,
    "poisson": lambda y, e, mean, shape: (y, y * mp.log(mean * e) - mean * e - mp.loggamma(y + 1)),
    "exponential": lambda y, e, mean, shape: (y / mean,),
}


def gaussian(n, s1, s2, mean, k, df, s):
    a0 = df / 2
    a = a0 + n / 2
    b = a0 + max(s2 - s1**2 / (k + n), mp.mpf(0)) / 2
    gammas = mp.loggamma(a) - mp.loggamma(a0)
    value = gammas + a0 * mp.log(a0) - a * mp.log(b) + mp.log(k / (k + n)) / 2 - n * mp.log(2 * mp.pi) / 2
    parts = [abs(gammas - n / 2 * mp.log(a0)), n / 2 * abs(mp.log(a0)), a * mp.log(b / a0), mp.log(1 + n / k)]
    return value - n * mp.log(s), mp.fsum(parts) + n * (1 + abs(mp.log(s))) + a * s2 / b


def gaussian_known_variance(n, s1, s2, mean, t, s):
    ratio = (t / s) ** 2
    value = -n / 2 * mp.log(2 * mp.pi) - n * mp.log(s) - mp.log(1 + n * ratio) / 2
    return value - (s2 - ratio * s1**2 / (1 + n * ratio)) / 2, n * (1 + abs(mp.log(s))) + mp.log(1 + n * ratio) + s2


def half_deviance(x, mean):
    return (x * mp.log(x / mean) if x else 0) - x + mean


def poisson(n, exposure, total, h, mean, a):
    b = a / mean
    gammas = mp.loggamma(a + total) - mp.loggamma(a)
    value = gammas + a * mp.log(b) - (a + total) * mp.log(b + exposure)
    value += mean * exposure - total * mp.log(mean) + h
    parts = [half_deviance(a + total, a + mean * exposure), abs(total - mean * exposure), abs(h), mp.log(1 + total / a)]
    return value, mp.fsum(parts)


def exponential(n, total, mean, a):
    gammas = mp.loggamma(a + n) - mp.loggamma(a)
    value = gammas + a * mp.log(a) - (a + n) * mp.log(a + total) - n * mp.log(mean)
    parts = [abs(gammas - n * mp.log(a)), n * abs(mp.log(a)), n * abs(mp.log(mean)), n]
    return value, mp.fsum(parts) + (a + n) * mp.log(1 + total / a) + 1


LOG_MARGINALS = {
    "gaussian": gaussian,
    "gaussian_known_variance": gaussian_known_variance,
    "poisson": poisson,
    "exponential": exponential,
}


def assert_close(ours, expected, magnitude):
    assert abs(ours - expected) <= 1e-14 * (magnitude + 10), (ours, mp.nstr(expected, 20), magnitude)


def run_island(problem, proposal="prior", n_particles=20, seed=0):
    return _kernel.run_island(
        problem,
        n_particles=n_particles,
        proposal=proposal,
        expansion="node",
        priority="oldest",
        resampling="multinomial",
        ess_threshold=0.1,
        max_stages=1000,
        generator=np.random.PCG64(seed),
        monitor=_kernel.Monitor(1),
        island=0,
    )


def run_chain(problem, n_iterations=200, seed=0):
    return _kernel.run_chain(
        problem,
        n_iterations=n_iterations,
        burn_in=0,
        thin=10,
        move_weights=np.ones(4),
        initial_nodes=LEAF.reshape(1).view(np.uint8).reshape(1, -1),
        generator=np.random.PCG64(seed),
        monitor=_kernel.Monitor(1),
        chain=0,
    )


def rows_of_leaves(X, nodes, root):
    """Return the rows that reach each leaf of a tree, by the leaf's block."""
    rows_at, found = {root: np.arange(len(X))}, {}
    while rows_at:
        number, rows = rows_at.popitem()
        node = nodes[number]
        if node["feature"] < 0:
            found[int(node["block"])] = rows
            continue
        left = goes_left(X[rows, node["feature"]], node)
        rows_at |= {int(node["left"]): rows[left], int(node["right"]): rows[~left]}
    return found


def check_trees(case, X, result):
    """Hold the blocks of trees against sums over their rows, and likelihoods against the formula on the sums kept."""
    nodes = result["nodes"].view(NODE)[:, 0]
    statistics = result["statistics"].reshape(len(result["row_hashes"]), -1)
    terms = case.terms()
    log_marginals = [case.log_marginal(outputs) for outputs in statistics.tolist()]
    checked = set()
    for root, log_likelihood in zip(result["roots"].tolist(), result["log_likelihoods"].tolist(), strict=True):
        leaves = rows_of_leaves(X, nodes, root)
        parts = [log_marginals[block] for block in leaves]
        assert_close(log_likelihood, mp.fsum(value for value, _ in parts), sum(m for _, m in parts))
        for block in leaves.keys() - checked:
            check_sums(statistics[block], [terms[i] for i in leaves[block]], slack=case.leaf == "poisson")
        checked |= leaves.keys()
    return len(checked)


def check_sums(kept, terms, slack):
    """Hold sums against those of rows; with slack for terms that are differences themselves, log Poisson(y | m e)."""
    for ours, column in zip(kept, zip(*terms, strict=True), strict=True):
        size = mp.fsum(map(abs, column)) + 10 * slack * len(column)
        assert abs(ours - mp.fsum(column)) <= 1e-15 * (len(column) + 10) * size


def make_case(leaf, n_rows=60, n_targets=1, weighted=False, exposed=False, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 3, n_rows) if weighted else np.empty(0)
    exposure = rng.uniform(0.01, 20, n_rows) if exposed else np.empty(0)
    if leaf == "poisson":
        y = rng.poisson(3.0 * (exposure[:, None] if exposed else 1.0), (n_rows, n_targets)).astype(float)
        parameters = [(2.0 + t, 1.5 + t) for t in range(n_targets)]
    elif leaf == "exponential":
        y = rng.exponential(3.0, (n_rows, n_targets))
        parameters = [(2.0 + t, 0.5 + t) for t in range(n_targets)]
    else:
        y = rng.normal(5.0, 2.0, (n_rows, n_targets))
        parameters = [(4.0 + t, 0.3, 3.0, 1.5 + t) for t in range(n_targets)]
        if leaf == "gaussian_known_variance":
            parameters = [(mean, 3.0, s) for mean, _, _, s in parameters]
    return Case(leaf, y, tuple(parameters), weights, exposure)


CASES = [
    pytest.param(make_case(leaf, n_targets=n_targets, weighted=weighted, exposed=exposed), id=name)
    for leaf in LOG_MARGINALS
    for n_targets in (1, 3)
    for weighted in (False, True)
    for exposed in ((False, True) if leaf == "poisson" else (False,))
    for name in [f"{leaf}-{n_targets}{'-weighted' * weighted}{'-exposed' * exposed}"]
]


def features(n_rows, n_features=2, seed=1):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


@pytest.mark.parametrize("case", CASES)
class TestEveryCase:
    @pytest.mark.parametrize("proposal", PROPOSALS)
    def test_trees_of_the_filter(self, case, proposal):
        X = features(case.n_rows)
        assert check_trees(case, X, run_island(case.problem(X), proposal)) > 1

    def test_trees_of_the_chain(self, case):
        X = features(case.n_rows)
        assert check_trees(case, X, run_chain(case.problem(X))) > 1

    def test_one_block_against_the_formula_on_the_data(self, case):
        check_root(case)

    def test_optimal_sums_over_all_cuts(self, case):
        check_evidence_of_at_most_one_cut(case)


def check_root(case):
    """Data that cannot be cut have one tree, whose likelihood is the log marginal of all rows."""
    result = run_island(case.problem(np.zeros((case.n_rows, 1))), n_particles=1)
    value, magnitude = case.log_marginal(case.sums())
    # The sums themselves are rounded row by row.
    assert_close(result["log_likelihoods"][0], value, magnitude * (1 + case.n_rows / 20))


def check_evidence_of_at_most_one_cut(case):
    """With a prior that splits the root alone, the weight of one particle of `optimal` is the evidence itself."""
    alpha, n = 0.95, case.n_rows
    X = np.arange(float(n))[:, None]
    estimate = run_island(case.problem(X, alpha, beta=1e6), "optimal", n_particles=1)["log_evidence"]
    terms = np.array(case.terms(), dtype=object)
    lefts = np.cumsum(terms, axis=0)
    rights = np.cumsum(terms[::-1], axis=0)[::-1]
    blocks = [
        [case.log_marginal(left), case.log_marginal(right)] for left, right in zip(lefts, rights[1:], strict=False)
    ]
    whole, magnitude = case.log_marginal(lefts[-1])
    cuts = mp.fsum(mp.exp(left + right) for (left, _), (right, _) in blocks) / (n - 1)
    expected = mp.log(alpha * cuts + (1 - mp.mpf(alpha)) * mp.exp(whole))
    magnitude = max(magnitude, *(left + right for (_, left), (_, right) in blocks))
    assert abs(estimate - expected) <= 1e-9 + 1e-13 * magnitude, (estimate, mp.nstr(expected, 20))


def noise(n_rows, scale=1.0, offset=0.0, seed=0):
    return offset + scale * np.random.default_rng(seed).normal(size=(n_rows, 1))


def gaussians(y, mean, scale, strengths=(0.1,), dfs=(3.0,)):
    """Return both Gaussian cases of a target, the prior of the mean worth some numbers of rows."""
    for k in strengths:
        for df in dfs:
            yield Case("gaussian", y, ((mean, k, df, scale),))
        yield Case("gaussian_known_variance", y, ((mean, scale / k**0.5, scale),))


TINY_TO_HUGE = (1e-12, 1e-3, 1.0, 1e3, 1e12)
WEIGHTS = np.random.default_rng(3).uniform(1e-3, 5.0, 50)
EXTREMES = [
    *gaussians(noise(50, 1.0, 1e9), 1e9, 1.0),
    *gaussians(noise(50, 1.0, 1e9), 0.0, 1e9),
    *gaussians(noise(50, 1e-200), 0.0, 1e-200),
    *gaussians(noise(50, 1e200, -3e200), 1e200, 1e200),
    *gaussians(np.where(np.arange(50)[:, None] == 20, 1e12, noise(50)), 0.0, 1.0),
    *gaussians(np.full((50, 1), 2.5), 2.5, 1.0),
    *gaussians(noise(50), 0.3, 2.0, TINY_TO_HUGE, TINY_TO_HUGE),
    *gaussians(noise(1), 0.3, 2.0, TINY_TO_HUGE, TINY_TO_HUGE),
    *(Case("exponential", abs(noise(50)), ((1.0, a),)) for a in TINY_TO_HUGE),
    *(Case("exponential", abs(noise(1)), ((1.0, a),)) for a in TINY_TO_HUGE),
    *(Case("exponential", abs(noise(50, scale)), ((scale, 2.0),)) for scale in (1e-200, 1e200)),
    Case("exponential", np.zeros((50, 1)), ((1.0, 2.0),)),
    Case("exponential", np.where(np.arange(50)[:, None] == 20, 1e12, abs(noise(50))), ((1.0, 2.0),)),
    *(Case("poisson", np.floor(abs(noise(50, 5))), ((m, a),)) for a in TINY_TO_HUGE for m in (1e-3, 4.0, 1e3)),
    *(Case("poisson", np.floor(abs(noise(1, 5))), ((4.0, a),)) for a in TINY_TO_HUGE),
    Case("poisson", np.zeros((50, 1)), ((4.0, 1.5),)),
    *(
        Case("poisson", np.floor(mean + noise(50, mean**0.5)), ((mean, a),))
        for mean in (1e9, 1e12, 1e14, 1e15)
        for a in (1e-3, 1.5, 1e8)
    ),
    *(
        Case("poisson", np.floor(mean * (1.0 + (np.arange(50.0)[:, None] % 2))), ((1.5 * mean, 1.0),))
        for mean in (1e9, 1e12, 1e15)
    ),
    *(
        Case("poisson", np.floor(abs(noise(50, 5))), ((4.0 / e, 1.5),), exposure=e * np.geomspace(0.1, 10, 50))
        for e in (1e-100, 1e100)
    ),
]
EXTREMES += [replace(case, weights=WEIGHTS) for case in EXTREMES if case.n_rows == 50]


@pytest.mark.parametrize("case", EXTREMES, ids=range(len(EXTREMES)))
def test_extreme_numbers_and_parameters(case):
    check_root(case)
    if case.n_rows > 1:
        X = features(case.n_rows)
        check_trees(case, X, run_island(case.problem(X), "empirical", n_particles=3))


@pytest.mark.parametrize("leaf", LOG_MARGINALS)
def test_many_rows(leaf):
    check_root(make_case(leaf, n_rows=20_000))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaf", ["gaussian", "gaussian_known_variance", "exponential"])
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_an_outlier_leaves_no_residue_in_blocks_without_it(leaf, proposal, weighted):
    """A side of a cut is a sum over its own rows: the other side's 10^12 is not added and taken away again."""
    case = make_case(leaf, n_rows=80, weighted=weighted)
    case.y[33] = 1e12
    X = features(case.n_rows)
    check_trees(case, X, run_island(case.problem(X), proposal))
    check_trees(case, X, run_chain(case.problem(X)))
    if proposal == "optimal":
        check_evidence_of_at_most_one_cut(case)


@pytest.mark.parametrize("leaf", LOG_MARGINALS)
def test_whole_weights_are_repeated_rows(leaf):
    case = make_case(leaf, n_rows=30)
    times = np.random.default_rng(5).integers(1, 4, 30)
    repeated = replace(case, y=np.repeat(case.y, times, axis=0))
    weighted = replace(case, weights=times.astype(float))
    results = [run_island(each.problem(np.zeros((each.n_rows, 1))))["log_evidence"] for each in (repeated, weighted)]
    assert results[0] == pytest.approx(results[1], rel=1e-13)


@pytest.mark.parametrize("width", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_ranks_of_every_width(width, n_targets):
    case, X = make_case("gaussian", n_targets=n_targets), features(60)
    problem = case.problem(X, ranks=make_table(X).ranks.astype(width))
    assert run_island(problem)["log_evidence"] == run_island(case.problem(X))["log_evidence"]


# The formulas of this file against integrals over the leaf's parameters, which nobody has worked out by hand.


def test_the_gaussian_formula_is_an_integral_over_the_variance():
    case = make_case("gaussian", n_rows=5)
    [(mean, k, df, s)] = case.parameters
    y = case.y[:, 0]

    def density(log_variance):
        variance = np.exp(log_variance)
        covariance = variance * (np.eye(5) + 1 / k)
        prior = stats.invgamma.pdf(variance, df / 2, scale=df * s**2 / 2) * variance
        return stats.multivariate_normal.pdf(y, np.full(5, mean), covariance) * prior

    value, _ = case.log_marginal(case.sums())
    integral, _ = integrate.quad(density, -20, 30, limit=500, epsabs=0, epsrel=1e-9, points=[0, 2, 5])
    assert float(value) == pytest.approx(np.log(integral), abs=1e-7)


def test_the_formula_of_known_variance_is_a_correlated_gaussian():
    case = make_case("gaussian_known_variance", n_rows=5)
    [(mean, t, s)] = case.parameters
    expected = stats.multivariate_normal.logpdf(case.y[:, 0], np.full(5, mean), s**2 * np.eye(5) + t**2)
    assert float(case.log_marginal(case.sums())[0]) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("leaf", ["poisson", "exponential"])
def test_formulas_of_rates_are_integrals_over_the_rate(leaf):
    case = make_case(leaf, n_rows=5, weighted=True, exposed=leaf == "poisson")
    [(mean, a)] = case.parameters
    b = a / mean if leaf == "poisson" else a * mean

    def density(rate):
        if leaf == "poisson":
            rows = stats.poisson.logpmf(case.y[:, 0], rate * case.exposure)
        else:
            rows = stats.expon.logpdf(case.y[:, 0], scale=1 / rate)
        return np.exp(case.weights @ rows + stats.gamma.logpdf(rate, a, scale=1 / b))

    value, _ = case.log_marginal(case.sums())
    integral, _ = integrate.quad(density, 0, 30, limit=500, epsabs=0, epsrel=1e-9, points=[0.2, 0.5, 2])
    assert float(value) == pytest.approx(np.log(integral), abs=1e-7)


@pytest.mark.parametrize("relative", [0.0, 1e-14, 1e-7, 1e-3, 0.05, 0.2, 0.23, 0.5, 3.0, 1e6, 1e200])
@pytest.mark.parametrize("mean", np.logspace(-18, 18, 13).tolist())
def test_half_deviance_near_the_mean_and_far_away(mean, relative):
    for x in (mean * (1 + relative), mean / (1 + relative)):
        expected = half_deviance(mp.mpf(x), mp.mpf(mean))
        assert abs(_kernel.half_deviance(x, mean) - expected) <= 5e-15 * expected


def test_stirling_error_from_tiny_to_huge():
    for x in [*np.logspace(-12, 18, 31).tolist(), 0.5, 2.0, 9.99, 10.01]:
        logarithms = (mp.mpf(x) - 0.5) * mp.log(x)
        expected = mp.loggamma(x) - (logarithms - x + mp.log(2 * mp.pi) / 2)
        assert abs(_kernel.stirling_error(x) - expected) <= 2e-15 * (1 + abs(logarithms) * (x < 10)), x


def test_log_rising_ratio_from_tiny_to_huge():
    for a in [*np.logspace(-300, 300, 31).tolist(), 0.5, 1.0, 9.99, 10.0, 11.0]:
        for d in [0.0, 1e-6, 0.5, 1.0, 1.5, 30.0, 12345.5, 1e9]:
            x, y = mp.mpf(a), mp.mpf(d)
            with mp.workdps(700):
                expected = mp.loggamma(x + y) - mp.loggamma(x) - y * mp.log(x)
            magnitude = y * (1 + abs(mp.log(x)) * (a < 10)) + abs(expected) + (abs(mp.loggamma(x)) if a < 10 else 0)
            assert abs(_kernel.log_rising_ratio(a, d) - expected) <= 4e-15 * (1 + magnitude), (a, d)


class TestRefusals:
    """What cannot be a target or a parameter is refused where it comes in."""

    @pytest.mark.parametrize("leaf", LOG_MARGINALS)
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_numbers_that_are_not_finite(self, leaf, value):
        case = make_case(leaf)
        case.y[3] = value
        self.refuses(case, "the target must be finite")

    @pytest.mark.parametrize("leaf", LOG_MARGINALS)
    def test_labels(self, leaf):
        self.refuses(make_case(leaf), "the target must be numbers", target=np.zeros(60, dtype=np.int32))

    @pytest.mark.parametrize("leaf", LOG_MARGINALS)
    def test_parameters(self, leaf):
        case = make_case(leaf, n_targets=2)
        flat = np.ravel(case.parameters)
        self.refuses(case, "the parameters must be", leaf_parameters=flat[:-1])
        for i in range(len(flat)):
            for value in (np.nan, np.inf, 0.0, -1.0):
                wrong = np.where(np.arange(len(flat)) == i, value, flat)
                is_mean = leaf.startswith("gaussian") and i % (len(flat) // 2) == 0
                if not (is_mean and np.isfinite(value)):
                    self.refuses(case, "must be (positive and )?finite", leaf_parameters=wrong)

    @pytest.mark.parametrize("leaf", LOG_MARGINALS)
    @pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
    def test_weights(self, leaf, weight):
        weights = np.where(np.arange(60) == 5, weight, 1.0)
        self.refuses(make_case(leaf), "weights must be positive and finite", weights=weights)

    @pytest.mark.parametrize("leaf", sorted(LOG_MARGINALS.keys() - {"poisson"}))
    def test_an_exposure_without_meaning(self, leaf):
        self.refuses(make_case(leaf), "no use for the row column exposure", row_columns={"exposure": np.ones(60)})

    @pytest.mark.parametrize("exposure", [0.0, -1.0, np.nan, np.inf])
    def test_exposures(self, exposure):
        columns = {"exposure": np.full(60, exposure)}
        self.refuses(make_case("poisson"), "exposures must be positive and finite", row_columns=columns)

    def test_row_columns_have_the_length_of_the_rows(self):
        columns = {"exposure": np.ones(59)}
        self.refuses(make_case("poisson"), "column exposure must have one entry per row", row_columns=columns)

    @pytest.mark.parametrize("count", [0.5, -1.0])
    def test_what_is_not_a_count(self, count):
        case = make_case("poisson")
        case.y[7] = count
        self.refuses(case, "the target must be counts")

    def test_what_is_not_a_time(self):
        case = make_case("exponential")
        case.y[7] = -0.1
        self.refuses(case, "the target must be times")

    @pytest.mark.parametrize("leaf", ["gaussian", "gaussian_known_variance", "exponential"])
    def test_sums_beyond_the_largest_double(self, leaf):
        case = make_case(leaf)
        case.y[:5] = 1.7e308
        self.refuses(case, "too far from what the leaf's parameters expect")

    @pytest.mark.parametrize("shape", [(60, 0), (59, 1), (60, 1, 1)])
    def test_shapes(self, shape):
        self.refuses(make_case("gaussian"), "one entry per row|rows x targets", target=np.zeros(shape))

    @staticmethod
    def refuses(case, message, **changes):
        with pytest.raises(ValueError, match=message):
            case.problem(features(case.n_rows), **changes)
