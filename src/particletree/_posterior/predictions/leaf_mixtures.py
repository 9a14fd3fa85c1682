r"""Intervals, quantiles and densities of class probabilities, means and observations, as mixtures over the trees.

Under one tree a row falls into one leaf, and the leaf model has the distribution of a class probability, of
the mean of a target, or of a new observation there. Under the posterior over trees it is the mixture of these
distributions, weighted by the trees; a credible interval is equal-tailed:

.. math::
    F(x) = \sum_j w_j F_j(x), \qquad [F^{-1}(q), \; F^{-1}(1 - q)], \qquad q = (1 - level) / 2.

No sampling is involved (``_model/distributions/mixtures.py``). This is cheap because trees share leaves: 500 trees put
a row into perhaps 5 to 50 different blocks, many rows fall into the same blocks (they are of one *kind*), different
blocks often have the same distribution, and with many classes most have the same distribution because they are absent.
Equal terms are merged before any root is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree._model.distributions import Distributions, Mixtures, Tail
from particletree._model.leaf import LeafModel
from particletree._model.row_columns import NO_COLUMNS, RowColumns, select_rows
from particletree._model.target import ClassLabels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COMPONENTS = 2**20  # leaves x outputs per batch: bounds memory


class LeafMixtures(NamedTuple):
    """For each of n kinds of rows, the leaves that a row may fall into and the posterior probability of each.

    Attributes
    ----------
    weights : ndarray of float64, shape (n, m)
        Probabilities that sum to 1 along each row; rows with fewer than m leaves are padded with 0.
    blocks : ndarray of int, shape (n, m)
        Rows of `statistics`; any valid index where the weight is 0.
    statistics : ndarray of float64, shape (n_blocks, n_statistics)
        Statistics of the blocks.
    kind : ndarray of int, or None
        The kind of each row of the data, from 0 to n - 1; None if every row is its own kind, in order.
    """

    weights: Floats
    blocks: NDArray[np.integer[Any]]
    statistics: Floats
    kind: NDArray[np.integer[Any]] | None = None


class LeafDistributions(NamedTuple):
    """Selects distributions of the leaves: those of a parameter or of an observation, for the first outputs.

    Attributes
    ----------
    leaf : LeafModel
        The leaf model.
    n_outputs : int
        Number of outputs.
    is_predictive : bool
        Whether the distribution is that of a new observation, rather than of the parameter.
    row_columns : mapping from str to ndarray of float64
        What else is known of the observations of each kind of rows.
    """

    leaf: LeafModel
    n_outputs: int
    is_predictive: bool
    row_columns: RowColumns = NO_COLUMNS

    def of(self, statistics: Floats, output: int, row_columns: RowColumns) -> Distributions:
        """Return the distributions of an output, one for each row of the statistics."""
        if self.is_predictive:
            return self.leaf.predictive_distributions(statistics, output, row_columns)
        return self.leaf.parameter_distributions(statistics, output)


def mixture_mean(mixtures: LeafMixtures, leaf: LeafModel) -> Floats:
    """Return the mean prediction of each row: class probabilities, or the mean of each target.

    Parameters
    ----------
    mixtures : LeafMixtures
        The leaves of n kinds of rows.
    leaf : LeafModel
        The leaf model.

    Returns
    -------
    ndarray, shape (n, n_outputs)
        One row for each kind.
    """
    means = leaf.mean(mixtures.statistics)[mixtures.blocks]
    return np.asarray((mixtures.weights[:, None, :] @ means)[:, 0, :], dtype=np.float64)


def parameter_interval(mixtures: LeafMixtures, leaf: LeafModel, level: float) -> Floats:
    """Return the equal-tailed credible interval of what the leaf model's `mean` estimates.

    Parameters
    ----------
    mixtures : LeafMixtures
        The leaves of the rows.
    leaf : LeafModel
        The leaf model.
    level : float
        The probability of the interval, strictly between 0 and 1.

    Returns
    -------
    ndarray, shape (n_rows, n_outputs, 2)
        The two ends.
    """
    tail, n_outputs = (1.0 - level) / 2.0, _n_outputs(mixtures, leaf)
    # With one class nothing is computed; with two, the second probability is one minus the first.
    are_shares = leaf.target_type is ClassLabels and n_outputs <= 2
    n_asked = n_outputs - 1 if are_shares else n_outputs
    ends = np.ones((len(mixtures.weights), n_outputs, 2))
    ends[:, :n_asked] = _quantiles(
        mixtures, LeafDistributions(leaf, n_asked, False), [Tail(tail, False), Tail(tail, True)]
    )
    ends[..., 1] = np.maximum(ends[..., 0], ends[..., 1])
    if are_shares and n_outputs == 2:
        ends[:, 1] = 1.0 - ends[:, 0, ::-1]
    return _to_rows(ends, mixtures)


def predictive_quantiles(
    mixtures: LeafMixtures, leaf: LeafModel, q: Sequence[float], row_columns: RowColumns = NO_COLUMNS
) -> Floats:
    """Return quantiles of a new observation of each row.

    Parameters
    ----------
    mixtures : LeafMixtures
        The leaves of the rows.
    leaf : LeafModel
        The leaf model, of numbers.
    q : sequence of float
        Probabilities above 0 and below 1.
    row_columns : mapping from str to ndarray of float64, shape (n_rows,)
        What else is known of the observations, for leaf models that declare these columns.

    Returns
    -------
    ndarray, shape (n_rows, n_outputs, len(q))
        The quantiles; for counts, the smallest count with a cdf of at least q.
    """
    tails, n_outputs = [Tail.of(probability) for probability in q], _n_outputs(mixtures, leaf)
    if not row_columns:
        return _to_rows(_quantiles(mixtures, LeafDistributions(leaf, n_outputs, True), tails), mixtures)
    # Rows of the same kind with the same row columns have the same quantiles.
    kinds, columns, case_of = _distinct(_kinds(mixtures), row_columns)
    by_case = mixtures._replace(weights=mixtures.weights[kinds], blocks=mixtures.blocks[kinds], kind=case_of)
    return _to_rows(_quantiles(by_case, LeafDistributions(leaf, n_outputs, True, columns), tails), by_case)


def predictive_log_density(
    mixtures: LeafMixtures, leaf: LeafModel, y: Floats, row_columns: RowColumns = NO_COLUMNS
) -> Floats:
    r"""Return the log density (for counts: the log probability) of the observation in each row.

    Targets are independent given the tree, so the product over targets is inside the sum over leaves:

    .. math:: \log \sum_j w_j \prod_t f_{jt}(y_t).

    Parameters
    ----------
    mixtures : LeafMixtures
        The leaves of the rows.
    leaf : LeafModel
        The leaf model, of numbers.
    y : ndarray of float64, shape (n_rows, n_outputs)
        The observations.
    row_columns : mapping from str to ndarray of float64, shape (n_rows,)
        What else is known of the observations, for leaf models that declare these columns.

    Returns
    -------
    ndarray, shape (n_rows,)
        Natural logarithms.
    """
    kinds = _kinds(mixtures)
    result = np.empty(kinds.size)
    for rows in _pieces(kinds.size, mixtures.blocks.shape[1]):
        row, column = np.nonzero(mixtures.weights[kinds[rows]] > 0)
        kind, at = kinds[rows][row], rows.start + row
        log_density = np.log(mixtures.weights[kind, column])
        for output in range(y.shape[1]):
            distributions = _distributions_of_blocks(
                mixtures, leaf, mixtures.blocks[kind, column], output, select_rows(row_columns, at)
            )
            log_density += distributions.log_density(y[at, output])
        result[rows] = _log_sum_exp(row, log_density, rows.stop - rows.start)
    return result


def _n_outputs(mixtures: LeafMixtures, leaf: LeafModel) -> int:
    return int(leaf.mean(mixtures.statistics[:1]).shape[-1])


def _kinds(mixtures: LeafMixtures) -> Ints:
    """Return the kind of each row."""
    return np.arange(len(mixtures.weights)) if mixtures.kind is None else np.asarray(mixtures.kind, dtype=np.int64)


def _to_rows(answers: Floats, mixtures: LeafMixtures) -> Floats:
    """Return the values for the rows, from those for the kinds."""
    return answers if mixtures.kind is None else answers[mixtures.kind]


def _pieces(n: int, width: int) -> Iterator[slice]:
    """Yield slices of n items with `width` components each, so that memory is bounded."""
    step = max(1, COMPONENTS // max(1, width))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _distributions_of_blocks(
    mixtures: LeafMixtures, leaf: LeafModel, blocks: NDArray[np.integer[Any]], output: int, row_columns: RowColumns
) -> Distributions:
    """Return the distribution of an observation in each of some blocks."""
    if row_columns:
        return leaf.predictive_distributions(mixtures.statistics[blocks], output, row_columns)
    distinct, number = np.unique(blocks, return_inverse=True)
    return leaf.predictive_distributions(mixtures.statistics[distinct], output).select(number)


def _log_sum_exp(group: Ints, values: Floats, n_groups: int) -> Floats:
    """Return the log of the sum of exp(values) of each group; groups are in order, and none is empty."""
    largest = np.maximum.reduceat(values, np.searchsorted(group, np.arange(n_groups)))
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(shift + np.log(np.bincount(group, np.exp(values - shift[group]), minlength=n_groups)))


def _quantiles(mixtures: LeafMixtures, question: LeafDistributions, tails: list[Tail]) -> Floats:
    """Return quantiles of the mixtures of each kind, shape (n_kinds, n_outputs, n_tails)."""
    n_kinds, width = mixtures.blocks.shape
    answers = np.empty((n_kinds, question.n_outputs, len(tails)))
    for kinds in _pieces(n_kinds, width * question.n_outputs) if question.n_outputs else ():
        piece = mixtures._replace(weights=mixtures.weights[kinds], blocks=mixtures.blocks[kinds])
        distributions, distribution_of = distribution_mixtures(
            piece, question, select_rows(question.row_columns, kinds)
        )
        for number, tail in enumerate(tails):
            answers[kinds, :, number] = distributions.quantile(tail.q, tail.is_upper)[distribution_of]
    return answers


def distribution_mixtures(
    mixtures: LeafMixtures, question: LeafDistributions, row_columns: RowColumns
) -> tuple[Mixtures, Ints]:
    """Return the distinct mixtures of distributions, and the index of the mixture of each (kind, output).

    Outputs that agree in all leaves of a kind, such as classes that occur in none of them, have one mixture.
    """
    kind, column = np.nonzero(mixtures.weights > 0)
    blocks, columns, case_of = _distinct(mixtures.blocks[kind, column], select_rows(row_columns, kind))
    statistics = mixtures.statistics[blocks]
    distributions, number = _distinct_distributions(
        [question.of(statistics, k, columns) for k in range(question.n_outputs)]
    )
    mixture_of, owner_kind, owner_output = _distinct_outputs(number, kind, case_of, len(mixtures.weights))
    owner, at = _repeat_leaves(kind, owner_kind)
    distribution, weight = number[case_of[at], owner_output[owner]], mixtures.weights[kind, column][at]
    owner, distribution, weight = _merge_equal(owner, distribution, weight, len(distributions.parameters[0]))
    return Mixtures(owner, weight, distribution, distributions, owner_kind.size), mixture_of


def _distinct(
    keys: NDArray[np.integer[Any]], row_columns: RowColumns
) -> tuple[NDArray[np.integer[Any]], RowColumns, Ints]:
    """Return the distinct pairs of a key and its numbers in the row columns, sorted, and the index of each pair."""
    if not row_columns:
        distinct, index = np.unique(keys, return_inverse=True)
        return distinct, row_columns, index
    first, index = _first_of_equal((keys, *row_columns.values()))
    return keys[first], select_rows(row_columns, first), index


def _distinct_distributions(outputs: list[Distributions]) -> tuple[Distributions, Ints]:
    """Return the distinct distributions, sorted by their parameters, and the index of each, shape (n, n_outputs)."""
    together = type(outputs[0]).join(outputs)
    first, number = _first_of_equal(together.parameters)
    return together.select(first), number.reshape(len(outputs), -1).T


def _first_of_equal(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Return the place of the first of each set of equal rows of a table, in sorted order, and the set of each row."""
    order = np.lexsort(columns[::-1])
    is_first = np.zeros(order.size, dtype=np.bool_)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= column[order][1:] != column[order][:-1]
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.cumsum(is_first) - 1
    return order[is_first], number


def _distinct_outputs(number: Ints, kind: Ints, case_of: Ints, n_kinds: int) -> tuple[Ints, Ints, Ints]:
    """Return the mixture of each (kind, output), and the kind and the output of each mixture.

    In a leaf, the distribution with the smallest index is the *common* one: with many classes, that of a class without
    a row. There is one mixture per output that differs from it in some leaf of a kind, and one for all others together.
    """
    differs = number != number.min(axis=1, keepdims=True)
    leaf_number, output = np.nonzero(differs[case_of])
    is_special = np.zeros((n_kinds, number.shape[1]), dtype=np.bool_)
    is_special[kind[leaf_number], output] = True
    first_common = np.argmin(is_special, axis=1)  # the output that stands for all others of its kind
    is_listed = is_special.copy()
    is_listed[np.arange(n_kinds), first_common] = True
    place = np.cumsum(is_listed).reshape(is_listed.shape) - 1
    mixture_of = np.where(is_special, place, np.take_along_axis(place, first_common[:, None], axis=1))
    owner_kind, owner_output = np.nonzero(is_listed)
    return mixture_of, owner_kind, owner_output


def _repeat_leaves(kind: Ints, owner_kind: Ints) -> tuple[Ints, Ints]:
    """Return (mixture, index of a leaf) for all leaves of each mixture's kind; `kind` is each leaf's, in order."""
    n_leaves = np.bincount(kind, minlength=int(owner_kind.max(initial=0)) + 1)
    lengths = n_leaves[owner_kind]
    shift = (np.cumsum(n_leaves) - n_leaves)[owner_kind] - (np.cumsum(lengths) - lengths)  # from start to start
    return np.repeat(np.arange(owner_kind.size), lengths), np.arange(lengths.sum()) + np.repeat(shift, lengths)


def _merge_equal(owner: Ints, key: Ints, weight: Floats, n_keys: int) -> tuple[Ints, Ints, Floats]:
    """Merge entries of the same owner and key, and add their weights; the result is sorted by owner and key."""
    both = owner * n_keys + key
    order = np.argsort(both, kind="stable")
    both = both[order]
    first = np.flatnonzero(np.diff(both, prepend=-1))
    return owner[order[first]], key[order[first]], np.add.reduceat(weight[order], first)
