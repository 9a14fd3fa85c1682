"""Input: from what people hold in their hands to what the samplers see.

This is the one place that checks input; everything behind it trusts what it is given. Features become a
:class:`Table`: each value is replaced by its rank among the distinct values of its feature, so (2.5, 0.1, 2.5, 7.0)
becomes (1, 0, 1, 2), beside the values (0.1, 2.5, 7.0). A cut separates rows by their order alone, so nothing is lost:
comparisons run on small integers, and thresholds are still drawn in real units.

*Nothing is guessed.* A missing value, an infinity, a text, a category or a date in X, a missing label, a negative
weight: each is an error that names the column and the row, and says what to do. Text that reads as a number is
converted, as scikit-learn does. Rows are named by their position, counted from 0.

*Nothing is merged.* The table holds float64, in which integers beyond 2**53 do not all fit. Where two different values
of a column would become equal, be it of 64-bit integers, Python integers, decimals or long doubles, training refuses it
and names the two. For prediction each value is rounded to the nearest float64, as in training, and that is all: the
answer for a row must not depend on the rows that it is asked together with.

*Clean data pay little.* The cheapest test that can clear the data comes first, and only when it fails do we look for
the cell to name. An array of float64 is ranked where it lies, without a copy.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from particletree._kernel import rank_columns
from particletree.fingerprint import DataFingerprint, fingerprint_of

# Integers below this in size are exact in float64.
_EXACT_INTEGERS = 2.0**53

# More classes than this, with fewer rows per class than that on average, look like a number or an identifier.
_MANY_CLASSES, _FEW_ROWS_PER_CLASS = 20, 5

# The place of a row that the kernel leaves out.
_LEFT_OUT = 2**32 - 1

# The log marginal of n rows is a difference of numbers of the size of n log n: beyond this the digits run out.
_LARGEST_WEIGHT = 1e12

# Names of the dtypes, of NumPy, pandas and polars, of which every value is a float64.
_EXACT_DTYPES = re.compile(r"(?i)(u?int(8|16|32)|float(16|32|64)?|halffloat|double|bool(ean)?)(\[pyarrow\])?")

_IMPUTE = "Fill missing values in, e.g. with sklearn.impute.SimpleImputer, or leave those rows out."
_DATES = "Turn dates and times into numbers, e.g. into days since a fixed date"

# Beginnings of the names of dtypes that are not numbers to cut, each with what to do about it.
_REFUSED_DTYPES = {
    "categor|enum|dictionary": "Encode categories as numbers, e.g. with sklearn.preprocessing.OneHotEncoder",
    "date|time|duration|period": _DATES,
    "sparse": "Sparse data are not supported: make them dense, e.g. with X.sparse.to_dense()",
    "complex": "Complex data not supported: give the real and the imaginary part as two columns",
}

# How scikit-learn shall convert. Missing and infinite values we look for ourselves, to say where they are.
_TO_FLOAT: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False}


@dataclass(frozen=True, eq=False)
class Table:
    """Features as ranks: what the samplers see.

    Parameters
    ----------
    ranks : ndarray of uint8, uint16 or uint32, shape (n_features, n_rows)
        Rank of each value among the distinct values of its feature, 0 for the smallest; as few bits as hold all ranks.
    values : ndarray of float64
        The sorted distinct values of all features, one feature after the other.
    offsets : ndarray of int64, shape (n_features + 1,)
        The values of feature `f` are `values[offsets[f]:offsets[f + 1]]`.

    Examples
    --------
    >>> from particletree.data import make_table
    >>> table = make_table([[2.5, 1], [0.1, 1], [2.5, 0]])
    >>> table.ranks.tolist(), table.feature_values(0).tolist()
    ([[1, 0, 1], [1, 1, 0]], [0.1, 2.5])
    """

    ranks: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
    values: NDArray[np.float64]
    offsets: NDArray[np.int64]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.ranks.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.ranks.shape[1])

    def feature_values(self, feature: int) -> NDArray[np.float64]:
        """Return the sorted distinct values of a feature."""
        return self.values[self.offsets[feature] : self.offsets[feature + 1]]

    def some_rows(self, n: int = 100) -> NDArray[np.float64]:
        """Return at most `n` rows, evenly spread over the table, as they were given."""
        rows = np.unique(np.linspace(0, self.n_rows - 1, n).astype(np.int64))
        places = self.ranks[:, rows].astype(np.int64) + self.offsets[:-1, None]
        return np.ascontiguousarray(self.values[places].T)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a sampler is given: features, labels from 0 to `n_classes - 1`, and how often each row counts.

    The rows stand in the order of their labels, those of a class in the order in which they were given: `labels` never
    decreases, so a class is a stretch of rows, and counting a block's rows by class needs no look at the labels. A
    class may have no row. The weights are above 0; None means that every row counts once.

    Examples
    --------
    >>> from particletree.data import make_training_data
    >>> data = make_training_data([[2.5], [0.1], [7.0]], [1, 0, 0], n_classes=2)
    >>> data.labels.tolist(), data.table.ranks.tolist()
    ([0, 0, 1], [[0, 2, 1]])
    """

    table: Table
    labels: NDArray[np.int32]
    n_classes: int
    weights: NDArray[np.float64] | None = None

    @cached_property
    def fingerprint(self) -> DataFingerprint:
        """Hashes of the parts, by which posteriors of other data are told apart."""
        return fingerprint_of(self)


def check_training_data(
    estimator: object, X: Any, y: Any, sample_weight: Any = None
) -> tuple[TrainingData, NDArray[Any]]:
    """Check what a classifier's `fit` was given, and prepare it for a sampler.

    Parameters
    ----------
    estimator : object
        The classifier; `n_features_in_` and, for data frames, `feature_names_in_` are set on it.
    X : array-like or data frame, shape (n_rows, n_features)
        The features: numbers, none of them missing or infinite.
    y : array-like, shape (n_rows,)
        The labels: integers, text, booleans, or floats that are whole numbers.
    sample_weight : array-like, shape (n_rows,), optional
        How often each row counts: finite, at least 0, fractions allowed. Rows of weight 0 are ignored, as if they had
        not been given: a label that no other row has is not among the classes.

    Returns
    -------
    data : TrainingData
        The checked data, the rows in the order of their labels.
    classes : ndarray, shape (n_classes,)
        The distinct labels of the rows that count, sorted; the label `k` in `data` stands for `classes[k]`.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from particletree.data import check_training_data
    >>> data, classes = check_training_data(DummyClassifier(), [[0.5], [1.5]], ["yes", "no"])
    >>> classes.tolist(), data.labels.tolist()
    (['no', 'yes'], [0, 1])
    """
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    features = _check_numbers(X, partial(validate_data, estimator, reset=True, **_TO_FLOAT))
    given = _check_y(y, len(features))
    weights = None if sample_weight is None else _check_weights(sample_weight, len(features))
    classes, labels = _encode(given) if weights is None or weights.all() else _encode_where(weights > 0, given)
    return _assemble(features, labels, len(classes), weights), classes


def check_features(estimator: object, X: Any) -> NDArray[np.float64]:
    """Check what a fitted estimator's `predict` was given, and return it as float64 in C order.

    The number of features and their names must be those that the estimator was fitted with.
    """
    convert = partial(validate_data, estimator, reset=False, order="C", **_TO_FLOAT)
    return np.require(_check_numbers(X, convert, may_merge=True), requirements=["C", "A"])


def check_rows(X: Any, n_features: int, feature_names: list[str] | None) -> NDArray[np.float64]:
    """Check rows that a posterior is asked about, and return them as float64 in C order.

    A frame must have the columns that the posterior was fitted to, in their order.
    """
    if _is_frame(X) and feature_names is not None and (names := [str(name) for name in X.columns]) != feature_names:
        raise ValueError(
            f"X has the columns {names}, but the posterior was fitted to {feature_names}. Select those, in that order."
        )
    rows = _check_numbers(X, partial(check_array, input_name="X", order="C", **_TO_FLOAT), may_merge=True)
    if rows.shape[1] != n_features:
        raise ValueError(f"X must have the shape (rows, {n_features}), got {rows.shape}.")
    return np.require(rows, requirements=["C", "A"])


def make_training_data(X: Any, labels: ArrayLike, n_classes: int, weights: ArrayLike | None = None) -> TrainingData:
    """Prepare data for a sampler that is called without an estimator.

    `X` and `weights` are as in :func:`check_training_data`, `labels` are integers from 0 to `n_classes - 1`.

    Examples
    --------
    >>> from particletree.data import make_training_data
    >>> make_training_data([[0.5], [1.5], [2.5]], [0, 1, 1], n_classes=2, weights=[1, 1, 0]).table.n_rows
    2
    """
    features = _check_numbers(X, partial(check_array, input_name="X", **_TO_FLOAT))
    numbers = np.asarray(labels)
    if numbers.dtype.kind not in "iu" or numbers.shape != (len(features),):
        raise ValueError(
            f"labels must be {len(features)} integers, one for each row of X, got {numbers.dtype} of shape "
            f"{numbers.shape}. Number other labels with np.unique(labels, return_inverse=True)."
        )
    outside = (numbers < 0) | (numbers >= n_classes)
    _refuse_first(outside, "Label out of range", f"Labels go from 0 to n_classes - 1 = {n_classes - 1}.")
    counts = None if weights is None else _check_weights(weights, len(features))
    return _assemble(features, numbers, n_classes, counts)


def make_table(X: Any) -> Table:
    """Replace each value by its rank; `X` is as in :func:`check_training_data`, best float64 in C or Fortran order."""
    return _rank(_check_numbers(X, partial(check_array, input_name="X", **_TO_FLOAT)))


def _rank(features: NDArray[np.float64], positions: NDArray[np.uint32] | None = None) -> Table:
    """Rank the features; row `i` goes to place `positions[i]`, or stays where it is."""
    places = np.empty(0, dtype=np.uint32) if positions is None else positions
    return Table(*rank_columns(np.require(features, requirements=["A"]), places))


def _assemble(
    features: NDArray[np.float64], labels: NDArray[Any], n_classes: int, weights: NDArray[np.float64] | None
) -> TrainingData:
    """Leave out the rows of weight 0, put the rest in the order of their labels, and rank them."""
    ordered, kept_weights, positions = _order_rows(labels, n_classes, weights)
    return TrainingData(_rank(features, positions), ordered, n_classes, kept_weights)


def _order_rows(
    labels: NDArray[Any], n_classes: int, counts: NDArray[np.float64] | None
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint32]]:
    """Return the labels in order, the weights in the same order, and the place of each row: none if its weight is 0."""
    narrow = labels.astype(np.min_scalar_type(n_classes), copy=False)  # up to 16 bits NumPy sorts by counting
    order = narrow.argsort(kind="stable")
    if counts is not None:
        if not counts.all():
            order = order[counts[order] > 0]
        counts = None if (counts[order] == 1).all() else counts[order]
    positions = np.full(len(labels), _LEFT_OUT, dtype=np.uint32)
    positions[order] = np.arange(len(order), dtype=np.uint32)
    return narrow[order].astype(np.int32), counts, positions


def _refuse_first(bad: NDArray[np.bool_], problem: str, advice: str) -> None:
    if bad.any():
        raise ValueError(f"{problem} in row {int(bad.argmax())} (counted from 0). {advice}")


def _refuse_masked(values: Any, name: str) -> None:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        cell = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise ValueError(f"Missing value (NaN) in {name}: masked at index {cell} (counted from 0). {_IMPUTE}")


# Features


def _check_numbers(X: Any, convert: Callable[[Any], Any], may_merge: bool = False) -> NDArray[np.float64]:
    """Return X as finite float64; `convert` is scikit-learn's part of the work."""
    X = _as_array_or_frame(X)
    _refuse_dtypes(X)
    _refuse_masked(X, "X")
    try:
        with np.errstate(over="ignore"):  # what overflows becomes an infinity, which is reported below
            features: NDArray[np.float64] = convert(X)
    except (TypeError, ValueError, OverflowError) as error:
        _refuse_unreadable(X, error)
        raise
    _refuse_nonfinite(X, features)
    if not may_merge:
        _refuse_merged(X, features)
    return features


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_columns"))


def _as_array_or_frame(X: Any) -> Any:
    """Turn lists and the like into arrays; leave arrays, frames, and what scikit-learn refuses by its type."""
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}, whose values are not computed yet. Pass X.collect().")
    if _is_frame(X):
        return X if X.shape[1] else np.empty(X.shape)  # scikit-learn has no clear message for a frame without columns
    if isinstance(X, np.ndarray) or issparse(X) or len(getattr(X, "shape", ())) == 1:
        return X
    try:
        array = np.asarray(X)
    except ValueError:
        if isinstance(X, list | tuple):
            lengths = np.array([len(row) if hasattr(row, "__len__") else 0 for row in X])
            advice = "Give every row one value for each feature."
            _refuse_first(lengths != lengths[0], f"Other than {lengths[0]} values, as row 0 of X has,", advice)
        raise
    # NumPy turns integers that stand beside a float into floats: keep them as they are where that could merge some.
    return np.asarray(X, dtype=object) if array.dtype == np.float64 and _is_wide(array) else array


def _is_wide(features: NDArray[Any]) -> bool:
    """Tell whether some number is so large that integers of its size are not all exact in float64."""
    return features.size > 0 and bool(features.max() >= _EXACT_INTEGERS or features.min() <= -_EXACT_INTEGERS)


def _dtype_names(X: Any) -> list[str]:
    """Return the name of each column's dtype in a frame, of the one dtype of an array."""
    dtypes = list(X.dtypes) if _is_frame(X) else [getattr(X, "dtype", "")]
    return [str(getattr(dtype, "name", dtype)) for dtype in dtypes]


def _place(X: Any, column: int, row: int | None = None) -> str:
    name = f"column {list(X.columns)[column]!r} of X" if _is_frame(X) else f"column {column} of X"
    place = name if row is None else f"row {row}, {name}"
    return place if row is None and _is_frame(X) else f"{place} (counted from 0)"


def _refuse_dtypes(X: Any) -> None:
    for column, name in enumerate(_dtype_names(X)):
        for pattern, advice in _REFUSED_DTYPES.items():
            if re.match(pattern, name, re.IGNORECASE):
                raise ValueError(f"Cannot cut values of dtype {name}, in {_place(X, column)}. {advice}.")


def _refuse_nonfinite(X: Any, features: NDArray[np.float64]) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(features.sum()):
            return
    cells = np.argwhere(~np.isfinite(features))
    if len(cells) == 0:  # all are finite, only their sum is not
        return
    row, column = cells[0].tolist()
    place = _place(X, column, row) + (f", and in {len(cells) - 1} other cells" if len(cells) > 1 else "")
    if np.isnan(features[row, column]):
        raise ValueError(f"Missing value (NaN) in {place}. {_IMPUTE}")
    problem = f"Infinite value ({features[row, column]}), or one too large for float64,"
    raise ValueError(f"{problem} in {place}. Replace it by a finite number, or leave that row out.")


def _columns_to_read(X: Any) -> Iterator[tuple[int, str, Any]]:
    """Yield the index, the dtype's name and the values of the columns whose dtype does not vouch for them."""
    names = _dtype_names(X)
    if _is_frame(X):
        for column, name in enumerate(names):
            if not _EXACT_DTYPES.fullmatch(name):
                yield column, name, X.iloc[:, column] if hasattr(X, "iloc") else X.to_series(column)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and not _EXACT_DTYPES.fullmatch(names[0]):
        for column in range(X.shape[1]):
            yield column, names[0], X[:, column]


def _cells(values: Any) -> list[Any]:
    cells: list[Any] = values.tolist() if isinstance(values, np.ndarray) else values.to_list()
    return cells


def _refuse_unreadable(X: Any, error: Exception) -> None:
    """Name the first cell that is no number, if there is one: then this is why the conversion failed."""
    for column, _, values in _columns_to_read(X):
        for row, cell in enumerate(_cells(values)):
            try:
                float(0 if cell is None else cell)
            except (TypeError, ValueError, OverflowError) as reason:
                kind = TypeError if isinstance(reason, TypeError) and not _is_missing(cell) else ValueError
                raise kind(_describe_unreadable(cell, reason, _place(X, column, row))) from error


def _describe_unreadable(cell: Any, reason: Exception, place: str) -> str:
    if _is_missing(cell):
        return f"Missing value (NaN) in {place}. {_IMPUTE}"
    if isinstance(cell, str | bytes):
        advice = "Encode text as numbers, e.g. with sklearn.preprocessing.OneHotEncoder, or drop the column."
        return f"Text in {place}: {cell!r} is no number. {advice}"
    return f"Cannot use what is in {place}: {reason}. Replace it by a number, or drop the column."


def _is_missing(cell: Any) -> bool:
    """Tell whether a cell is None, NaN, or pandas' NA or NaT (by their names: pandas need not be there)."""
    if isinstance(cell, float | np.floating):
        return bool(np.isnan(cell))
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _refuse_merged(X: Any, features: NDArray[np.float64]) -> None:
    """Refuse a column in which two different values became one."""
    wide: bool | None = None
    for column, name, values in _columns_to_read(X):
        if re.match("u?int64", name, re.IGNORECASE):
            wide = _is_wide(features) if wide is None else wide
            pair = _merged_integers(values, features[:, column]) if wide else None
        else:
            pair = _merged_cells(_cells(values), features[:, column], _place(X, column))
        if pair is not None:
            raise ValueError(
                f"{pair[0]!r} and {pair[1]!r} in {_place(X, column)} differ, but not in float64, which the trees work "
                "with. Subtract an offset from the column, e.g. its smallest value, the same one for fit and predict; "
                "or drop the column if it only identifies the rows."
            )


def _merged_integers(values: Any, rounded: NDArray[np.float64]) -> tuple[Any, Any] | None:
    if not _is_wide(rounded):
        return None
    distinct = np.unique(np.asarray(values))
    twins = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
    return (int(distinct[twins[0]]), int(distinct[twins[0] + 1])) if len(twins) else None


def _merged_cells(cells: list[Any], rounded: NDArray[np.float64], place: str) -> tuple[Any, Any] | None:
    kinds = set(map(type, cells))
    if any(issubclass(kind, np.datetime64 | np.timedelta64) for kind in kinds):
        raise ValueError(f"Dates or times in {place}. {_DATES}.")
    if kinds <= {float, bool}:
        return None
    first: dict[float, Any] = {}
    for cell, number in zip(cells, rounded.tolist(), strict=True):
        exact = _exact(cell, number)
        if first.setdefault(number, exact) != exact:
            return first[number], exact
    return None


def _exact(cell: Any, number: float) -> Any:
    """Return what a cell says before it is rounded; text counts as an integer where it is one."""
    if isinstance(cell, str | bytes):
        try:
            return int(cell)
        except ValueError:
            return number
    return cell.item() if isinstance(cell, np.generic) else cell


# Labels and weights


def _check_y(y: Any, n_rows: int) -> NDArray[Any]:
    """Return y as an array of labels, one for each row."""
    _refuse_masked(y, "y")
    # NumPy first: scikit-learn would make floats of pandas' nullable integers and booleans, and so change the classes.
    labels = np.asarray(y)
    if labels.ndim != 1 and labels.shape[1:] != (1,):
        raise ValueError(
            f"y should be a 1d array of one label for each row, got shape {labels.shape}. "
            "For several targets fit one classifier to each, e.g. with sklearn.multioutput.MultiOutputClassifier."
        )
    if isinstance(y, list | tuple) and labels.dtype.kind == "U":
        labels = np.array(y, dtype=object)  # NumPy has turned any number among the text into text: undo that
    if labels.ndim != 1 or labels.dtype.kind not in "biu":  # integers in one dimension leave nothing to check
        labels = column_or_1d(labels, warn=True)
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(labels)} labels. Give one label for each row.")
    if labels.dtype.kind == "O":
        labels = _check_objects(labels)
    if labels.dtype.kind in "fMm":
        _refuse_first(np.isnan(labels), "Missing label (NaN) in y", "Leave that row out, or label it.")
    if labels.dtype.kind == "f":
        advice = "A classifier needs classes: cut y into ranges, or use a regressor."
        _refuse_first(np.isinf(labels), "Infinite label (inf) in y", advice)
        _refuse_first(labels != np.floor(labels), "Unknown label type: continuous, a fraction in y", advice)
    if labels.dtype.kind == "S":
        raise TypeError("Unknown label type: bytes in y. Decode them into text, e.g. with np.char.decode(y).")
    return labels


def _check_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Check that labels of dtype object are all text, or all one kind of number."""
    cells = labels.tolist()
    kinds = set(map(type, cells))
    if all(issubclass(kind, str) for kind in kinds):
        return labels
    missing = np.array([_is_missing(cell) for cell in cells])
    _refuse_first(missing, "Missing label (NaN) in y", "Leave that row out, or label it.")
    if len(kinds) == 1 and (numbers := np.array(cells)).dtype.kind in "biuf":
        return numbers
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    no_text = np.array([not isinstance(cell, str) for cell in cells])
    _refuse_first(no_text, f"Unknown label type: y holds {names}; a label that is no str", "Try y.astype(str).")
    return labels


def _encode(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct labels, sorted, and the number of each row's label among them."""
    classes, numbers = _encode_integers(labels) or _encode_texts(labels) or np.unique(labels, return_inverse=True)
    if len(classes) > _MANY_CLASSES and len(labels) < _FEW_ROWS_PER_CLASS * len(classes):
        warnings.warn(_describe_many_classes(labels, len(classes)), UserWarning, stacklevel=5)  # who called fit
    return classes, numbers


def _encode_where(counts: NDArray[np.bool_], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Encode the labels of the rows that count; the others get the number 0, which nobody reads."""
    classes, numbers = _encode(labels[counts])
    all_numbers = np.zeros(len(labels), dtype=numbers.dtype)
    all_numbers[counts] = numbers
    return classes, all_numbers


def _describe_many_classes(labels: NDArray[Any], n_classes: int) -> str:
    problem = f"y has {n_classes} classes in {len(labels)} rows, fewer than {_FEW_ROWS_PER_CLASS} rows per class."
    if labels.dtype.kind in "iuf":
        return f"{problem} Is it a number to predict rather than a class? Then use a regressor, or cut y into ranges."
    return f"{problem} Predictions for so small classes say little: join some of them, or check that y is the target."


def _encode_integers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Encode integers by counting, if they lie close enough together for a table of all that may occur."""
    if labels.dtype.kind not in "iu":
        return None
    low, high = labels.min(), labels.max()
    if int(high) - int(low) > max(1000, len(labels)):
        return None
    steps = (labels - low).view(f"u{labels.dtype.itemsize}").astype(np.intp)  # unsigned: int8 may go from -128 to 127
    present = np.flatnonzero(np.bincount(steps))
    number_of = np.zeros(present[-1] + 1, dtype=np.min_scalar_type(len(present)))
    number_of[present] = np.arange(len(present))
    return present.astype(labels.dtype) + low, number_of[steps]


def _encode_texts(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Encode texts by a dictionary: a few distinct ones are found much faster than all of them are sorted."""
    if labels.dtype.kind not in "OUT":
        return None
    cells = labels.tolist()
    number_of = {label: number for number, label in enumerate(sorted(set(cells)))}
    numbers = np.fromiter(map(number_of.__getitem__, cells), dtype=np.intp, count=len(cells))
    return np.array(list(number_of), dtype=labels.dtype), numbers


def _check_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights as float64: finite, at least 0, not all 0, one for each row."""
    _refuse_masked(weights, "sample_weight")
    accept = {"ensure_2d": False, "allow_nd": True, "ensure_min_samples": 0, "input_name": "sample_weight"}
    try:
        counts: NDArray[np.float64] = check_array(weights, order="C", **accept, **_TO_FLOAT)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"sample_weight must be one number for each row: {error}") from error
    if counts.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight for each row, got {counts.shape}.")
    advice = "Weights say how often a row counts: finite, at least 0."
    with np.errstate(over="ignore", invalid="ignore"):
        total = counts.sum()
    if not np.isfinite(total):
        _refuse_first(~np.isfinite(counts), "Weight that is NaN or inf in sample_weight", advice)
    _refuse_first(counts < 0, "Negative weight in sample_weight", advice)
    if not total <= _LARGEST_WEIGHT:
        raise ValueError(
            f"The sum of sample_weight is {total:g}, more rows than the likelihood can be computed for (at most "
            f"{_LARGEST_WEIGHT:g}). Divide the weights by a constant: they say how often a row counts."
        )
    if total == 0:
        raise ValueError("Every weight in sample_weight is zero: no row is left to learn from. Give some row a weight.")
    _doubt_small_total(total, int(np.count_nonzero(counts)))
    return counts


def _doubt_small_total(total: float, n_rows: int) -> None:
    """Warn about weights that were scaled to sum to 1 (or less): the posterior would hardly differ from the prior."""
    if n_rows > 2 and total < 1 + 1e-6:
        warnings.warn(
            f"sample_weight sums to {total:.4g} for {n_rows} rows, so that all of them together count as {total:.4g} "
            "rows and the posterior stays close to the prior. A weight says how often its row counts: multiply the "
            "weights by the number of rows if they were scaled to sum to 1.",
            UserWarning,
            stacklevel=6,  # who called fit
        )
