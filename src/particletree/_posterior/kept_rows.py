"""The kept rows: rows of the training data, at most 1,000, that a posterior carries to compare trees and runs at.

They are pickled and saved with the posterior, unless `without_rows()` or `save(path, keep_rows=False)` leaves them out.
Their values are numbers, nan for missing ones, and the numbers of levels. Each has its number in the table that was
fitted, because rows are sorted by label before they are kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_ROWS = (
    "This posterior has kept no rows of its training data: pass X, the rows of the training data, as in "
    "posterior.consensus_tree(X), posterior.convergence(X) or posterior.explain(x, X=X)."
)


def required(kept_rows: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the kept rows; a `ValueError` says what to do if there are none."""
    if kept_rows is None:
        raise ValueError(NO_ROWS)
    return kept_rows
