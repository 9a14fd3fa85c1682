"""Every sampler against the exact recursion where values are missing or are levels; ``against_exact.py`` compares.

One data set has more levels than the optimal proposal lists (then it draws sets), one has more than a word has bits
(sets are scattered), and two priors have limits on depth and rows.
"""

import itertools
from functools import cache

import numpy as np
import pytest

import mixed_data
from number_oracle import EXPONENTIAL, GAUSSIAN, POISSON, TWELVE_COUNTS, TWELVE_REALS, TWELVE_TIMES, case_name
from particletree import MCMC, SMC, Categorical, TreePrior, _kernel
from statistical.against_exact import PRIOR, Exact, check_chains, check_evidence, check_islands

LEAF = Categorical(concentration=1.5)
LIMITED = TreePrior(alpha=0.9, beta=0.5, max_depth=3, min_samples_split=3)
DATA = {str(data): data for data in [*mixed_data.TWELVE, mixed_data.MANY_LEVELS, mixed_data.ELEVEN_LEVELS]}
FEW_ROWS = {str(data): data for data in [*mixed_data.SMALL, mixed_data.NOTHING_PRESENT]}
PRIORS = {"unlimited": PRIOR, "limited": LIMITED}
NUMBERS = {
    case_name(case): case
    for case in [
        (GAUSSIAN, mixed_data.TWELVE_MISSING.with_numbers("reals", TWELVE_REALS)),
        (POISSON, mixed_data.TWELVE_MIXED.with_numbers("counts", TWELVE_COUNTS)),
        (EXPONENTIAL, mixed_data.TWELVE_MIXED.with_numbers("times", TWELVE_TIMES)),
    ]
}
LOOKAHEADS = [("lookahead", n) for n in (1, 2, 5)]
PROPOSALS = [(proposal, 10) for proposal in _kernel.PROPOSALS if proposal != "lookahead"] + LOOKAHEADS
WAYS = list(itertools.product(PROPOSALS, ("node", "layer")))
# How each of the ways chooses the next leaf and resamples, in turn.
SCHEMES = [("oldest", "systematic", 0.5), ("likelihood", "residual", 1.0), ("oldest", "multinomial", 0.3)]
MOVES = {
    "all moves": (0.25, 0.25, 0.25, 0.25),
    "grow and prune": (0.5, 0.5, 0.0, 0.0),
    "with change": (0.2, 0.2, 0.6, 0.0),
    "with swap": (0.2, 0.2, 0.0, 0.6),
}


@cache
def exact_answers(name, prior="unlimited"):
    leaf, data = NUMBERS[name] if name in NUMBERS else (LEAF, (DATA | FEW_ROWS)[name])
    return Exact(data.training_data(), leaf, data.points(), PRIORS[prior])


def filtered(exact, n_islands, seed, way, scheme, **settings):
    (proposal, n_candidates), expansion = way
    priority, resampling, threshold = scheme
    smc = SMC.paper(
        n_islands=n_islands,
        proposal=proposal,
        n_candidates=n_candidates,
        expansion=expansion,
        priority=priority,
        resampling=resampling,
        ess_threshold=threshold,
        **settings,
    )
    return smc.run(exact.data, exact.prior, exact.leaf, seed=np.random.SeedSequence(seed))


def chained(exact, moves, n_chains, n_iterations, seed):
    sampler = MCMC(n_iterations=n_iterations, n_chains=n_chains, burn_in=1000, thin=20, move_weights=MOVES[moves])
    return sampler.run(exact.data, exact.prior, exact.leaf, seed=np.random.SeedSequence(seed), n_jobs=2)


def scheme_of(way):
    return SCHEMES[WAYS.index(way) % len(SCHEMES)]


def check_filter(exact, way, scheme, n_islands, n_particles):
    """Of thousands of statistics some pass 4 by chance: then ten times as many islands decide."""
    what = f"{way}, {scheme}, {exact.prior}"
    try:
        check_islands(filtered(exact, n_islands, 5, way, scheme, n_particles=n_particles), exact, what)
    except AssertionError as alarm:
        print(f"checked again with {10 * n_islands} islands: {alarm}")
        check_islands(filtered(exact, 10 * n_islands, 6, way, scheme, n_particles=n_particles), exact, what)


def in_turn(names):
    """Return pairs of a name and a way: each name with a third of the ways, each way with some names."""
    return [(name, way) for i, name in enumerate(names) for way in WAYS[i % 3 :: 3]]


@pytest.mark.parametrize(("name", "way"), in_turn(DATA), ids=str)
def test_islands_agree_with_the_exact_posterior(name, way):
    check_filter(exact_answers(name), way, scheme_of(way), n_islands=600, n_particles=15)


@pytest.mark.parametrize(("name", "way"), in_turn(FEW_ROWS), ids=str)
def test_islands_agree_on_few_rows(name, way):
    check_filter(exact_answers(name), way, scheme_of(way), n_islands=300, n_particles=10)


@pytest.mark.parametrize("name", FEW_ROWS)
def test_chains_agree_on_few_rows(name):
    exact = exact_answers(name)
    check_chains(chained(exact, "all moves", n_chains=40, n_iterations=4000, seed=4), exact, "all moves")


@pytest.mark.parametrize(("name", "way"), in_turn([str(mixed_data.TWELVE_MIXED)]), ids=str)
def test_islands_agree_within_limits(name, way):
    check_filter(exact_answers(name, "limited"), way, scheme_of(way), n_islands=600, n_particles=15)


@pytest.mark.parametrize(("name", "way"), in_turn(NUMBERS), ids=str)
def test_evidence_of_numbers_is_unbiased(name, way):
    exact = exact_answers(name)
    check_evidence(filtered(exact, 300, 11, way, scheme_of(way), n_particles=10), exact, f"{way}")


CHAINS = [(name, "all moves") for name in DATA] + [(str(mixed_data.TWELVE_MIXED), moves) for moves in MOVES]


@pytest.mark.parametrize(("name", "moves"), CHAINS, ids=str)
def test_chains_agree_with_the_exact_posterior(name, moves):
    exact = exact_answers(name)
    check_chains(chained(exact, moves, n_chains=40, n_iterations=20_000, seed=1), exact, moves)


@pytest.mark.parametrize("name", NUMBERS)
def test_chains_agree_on_numbers(name):
    check_chains(chained(exact_answers(name), "all moves", 40, 10_000, seed=1), exact_answers(name), "all moves")


def test_chains_agree_within_limits():
    exact = exact_answers(str(mixed_data.TWELVE_MIXED), "limited")
    posterior = chained(exact, "all moves", n_chains=40, n_iterations=20_000, seed=2)
    check_chains(posterior, exact, "all moves")
    assert posterior.depths.max() == 3


def test_another_answer_is_found_out():
    # The test of the test: a filter on data in which one missing value is another's neighbour must show.
    data, exact = mixed_data.TWELVE_MISSING, exact_answers(str(mixed_data.TWELVE_MISSING))
    other = data.X.copy()
    other[2, 0] = 1.0
    wrong = Exact(mixed_data.MixedData("other", other, data.y, 2).training_data(), LEAF, data.points())
    posterior = filtered(wrong, 500, 5, WAYS[0], SCHEMES[0], n_particles=15)
    with pytest.raises(AssertionError, match="evidence"):
        check_evidence(posterior, exact, "another value")


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name", DATA)
def test_many_islands_agree_with_the_exact_posterior(name, way, prior):
    for scheme in SCHEMES:
        check_filter(exact_answers(name, prior), way, scheme, n_islands=700, n_particles=8)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name", NUMBERS)
def test_many_islands_agree_on_numbers(name, way):
    check_filter(exact_answers(name), way, scheme_of(way), n_islands=700, n_particles=8)


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", DATA)
def test_long_chains_agree_with_the_exact_posterior(name, moves):
    exact = exact_answers(name)
    check_chains(chained(exact, moves, n_chains=60, n_iterations=30_000, seed=3), exact, moves)
