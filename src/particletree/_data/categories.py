"""Categories: a column is encoded as its levels and, for each row, the number of its level.

L levels have the numbers 0 to L - 1; a missing value has the number L and, at prediction, a level that the training
data did not have L + 1. A level is text, a boolean or a number; other categories of pandas, such as intervals and
dates, become text. Values that are equal in Python, such as 1, 1.0 and True, are one level.

Levels keep the order of the column's categories if it has one (pandas' category, polars' Enum); otherwise they are
sorted, numbers before text. For speed, NumPy, pandas or polars find the distinct values, and only these are converted.

Which columns are categorical is said by the parameter `categorical_features`:

"from_dtype"    columns of frames that are categories, text or booleans; columns of arrays of objects with text in them,
                or with booleans alone; columns of arrays of text in which some text is not a number
a mask, indices or names, as in scikit-learn
None            no column
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.containers import cells, column, column_dtypes, is_frame, is_table
from particletree._data.row_errors import is_missing
from particletree._model.columns import Level

Place = Callable[[int], str]  # describes the location of a row's cell, for error messages
FROM_DTYPE = "from_dtype"
_CATEGORICAL = re.compile(r"(?i)(categor|enum|dictionary|str(?!uct)|large_string|utf8|bool)")
_WAYS = '"from_dtype", None, or a list of names, indices or booleans (a mask)'
_SHOWN_AS_TEXT = ("Interval", "Period")  # types of pandas, by name because pandas need not be installed


def categorical_columns(X: Any, categorical_features: Any) -> list[int]:
    """Return the indices of the categorical columns, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._data.categories import categorical_columns
    >>> X = np.array([["red", 1.5], [None, 2.5]], dtype=object)
    >>> categorical_columns(X, "from_dtype"), categorical_columns(X, [False, True])
    ([0], [1])
    """
    if categorical_features is None or not is_table(X):
        return []
    if not isinstance(categorical_features, str):
        return _listed(X, categorical_features)
    if categorical_features != FROM_DTYPE:
        raise ValueError(f"categorical_features must be {_WAYS}, got {categorical_features!r}.")
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OUT":
        return []
    found = []
    for index, dtype in enumerate(column_dtypes(X)):
        if dtype.lower() == "object":
            is_categorical = _are_levels(cells(column(X, index)))
        elif isinstance(X, np.ndarray):
            is_categorical = not _read_as_numbers(X[:, index])
        else:
            is_categorical = _CATEGORICAL.match(dtype) is not None
        if is_categorical:
            found.append(index)
    return found


def _are_levels(objects: list[Any]) -> bool:
    """Tell whether objects contain text, or only booleans."""
    kinds = set(map(type, objects))
    if any(issubclass(kind, str) for kind in kinds):
        return True
    if not kinds & {bool, np.bool_}:
        return False
    return all(isinstance(cell, bool | np.bool_) or is_missing(cell) for cell in objects)


def _read_as_numbers(texts: NDArray[Any]) -> bool:
    """Tell whether each text is a number: NumPy may have converted a mixture of numbers and text to text."""
    try:
        texts.astype(np.float64)
    except ValueError:
        return False
    return True


def _listed(X: Any, categorical_features: Any) -> list[int]:
    """Return the indices of the columns in a list: a mask, indices or names."""
    given, n_features = np.asarray(categorical_features), X.shape[1]
    if given.size == 0:
        return []
    if given.ndim == 1 and given.dtype.kind == "b":
        if len(given) != n_features:
            raise ValueError(
                f"categorical_features is a mask of {len(given)} booleans, but X has {n_features} features. Give one "
                "each."
            )
        return [int(index) for index in np.flatnonzero(given)]
    if given.ndim == 1 and given.dtype.kind in "iu":
        outside = given[(given < 0) | (given >= n_features)]
        if outside.size:
            raise ValueError(
                f"categorical_features holds the index {outside[0]}, but the features go from 0 to {n_features - 1}."
            )
        return sorted({int(index) for index in given})
    if given.ndim != 1 or not all(isinstance(name, str) for name in given.tolist()):
        raise TypeError(f"categorical_features must be {_WAYS}, got {categorical_features!r}.")
    if not is_frame(X):
        raise ValueError(
            "categorical_features holds names, but X has none. Pass a data frame, or give the indices of the columns."
        )
    known, names = list(X.columns), given.tolist()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"categorical_features holds {unknown[0]!r}, but the columns of X are {known}.")
    return [index for index, name in enumerate(known) if name in names]


@dataclass(frozen=True)
class Distinct:
    """The distinct values of a column, some of them perhaps missing, and the index of each row's value."""

    values: list[Any]
    places: NDArray[np.intp]  # of each row, -1 for a missing value
    is_ordered: bool = False


def learn_levels(values: Any, place: Place) -> tuple[tuple[Level, ...], NDArray[np.float64]]:
    """Return the levels of a column, and the number of each row's level.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._data.categories import learn_levels
    >>> levels, numbers = learn_levels(np.array(["red", "blue", None], dtype=object), lambda row: f"row {row}")
    >>> levels, numbers.tolist()
    (('blue', 'red'), [1.0, 0.0, 2.0])
    """
    distinct = find_distinct(values, place)
    plain = _plain_values(distinct, place)
    found = dict.fromkeys(value for value in plain if value is not None)
    levels = (
        tuple(found) if distinct.is_ordered else tuple(sorted(found, key=lambda level: (isinstance(level, str), level)))
    )
    return levels, _number(levels, plain, distinct.places)


def encode_levels(values: Any, levels: tuple[Level, ...], place: Place) -> NDArray[np.float64]:
    """Return the number of each row's level among the levels of the training data."""
    distinct = find_distinct(values, place)
    plain = _plain_values(distinct, place)
    _refuse_other_kind(plain, levels, distinct, place)
    return _number(levels, plain, distinct.places)


def keep_levels(
    levels: tuple[Level, ...], numbers: NDArray[np.float64], rows: NDArray[np.intp]
) -> tuple[tuple[Level, ...], NDArray[np.float64]]:
    """Drop the levels that do not occur in these rows; other rows with a dropped level become missing."""
    n = len(levels)
    occurs = np.bincount(numbers[rows].astype(np.intp), minlength=n + 1)[:n] > 0
    if occurs.all():
        return levels, numbers
    kept = tuple(level for level, is_kept in zip(levels, occurs.tolist(), strict=True) if is_kept)
    new_numbers = np.append(np.where(occurs, np.cumsum(occurs) - 1, len(kept)), len(kept)).astype(np.float64)
    return kept, new_numbers[numbers.astype(np.intp)]


def texts_among_numbers(levels: Collection[Level]) -> list[Level]:
    """Return the few levels that are not numbers where nearly all are, perhaps written as text; else none.

    Nearly all are numbers if there are at least five of them for each that is not.

    Examples
    --------
    >>> from particletree._data.categories import texts_among_numbers
    >>> texts_among_numbers(["1", "1.5", "2", "2.5", "3", "?"]), texts_among_numbers(["1", "2", "many"])
    (['?'], [])
    """
    others: list[Level] = []
    for level in levels:
        if not _is_number(level):
            others.append(level)
        if 6 * len(others) > len(levels):
            return []
    return others


def _is_number(level: Level) -> bool:
    try:
        return not isinstance(level, bool) and math.isfinite(float(level))
    except ValueError:
        return False


def find_distinct(values: Any, place: Place) -> Distinct:
    """Return the distinct values of a series of pandas or polars, or of an array."""
    try:
        if hasattr(values, "factorize"):
            return _distinct_in_pandas(values)
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            distinct, places = np.unique(values, return_inverse=True)
            return Distinct(distinct.tolist(), places)
        return _distinct_in_cells(values)
    except TypeError as error:
        for row, cell in enumerate(cells(values)):
            _refuse_unhashable(cell, place(row), error)
        raise


def _distinct_in_pandas(series: Any) -> Distinct:
    if str(series.dtype) == "category":
        return Distinct(series.cat.categories.tolist(), series.cat.codes.to_numpy(np.intp), is_ordered=True)
    places, values = series.factorize()
    return Distinct(values.tolist(), np.asarray(places, dtype=np.intp))


def _distinct_in_cells(values: Any) -> Distinct:
    """Find the distinct values with a dictionary, for arrays of objects and series of polars."""
    order = getattr(values.dtype, "categories", None) if str(values.dtype).startswith("Enum") else None
    found = cells(values)
    distinct = list(dict.fromkeys(found)) if order is None else [*order, None]
    place_of = {value: place for place, value in enumerate(distinct)}
    places = np.fromiter(map(place_of.__getitem__, found), dtype=np.intp, count=len(found))
    return Distinct(distinct, places, is_ordered=order is not None)


def _number(levels: tuple[Level, ...], plain: list[Level | None], places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the number of the level at each place; the place -1 stands for a missing value."""
    missing, unseen = len(levels), len(levels) + 1
    number_of: Mapping[Level, int] = {level: number for number, level in enumerate(levels)}
    numbers = [missing if value is None else number_of.get(value, unseen) for value in plain]
    return np.array([*numbers, missing], dtype=np.float64)[places]


def _plain_values(distinct: Distinct, place: Place) -> list[Level | None]:
    """Return each distinct value as a level, None for a missing one; an error names the first row with another."""
    plain: list[Level | None] = []
    for number, value in enumerate(distinct.values):
        try:
            plain.append(None if is_missing(value) else plain_level(value))
        except (TypeError, ValueError) as error:
            rows = np.flatnonzero(distinct.places == number)
            if len(rows):
                raise type(error)(f"{error.args[0]} in {place(int(rows[0]))}. {error.args[1]}") from None
            plain.append(None)  # a category that occurs in no row
    return plain


def plain_level(value: Any) -> Level:
    """Return a level as text, a boolean or a number of Python; the arguments of its errors are problem and advice."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real | Decimal):
        if math.isinf(float(value)):
            advice = "Replace it by a finite number or by text, or leave the row out."
            raise ValueError(f"Infinite value ({float(value)})", advice)
        return float(value) + 0.0  # -0.0 becomes 0.0, to which it is equal
    if isinstance(value, datetime.date) or type(value).__name__ in _SHOWN_AS_TEXT:
        return str(value)
    if isinstance(value, bytes):
        raise TypeError(f"Bytes ({value!r})", "Decode them into text, e.g. with numpy.char.decode.")
    raise TypeError(*_no_level(value))


def _no_level(value: Any) -> tuple[str, str]:
    problem = f"A value of type {type(value).__name__} ({value!r}) that is not a level"
    return problem, "Levels of a categorical column are text, numbers or booleans: convert it, or drop the column."


def _refuse_unhashable(cell: Any, place: str, error: TypeError) -> None:
    try:
        hash(cell)
    except TypeError:
        problem, advice = _no_level(cell)
        raise TypeError(f"{problem} in {place}. {advice}") from error


def _refuse_other_kind(plain: list[Level | None], levels: tuple[Level, ...], distinct: Distinct, place: Place) -> None:
    """Refuse text if all levels are numbers, and numbers if all are text: neither can match a level."""
    kinds = {isinstance(level, str) for level in levels}
    if len(kinds) != 1:
        return
    was_text = kinds.pop()
    for number, value in enumerate(plain):
        if value is None or isinstance(value, str) == was_text:
            continue
        rows = np.flatnonzero(distinct.places == number)
        if len(rows):
            raise ValueError(_describe_other_kind(value, levels, place(int(rows[0]))))


def _describe_other_kind(value: Level, levels: tuple[Level, ...], place: str) -> str:
    found, was = ("Text", "numbers") if isinstance(value, str) else ("A number", "text")
    like = "astype(float)" if was == "numbers" else "astype(str)"
    return (
        f"{found} in {place}: {value!r}, where the training data held {was}, such as {levels[0]!r}. Convert the column "
        f"as it was for fit, e.g. with {like}."
    )
