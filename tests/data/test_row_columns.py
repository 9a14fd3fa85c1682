"""A row column is one number for each row that the leaf model allows; anything else is refused with its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyRegressor

from particletree import SMC, BayesianTreeRegressor, Gaussian, Poisson, TreePrior
from particletree._data import TrainingData, check_regression_data, make_regression_data
from particletree._data.row_columns import check_observed_columns, check_row_columns, checked_new_columns
from particletree._model.row_columns import RowColumn

X, Y = [[0.0], [1.0]], [3, 0]

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "float32": np.float32,
    "every other": lambda e: np.repeat(e, 2)[::2],
    "objects": lambda e: np.array(e, dtype=object),
    "unmasked": np.ma.array,
    "pandas": pd.Series,
    "pandas nullable": lambda e: pd.Series(e, dtype="Float64"),
    "polars": pl.Series,
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_comes_in_any_container(container: Any) -> None:
    for data in (
        check_regression_data(DummyRegressor(), X, Y, exposure=container([0.25, 3.0])),
        make_regression_data(X, Y, exposure=container([0.25, 3.0])),
    ):
        exposure = data.observations.row_columns["exposure"]
        assert exposure.tolist() == [0.25, 3.0]
        assert exposure.dtype == np.float64
        assert exposure.flags.c_contiguous


def test_integers_and_extremes_are_positive_numbers() -> None:
    for given in ([1, 2], [5e-324, 1.7e308]):
        exposure = make_regression_data(X, Y, exposure=given).observations.row_columns["exposure"]
        assert exposure.tolist() == given


def test_none_is_none() -> None:
    assert make_regression_data(X, Y).observations.row_columns == {}
    assert make_regression_data(X, Y, exposure=None).observations.row_columns == {}


def test_rows_of_weight_zero_lose_their_exposure_too() -> None:
    data = make_regression_data([[3.0], [1.0], [2.0]], [5, 6, 7], weights=[2, 0, 1], exposure=[0.5, 9.0, 1.5])
    assert data.observations.row_columns["exposure"].tolist() == [0.5, 1.5]
    assert data.observations.values.tolist() == [[5.0], [7.0]]


def test_what_was_given_is_left_as_it_was() -> None:
    given = np.array([0.5, 2.0])
    data = make_regression_data(X, Y, weights=[0, 1], exposure=given)
    assert given.tolist() == [0.5, 2.0]
    assert not np.shares_memory(data.observations.row_columns["exposure"], given)


ADVICE = "(counted from 0). Exposure says how long, or over how many, a row's count was taken: positive and finite."
BAD = {
    "zero": ([1.0, 0.0], f"Exposure that is not positive in row 1 {ADVICE}"),
    "minus zero": ([-0.0, 1.0], "Exposure that is not positive in row 0"),
    "negative": ([1.0, -2.0], f"Exposure that is not positive in row 1 {ADVICE}"),
    "false": ([True, False], "Exposure that is not positive in row 1"),
    "NaN": ([1.0, np.nan], f"Exposure that is NaN or inf in row 1 {ADVICE}"),
    "None": ([1.0, None], "Exposure that is NaN or inf in row 1"),
    "NA": (pd.Series([1.0, None], dtype="Float64"), "Exposure that is NaN or inf in row 1"),
    "null": (pl.Series([1.0, None]), "Exposure that is NaN or inf in row 1"),
    "inf": ([np.inf, 1.0], f"Exposure that is NaN or inf in row 0 {ADVICE}"),
    "-inf": ([1.0, -np.inf], "Exposure that is NaN or inf in row 1"),
    "masked": (np.ma.array([1.0, 1.0], mask=[0, 1]), "Missing value (NaN) in exposure: masked at index [1]"),
    "text": (["a", "b"], "exposure must hold numbers, got text (dtype <U1). Convert it, e.g. with"),
    "NA in a list": ([1.0, pd.NA], "Exposure that is NaN or inf in row 1"),
    "complex": ([1j, 1.0], "exposure must hold numbers, got complex numbers (dtype complex128)"),
    "ragged": ([1.0, [2.0]], "The rows of exposure differ in length"),
    "dates": (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "exposure must hold numbers, got dates"),
    "numbers as text": (["1", "2"], "exposure must hold numbers, got text"),
    "too few": ([1.0], "exposure must have shape (2,), one number for each row, got (1,)"),
    "too many": ([1.0, 1.0, 1.0], "exposure must have shape (2,), one number for each row, got (3,)"),
    "a column": ([[1.0], [1.0]], "exposure must have shape (2,), one number for each row, got (2, 1)"),
    "one number": (2.0, "exposure must have shape (2,), one number for each row, got ()"),
}


@pytest.mark.parametrize(("exposure", "part"), BAD.values(), ids=BAD.keys())
def test_what_is_no_exposure_is_refused_with_its_row(exposure: Any, part: str) -> None:
    for read in (
        lambda: check_regression_data(DummyRegressor(), X, Y, exposure=exposure),
        lambda: make_regression_data(X, Y, exposure=exposure),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is compared below)
            check_observed_columns(Poisson(), read().observations)
        assert part in str(caught.value)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        checked_new_columns(Poisson(), {"exposure": exposure}, 2)
    assert part in str(caught.value)


def of_five(**columns: Any) -> TrainingData:
    """Return five rows, of which the caller's rows 1, 3 and 4 are left."""
    return make_regression_data(np.arange(5.0)[:, None], np.ones(5), [0, 1, 0, 1, 2], **columns)


@pytest.mark.parametrize("row", [1, 3, 4])
@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_rows_are_called_by_the_number_that_the_caller_gave_them(row: int, bad: float) -> None:
    exposure = np.array([np.nan, 1.0, -1.0, 1.0, 1.0])  # rows of weight 0 may hold anything
    SMC(n_islands=1).run(of_five(exposure=exposure), TreePrior.paper(), Poisson(), seed=np.random.SeedSequence(0))
    exposure[row] = bad
    with pytest.raises(ValueError, match=rf"Exposure that .* in row {row} \(counted from 0\)"):
        check_observed_columns(Poisson(), of_five(exposure=exposure).observations)
    with pytest.raises(ValueError, match=rf"in row {row} \(counted from 0\)"):
        BayesianTreeRegressor(leaf=Poisson()).fit(
            [[None], [1.0], [0.0], [None], [3.0]], np.ones(5), [0, 1, 0, 1, 2], exposure=exposure
        )


class PoissonOfEvents(Poisson):
    """A leaf model with a column that fits need, and that observations to come do not have."""

    declared_columns = (
        *Poisson.declared_columns,
        RowColumn("event", "whether something happened: 0 or 1", lambda e: (e != 0) & (e != 1), "is neither 0 nor 1"),
    )


def test_columns_without_a_default_must_be_given() -> None:
    leaf = PoissonOfEvents()
    with pytest.raises(ValueError, match=r"needs event, which says whether something happened.*pass event=\.\.\."):
        check_observed_columns(leaf, of_five().observations)
    check_observed_columns(leaf, of_five(event=[0, 1, 7, 0, 1]).observations)
    with pytest.raises(ValueError, match=r"Event that is neither 0 nor 1 in row 3 .* Event says whether something"):
        check_observed_columns(leaf, of_five(event=[0, 1, 7, 2, 1]).observations)


def test_observations_to_come_have_the_columns_that_they_depend_on() -> None:
    leaf = PoissonOfEvents()
    assert checked_new_columns(leaf, {"exposure": [2.0, 3.0], "event": None}, 2)["exposure"].tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="event has no meaning for observations that are still to come; leave it out"):
        checked_new_columns(leaf, {"event": [0, 1]}, 2)


def test_leaf_models_without_the_column_name_one_that_has_it() -> None:
    with pytest.raises(ValueError, match=r"^Gaussian has no use for exposure; leave it out, or fit with leaf=Poisson"):
        check_row_columns(Gaussian(), {"exposure": np.ones(2)})
    with pytest.raises(TypeError, match=r"^exposre_test is neither an argument nor a row column that Poisson declares"):
        check_row_columns(Poisson(), {"exposre": np.ones(2)}, suffix="_test")


def test_a_column_of_rows_to_come_has_a_default() -> None:
    with pytest.raises(ValueError, match="The row column 'dose' needs a default"):
        RowColumn("dose", "how much was given", lambda dose: dose < 0, "is negative", of_new_rows=True)
