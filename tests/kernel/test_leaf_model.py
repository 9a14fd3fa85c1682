"""log-gamma against SciPy, and the kernel's marginal against the formula in leaf.py."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from particletree import MCMC, SMC, Categorical, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._model.leaves import LEAF_MODELS

HEADERS = Path(__file__).parents[2] / "kernel" / "leaves"


def test_each_leaf_model_of_the_kernel_has_a_python_side():
    """What else a kernel has was built into it from outside the repository."""
    ours = [leaf.kernel_name for leaf in LEAF_MODELS]
    added = set(_kernel.LEAF_MODELS) - set(ours)
    assert sorted(set(_kernel.LEAF_MODELS) - added) == sorted(ours)
    assert not [name for name in added if (HEADERS / f"{name}.h").exists()]


def test_log_gamma_agrees_with_scipy_from_tiny_to_huge():
    x = np.concatenate([np.logspace(-300, 300, 2001), np.linspace(1e-3, 30, 3001), [1.0, 2.0, 0.5, 9.999999, 10.0]])
    ours = np.array([_kernel.log_gamma(v) for v in x])
    expected = gammaln(x)
    # Near its zeros at 1 and 2 log-gamma cancels: there the error is measured against 1.
    assert (np.abs(ours - expected) <= 3e-14 * np.maximum(1.0, np.abs(expected))).all()


@pytest.mark.parametrize("start", [1e-3, 0.5, 5.0, 123.4])
def test_rising_factorials_in_logs(start):
    np.testing.assert_allclose(
        _kernel.log_rising(start, 1000), gammaln(start + np.arange(1001)) - gammaln(start), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("n_classes", [1, 2, 3, 40])
@pytest.mark.parametrize("concentration", [0.01, 1.0, 5.0, 1000.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_marginals_of_trees_agree_with_the_formula(n_classes, concentration, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    weights = rng.uniform(0.1, 3, 60) if weighted else None
    data = make_training_data(X, rng.integers(0, n_classes, 60), n_classes, weights)
    leaf = Categorical(concentration)
    posterior = SMC.paper(n_particles=20, n_islands=1).run(
        data, TreePrior.paper(), leaf, seed=np.random.SeedSequence(1)
    )
    log_marginal = leaf.log_marginal(posterior.forest.statistics)
    for t, tree in enumerate(posterior.trees):
        blocks = tree.nodes["block"][tree.feature < 0]
        assert posterior.log_likelihoods[t] == pytest.approx(log_marginal[blocks].sum(), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(
    "sampler", [SMC.paper(n_particles=50, n_islands=1), MCMC(n_iterations=100, n_chains=1)], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_width_of_ranks_changes_nothing(weighted, sampler):
    rng = np.random.default_rng(0)
    X, labels = rng.integers(0, 9, (60, 3)).astype(float), rng.integers(0, 3, 60)
    data = make_training_data(X, labels, 3, rng.uniform(0.1, 3, 60) if weighted else None)
    assert data.table.ranks.dtype == np.uint8
    likelihoods = []
    for width in (np.uint8, np.uint16, np.uint32):
        other = replace(data, table=replace(data.table, ranks=data.table.ranks.astype(width)))
        posterior = sampler.run(other, TreePrior.paper(), Categorical(2.0), seed=np.random.SeedSequence(1))
        likelihoods.append(posterior.log_likelihoods)
    np.testing.assert_array_equal(likelihoods[1], likelihoods[0])
    np.testing.assert_array_equal(likelihoods[2], likelihoods[0])


@pytest.mark.parametrize("concentration", [1.0, 1e-12, 1e-30])
def test_the_optimal_proposal_sums_over_all_cuts_of_fractional_weights(concentration):
    """With a prior that splits the root alone, one particle's weight is the evidence itself.

    A residue of weight on the side that has become empty once cost up to 42 nats.
    """
    weights = np.random.default_rng(0).random(200)
    weights *= 1e5 / weights.sum()
    labels = (np.arange(200) >= 100).astype(int)
    leaf, prior = Categorical(concentration), TreePrior(alpha=0.95, beta=1000.0)
    data = make_training_data(np.arange(200.0)[:, None], labels, 2, weights)
    sampler = SMC.paper(proposal="optimal", n_particles=1, n_islands=1)
    estimate = sampler.run(data, prior, leaf, seed=np.random.SeedSequence(0)).log_evidence
    assert estimate == pytest.approx(log_evidence_of_at_most_one_cut(weights, labels, prior, leaf), abs=1e-6)


def log_evidence_of_at_most_one_cut(weights, labels, prior, leaf):
    """Return the log evidence of rows in the order of an evenly spaced feature, where only the root may split."""
    by_class = weights[:, None] * np.eye(2)[labels]
    lefts = np.array([by_class[:n].sum(axis=0) for n in range(1, len(labels))])
    rights = np.array([by_class[n:].sum(axis=0) for n in range(1, len(labels))])
    log_cuts = np.log(prior.alpha / len(lefts)) + leaf.log_marginal(lefts) + leaf.log_marginal(rights)
    return logsumexp([*log_cuts, np.log1p(-prior.alpha) + leaf.log_marginal(by_class.sum(axis=0))])


def test_at_most_one_cut_is_what_the_recursion_says_of_such_a_prior():
    """The test of the test above, on rows few enough for the recursion."""
    weights, labels = np.random.default_rng(0).random(12) * 1e3, (np.arange(12) >= 5).astype(int)
    leaf, prior = Categorical(1e-12), TreePrior(alpha=0.95, beta=1000.0)
    data = make_training_data(np.arange(12.0)[:, None], labels, 2, weights)
    exact = ExactRecursion(data, prior, leaf).log_evidence
    assert log_evidence_of_at_most_one_cut(weights, labels, prior, leaf) == pytest.approx(exact, abs=1e-9)
