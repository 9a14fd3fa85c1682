"""What is known of a row besides its features and targets: columns that a leaf model declares.

The number of events of a row may have been counted over an exposure; a time may be censored. A leaf model declares each
such column as a :class:`RowColumn`, and it alone knows what the numbers mean. Checks, fingerprints, the kernel,
predictions, reports and the command line pass on :data:`RowColumns`, arrays by the names of their columns, and have no
word for any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RowColumns: TypeAlias = Mapping[str, Floats]  # one number for each row

NO_COLUMNS: RowColumns = {}


@dataclass(frozen=True)
class RowColumn:
    """A column of numbers that a leaf model can use: its name, what it means, and which values it may have.

    Attributes
    ----------
    name : str
        The name, by which `fit`, the command line and the kernel's part of the leaf model call it.
    meaning : str
        What it says of a row, for messages: "Exposure says" is before it.
    is_wrong : callable
        Tells which of some finite numbers are not allowed.
    problem : str
        What these are, for messages: "Exposure that" is before it.
    default : float or None, default None
        The number of every row where the column is not given; None means that fits need the column.
    of_new_rows : bool, default False
        Whether an observation that is still to come depends on it, as a count does on its exposure. Otherwise the
        column describes observations that were made, such as whether a time was censored.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.extending import RowColumn
    >>> event = RowColumn("event", "whether it happened: 0 or 1", lambda e: (e != 0) & (e != 1), "is neither 0 nor 1")
    >>> event.values({"event": np.array([0.0, 1.0])})
    array([0., 1.])
    """

    name: str
    meaning: str
    is_wrong: Callable[[Floats], NDArray[np.bool_]]
    problem: str
    default: float | None = None
    of_new_rows: bool = False

    def __post_init__(self) -> None:
        if self.of_new_rows and self.default is None:
            raise ValueError(f"The row column {self.name!r} needs a default, for predictions of rows without it.")

    def values(self, columns: RowColumns) -> Floats:
        """Return the numbers of the rows, or the default of all of them, which broadcasts."""
        if self.name not in columns and self.default is None:
            raise ValueError(f"The column {self.name!r} of the rows is missing: {self.meaning}.")
        return np.asarray(columns.get(self.name, self.default), dtype=np.float64)


def select_rows(columns: RowColumns, rows: Any) -> dict[str, Floats]:
    """Return the columns at some rows: a slice, a mask or indices.

    Examples
    --------
    >>> import numpy as np
    >>> select_rows({"exposure": np.array([0.5, 2.0, 1.0])}, slice(1, None))
    {'exposure': array([2., 1.])}
    """
    return {name: values[rows] for name, values in columns.items()}
