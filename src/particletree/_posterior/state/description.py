"""The kept rows: rows of the training data, at most 1,000, that a posterior carries to compare trees and runs at.

They are pickled and saved with the posterior, unless `without_rows()` or `save(path, keep_rows=False)` leaves them out.
Their values are numbers, nan for missing ones, and the numbers of levels. Each has its number in the table that was
fitted, because rows are sorted by label before they are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior
    from particletree._posterior.posterior import Posterior

NO_ROWS = (
    "This posterior has kept no rows of its training data: pass X, the rows of the training data, as in "
    "posterior.consensus_tree(X), posterior.convergence(X) or posterior.explain(x, X=X)."
)
ROW_LAYOUTS: dict[str, tuple[Any, int]] = {"kept_rows": ("<f8", 2), "kept_row_numbers": ("<i8", 1)}  # in files


def kept_rows_of(posterior: Posterior | BARTPosterior) -> NDArray[np.float64]:
    """Return the kept rows; a `ValueError` says what to do if there are none."""
    if posterior.kept_rows is None:
        raise ValueError(NO_ROWS)
    return posterior.kept_rows


def row_arrays(posterior: Posterior | BARTPosterior) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that hold the kept rows; none if there are no rows."""
    rows, numbers = posterior.kept_rows, posterior.kept_row_numbers
    if rows is None:
        return {}
    return {"kept_rows": rows, "kept_row_numbers": np.arange(len(rows)) if numbers is None else numbers}


def check_kept_rows(posterior: Posterior | BARTPosterior) -> None:
    """Check that the kept rows are rows of the posterior's features, and that each has a number of its own."""
    rows, numbers = posterior.kept_rows, posterior.kept_row_numbers
    if rows is None:
        _require(numbers is None, "there must be no numbers of kept rows without the rows")
        return
    is_table = rows.ndim == 2 and len(rows) > 0 and rows.shape[1] == posterior.n_features
    _require(is_table, f"kept_rows must have at least one row, with {posterior.n_features} values")
    _require(not np.isinf(rows).any(), "the values of kept_rows must be finite, or nan where one is missing")
    for feature, levels in posterior.columns.levels.items():
        column = rows[:, feature]
        valid = (column >= 0) & (column <= len(levels)) & (column == np.floor(column))  # nan is not
        _require(bool(valid.all()), "kept_rows must have the number of a level for each categorical feature")
    if numbers is not None:
        valid = numbers.shape == (len(rows),) and bool((numbers >= 0).all()) and np.unique(numbers).size == len(rows)
        _require(valid, "kept_row_numbers must have a number of at least 0 for each kept row, none of them twice")


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Not a valid posterior: {rule}.")
