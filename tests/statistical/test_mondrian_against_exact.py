"""The Mondrian prior: the recursion against every question of the measure, and every sampler against the recursion.

Coherence: with the measure held fixed, the evidence of n rows is the sum over labels of that of n + 1 rows.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import mixed_data
import oracle
import question_oracle
import sum_oracle
from mixed_data import NAN, MixedData
from particletree import MCMC, SMC, Categorical, Flat, MondrianPrior, ParticleGibbs, _kernel
from particletree._data.table import Table
from particletree._inference.exact.recursion import ExactRecursion
from particletree.reference import Problem, particle_filter
from particletree.reference.gibbs import particle_gibbs
from statistical import test_sums_against_exact as sums
from statistical.against_exact import (
    Exact,
    check_chains,
    check_evidence,
    check_islands,
    check_sizes,
    check_with_patience,
)
from sum_oracle import SumModel

LEAF = Categorical(concentration=1.5)
PRIOR = MondrianPrior(0.2)
SMALL = [*oracle.SMALL, *mixed_data.SMALL, mixed_data.NOTHING_PRESENT, mixed_data.LEVELS_TWICE]
TWELVE = [oracle.TWO_CLASSES, mixed_data.TWELVE_MISSING, mixed_data.TWELVE_MIXED]
MOVES = [(0.5, 0.5, 0.0, 0.0), (0.2, 0.2, 0.6, 0.0), (0.2, 0.2, 0.0, 0.6)]


def mixed(data: oracle.DataSet) -> MixedData:
    if isinstance(data, MixedData):
        return data
    return MixedData(data.name, data.X, data.y, data.n_classes, data.weights, (0,) * data.X.shape[1], data.points())


def fixed(prior: MondrianPrior, table: Table) -> MondrianPrior:
    return prior.resolved(table.n_features, None, table.counted_values)


@cache
def answers(data: oracle.DataSet) -> Exact:
    training = mixed(data).training_data()
    weights = np.arange(1.0, 1.0 + data.X.shape[1])
    return Exact(training, LEAF, mixed(data).points(), fixed(replace(PRIOR, feature_weights=weights), training.table))


def scaled(prior: MondrianPrior, rate: float) -> MondrianPrior:
    return replace(prior, rate=rate)


class TestRecursion:
    @pytest.mark.parametrize("rate", [0.03, 0.2, 2.0])
    @pytest.mark.parametrize("data", SMALL, ids=str)
    def test_it_sums_over_all_questions(self, data: oracle.DataSet, rate: float) -> None:
        training = mixed(data).training_data()
        prior = scaled(answers(data).prior, rate)
        recursion = ExactRecursion(training, prior, LEAF)
        listed = question_oracle.Recursion(data, prior, 1.5)
        assert recursion.log_evidence == pytest.approx(np.log(listed.evidence), rel=1e-12)
        found = recursion.n_leaves_probabilities()[: listed.n_leaves.size]
        np.testing.assert_allclose(found, listed.n_leaves, atol=1e-12)

    @pytest.mark.parametrize("data", SMALL[:1] + mixed_data.SMALL[:3], ids=str)
    def test_its_sum_is_that_over_all_trees(self, data: oracle.DataSet) -> None:
        prior = answers(data).prior
        listed = question_oracle.list_trees(data.X, prior, data.n_levels)
        assert sum(p for p, _ in listed) == pytest.approx(1.0, rel=1e-12)
        evidence = sum(p * oracle.likelihood(data, tree, 1.5) for p, tree in listed)
        assert question_oracle.Recursion(data, prior, 1.5).evidence == pytest.approx(evidence, rel=1e-12)


def with_room(X: np.ndarray, n_levels: tuple[int, ...]) -> np.ndarray:
    """Return rows in which missing, the number after the last level, and a new level change places."""
    missing = np.array(n_levels or (0,) * X.shape[1], dtype=float)
    missing[missing == 0] = NAN
    return np.where(missing == X, X + 1, np.where(missing + 1 == X, X - 1, X))


NEW_ROWS = [
    (oracle.SIX_ROWS, (1.0, 0.5)),  # as another row
    (oracle.SIX_ROWS, (3.3, -20.0)),  # beyond the numbers
    (oracle.SIX_ROWS, (NAN, 4.0)),  # the first missing value
    (mixed_data.MISSING_NUMBERS, (NAN, NAN)),
    (mixed_data.MISSING_NUMBERS, (3.0, 100.0)),
    (mixed_data.FIRST_MISSING_LATER, (5.0, NAN)),
    (mixed_data.THREE_LEVELS, (3, 1.0)),  # a missing level
    (mixed_data.THREE_LEVELS, (4, NAN)),  # a new level
    (mixed_data.MIXED_ROWS, None),
]


@pytest.mark.parametrize("rate", [0.05, 1.0])
@pytest.mark.parametrize(("data", "row"), NEW_ROWS, ids=lambda value: str(value))
def test_the_evidence_is_the_sum_over_the_labels_of_a_new_row(data: oracle.DataSet, row: object, rate: float) -> None:
    given = mixed(data)
    new = np.array([given.points()[-1] if row is None else row])
    before = replace(given, X=with_room(given.X, given.n_levels), n_levels=tuple(n and n + 1 for n in given.n_levels))
    prior = scaled(fixed(PRIOR, before.training_data().table), rate)
    X = np.vstack([before.X, with_room(new, given.n_levels)])
    after = [replace(before, X=X, y=[*before.y, label]) for label in range(before.n_classes)]
    z = question_oracle.Recursion(before, prior, 1.5).evidence
    assert sum(question_oracle.Recursion(each, prior, 1.5).evidence for each in after) == pytest.approx(z, rel=1e-12)
    log_z = ExactRecursion(before.training_data(), prior, LEAF).log_evidence
    log_z_after = [ExactRecursion(each.training_data(), prior, LEAF).log_evidence for each in after]
    assert sum(np.exp(np.array(log_z_after) - log_z)) == pytest.approx(1.0, rel=1e-12)


def test_a_measure_of_the_rows_at_hand_would_show() -> None:
    data = mixed(oracle.SIX_ROWS)
    after = [replace(data, X=np.vstack([data.X, [3.3, -20.0]]), y=[*data.y, label]) for label in range(2)]

    def evidence(rows: MixedData) -> float:
        training = rows.training_data()
        return float(np.exp(ExactRecursion(training, fixed(PRIOR, training.table), LEAF).log_evidence))

    assert abs(sum(map(evidence, after)) / evidence(data) - 1) > 1e-3


@pytest.mark.parametrize("data", TWELVE, ids=str)
@pytest.mark.parametrize("n_candidates", [1, 3])
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_filters(proposal: str, n_candidates: int, data: oracle.DataSet) -> None:
    if proposal != "lookahead" and n_candidates > 1:
        pytest.skip("the proposal has no candidates")
    exact = answers(data)
    sampler = SMC.paper(n_islands=1000, n_particles=10, ess_threshold=0.5, proposal=proposal, n_candidates=n_candidates)
    check_islands(sampler.run(exact.data, exact.prior, LEAF, seed=np.random.SeedSequence(3)), exact, proposal)


@pytest.mark.parametrize("data", [mixed_data.MANY_LEVELS, mixed_data.ELEVEN_LEVELS], ids=str)
@pytest.mark.parametrize("proposal", ["prior", "optimal", "lookahead"])
def test_filters_with_many_levels(proposal: str, data: MixedData) -> None:
    exact = answers(data)
    sampler = SMC.paper(n_islands=600, n_particles=10, ess_threshold=0.5, proposal=proposal)
    check_islands(sampler.run(exact.data, exact.prior, LEAF, seed=np.random.SeedSequence(5)), exact, proposal)


@pytest.mark.parametrize("data", TWELVE, ids=str)
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_a_flat_likelihood_returns_the_prior(proposal: str, data: oracle.DataSet) -> None:
    training, prior = answers(data).data, answers(data).prior
    exact = Exact(training, Flat(), mixed(data).points(), prior)
    assert exact.log_evidence == pytest.approx(0.0, abs=1e-12)
    sampler = SMC.paper(n_islands=400, n_particles=10, proposal=proposal)
    posterior = sampler.run(training, prior, Flat(), seed=np.random.SeedSequence(6))
    if proposal == "empirical":  # its gaps are not drawn from the prior
        ratios = check_evidence(posterior, exact, proposal)
    else:
        ratios = np.ones(posterior.n_islands)
        np.testing.assert_allclose(posterior.log_evidences, 0.0, atol=1e-12)
    check_sizes(posterior, exact, ratios, proposal, sizes=("leaves", "depth"))


@pytest.mark.parametrize("data", TWELVE, ids=str)
@pytest.mark.parametrize("moves", MOVES, ids=str)
def test_chains(moves: tuple[float, ...], data: oracle.DataSet) -> None:
    exact = answers(data)

    def check(n_iterations: int, seed: int) -> None:
        sampler = MCMC(n_iterations=n_iterations, n_chains=40, burn_in=500, thin=20, move_weights=moves)
        check_chains(sampler.run(exact.data, exact.prior, LEAF, seed=np.random.SeedSequence(seed)), exact, str(moves))

    check_with_patience(check, 20_000)


@pytest.mark.parametrize("data", TWELVE, ids=str)
@pytest.mark.parametrize("proposal", ["prior", "optimal", "lookahead"])
def test_particle_gibbs(proposal: str, data: oracle.DataSet) -> None:
    exact = answers(data)
    sampler = ParticleGibbs(
        n_iterations=3000, n_chains=40, burn_in=100, thin=2, proposal=proposal, n_particles=3, regrow_share=0.8
    )
    check_chains(sampler.run(exact.data, exact.prior, LEAF, seed=np.random.SeedSequence(6)), exact, proposal)


@pytest.mark.parametrize("data", [sum_oracle.SEVEN, sum_oracle.MIXED], ids=str)
@pytest.mark.parametrize(
    "moves",
    ["grow, prune and change", "regrow, empirical, 4 particles", "regrow, optimal, 2 particles", "mixed, lookahead"],
)
def test_sums(moves: str, data: sum_oracle.SumData) -> None:
    prior = fixed(MondrianPrior(0.4), mixed_data.ranked(data.X, data.n_levels, np.arange(len(data.X))))
    sums.check(data, SumModel(prior, 1, leaf_sd=0.4, noise_sd=0.25), sums.MOVES[moves])


@cache
def small_problem(data: oracle.DataSet) -> tuple[Problem, float]:
    exact = answers(data)
    problem = Problem(data.X, np.eye(data.n_classes)[data.y], exact.prior, LEAF, data.n_levels)
    return problem, exact.log_evidence


@pytest.mark.slow
@pytest.mark.parametrize("data", [oracle.SIX_ROWS, mixed_data.MISSING_NUMBERS, mixed_data.MIXED_ROWS], ids=str)
@pytest.mark.parametrize("proposal", ["prior", "empirical", "optimal", "lookahead"])
def test_the_reference_filter(proposal: str, data: oracle.DataSet) -> None:
    problem, log_evidence = small_problem(data)
    ratios = [
        np.exp(
            particle_filter(
                problem, n_particles=4, n_candidates=3, proposal=proposal, rng=np.random.default_rng([8, seed])
            ).log_evidence
            - log_evidence
        )
        for seed in range(100)
    ]
    oracle.assert_mean(ratios, 1.0, f"evidence, {proposal}")


@pytest.mark.slow
def test_the_reference_chain() -> None:
    data = mixed_data.MISSING_NUMBERS
    expected = question_oracle.Recursion(data, answers(data).prior, 1.5).n_leaves
    shares = []
    for seed in range(10):
        chain = particle_gibbs(small_problem(data)[0], n_particles=4, rng=np.random.default_rng([9, seed]))
        sizes = [len(next(chain).leaves()) for _ in range(70)][10:]
        shares.append(np.bincount(sizes, minlength=expected.size) / len(sizes))
    for n in np.flatnonzero(expected > 0.05):
        oracle.assert_mean(np.array(shares)[:, n], expected[n], f"{n} leaves")
