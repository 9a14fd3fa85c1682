r"""Credible intervals: exact quantiles of what the posterior says about a class probability.

Under one tree, a row falls into one leaf, and the probability :math:`p_k` of class k there has the Dirichlet posterior
of that leaf, so that :math:`p_k \sim \mathrm{Beta}(m_k + a/K,\; n - m_k + a - a/K)`, with :math:`m_k` of the leaf's n
rows in class k and a the concentration. Under the posterior over trees it has the mixture of these laws by the trees'
weights, and the interval cuts the same probability off either end:

.. math::
    F(p) = \sum_j w_j \, I_p(\alpha_j, \beta_j), \qquad [F^{-1}(q), \; F^{-1}(1 - q)], \qquad q = (1 - level) / 2.

No sampling is involved: the two ends are roots, found by Newton steps that a bracket keeps safe. What makes this cheap
is that trees share leaves. Of 500 trees perhaps 5 to 50 put a row into different blocks, many rows fall into the same
blocks (they are of one *kind*), blocks often agree in :math:`(m_k, n)`, and with many classes most of them are equally
absent; equals are merged before any root is sought.

Steps are taken in (log p, log F), where the lower tail of a Beta law, :math:`F(p) \propto p^{\alpha}`, is a straight
line, so that tails need few steps and very small quantiles keep their relative accuracy. The upper end needs no code of
its own: it is one minus the lower end of the mirrored law :math:`\mathrm{Beta}(\beta_j, \alpha_j)`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln

from particletree.model.leaves import Categorical

LOG_SMALLEST, LOG_LARGEST = -745.0, -1e-17  # the range of log p: exp of the first is zero, of the second one
TOLERANCE = 1e-11
COMPONENTS = 2**20  # leaves x classes that are handled at a time: bounds memory
MAX_STEPS = 200  # the bracket alone needs at most 50 halvings
SMALLEST_PARAMETER = 1e-300  # keeps a and b positive where a tiny concentration is rounded away


class LeafMixtures(NamedTuple):
    """For each of n kinds of rows, the leaves that a row may fall into and the posterior probability of each.

    Attributes
    ----------
    weights : ndarray of float64, shape (n, m)
        Probabilities that sum to 1 along each row; rows with fewer than m leaves are padded with 0.
    blocks : ndarray of int, shape (n, m)
        Rows of `counts`; anything valid where the weight is 0.
    counts : ndarray of float64, shape (n_blocks, n_classes)
        Class counts of the blocks.
    kind : ndarray of int, or None
        Which of the n each row of the data is; None if every row is of a kind of its own, in order.
    """

    weights: NDArray[np.float64]
    blocks: NDArray[np.integer[Any]]
    counts: NDArray[np.float64]
    kind: NDArray[np.integer[Any]] | None = None


class BetaMixtures(NamedTuple):
    """The Beta laws of many mixtures in flat arrays: component j belongs to mixture `owner[j]`."""

    owner: NDArray[np.int64]
    weight: NDArray[np.float64]
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    log_beta: NDArray[np.float64]
    n_mixtures: int

    def mirrored(self) -> BetaMixtures:
        """Return the mixtures of 1 - p."""
        return self._replace(a=self.b, b=self.a)

    def select(self, mixtures: NDArray[np.bool_]) -> BetaMixtures:
        """Return the mixtures where the mask is true, numbered anew."""
        kept = mixtures[self.owner]
        new_number = np.cumsum(mixtures) - 1
        weight, a, b, log_beta = (column[kept] for column in (self.weight, self.a, self.b, self.log_beta))
        return BetaMixtures(new_number[self.owner[kept]], weight, a, b, log_beta, int(mixtures.sum()))

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted sum of `values`, one per component, for each mixture."""
        return _sums(self.owner, self.weight * values, self.n_mixtures)

    def log_cdf(self, log_p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log F(p) and its derivative by log p, at one point for each mixture."""
        u = log_p[self.owner]
        p = np.exp(u)
        log_density = self.a * u + (self.b - 1) * np.log(-np.expm1(u)) - self.log_beta
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            cdf = self.total(np.asarray(betainc(self.a, self.b, p), dtype=np.float64))
            return np.log(cdf), self.total(np.exp(log_density)) / cdf


def mixture_mean(mixtures: LeafMixtures, leaf: Categorical) -> NDArray[np.float64]:
    """Return the mean class probabilities of each row, shape (n, n_classes)."""
    probabilities = leaf.mean(mixtures.counts)[mixtures.blocks]
    return np.asarray((mixtures.weights[:, None, :] @ probabilities)[:, 0, :], dtype=np.float64)


def mixture_interval(mixtures: LeafMixtures, leaf: Categorical, level: float) -> NDArray[np.float64]:
    """Return the equal-tailed interval of each row's class probabilities, shape (n_rows, n_classes, 2)."""
    (n_kinds, width), n_classes = mixtures.blocks.shape, mixtures.counts.shape[1]
    # With one class nothing is asked; with two the second probability is one minus the first: half of the work.
    n_asked = n_classes if n_classes > 2 else n_classes - 1
    step = max(1, COMPONENTS // max(1, width * n_asked))
    ends = np.ones((n_kinds, n_classes, 2))
    for start in range(0, n_kinds, step) if n_asked else ():
        kinds = slice(start, start + step)
        piece = mixtures._replace(weights=mixtures.weights[kinds], blocks=mixtures.blocks[kinds])
        laws, law_of = _beta_mixtures(piece, leaf, n_asked)
        ends[kinds, :n_asked] = _law_intervals(laws, (1.0 - level) / 2.0)[law_of]
    if n_classes == 2:
        ends[:, 1] = 1.0 - ends[:, 0, ::-1]
    return ends if mixtures.kind is None else ends[mixtures.kind]


def _law_intervals(laws: BetaMixtures, q: float) -> NDArray[np.float64]:
    """Return the points that cut the probability q off either end of each mixture, shape (n_mixtures, 2)."""
    low = lower_quantile(laws, q)
    return np.stack((low, np.maximum(low, 1.0 - lower_quantile(laws.mirrored(), q))), axis=-1)


def lower_quantile(laws: BetaMixtures, q: float) -> NDArray[np.float64]:
    """Return the point below which each mixture has probability q.

    Newton's method on log F as a function of log p, kept inside a bracket: a step that leaves the bracket, or that is
    not at most half the step before, is replaced by halving the bracket.
    """
    result = np.empty(laws.n_mixtures)
    unsolved = np.arange(laws.n_mixtures)
    u = _first_guess(laws, q)
    low, high = np.full(u.size, LOG_SMALLEST), np.full(u.size, LOG_LARGEST)
    last_step = np.full(u.size, math.inf)
    for _ in range(MAX_STEPS):
        log_cdf, slope = laws.log_cdf(u)
        excess = log_cdf - math.log(q)
        low, high = np.where(excess < 0, u, low), np.where(excess < 0, high, u)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = u - excess / slope
            trusted = (newton >= low) & (newton <= high) & (np.abs(newton - u) <= last_step / 2)
        target = np.where(trusted, newton, (low + high) / 2)
        last_step = np.abs(target - u)
        # A change in log p of this size changes p by less than the tolerance, and p itself relatively by as little.
        done = last_step <= TOLERANCE
        result[unsolved[done]] = np.exp(target[done])
        if done.all():
            break
        laws, unsolved = laws.select(~done), unsolved[~done]
        u, low, high, last_step = target[~done], low[~done], high[~done], last_step[~done]
    else:  # pragma: no cover - halving alone ends earlier
        result[unsolved] = np.exp(u)
    result[result <= math.exp(LOG_SMALLEST + 1)] = 0.0
    return result


def _first_guess(laws: BetaMixtures, q: float) -> NDArray[np.float64]:
    """Return log of the quantile of the Beta law with the mixture's mean and variance; exact for one component."""
    size = laws.a + laws.b
    means = laws.a / size
    mean = laws.total(means)
    variance = laws.total(means * (1 - means) / (size + 1) + (means - mean[laws.owner]) ** 2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        matched = np.maximum(mean * (1 - mean) / variance - 1, 1e-6)
        guess = np.nan_to_num(betaincinv(mean * matched, (1 - mean) * matched, q), nan=0.5)
    return np.log(np.clip(guess, math.exp(LOG_SMALLEST / 2), 1 - 1e-9))


def _beta_mixtures(mixtures: LeafMixtures, leaf: Categorical, n_asked: int) -> tuple[BetaMixtures, NDArray[np.int64]]:
    """Return the Beta mixtures of the first `n_asked` classes, and which of them each (kind, class) has.

    Classes that are in none of a kind's leaves have the same law, which is listed once.
    """
    kind, column = np.nonzero(mixtures.weights > 0)
    blocks, block = np.unique(mixtures.blocks[kind, column], return_inverse=True)
    counts = mixtures.counts[blocks, :n_asked]
    is_present = np.zeros((len(mixtures.weights), n_asked), dtype=np.bool_)
    leaf_number, present_class = np.nonzero(counts[block])
    is_present[kind[leaf_number], present_class] = True
    law_of, law_kind, law_class = _laws(is_present)
    law, at = _repeat_leaves(kind, law_kind)
    # A Beta law is given by (count of the class, rows of the leaf); one complex number holds both and can be sorted.
    pairs, pair_of = np.unique(counts + 1j * mixtures.counts[blocks].sum(axis=1, keepdims=True), return_inverse=True)
    pair = pair_of.reshape(counts.shape)[block[at], law_class[law]]
    law, pair, weight = _merge_equal(law, pair, mixtures.weights[kind, column][at], pairs.size)
    a, b = leaf.beta_parameters(pairs.real[pair], pairs.imag[pair], mixtures.counts.shape[1])
    a, b = np.maximum(a, SMALLEST_PARAMETER), np.maximum(b, SMALLEST_PARAMETER)
    return BetaMixtures(law, weight, a, b, betaln(a, b), law_kind.size), law_of


def _laws(is_present: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the law of each (kind, class), and the kind and the class of each law.

    There is one for each class that is present in a kind's leaves, and one for all that are not.
    """
    first_absent = np.argmin(is_present, axis=1)
    is_listed = is_present.copy()
    is_listed[np.arange(len(is_listed)), first_absent] = True
    law = np.cumsum(is_listed).reshape(is_listed.shape) - 1
    law_of = np.where(is_present, law, np.take_along_axis(law, first_absent[:, None], axis=1))
    law_kind, law_class = np.nonzero(is_listed)
    return law_of, law_kind, law_class


def _repeat_leaves(kind: NDArray[np.int64], law_kind: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (law, number of a leaf) for all leaves of each law's kind; `kind` is that of each leaf, in order."""
    n_leaves = np.bincount(kind, minlength=int(law_kind.max(initial=0)) + 1)
    lengths = n_leaves[law_kind]
    shift = _starts(n_leaves)[law_kind] - _starts(lengths)
    return np.repeat(np.arange(law_kind.size), lengths), np.arange(lengths.sum()) + np.repeat(shift, lengths)


def _merge_equal(
    owner: NDArray[np.int64], key: NDArray[np.int64], weight: NDArray[np.float64], n_keys: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Merge entries of the same owner and key, and add their weights; the result is sorted by owner and key."""
    both = owner * n_keys + key
    order = np.argsort(both, kind="stable")
    both = both[order]
    first = np.flatnonzero(np.diff(both, prepend=-1))
    return owner[order[first]], key[order[first]], np.add.reduceat(weight[order], first)


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of the stretches starts that lie end to end."""
    return np.cumsum(lengths) - lengths


def _sums(group: NDArray[np.integer[Any]], values: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    """Return the sum of the values of each group."""
    return np.asarray(np.bincount(group, weights=values, minlength=n_groups), dtype=np.float64)
