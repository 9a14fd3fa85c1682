"""Fingerprints: the same for the same data in any form, and another, with the right words, for any other data."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.typing import NDArray

from particletree import MCMC, SMC, BayesianTreeClassifier, Exact
from particletree._data import DataFingerprint, make_training_data

X = np.random.default_rng(0).integers(-4, 9, size=(40, 3)) / 4.0  # exact in float32
Y = np.random.default_rng(1).integers(0, 2, size=40)
WEIGHTS = np.random.default_rng(2).integers(1, 4, size=40) / 2.0


def fingerprint(X: Any = X, y: Any = Y, weights: Any = None) -> DataFingerprint:
    return make_training_data(X, y, 2, weights).fingerprint


def with_cell(value: float) -> NDArray[np.float64]:
    changed = X.copy()
    changed[7, 1] = value
    return changed


class TestTheSameData:
    @pytest.mark.parametrize(
        "form",
        [np.asfortranarray, np.float32, lambda x: np.repeat(x, 2, axis=0)[::2], np.ndarray.tolist, lambda x: x + -0.0],
    )
    def test_in_any_form(self, form: Callable[[Any], Any]) -> None:
        assert fingerprint(form(X)) == fingerprint()

    def test_in_a_data_frame(self) -> None:
        pandas = pytest.importorskip("pandas")
        assert fingerprint(pandas.DataFrame(X, columns=["a", "b", "c"])) == fingerprint()

    def test_minus_zero_is_zero(self) -> None:
        assert fingerprint(np.where(X == 0, -0.0, X)) == fingerprint()

    def test_with_weights_of_one_and_rows_of_weight_zero(self) -> None:
        assert fingerprint(weights=np.ones(40)) == fingerprint()
        more, labels = np.concatenate([X, [[9.0, 9.0, 9.0]]]), np.append(Y, 0)
        assert fingerprint(more, labels, [1.0] * 40 + [0.0]) == fingerprint()

    @pytest.mark.parametrize(
        "sampler", [SMC.paper(n_particles=5), MCMC(n_iterations=20), MCMC(n_iterations=9, initial="smc")]
    )
    def test_whatever_samples_and_wherever(self, sampler: SMC | MCMC) -> None:
        model = BayesianTreeClassifier(sampler=sampler)
        assert model.fit(X, Y).posterior_.fingerprint == fingerprint()
        with joblib.parallel_config(backend="loky", n_jobs=2):
            assert model.fit(X, Y).posterior_.fingerprint == fingerprint()

    def test_exact(self) -> None:
        few = make_training_data(X[:8], Y[:8], 2)
        model = BayesianTreeClassifier(sampler=Exact(n_draws=3)).fit(X[:8], Y[:8])
        assert model.posterior_.fingerprint == model.posterior_.draws().fingerprint == few.fingerprint


class TestOtherData:
    @pytest.mark.parametrize(
        ("other", "difference"),
        [
            (fingerprint(X[:39], Y[:39]), r"^the number of rows \(40 and 39\)"),
            (fingerprint(with_cell(77.0)), r"^the values of the feature x\[1\]$"),
            (fingerprint(with_cell(float(np.nextafter(X[7, 1], 9)))), r"^the values of the feature x\[1\]$"),
            (fingerprint(2 * X), r"^the values of the features x\[0\], x\[1\] and x\[2\]$"),
            (fingerprint(y=np.append(1 - Y[0], Y[1:])), "^the target$"),
            (fingerprint(y=np.roll(Y, 1)), "^the rows .which values and which target stand together, or the order"),
            (fingerprint(X[::-1], Y[::-1]), "^the rows .*or the order of the rows.$"),
            (fingerprint(np.column_stack([X[:, :2], np.roll(X[:, 2], 1)])), "^the rows"),
            (fingerprint(weights=WEIGHTS), "^the weights of the rows$"),
        ],
    )
    def test_the_words_say_what_differs(self, other: DataFingerprint, difference: str) -> None:
        assert re.search(difference, fingerprint().difference(other) or "nothing")

    def test_nothing_differs(self) -> None:
        assert fingerprint().difference(fingerprint()) is None

    def test_features_by_name(self) -> None:
        names = ["a", "b\n", "c"]
        assert fingerprint().difference(fingerprint(with_cell(77.0)), names) == r"the values of the feature 'b\n'"

    def test_of_many_features_a_few_are_named(self) -> None:
        wide = np.tile(X, 4)
        found = fingerprint(wide).difference(fingerprint(2 * wide))
        assert found == "the values of the features x[0], x[1], x[2] and 9 more"

    def test_other_weights(self) -> None:
        found = fingerprint(weights=WEIGHTS).difference(fingerprint(weights=2 * WEIGHTS))
        assert found == "the weights of the rows"


class TestCheck:
    def test_of_real_ones(self) -> None:
        fingerprint().check(3)
        fingerprint(weights=WEIGHTS).check(3)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_rows": 0}, "n_rows of a fingerprint must be an integer"),
            ({"n_rows": 2**32}, "n_rows of a fingerprint must be an integer"),
            ({"n_rows": 40.0}, "n_rows of a fingerprint must be an integer"),
            ({"n_rows": True}, "n_rows of a fingerprint must be an integer"),
            ({"values": "0" * 32}, "values of a fingerprint must be 48 hexadecimal digits"),
            ({"values": None}, "values of a fingerprint must be"),
            ({"rows": "x" * 16}, "rows of a fingerprint must be 16 hexadecimal digits"),
            ({"target": "A" * 16}, "target of a fingerprint must be"),
            ({"target": "0" * 15 + "\n"}, "target of a fingerprint must be"),
            ({"weights": ""}, "weights of a fingerprint must be"),
            ({"row_columns": {"exposure": ""}}, "exposure of a fingerprint must be"),
            ({"row_columns": {"exposure": 3}}, "exposure of a fingerprint must be"),
            ({"row_columns": 3}, "row_columns of a fingerprint must be hashes by the names of columns"),
        ],
    )
    def test_names_the_wrong_part(self, change: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            replace(fingerprint(), **change).check(3)


class TestLevels:
    def of(self, values: list[Any], **settings: Any) -> DataFingerprint:
        column = np.array(values, dtype=object)[:, None]
        return make_training_data(column, [0] * len(values), 1, categorical_features=[0], **settings).fingerprint

    def test_other_levels_are_other_data(self) -> None:
        found = self.of(["a", "b"]).difference(self.of(["a", "c"]), ["colour"])
        assert found == "the values of the feature 'colour'"

    def test_levels_are_not_their_numbers(self) -> None:
        assert self.of([0, 1]).values != self.of(["0", "1"]).values
        assert self.of([0, 1]).values != make_training_data([[0], [1]], [0, 0], 1).fingerprint.values

    def test_equal_levels_are_the_same(self) -> None:
        assert self.of([0, 1]) == self.of([0.0, 1.0]) == self.of([False, True])
        assert self.of([0.5, 1]) != self.of([0, 1])

    def test_missing_values_tell_rows_apart(self) -> None:
        assert self.of(["a", "b", None]).difference(self.of(["a", "b", "a"])) == (
            "the rows (which values and which target stand together, or the order of the rows)"
        )

    def test_of_numbers_as_ever(self) -> None:
        assert make_training_data([[0.5], [1.5]], [0, 1], 2).fingerprint.values == "ddc1802ee29404c4"
