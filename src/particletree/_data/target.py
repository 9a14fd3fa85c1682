"""The target: y becomes class labels or numbers to predict, or an error names the row.

**Class labels** become the sorted classes and the number of each row's class. They are integers, text, booleans, dates,
or floats that are whole numbers, all of one kind. A missing label and a fraction are errors. Very many classes with few
rows each are accepted with a warning: y looks like a regression target.

**Numbers** become a table of float64 with one column per target. They are integers, floats or booleans, all of them
finite. Text that reads as numbers, dates and missing values are errors that say what to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from particletree._data.row_errors import is_missing, refuse_first, refuse_masked
from particletree._model.target import Numbers
from particletree._user_warnings import warn_caller

_ONE_LABEL = "y should be a 1d array of one label for each row"

# More classes than the first, with fewer rows per class than the second on average, suggest numbers or identifiers.
_MANY_CLASSES, _FEW_ROWS_PER_CLASS = 20, 5
# More distinct whole numbers than this suggest a regression target, however many rows there are.
_MANY_NUMBERS = 100


def check_target(y: Any, n_rows: int) -> NDArray[Any]:
    """Return y as an array of labels, one per row."""
    refuse_masked(y, "y")
    labels = _as_column(y)
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(labels)} labels. Give one label for each row.")
    if labels.dtype.kind == "T":  # NumPy's texts of any length
        labels = labels.astype(object)
    if labels.dtype.kind == "O":
        labels = _check_objects(labels)
    if labels.dtype.kind in "fMm":
        refuse_first(np.isnan(labels), "Missing label (NaN) in y", "Leave that row out, or label it.")
    if labels.dtype.kind == "f":
        _refuse_fractions(labels)
        labels = _without_long_doubles(labels)
    if labels.dtype.kind == "S":
        raise TypeError("Unknown label type: bytes in y. Decode them into text, e.g. with np.char.decode(y).")
    return labels


def _as_column(y: Any) -> NDArray[Any]:
    """Return y as a one-dimensional array, without a change of type."""
    # NumPy first: scikit-learn converts pandas' nullable integers and booleans to floats, and so changes the classes.
    try:
        labels = np.asarray(y)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{_ONE_LABEL}, got lists of different lengths.") from error
    if labels.ndim != 1 and labels.shape[1:] != (1,):
        raise ValueError(
            f"{_ONE_LABEL}, got shape {labels.shape}. "
            "For several targets fit one classifier to each, e.g. with sklearn.multioutput.MultiOutputClassifier."
        )
    if isinstance(y, list | tuple) and labels.dtype.kind == "U":
        labels = np.array(y, dtype=object)  # NumPy has converted numbers among the text to text: undo that
    if labels.ndim != 1 or labels.dtype.kind not in "biu":  # one-dimensional integers need no check
        labels = column_or_1d(labels, warn=True)
    return labels


def _refuse_fractions(labels: NDArray[Any]) -> None:
    advice = "A classifier needs classes: use BayesianTreeRegressor for numbers, or cut y into ranges."
    refuse_first(np.isinf(labels), "Infinite label (inf) in y", advice)
    refuse_first(labels != np.floor(labels), "Unknown label type: continuous, a fraction in y", advice)


def _without_long_doubles(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels of more than 64 bits as float64, which files can store and which must hold them exactly."""
    if labels.dtype.itemsize <= np.dtype(np.float64).itemsize:
        return labels
    with np.errstate(over="ignore"):
        shorter = labels.astype(np.float64)
    refuse_first(shorter != labels, "A long double that is not a float64 in y", "Use integers or text as labels.")
    return shorter


def _check_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Check that labels of dtype object are all text, or all one kind of number."""
    cells = labels.tolist()
    kinds = set(map(type, cells))
    if all(issubclass(kind, str) for kind in kinds):
        if np.str_ not in kinds:
            return labels
        return np.array([str(cell) if type(cell) is np.str_ else cell for cell in cells], dtype=object)
    nested = np.array([isinstance(cell, list | tuple | np.ndarray) for cell in cells])
    refuse_first(nested, f"{_ONE_LABEL}, an integer, text, a boolean or a date; got several values", "Give one each.")
    missing = np.array([is_missing(cell) for cell in cells])
    refuse_first(missing, "Missing label (NaN) in y", "Leave that row out, or label it.")
    if len(kinds) == 1 and (numbers := np.array(cells)).dtype.kind in "biuf":
        return numbers
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    no_text = np.array([not isinstance(cell, str) for cell in cells])
    refuse_first(no_text, f"Unknown label type: y holds {names}; a label that is not a str", "Try y.astype(str).")
    return labels


def encode(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct labels, sorted, and the number of each row's label among them.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._data.target import encode
    >>> classes, numbers = encode(np.array(["yes", "no", "yes"]))
    >>> classes.tolist(), numbers.tolist()
    (['no', 'yes'], [1, 0, 1])
    """
    classes, numbers = _encode_integers(labels) or _encode_texts(labels) or np.unique(labels, return_inverse=True)
    _doubt_classes(labels, len(classes))
    return classes, numbers


def encode_where(counts: NDArray[np.bool_], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Encode the labels of the rows where `counts` is true; the others get the number 0, which is not used."""
    classes, numbers = encode(labels[counts])
    all_numbers = np.zeros(len(labels), dtype=numbers.dtype)
    all_numbers[counts] = numbers
    return classes, all_numbers


def _doubt_classes(labels: NDArray[Any], n_classes: int) -> None:
    """Warn if there are so many classes that y looks like a regression target or an identifier."""
    are_numbers = labels.dtype.kind in "iuf"
    are_few_rows = n_classes > _MANY_CLASSES and len(labels) < _FEW_ROWS_PER_CLASS * n_classes
    if not are_few_rows and not (are_numbers and n_classes > _MANY_NUMBERS):
        return
    few = f", fewer than {_FEW_ROWS_PER_CLASS} rows per class" if are_few_rows else ""
    advice = (
        "Is it a number to predict rather than a class? Then use BayesianTreeRegressor, or cut y into ranges."
        if are_numbers
        else "Predictions for so small classes say little: join some of them, or check that y is the target."
    )
    warn_caller(f"y has {n_classes} classes in {len(labels)} rows{few}. {advice}")


def _encode_integers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Encode integers by counting, if their range is small enough for a table; None if it is not."""
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
    """Encode texts with a dictionary, which is much faster than sorting if there are few distinct ones."""
    if labels.dtype.kind not in "OU":
        return None
    cells = labels.tolist()
    number_of = {label: number for number, label in enumerate(sorted(set(cells)))}
    numbers = np.fromiter(map(number_of.__getitem__, cells), dtype=np.intp, count=len(cells))
    return np.array(list(number_of), dtype=labels.dtype), numbers


# Numbers to predict; row columns are read in the same way.

_OR_CLASSES = ", or use BayesianTreeClassifier for classes."
_LEAVE_OUT = "Leave that row out, or fill the number in."
_LARGEST = 1e300  # differences of two such numbers are finite


def check_numbers_to_predict(
    y: Any, n_rows: int, weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], Numbers]:
    """Return y as float64, shape (n_rows, n_targets), and its `Numbers`; rows of weight 0 may hold anything.

    Examples
    --------
    >>> from particletree._data.target import check_numbers_to_predict
    >>> check_numbers_to_predict([1, 2.5], 2)
    (array([[1. ],
           [2.5]]), Numbers(n_targets=1, names=None))
    """
    refuse_masked(y, "y")
    given = as_array(y, "y")
    if given.ndim not in (1, 2) or given.shape[1:] == (0,):
        raise ValueError(
            f"y should be a 1d array of one number for each row, or a 2d array of several, got shape {given.shape}."
        )
    if len(given) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(given)}. Give a number to predict for each row.")
    numbers = to_float64(given, "y").reshape(n_rows, -1)
    if weights is not None:
        numbers[weights == 0] = 0.0
    refuse_first(np.isnan(numbers).any(axis=1), "Missing number (NaN) in y", _LEAVE_OUT)
    refuse_first(np.isinf(numbers).any(axis=1), "Infinite number (inf) in y", _LEAVE_OUT)
    too_large = (np.abs(numbers) > _LARGEST).any(axis=1)
    refuse_first(too_large, f"A number beyond {_LARGEST:g} in y", "Divide y by a constant.")
    return numbers, Numbers(numbers.shape[1], _names(y, numbers.shape[1]))


def to_float64(given: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return an array of numbers as float64, missing ones as nan; anything else is an error that names the row."""
    if given.dtype.kind == "O":
        return _objects_to_float64(given, name)
    if given.dtype.kind not in "biuf":
        raise _no_numbers(given.dtype.kind, name, f"dtype {given.dtype}")
    with np.errstate(over="ignore"):  # a long double beyond the range becomes infinite, and is refused as such
        return np.array(given, dtype=np.float64, order="C")


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return values as an array; rows given as lists must all have the same length."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"The rows of {name} differ in length. Give as many numbers for each.") from error


def _objects_to_float64(given: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert cell by cell, so that the error can name the first cell that is not a number."""
    numbers = np.empty(given.size)
    for place, cell in enumerate(given.ravel()):
        if is_missing(cell):
            numbers[place] = np.nan
            continue
        try:
            if isinstance(cell, str | bytes):
                raise TypeError
            numbers[place] = float(cell)
        except (TypeError, ValueError, OverflowError) as error:
            row = place // max(1, given[0].size if given.ndim > 1 else 1)
            kind = "U" if isinstance(cell, str) else type(cell).__name__
            raise _no_numbers(kind, name, f"{cell!r} in row {row}, counted from 0") from error
    return numbers.reshape(given.shape)


def _no_numbers(kind: str, name: str, where: str) -> ValueError:
    what = {"U": "text", "T": "text", "S": "bytes", "M": "dates", "m": "durations", "c": "complex numbers"}
    advice = {
        "text": f"Convert it, e.g. with {name}.astype(float)" + (_OR_CLASSES if name == "y" else "."),
        "dates": f"Subtract a date and divide by a unit, e.g. ({name} - {name}.min()) / np.timedelta64(1, 'D').",
        "durations": f"Divide by a unit, e.g. {name} / np.timedelta64(1, 's').",
    }
    found = what.get(kind, kind)
    to_do = advice.get(found, "Give one finite number for each row.")
    purpose = " to predict" if name == "y" else ""
    return ValueError(f"{name} must hold numbers{purpose}, got {found} ({where}). {to_do}")


def _names(y: Any, n_targets: int) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame, or of a series, if they are distinct strings."""
    columns = getattr(y, "columns", None)
    names = [getattr(y, "name", None)] if columns is None else list(columns)
    are_texts = all(isinstance(name, str) and name for name in names)
    if len(names) != n_targets or not are_texts or len(set(names)) != n_targets:
        return None
    return tuple(str(name) for name in names)
