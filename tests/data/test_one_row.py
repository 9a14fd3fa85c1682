"""One row in all that it may come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from particletree._data.containers import as_one_row_table

NAMES = ["width", "colour"]


@pytest.mark.parametrize(
    "row",
    [
        {"colour": "red", "width": 2.5},
        pd.Series({"colour": "red", "width": 2.5}),
        pd.Series([2.5, "red"]),
        [2.5, "red"],
        (2.5, "red"),
        [[2.5, "red"]],
        np.array([2.5, "red"], dtype=object),
        np.array([[2.5, "red"]], dtype=object),
        pl.DataFrame({"width": [2.5], "colour": ["red"]}).row(0, named=True),
    ],
    ids=lambda row: type(row).__name__,
)
def test_values_stand_in_the_order_of_the_features(row):
    assert as_one_row_table(row, 2, NAMES).tolist() == [[2.5, "red"]]


@pytest.mark.parametrize("frame", [pd.DataFrame({"width": [2.5]}), pl.DataFrame({"width": [2.5]})])
def test_frames_stay_as_they_are(frame):
    assert as_one_row_table(frame, 2, NAMES) is frame  # the checks of tables look at its columns


def test_numbers_stay_numbers():
    table = as_one_row_table(np.array([1.0, 2.0]), 2, None)
    assert (table.shape, table.dtype) == ((1, 2), np.float64)


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.zeros((3, 2)), pd.DataFrame({"width": []}), [[1, 2], [3, 4]]])
def test_several_rows_and_none_are_refused(rows):
    with pytest.raises(ValueError, match=r"One row is explained at a time, got \d rows: pass one of them"):
        as_one_row_table(rows, 2, None)


@pytest.mark.parametrize("row", [[], [1.0], np.zeros(3), np.zeros((1, 3)), ""])
def test_wrong_numbers_of_values_are_refused(row):
    with pytest.raises(ValueError, match=r"The row has \d values, but the posterior was fitted to 2 features"):
        as_one_row_table(row, 2, None)


@pytest.mark.parametrize("row", [None, 7])
def test_what_is_no_row_is_refused(row):
    with pytest.raises(TypeError, match="A row is a list"):
        as_one_row_table(row, 2, None)
