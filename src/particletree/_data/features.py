"""Features: X of any accepted type is converted to float64, or an error names the column and the row.

*Missing values and categories need no preprocessing.* NaN, None and pandas' NA are missing: nan in a column of numbers.
In a categorical column each value becomes the number of its level (``categories.py``); after that, both kinds of
columns are treated alike.

*Nothing is guessed.* An infinity, a date, or text in a column of numbers is an error that says what to do. Text that
reads as a number is converted where text is not categorical, as in scikit-learn.

*Distinct values stay distinct.* Not all integers beyond 2**53 are exact in float64. If two different values of a column
would become equal, be it 64-bit integers, Python integers, decimals or long doubles, training refuses the column and
names the two values. For prediction each value is rounded to the nearest float64, as in training, without this check:
the prediction of a row must not depend on the other rows of the call.

*Checks are cheap for valid data.* The cheapest sufficient test comes first, and the cell to name is only searched for
if it fails. An array of float64 is returned without a copy.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from particletree._data.categories import (
    FROM_DTYPE,
    categorical_columns,
    encode_levels,
    keep_levels,
    learn_levels,
    texts_among_numbers,
)
from particletree._data.containers import (
    as_array_or_frame,
    cells,
    column,
    column_dtypes,
    dtype_names,
    is_frame,
    is_table,
    is_wide,
    largest,
    place,
    smallest,
    with_columns,
)
from particletree._data.row_errors import is_missing
from particletree._model.columns import Columns, Level
from particletree._user_warnings import warn_caller

# Names of the dtypes of NumPy, pandas and polars whose values are all exact in float64.
_EXACT_DTYPES = re.compile(r"(?i)(u?int(8|16|32)|float(16|32|64)?|halffloat|double|bool(ean)?)(\[pyarrow\])?")

_DATE_TYPES = (datetime.date, datetime.time, datetime.timedelta)
_DATES = "Turn dates and times into numbers, e.g. into days since a fixed date"
_TO_FIT = 'make the column categorical: leave categorical_features at "from_dtype", or list the column there'
_TO_PREDICT = "The training data held numbers in this column: convert it, e.g. with .astype(float)"

_CATEGORIES = re.compile(r"(?i)(categor|enum|dictionary)")  # columns that somebody has made categorical

# Prefixes of the names of dtypes that cannot be cut as numbers, each with what to do about it.
_REFUSED_DTYPES = {
    "categor|enum|dictionary": f"Encode categories as numbers, or {_TO_FIT}",
    "date|time|duration|period": _DATES,
    "sparse": "Sparse data are not supported: make them dense, e.g. with X.sparse.to_dense(); instead of a one-hot "
    "encoding pass the original column of categories",
    "complex": "Complex data not supported: give the real and the imaginary part as two columns",
}

# Options of scikit-learn's conversion. We check for missing and infinite values ourselves, to say where they are.
_TO_FLOAT: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False}
_check_array: Callable[[Any], Any] = partial(check_array, input_name="X", order="C", **_TO_FLOAT)


@dataclass(frozen=True, eq=False)
class Features:
    """Features of training data: numbers and, in categorical columns, the numbers of the levels."""

    values: NDArray[np.float64]
    levels: Mapping[int, tuple[Level, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def of_rows(self, rows: NDArray[np.intp]) -> Features:
        """Drop the levels that do not occur in these rows; all rows stay."""
        kept = {f: keep_levels(levels, self.values[:, f], rows) for f, levels in self.levels.items()}
        changed = {f: numbers for f, (levels, numbers) in kept.items() if len(levels) < len(self.levels[f])}
        return Features(with_columns(self.values, changed), {f: levels for f, (levels, _) in kept.items()})


def check_features_to_fit(estimator: object, X: Any, categorical_features: Any = FROM_DTYPE) -> Features:
    """Check the features that an estimator is fitted to, and set its `n_features_in_` and `feature_names_in_`."""
    return _to_train(X, categorical_features, partial(validate_data, estimator, reset=True, **_TO_FLOAT))


def check_features_alone(X: Any, categorical_features: Any = None) -> Features:
    """Check the features of training data without an estimator."""
    return _to_train(X, categorical_features, partial(check_array, input_name="X", **_TO_FLOAT))


def check_features(estimator: object, X: Any, known: Columns | None = None) -> NDArray[np.float64]:
    """Check the rows passed to a fitted estimator's `predict`, and return them as float64 in C order.

    The number of features and their names must be those of the fit; `known` has the levels of the categorical ones.
    """
    X = as_array_or_frame(X)
    if known is not None and known.levels and is_table(X):
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return _to_predict(encode_rows(X, known), None, _check_array)
    has_names = hasattr(estimator, "feature_names_in_")  # then scikit-learn compares X's names
    n_features = None if has_names else getattr(estimator, "n_features_in_", None)
    return _to_predict(X, n_features, partial(validate_data, estimator, reset=False, order="C", **_TO_FLOAT))


def check_rows(
    X: Any, n_features: int, feature_names: list[str] | None, known: Columns | None = None
) -> NDArray[np.float64]:
    """Check the rows that a posterior is to predict, and return them as float64 in C order.

    A frame must have the columns of the fit, in their order; `known` has the levels of the categorical ones.
    """
    X = as_array_or_frame(X)
    if is_frame(X) and feature_names is not None and (names := [str(name) for name in X.columns]) != feature_names:
        raise ValueError(
            f"X has the columns {names}, but the posterior was fitted to {feature_names}. Select those, in that order."
        )
    if is_table(X) and X.shape[1] != n_features and len(X) > 0:
        raise ValueError(f"X must have the shape (rows, {n_features}), got {X.shape}.")
    return _to_predict(X if known is None else encode_rows(X, known), n_features, _check_array)


def encode_rows(X: Any, known: Columns) -> Any:
    """Replace the values of categorical columns by the numbers of their levels; the type of container stays.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._data.features import encode_rows
    >>> from particletree._model.columns import Columns
    >>> rows = np.array([["red", 1.5], ["green", 2.5], [None, 3.5]], dtype=object)
    >>> encode_rows(rows, Columns(2, levels={0: ("blue", "red")})).tolist()
    [[1.0, 1.5], [3.0, 2.5], [2.0, 3.5]]
    """
    if not is_table(X):
        return X
    encoded = {f: encode_levels(column(X, f), levels, partial(place, X, f)) for f, levels in known.levels.items()}
    return with_columns(X, encoded)


def _to_train(X: Any, categorical_features: Any, convert: Callable[[Any], Any]) -> Features:
    X = as_array_or_frame(X)
    listed = categorical_columns(X, categorical_features)
    _refuse_dtypes(X, except_for=listed)
    learnt = {f: learn_levels(column(X, f), partial(place, X, f)) for f in listed}
    if isinstance(categorical_features, str):
        _warn_of_texts_among_numbers(X, {f: levels for f, (levels, _) in learnt.items()})
    numbers = with_columns(X, {f: numbers for f, (_, numbers) in learnt.items()})
    features = _to_float64(numbers, convert, is_fit=True)
    _refuse_merged(numbers, features)
    return Features(features, {f: levels for f, (levels, _) in learnt.items()})


def _warn_of_texts_among_numbers(X: Any, learnt: Mapping[int, tuple[Level, ...]]) -> None:
    """Warn of columns that are categorical for a few texts, such as "?", among numbers."""
    dtypes = column_dtypes(X)
    for f, levels in learnt.items():
        texts = texts_among_numbers(levels)
        if texts and not _CATEGORIES.match(dtypes[f]):
            shown = ", ".join(map(repr, texts[:5])) + (", ..." if len(texts) > 5 else "")
            where = place(X, f)
            warn_caller(
                f"{where[0].upper()}{where[1:]} has {len(levels) - len(texts)} different numbers and {shown}, and is "
                f"taken as categorical. If {'this stands' if len(texts) == 1 else 'these stand'} for missing values, "
                'make numbers of the column, e.g. with pandas.to_numeric(column, errors="coerce"), as the command line '
                "does with ? and NA; if the numbers are names, list the column in categorical_features."
            )


def _to_predict(X: Any, n_features: int | None, convert: Callable[[Any], Any]) -> NDArray[np.float64]:
    """Return X as float64 in C order; scikit-learn's checks are skipped if they are not needed."""
    if _is_plain(X, n_features):
        return _refuse_infinite(X, X)
    _refuse_dtypes(X, is_fit=False)
    return np.require(_to_float64(X, convert, is_fit=False), requirements=["C", "A"])


def _is_plain(X: Any, n_features: int | None) -> bool:
    """Tell whether X is an array with the right type and shape, which scikit-learn would return unchanged.

    Scikit-learn takes 50 microseconds for that, and the kernel predicts a row in 2.
    """
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == n_features
        and X.flags.c_contiguous
        and X.flags.aligned
    )


def _to_float64(X: Any, convert: Callable[[Any], Any], *, is_fit: bool) -> NDArray[np.float64]:
    """Return X as float64 without infinities; `convert` does scikit-learn's checks and conversion."""
    try:
        features = _converted(X, convert)
    except (TypeError, ValueError, OverflowError) as error:
        _refuse_unreadable(X, error, is_fit)
        features = _converted(_with_missing_objects(X, error), convert)
    return _refuse_infinite(X, features)


def _converted(X: Any, convert: Callable[[Any], Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # overflow gives an infinity, which is reported later
        features: NDArray[np.float64] = convert(X)
    return features


def _with_missing_objects(X: Any, error: Exception) -> Any:
    """Return X with NaN for pandas' NA among objects, which NumPy cannot convert; raise `error` if there is none."""
    objects = {index: cells(values) for index, name, values in _columns_to_read(X) if name == "object"}
    filled = {index: _with_nan(found) for index, found in objects.items() if any(map(is_missing, found))}
    if not filled:
        raise error
    return with_columns(X, filled)


def _with_nan(found: list[Any]) -> NDArray[Any]:
    filled = np.empty(len(found), dtype=object)
    filled[:] = [np.nan if is_missing(cell) else cell for cell in found]
    return filled


def _refuse_dtypes(X: Any, except_for: list[int] | None = None, is_fit: bool = True) -> None:
    for index, name in enumerate(dtype_names(X)):
        if is_frame(X) and index in (except_for or ()):
            continue
        for pattern, advice in _REFUSED_DTYPES.items():
            if re.match(pattern, name, re.IGNORECASE):
                to_do = advice if is_fit or _TO_FIT not in advice else _TO_PREDICT
                raise ValueError(f"Cannot cut values of dtype {name}, in {place(X, index)}. {to_do}.")


def _refuse_infinite(X: Any, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `features`, which X was converted to, if none is infinite; otherwise raise and name the first cell."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(features.sum()):
            return features
    if largest(features) < np.inf and smallest(features) > -np.inf:  # some are missing, or only the sum is infinite
        return features
    infinite = np.argwhere(np.isinf(features))
    if len(infinite) == 0:  # all are missing
        return features
    row, index = infinite[0].tolist()
    where = place(X, index, row) + (f", and in {len(infinite) - 1} other cells" if len(infinite) > 1 else "")
    problem = f"Infinite value ({features[row, index]}), or one too large for float64,"
    raise ValueError(f"{problem} in {where}. Replace it by a finite number or by NaN, or leave that row out.")


def _columns_to_read(X: Any) -> Iterator[tuple[int, str, Any]]:
    """Yield the index, the dtype's name and the values of the columns whose dtype does not ensure exact values."""
    for index, name in enumerate(column_dtypes(X)):
        if not _EXACT_DTYPES.fullmatch(name):
            yield index, name, column(X, index)


def _refuse_unreadable(X: Any, error: Exception, is_fit: bool) -> None:
    """Raise an error that names the first cell that is not a number, if there is one: it made the conversion fail."""
    for index, _, values in _columns_to_read(X):
        for row, cell in enumerate(cells(values)):
            try:
                float(0 if is_missing(cell) else cell)
            except (TypeError, ValueError, OverflowError) as reason:
                kind = TypeError if isinstance(reason, TypeError) else ValueError
                raise kind(_describe_unreadable(cell, reason, place(X, index, row), is_fit)) from error


def _describe_unreadable(cell: Any, reason: Exception, where: str, is_fit: bool) -> str:
    if isinstance(cell, bytes):
        return f"Text in {where}: {cell!r} is not a number. Decode bytes into text, e.g. with numpy.char.decode."
    if isinstance(cell, str):
        to_do = f"Encode text as numbers, drop the column, or {_TO_FIT}" if is_fit else _TO_PREDICT
        return f"Text in {where}: {cell!r} is not a number. {to_do}."
    to_do = f"{_DATES}." if isinstance(cell, _DATE_TYPES) else "Replace it by a number, or drop the column."
    return f"Cannot use what is in {where}: {reason}. {to_do}"


def _refuse_merged(X: Any, features: NDArray[np.float64]) -> None:
    """Refuse a column in which two different values became equal."""
    wide: bool | None = None
    for index, name, values in _columns_to_read(X):
        if re.match("u?int64", name, re.IGNORECASE):
            wide = is_wide(features) if wide is None else wide
            pair = _merged_integers(values, features[:, index]) if wide else None
        else:
            pair = _merged_cells(cells(values), features[:, index], place(X, index))
        if pair is not None:
            raise ValueError(
                f"{pair[0]!r} and {pair[1]!r} in {place(X, index)} differ, but not in float64, which the trees work "
                "with. Subtract an offset from the column, e.g. its smallest value, the same one for fit and predict; "
                "or drop the column if it only identifies the rows."
            )


def _merged_integers(values: Any, rounded: NDArray[np.float64]) -> tuple[Any, Any] | None:
    if not is_wide(rounded):
        return None
    distinct = np.unique(np.asarray(_present(values)))
    twins = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
    return (int(distinct[twins[0]]), int(distinct[twins[0] + 1])) if len(twins) else None


def _present(values: Any) -> Any:
    """Return a column of integers without its missing values, with which NumPy would convert it to floats."""
    if hasattr(values, "drop_nulls"):
        return values.drop_nulls()
    return values.dropna() if hasattr(values, "dropna") else values


def _merged_cells(found: list[Any], rounded: NDArray[np.float64], where: str) -> tuple[Any, Any] | None:
    kinds = set(map(type, found))
    if any(issubclass(kind, np.datetime64 | np.timedelta64) for kind in kinds):
        raise ValueError(f"Dates or times in {where}. {_DATES}.")
    if kinds <= {float, bool}:
        return None
    first: dict[float, Any] = {}
    for cell, number in zip(found, rounded.tolist(), strict=True):
        if math.isnan(number):
            continue
        exact = _exact(cell, number)
        if first.setdefault(number, exact) != exact:
            return first[number], exact
    return None


def _exact(cell: Any, number: float) -> Any:
    """Return the exact value of a cell, before rounding; text that is an integer counts as an integer."""
    if isinstance(cell, str | bytes):
        try:
            return int(cell)
        except ValueError:
            return number
    return cell.item() if isinstance(cell, np.generic) else cell
