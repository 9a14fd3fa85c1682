"""The target in a file's header: what is written comes back through JSON, and nothing else is taken for a target."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from particletree._model import ClassLabels, Numbers
from particletree._model.target import Target, class_labels
from particletree._posterior.files.description import (
    MAX_TARGETS,
    decode_labels,
    decode_target,
    encode_labels,
    encode_target,
)

TARGETS: list[Target] = [
    ClassLabels(np.array([7])),
    ClassLabels(np.array([-5, 0, 2**62])),
    ClassLabels(np.array([1, 2**64 - 1], dtype=np.uint64)),
    ClassLabels(np.array([0.1, 1e300, -2.5])),
    ClassLabels(np.array([0.1, 0.5], dtype=np.float32)),
    ClassLabels(np.array([False, True])),
    ClassLabels(np.array(["a", "bc", "ü☃"])),
    ClassLabels(np.array(["a", "b"], dtype="<U20")),
    ClassLabels(np.array(["", "\ud800", '"\\\n'], dtype=object)),
    ClassLabels(np.arange(70_000)),
    Numbers(),
    Numbers(3),
    Numbers(1, ("height",)),
    Numbers(2, ("", "\ud800\n\x1b[2J")),
    Numbers(MAX_TARGETS),
]


def through_json(target: Target) -> Target:
    return decode_target(json.loads(json.dumps(encode_target(target), allow_nan=False).encode("ascii")))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: repr(target)[:50].encode("unicode_escape").decode())
def test_comes_back(target: Target) -> None:
    back = through_json(target)
    assert type(back) is type(target)
    assert back == target
    if isinstance(target, ClassLabels):
        assert class_labels(back).dtype == target.classes.dtype


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_names_come_back(names: list[str]) -> None:
    target = Numbers(len(names), tuple(names))
    assert through_json(target) == target


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9), min_size=1, unique=True))
def test_integer_labels_come_back(labels: list[int]) -> None:
    classes = np.array(labels, dtype=np.int64)
    np.testing.assert_array_equal(class_labels(through_json(ClassLabels(classes))), classes)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_as_labels_come_back_to_the_last_bit(labels: list[float]) -> None:
    classes = np.array(labels)
    assert class_labels(through_json(ClassLabels(classes))).tobytes() == classes.tobytes()


@pytest.mark.parametrize(
    "classes",
    [
        np.array([1, "a", None], dtype=object),
        np.array([1 + 2j, 0]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([b"a", b"b"]),
        np.array([0.0, np.nan]),
        np.array([np.inf, 1.0]),
        np.array([1.0, 2.0], dtype=object),
        np.array([np.str_("a"), "b"], dtype=object),
    ],
    ids=repr,
)
def test_other_labels_are_not_written(classes: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match=r"Class labels of dtype .* cannot be saved .* use integers, finite floats"):
        encode_target(ClassLabels(classes))


LABELS = {"dtype": "int64", "values": [0, 1]}
MONSTERS: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 2**63, 10**400, -(10**400), 0.5, 1e308, float("nan"), float("inf")),
    *("", "classes", "numbers", "object", "\ud800", "9" * 5000, b"classes"),
    *([], [[]], [None], ["kind"], [0, 1], {}, {"kind": []}, {"kind": {}}, {"dtype": "object"}, LABELS),
)
KIND = "the target must be classes with their labels, or numbers with n_targets and names"
NUMBER = f"n_targets must be an integer between 1 and {MAX_TARGETS}"
NAMES = "names of the targets must be null or a text for each"


class TestHostile:
    @pytest.mark.parametrize("monster", MONSTERS, ids=lambda monster: ascii(monster)[:30])
    def test_targets(self, monster: Any) -> None:
        with pytest.raises(ValueError, match=KIND):
            decode_target(monster)

    @pytest.mark.parametrize("kind", MONSTERS, ids=lambda monster: ascii(monster)[:30])
    def test_kinds(self, kind: Any) -> None:
        parts = {"n_targets": 2, "names": None} if kind == "classes" else {"classes": LABELS}
        with pytest.raises(ValueError, match=KIND):
            decode_target({"kind": kind} | parts)

    @pytest.mark.parametrize(
        "target",
        [
            {"kind": "classes"},
            {"kind": "classes", "classes": LABELS, "names": None},
            {"kind": "classes", "classes": LABELS, "n_targets": 1, "names": None},
            {"classes": LABELS},
            {"kind": "numbers"},
            {"kind": "numbers", "n_targets": 1},
            {"kind": "numbers", "names": None},
            {"kind": "numbers", "n_targets": 1, "names": None, "classes": LABELS},
            {"kind": "numbers", "n_targets": 1, "names": None, "more": 1},
            {"n_targets": 1, "names": None},
            {"kind": "Numbers", "n_targets": 1, "names": None},
        ],
        ids=str,
    )
    def test_other_parts(self, target: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=KIND):
            decode_target(target)

    @pytest.mark.parametrize(
        "n_targets", [m for m in MONSTERS if m is True or m not in (1, 2)], ids=lambda m: ascii(m)[:30]
    )
    def test_numbers_of_targets(self, n_targets: Any) -> None:
        with pytest.raises(ValueError, match=NUMBER):
            decode_target({"kind": "numbers", "n_targets": n_targets, "names": None})

    def test_more_targets_than_are_allowed(self) -> None:
        for wrong in (MAX_TARGETS + 1, 1.0, True, "1"):
            with pytest.raises(ValueError, match=NUMBER):
                decode_target({"kind": "numbers", "n_targets": wrong, "names": None})

    @pytest.mark.parametrize(
        "names",
        [m for m in MONSTERS if m is not None]
        + [
            ["a"],
            ["a", "b", "c"],
            ["a", 1],
            ["a", None],
            ["a", ["b"]],
            [b"a", b"b"],
            "ab",
            {"a": 1, "b": 2},
            ("a", "b"),
        ],
        ids=lambda m: ascii(m)[:30],
    )
    def test_names(self, names: Any) -> None:
        with pytest.raises(ValueError, match=NAMES):
            decode_target({"kind": "numbers", "n_targets": 2, "names": names})

    @pytest.mark.parametrize("labels", [m for m in MONSTERS if m is not LABELS], ids=lambda m: ascii(m)[:30])
    def test_labels(self, labels: Any) -> None:
        with pytest.raises(ValueError, match="classes must have a dtype and a list of values"):
            decode_target({"kind": "classes", "classes": labels})

    @pytest.mark.parametrize("dtype", [m for m in MONSTERS if m != "object"], ids=lambda m: ascii(m)[:30])
    def test_dtypes(self, dtype: Any) -> None:
        with pytest.raises(ValueError, match="is not a dtype for class labels"):
            decode_labels({"dtype": dtype, "values": [0, 1]})

    @pytest.mark.parametrize(
        "dtype",
        ["O", "V8", "c16", "complex128", "M8[D]", "S3", ">i4", "<U", "<U0", "<U99999999", "int64\n", "int,int", "i8"],
    )
    def test_dtypes_that_numpy_knows(self, dtype: str) -> None:
        with pytest.raises(ValueError, match="is not a dtype for class labels"):
            decode_labels({"dtype": dtype, "values": [0, 1]})

    @pytest.mark.parametrize("value", MONSTERS, ids=lambda m: ascii(m)[:30])
    @pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "<U3", "object"])
    def test_values_are_refused_or_come_back(self, dtype: str, value: Any) -> None:
        given = {"dtype": dtype, "values": [value]}
        try:
            classes = decode_labels(given)
        except ValueError:
            return
        assert classes.dtype == dtype
        assert encode_labels(classes) == given

    def test_labels_cannot_ask_for_memory(self) -> None:
        with pytest.raises(ValueError, match="the class labels are too long"):
            decode_labels({"dtype": "<U9999999", "values": ["a"] * 9})
