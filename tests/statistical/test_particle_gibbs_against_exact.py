"""Particle Gibbs against the exact recursion: predictive, numbers of leaves and depths, for every proposal.

Two particles are enough for a chain that leaves the posterior invariant, and show an error best: with many, nearly any
filter comes close. A threshold of 0 never resamples, one of 1 does at every stage. ``against_exact.py`` compares; the
spread of the averages of independent chains gives the standard error.

Averages over a chain say nothing until it has mixed. On sharp data that takes too long, so there the chains start at
exact draws: invariance then shows in any number of iterations (`check_invariance`).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import mixed_data
import oracle
from number_oracle import GAUSSIAN, LARGER, POISSON, TWELVE_COUNTS, TWELVE_REALS, case_name
from particletree import Categorical, Flat, ParticleGibbs, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.parallel import Task
from particletree._model.rule import NODE, goes_left
from statistical.against_exact import PRIOR, Exact, check_chains, check_sizes, check_with_patience
from statistical.test_geweke import preorder

LEAF = Categorical(concentration=1.5)
LIMITED = TreePrior(alpha=0.9, beta=0.5, max_depth=3, min_samples_split=3)
PROPOSALS = _kernel.PROPOSALS
CLASSES = {str(data): data for data in oracle.TWELVE}
MIXED = {str(data): data for data in [*mixed_data.TWELVE, mixed_data.ELEVEN_LEVELS, mixed_data.MANY_LEVELS]}
FEW_ROWS = {str(data): data for data in [*mixed_data.SMALL, mixed_data.NOTHING_PRESENT]}
NUMBERS = {case_name(case): case for case in LARGER}
MIXED_NUMBERS = {
    case_name(case): case
    for case in [
        (GAUSSIAN, mixed_data.TWELVE_MISSING.with_numbers("reals", TWELVE_REALS)),
        (POISSON, mixed_data.TWELVE_MIXED.with_numbers("counts", TWELVE_COUNTS)),
    ]
}
CHIPMAN = {"grow and prune": (0.5, 0.5, 0.0, 0.0), "all moves": (0.25, 0.25, 0.25, 0.25)}


@dataclass(kw_only=True)
class ByLayer(ParticleGibbs):
    """Considers a whole layer in each stage of the conditional filter."""

    def kernel_settings(self):
        return super().kernel_settings() | {"expansion": "layer"}


@cache
def exact_answers(name, is_limited=False):
    prior = LIMITED if is_limited else PRIOR
    if name in CLASSES:
        data = CLASSES[name]
        training = make_training_data(data.X, data.y, data.n_classes, data.weights)
        return Exact(training, LEAF, data.points(), prior)
    leaf, data = (NUMBERS | MIXED_NUMBERS).get(name, (LEAF, (MIXED | FEW_ROWS).get(name)))
    return Exact(data.training_data(), leaf, data.points(), prior)


def check(exact, n_iterations, kind=ParticleGibbs, compare=check_chains, **settings):
    settings = {"n_chains": 40, "burn_in": 100, "thin": 2, "initial": "root", "n_candidates": 1} | settings

    def check_once(n, seed):
        sampler = kind(n_iterations=n, **settings)
        posterior = sampler.run(exact.data, exact.prior, exact.leaf, seed=np.random.SeedSequence(seed), n_jobs=2)
        compare(posterior, exact, repr(sampler))

    check_with_patience(check_once, n_iterations)


def compare_sizes(posterior, exact, what):
    check_sizes(posterior, exact, np.ones(posterior.n_islands), what, sizes=("leaves", "depth"))


@pytest.mark.parametrize("ess_threshold", [0.0, 1.0])
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_regrowing_alone_agrees_with_the_exact_posterior(proposal, ess_threshold):
    settings = {"proposal": proposal, "ess_threshold": ess_threshold, "n_particles": 2 if ess_threshold == 0 else 3}
    check(exact_answers(str(oracle.THREE_CLASSES)), n_iterations=1500, regrow_share=1.0, **settings)


@pytest.mark.parametrize("n_particles", [4, 8])
def test_copies_of_one_tree_agree_with_the_exact_posterior(n_particles):
    """Half of the particles stop at the root: the tree is drawn among particles, of which a lineage has several."""
    data = make_training_data(oracle.TWO_CLASSES.X, oracle.TWO_CLASSES.y, 2)
    exact = Exact(data, LEAF, oracle.TWO_CLASSES.points(), TreePrior(alpha=0.5, beta=1.0))
    settings = {"n_particles": n_particles, "proposal": "prior", "ess_threshold": 0.0}
    check(exact, n_iterations=4000, regrow_share=1.0, **settings)


@pytest.mark.parametrize("moves", CHIPMAN)
def test_a_mixture_with_other_moves_agrees_with_the_exact_posterior(moves):
    exact = exact_answers(str(oracle.TWO_CLASSES))
    check(exact, n_iterations=4000, regrow_share=0.3, move_weights=CHIPMAN[moves], ess_threshold=1.0)


@pytest.mark.parametrize(
    ("name", "proposal"), [(name, p) for i, name in enumerate(MIXED) for p in PROPOSALS[i % 2 :: 2]]
)
def test_missing_values_and_levels_agree_with_the_exact_posterior(name, proposal):
    settings = {"proposal": proposal, "n_particles": 3, "ess_threshold": 1.0}
    check(exact_answers(name), n_iterations=300, regrow_share=0.7, **settings)


def test_the_retained_set_of_many_levels_is_among_those_drawn():
    """Two of the 2046 sets have most of the posterior; without the retained one the weights are too small."""
    levels = [0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 14]
    weights = [1.0 + 0.1 * i for i in range(11)]
    rows = [(level, int(level in (1, 2, 5, 9, 11))) for level in levels]
    data = mixed_data.mixed("eleven levels", (14,), rows, [(6,)], weights)
    exact = Exact(data.training_data(), Categorical(1.0), data.points(), TreePrior(alpha=0.5, beta=0.5, max_depth=1))
    check(exact, n_iterations=1000, regrow_share=1.0, n_particles=2, proposal="optimal")


@pytest.mark.parametrize(("proposal", "name"), zip(PROPOSALS, FEW_ROWS, strict=False))
def test_few_rows_agree_with_the_exact_posterior(name, proposal):
    check(exact_answers(name), n_iterations=1000, regrow_share=1.0, n_particles=2, proposal=proposal)


@pytest.mark.parametrize("name", [*NUMBERS, *MIXED_NUMBERS])
def test_numbers_agree_with_the_exact_posterior(name):
    check(exact_answers(name), n_iterations=600, regrow_share=0.8, n_particles=3, ess_threshold=1.0)


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_a_flat_likelihood_returns_the_prior(proposal):
    data = make_training_data(oracle.THREE_CLASSES.X, np.arange(12) % 3, 3)
    exact = Exact(data, Flat(), oracle.THREE_CLASSES.X[:1])
    check(exact, n_iterations=1500, compare=compare_sizes, regrow_share=1.0, n_particles=3, proposal=proposal)


class SharpLevels:
    """A row of some weight per level, whose label the level determines, and the exact posterior of trees of depth 2.

    A split of the two classes has nearly all of the likelihood at the root, but as much of it is reached by two splits
    whose first one looks poor alone. So a chain hardly ever moves between trees that divide the root in different ways.
    """

    def __init__(self, n_levels, weight):
        self.y = np.isin(np.arange(n_levels), (1, 2, 5, 9, 11))
        self.X = np.arange(n_levels, dtype=float)[:, None]
        rows = list(zip(range(n_levels), self.y, strict=True))
        data = mixed_data.mixed("sharp levels", (n_levels,), rows, [(0,)], [weight] * n_levels).training_data()
        prior, leaf = TreePrior(alpha=0.9, beta=0.7, max_depth=2), Categorical(1.0)
        self.task, self.exact = Task.prepare(data, prior, leaf), ExactRecursion(data, prior, leaf)

    def draw(self, n, seed):
        """Draw trees from the exact posterior, in preorder."""
        forest, _, _ = self.exact.draw(n, np.random.default_rng(seed))
        return [preorder(forest.nodes, root) for root in forest.roots]

    def move(self, tree, iterations, settings, seed):
        """Return the trees of a chain after some numbers of iterations."""
        chain = _kernel.run_chain(
            self.task.problem,
            n_iterations=max(iterations),
            burn_in=0,
            thin=1,
            initial_nodes=tree.view(np.uint8).reshape(tree.size, NODE.itemsize),
            generator=np.random.PCG64(seed),
            monitor=_kernel.Monitor(1),
            chain=0,
            **settings,
        )
        nodes, roots = chain["nodes"].view(NODE)[:, 0], chain["roots"]
        return [preorder(nodes, roots[chain["trace_tree"][i - 1]]) for i in iterations]

    def describe(self, tree):
        """Return what is followed: the number of leaves, the levels left of the root, its sides with both classes."""
        if tree.size == 1:
            return np.zeros(len(FOLLOWED))
        is_left = goes_left(self.X[:, 0], np.broadcast_to(tree[0], self.y.shape))
        n_mixed = sum(0 < self.y[side].sum() < side.sum() for side in (is_left, ~is_left))
        n_leaves = (tree["feature"] < 0).sum()
        return np.array([n_leaves == 2, n_leaves == 3, n_mixed == 0, n_mixed == 1, is_left.sum(), is_left[0]], float)


FOLLOWED = ("2 leaves", "3 leaves", "no mixed side", "one mixed side", "levels on the left", "the first one left")
make_sharp_levels = cache(SharpLevels)


def check_invariance(n_levels, weight, n_chains, **settings):
    """Exact draws have the exact posterior after any number of iterations: on average nothing changes.

    As in `check`, ten times as many chains decide after an alarm.
    """
    sharp, sampler, iterations = make_sharp_levels(n_levels, weight), ParticleGibbs(**settings), (1, 5, 50)

    def check_once(n, seed):
        changes = np.empty((n, len(iterations), len(FOLLOWED)))
        for i, start in enumerate(sharp.draw(n, seed)):
            trees = sharp.move(start, iterations, sampler.kernel_settings(), seed=[seed, i])
            changes[i] = [sharp.describe(tree) - sharp.describe(start) for tree in trees]
        assert (changes[:, -1] != 0).any(axis=1).sum() > 30, "too few trees have changed for a test"
        for j, k in np.ndindex(len(iterations), len(FOLLOWED)):
            what = f"{FOLLOWED[k]}, {iterations[j]} iterations, weight {weight}, {sampler}"
            oracle.assert_mean(changes[:, j, k], 0.0, what)

    try:
        check_once(n_chains, seed=1)
    except AssertionError as alarm:
        print(f"checked again with {10 * n_chains} chains: {alarm}")
        check_once(10 * n_chains, seed=2)


@pytest.mark.parametrize("n_levels", [10, 12], ids=["listed", "drawn"])
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_exact_draws_stay_exact_on_sharp_levels(proposal, n_levels):
    """A weight of 2 is sharp, but trees still pass between different first splits."""
    for weight, n_particles, regrow_share in ((4.0, 2, 1.0), (2.0, 8, 1.0), (4.0, 8, 0.2)):
        settings = {"proposal": proposal, "n_particles": n_particles, "regrow_share": regrow_share}
        check_invariance(n_levels, weight, n_chains=400, n_candidates=3, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("n_levels", [10, 12], ids=["listed", "drawn"])
@pytest.mark.parametrize("regrow_share", [1.0, 0.2])
@pytest.mark.parametrize("n_particles", [2, 8, 100])
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_many_exact_draws_stay_exact_on_sharp_levels(proposal, n_particles, regrow_share, n_levels):
    for weight in (1.0, 2.0, 4.0):
        settings = {"proposal": proposal, "n_particles": n_particles, "regrow_share": regrow_share}
        check_invariance(n_levels, weight, n_chains=2000, n_candidates=3, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ParticleGibbs, ByLayer])
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_long_chains_agree_with_the_exact_posterior(proposal, kind):
    for name, n_particles, ess_threshold in zip(CLASSES, (2, 3, 4, 8), (0.0, 1.0, 1.0, 0.6), strict=True):
        settings = {"proposal": proposal, "n_particles": n_particles, "ess_threshold": ess_threshold}
        check(exact_answers(name), kind=kind, n_iterations=4000, regrow_share=1.0, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("name", MIXED)
def test_long_chains_agree_on_missing_values_and_levels(name, proposal):
    settings = {"proposal": proposal, "n_particles": 2, "ess_threshold": 1.0}
    check(exact_answers(name), n_iterations=1000, regrow_share=1.0, **settings)


@pytest.mark.slow
def test_candidates_of_particles_apart_are_drawn_by_one_law():
    # Lookahead with one rule per particle: copies at blocks that the retained particle does not hold must draw as those
    # beside it do. Systematic positions there, independent ones here, are wrong by 0.25 % (see proposals/lookahead.h).
    settings = {"proposal": "lookahead", "n_particles": 4, "n_candidates": 1, "ess_threshold": 1.0}
    check(exact_answers(str(oracle.THREE_CLASSES)), n_iterations=30_000, regrow_share=1.0, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ParticleGibbs, ByLayer])
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_trees_within_limits_agree_with_the_exact_posterior(proposal, kind):
    exact = exact_answers(str(mixed_data.TWELVE_MIXED), is_limited=True)
    check(exact, kind=kind, n_iterations=1500, regrow_share=1.0, n_particles=4, proposal=proposal, ess_threshold=1.0)
