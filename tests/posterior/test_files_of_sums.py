"""Files of sums of trees: what is damaged or hostile is refused with a reason, quickly and in little memory."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from damaged_files import Members, damaged, damaged_headers, members_of, npy, write
from particletree import BARTPosterior, TreePrior
from particletree._data import make_regression_data, make_training_data
from particletree._inference.bart.sampler import BARTChains
from particletree._model.bart import SumPrior
from particletree._model.rule import LEAF

KINDS = ("numbers", "classes")


@cache
def fitted(kind: str) -> BARTPosterior:
    """Return a small posterior of numbers or of three classes, with a categorical feature and missing values."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), rng.integers(0, 3, 40).astype(float)])
    X[::6, 0] = np.nan
    y = np.nan_to_num(X[:, 0]) + (X[:, 1] == 2)
    data = (
        make_regression_data(X, y, categorical_features=[1])
        if kind == "numbers"
        else make_training_data(X, np.arange(40) % 3, n_classes=3, categorical_features=[1])
    )
    chains = BARTChains(n_iterations=12, n_chains=2)
    prior, seed = TreePrior(0.95, 1.0), np.random.SeedSequence(3)
    return chains.run(data, prior, SumPrior(n_trees=3), seed=seed, feature_names=["a", "kind"])


def saved(kind: str, path: Path) -> Members:
    fitted(kind).save(path)
    return members_of(path)


def header(**changes: Any) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        return members | {"header.json": json.dumps(json.loads(members["header.json"]) | changes).encode()}

    return change


def edit(name: str, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Members], Members]:
    return lambda members: members | {f"{name}.npy": npy(change(np.load(io.BytesIO(members[f"{name}.npy"]))))}


def with_first(value: Any, field: str | None = None) -> Callable[[NDArray[Any]], NDArray[Any]]:
    def change(array: NDArray[Any]) -> NDArray[Any]:
        (array if field is None else array[field])[:1] = value
        return array

    return change


def prior_of_sums(**changes: float) -> Callable[[Members], Members]:
    return header(sum_prior={"n_trees": 3.0, "k": 2.0, "noise_df": 3.0, "noise_quantile": 0.9} | changes)


def with_structure(tree: NDArray[Any]) -> Callable[[Members], Members]:
    """Write one draw of three trees, all of this structure."""
    n_leaves = int((tree["feature"] < 0).sum())

    def change(members: Members) -> Members:
        trace = np.load(io.BytesIO(members["trace_0.npy"]))[:1]
        trace["n_leaves"] = 3 * n_leaves
        arrays = {
            "nodes_0": tree,
            "starts_0": np.array([0, tree.size]),
            "structure_of_0": np.zeros((1, 3), dtype=np.int32),
            "values_0": np.linspace(0, 1, 3 * n_leaves),
            "trace_0": trace,
            "chain": np.zeros(1, dtype=np.int32),
        }
        return members | {f"{name}.npy": npy(array) for name, array in arrays.items()}

    return change


def caterpillar(depth: int, deep_side: str) -> NDArray[Any]:
    """Return a tree in preorder of which each split has a leaf on one side."""
    nodes = np.full(2 * depth + 1, LEAF)
    number = np.arange(depth)
    splits, leaves, deep = (
        (2 * number, 2 * number + 1, 2 * number + 2)
        if deep_side == "right"
        else (
            number,
            2 * depth - number,
            number + 1,
        )
    )
    nodes["feature"][splits], nodes["threshold"][splits] = 0, np.linspace(-1, 1, depth)
    nodes["left" if deep_side == "right" else "right"][splits] = leaves
    nodes[deep_side][splits] = deep
    nodes["block"][nodes["feature"] < 0] = np.arange(depth + 1)
    return nodes


def shared_children(depth: int) -> NDArray[Any]:
    """Return nodes of which each is both children of the one before: few nodes, and a tree of 2**depth leaves."""
    nodes = np.full(2 * depth + 1, LEAF)
    splits = np.arange(depth)
    nodes["feature"][splits], nodes["threshold"][splits] = 0, 0.0
    for side in ("left", "right"):
        nodes[side][splits] = splits + 1
    nodes["block"][depth:] = np.arange(depth + 1)
    return nodes


class TestHostileFiles:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (header(version=True), "version True of the format"),
            (header(version=1.0), "version 1.0 of the format"),
            (header(scaling=[0.0, -1.0]), "the width of the scaling must be positive and finite"),
            (header(scaling=[0.0, 0.0]), "the width of the scaling must be positive and finite"),
            (header(scaling=[0.0, 1e308]), "must give predictions of at most 1e"),
            (header(scaling=[10**400, 1.0]), "scaling in header.json must be a list of 2 finite numbers"),
            (header(scaling=[0.0, True]), "scaling in header.json must be a list of 2 finite numbers"),
            (header(offsets=[10**400]), "offsets in header.json must be a list of finite numbers"),
            (prior_of_sums(k=10**400), "sum_prior in header.json must have exactly the parts n_trees, k, noise_df"),
            (prior_of_sums(n_trees=3.5), "n_trees of sum_prior in header.json must be a whole number"),
            (prior_of_sums(k=-1.0), "wrong parameters of SumPrior"),
            (header(n_iterations=10**400), "n_iterations in header.json must be an integer of at least 1"),
            (header(thin=0), "thin in header.json must be an integer of at least 1"),
            (header(n_burn_in=2.0), "n_burn_in in header.json must be an integer of at least 0"),
            (header(n_features=10**6, feature_names=None), "values of a fingerprint must be 16000000 hexadecimal"),
            (header(n_features=10**6), "there must be a feature name for each feature"),
            (header(n_features=2**31 - 1, feature_names=None, fingerprint=None), "nothing lists the features"),
            (edit("n_accepted_0", with_first(2**63)), "a move must not be accepted more than proposed"),
            (edit("n_accepted_0", lambda a: a[:-1]), "there must be counts of 6 moves"),
            (edit("n_proposed_0", lambda a: np.append(a, a)), "there must be counts of 6 moves"),
            (edit("trace_0", with_first(np.inf, "seconds")), "seconds must be finite"),
            (edit("trace_0", with_first(np.nan, "log_likelihood")), "log likelihood of every draw must be finite"),
            (edit("trace_0", with_first(0, "iteration")), "sweeps of a chain must be numbered from 1"),
            (edit("trace_0", with_first(99, "n_leaves")), "n_leaves of every draw must be the leaves of its trees"),
            (edit("chain", with_first(1)), "every chain must have the same number of draws"),
            (edit("values_0", with_first(1e308)), "must give predictions of at most 1e"),
            (edit("nodes_0", with_first(0.5, "gap_low")), "gap_low of a .* must be nan"),
            (with_structure(shared_children(60)), "must be in preorder, each the child of one split"),
            (with_structure(caterpillar(5, "left")[::-1].copy()), "must be in preorder|must be numbered in order"),
        ],
    )
    def test_are_refused_with_a_reason(
        self, change: Callable[[Members], Members], message: str, tmp_path: Path
    ) -> None:
        write(tmp_path / "p", change(saved("numbers", tmp_path / "p")))
        tracemalloc.start()
        try:
            with pytest.raises(ValueError, match=message) as caught:
                BARTPosterior.load(tmp_path / "p")
            assert tracemalloc.get_traced_memory()[1] < 10**7
        finally:
            tracemalloc.stop()
        assert str(caught.value).startswith(f"Cannot load a posterior from {tmp_path / 'p'}: ")

    @pytest.mark.parametrize(
        "class_order", [[0.0, 1.0, 2.0], [0, 1.5, 2], [0, True, 2], [0, 1], [10**400, 0, 1], "012"]
    )
    def test_orders_of_classes(self, class_order: Any, tmp_path: Path) -> None:
        write(tmp_path / "p", header(class_order=class_order)(saved("classes", tmp_path / "p")))
        with pytest.raises(ValueError, match="class_order"):
            BARTPosterior.load(tmp_path / "p")

    @pytest.mark.parametrize("side", ["left", "right"])
    def test_trees_of_any_depth_can_be_evaluated(self, side: str, tmp_path: Path) -> None:
        """One level of the processor's stack for each level of the tree would be too much."""
        depth = 50_000
        write(tmp_path / "p", with_structure(caterpillar(depth, side))(saved("numbers", tmp_path / "p")))
        loaded = BARTPosterior.load(tmp_path / "p")
        thresholds, values = np.linspace(-1, 1, depth), loaded.sums[0].values.reshape(3, -1).sum(axis=0)
        X = np.column_stack([np.linspace(-1.1, 1.1, 5), np.zeros(5)])
        # A row ends at the first threshold that it is not above, or else at the first that it is above, the lowest.
        below = {"right": np.searchsorted(thresholds, X[:, 0]), "left": np.where(X[:, 0] > thresholds[0], depth, 0)}
        expected = loaded.scaling.from_unit(values[below[side]])
        np.testing.assert_allclose(loaded.predictive(X)[:, 0], expected, rtol=1e-12)
        np.testing.assert_allclose(loaded.predictive_draws(X)[:, 0, 0], expected, rtol=1e-12)

    def test_many_features_cost_no_memory_that_nothing_uses(self, tmp_path: Path) -> None:
        many = 10**6
        change = header(n_features=many, feature_names=None, fingerprint=None)
        fitted("numbers").save(tmp_path / "p", keep_rows=False)
        write(tmp_path / "p", change(members_of(tmp_path / "p")))
        tracemalloc.start()
        loaded = BARTPosterior.load(tmp_path / "p")
        assert tracemalloc.get_traced_memory()[1] < 2e7
        tracemalloc.stop()
        X = np.zeros((2, many))
        expected = fitted("numbers").predictive(X[:, :2])
        np.testing.assert_array_equal(loaded.predictive(X), expected)


def ask_everything(posterior: BARTPosterior) -> None:
    """Ask a posterior every public question."""
    X = np.zeros((2, posterior.n_features))
    X[:, list(posterior.columns.levels)] = np.nan  # 0 is not a value for levels of text
    means = posterior.predictive(X)
    assert means.shape == (2, posterior.target.n_outputs)
    assert np.isfinite(means).all()
    assert np.isfinite(posterior.predictive_draws(X)).all()
    assert np.isfinite(posterior.predictive_interval(X)).all()
    assert np.isfinite(posterior.feature_importances(X)).all()
    posterior.convergence(X)
    assert np.stack(posterior.along_chains(posterior.records[0].trace["n_leaves"])).size == posterior.n_draws
    assert len(str(posterior.summary()).splitlines()) > 3
    assert repr(posterior).startswith("BARTPosterior(")


def refused_or_answers(path: Path, what: str) -> bool:
    """Load a file: it must be refused with a `ValueError`, or answer every public question."""
    try:
        loaded = BARTPosterior.load(path)
    except ValueError:
        return False
    try:
        ask_everything(loaded)
    except Exception as error:
        raise AssertionError(f"loaded, but does not answer: {what}") from error
    return True


class TestFuzz:
    def test_random_bytes_and_truncations(self, tmp_path: Path) -> None:
        path, rng = tmp_path / "p", np.random.default_rng(0)
        saved("numbers", path)
        good, n_loaded = path.read_bytes(), 0
        for number in range(300):
            data = bytearray(good)
            start = len(data) - 1600 if rng.random() < 0.5 else 0
            for at in rng.integers(start, len(data), size=rng.integers(1, 4)):
                data[at] = rng.integers(256)
            path.write_bytes(data[: rng.integers(len(data)) if rng.random() < 0.2 else len(data)])
            n_loaded += refused_or_answers(path, str(number))
        assert 0 < n_loaded < 250

    @pytest.mark.parametrize("kind", KINDS)
    def test_damaged_arrays_behind_valid_checksums(self, kind: str, tmp_path: Path) -> None:
        path, rng = tmp_path / "p", np.random.default_rng(2)
        members = saved(kind, path)
        arrays = [name for name in members if name.endswith(".npy")]
        for _ in range(300):
            name = str(rng.choice(arrays))
            data = bytearray(members[name])
            data[rng.integers(len(data))] ^= 1 << rng.integers(8)
            write(path, members | {name: bytes(data)})
            refused_or_answers(path, name)

    @pytest.mark.parametrize("kind", ["numbers", pytest.param("classes", marks=pytest.mark.slow)])
    def test_every_array(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "p"
        members = saved(kind, path)
        n_loaded = n_tried = 0
        for name in (name for name in members if name.endswith(".npy")):
            for what, array in damaged(np.load(io.BytesIO(members[name]))):
                write(path, members | {name: npy(array, allow_pickle=True)})
                n_loaded += refused_or_answers(path, f"{name}: {what}")
                n_tried += 1
        assert 0 < n_loaded < n_tried

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_field_of_the_header(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "p"
        members = saved(kind, path)
        n_loaded = n_tried = 0
        for what, content in damaged_headers(json.loads(members["header.json"])):
            write(path, members | {"header.json": json.dumps(content).encode()})
            n_loaded += refused_or_answers(path, what)
            n_tried += 1
        assert 0 < n_loaded < n_tried
