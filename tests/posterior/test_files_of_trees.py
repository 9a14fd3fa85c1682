"""Files: what is saved comes back, and nothing else ever does."""

from __future__ import annotations

import io
import json
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from damaged_files import Members, damaged, damaged_headers, members_of, npy, retyped, write
from forests import make_data, make_posterior
from particletree import MCMC, SMC, Exact
from particletree._data import DataFingerprint, TrainingData, make_regression_data, make_training_data
from particletree._model import Categorical, Flat, Forest, TreePrior
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Exponential, Gaussian, GaussianKnownVariance, Poisson
from particletree._model.rule import LEAF
from particletree._model.target import ClassLabels, class_labels
from particletree._posterior import Posterior
from particletree._posterior.runs.genealogy import DESCENDANT, n_ancestors
from particletree._posterior.runs.provenance import infer_provenance
from particletree._posterior.runs.traces import FILTER_RECORD, NO_RECORD

FINGERPRINT = {
    "n_rows": 60,
    "values": "0" * 48,
    "rows": "1" * 16,
    "target": "2" * 16,
    "weights": None,
    "row_columns": {},
}
LABELS = {"dtype": "int64", "values": [0, 1, 2]}
PROVENANCE = {"kind": "filter", "sampler": "SMC", "settings": {}, "seed": None, "version": "0.1.0"}
KINDS = ("islands", "chains", "draws", "prior")
QUICK = ("chains",)  # is damaged field by field in every run, the others in the slow tests
NUMERIC: dict[str, LeafModel] = {
    "gaussian": Gaussian(),
    "known variance": GaussianKnownVariance(),
    "poisson": Poisson(),
    "exponential": Exponential(),
}


def assert_equal(one: Posterior, two: Posterior) -> None:
    """Check that two posteriors agree in every field, dtypes included."""
    np.testing.assert_equal(asdict(one.agreement), asdict(two.agreement))  # which may be nan
    for field in fields(Posterior):
        a, b = getattr(one, field.name), getattr(two, field.name)
        if isinstance(a, Forest):
            for column in fields(Forest):
                same(getattr(a, column.name), getattr(b, column.name))
        elif isinstance(a, csr_array):
            same(a.toarray(), b.toarray())
        elif field.name == "trace" or (field.name == "genealogy" and a is not None):
            assert len(a) == len(b)
            for left, right in zip(a, b, strict=True):
                same(left, right)
        elif isinstance(a, np.ndarray):
            same(a, b)
        else:
            assert a == b
            assert type(a) is type(b)


def same(one: NDArray[Any], two: NDArray[Any]) -> None:
    assert one.dtype == two.dtype
    if one.dtype.names is None:
        np.testing.assert_array_equal(one, two)
    else:
        assert one.tobytes() == two.tobytes()  # NumPy takes records with nan for different from themselves


def numbers_data(kind: str) -> TrainingData:
    """Return counts or times of two targets with names, with exposure where the leaf model has use for it."""
    rng = np.random.default_rng(5)
    X, y = make_data(rng, n_rows=14, n_features=2)
    frame = pd.DataFrame({"height": 3.0 * y + rng.poisson(2, 14) + 1, "width": rng.poisson(3, 14) + 1.0})
    return make_regression_data(X, frame, exposure=rng.uniform(1, 2, 14) if kind == "poisson" else None)


@cache
def fitted(kind: str) -> Posterior:
    """Return a small posterior of one of the samplers, or of the prior, whose likelihoods say nothing of counts."""
    if kind in NUMERIC:
        smc, root = SMC.paper(n_particles=10, n_islands=3), np.random.SeedSequence(4)
        return smc.run(numbers_data(kind), TreePrior.paper(), NUMERIC[kind], seed=root)
    X, y = make_data(np.random.default_rng(3), n_rows=14, n_features=2)
    data, seed = make_training_data(X, y, 3), np.random.SeedSequence(4)
    if kind == "draws":
        return Exact(n_draws=30).run(data, TreePrior.paper(), Categorical(3.0), seed=seed).draws()
    chains = MCMC(n_iterations=41, n_chains=3, burn_in=5, thin=2)
    sampler: Any = chains if kind == "chains" else SMC.paper(n_particles=10, n_islands=3)
    leaf = Flat(3.0) if kind == "prior" else Categorical(3.0)
    posterior: Posterior = sampler.run(data, TreePrior.paper(), leaf, seed=seed)
    return posterior


def ask_everything(posterior: Posterior) -> None:
    """Ask a posterior every public question."""
    X = np.zeros((2, posterior.n_features))
    if isinstance(posterior.target, ClassLabels):
        assert posterior.predictive(X).sum(axis=1) == pytest.approx(1.0)
    assert posterior.predictive(X).shape == (2, posterior.target.n_outputs)
    assert np.isfinite(posterior.predictive(X)).all()
    assert np.isfinite(posterior.predictive_interval(X)).all()
    assert np.isfinite(posterior.feature_importances()).all()
    assert np.isfinite(posterior.inclusion_probabilities()).all()
    assert len(str(posterior.summary()).splitlines()) > 3
    assert f"{posterior!r} {posterior.effective_sample_size}"
    if posterior.is_chain:
        with pytest.raises(AttributeError, match="Markov chains do not estimate the evidence"):
            _ = posterior.log_evidence
    else:
        assert f"{posterior.log_evidence} {posterior.log_evidence_se} {posterior.log_evidence_bound}"
    for tree in (posterior.best_tree(), *posterior.sample(2, random_state=0), posterior.trees[-1]):
        assert str(tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ 0.x announces 1.x when it is imported
        posterior.to_arviz(n_draws=3)
    if posterior.is_chain:
        posterior.along_chains(posterior.depths)
        posterior.until(int(max(trace["iteration"][-1] for trace in posterior.trace))).predictive(X)
    for genealogy in posterior.genealogy or []:
        assert n_ancestors(genealogy)[0] >= 1
    merged = Posterior.merge([posterior])
    assert merged.predictive(X) == pytest.approx(posterior.predictive(X), rel=1e-6)
    merged.check()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "posterior.ptree"
    make_posterior(feature_names=["a", "b", "ü"])[0].save(path)
    return path


class TestRoundTrip:
    def test_everything_comes_back(self, file: Path) -> None:
        posterior, X = make_posterior(feature_names=["a", "b", "ü"])
        loaded = Posterior.load(file)
        assert_equal(loaded, posterior)
        assert np.array_equal(loaded.predictive(X), posterior.predictive(X))

    @pytest.mark.parametrize(
        "classes",
        [
            np.array([-5, 0, 7]),
            np.array([0, 1, 2], dtype=np.int8),
            np.array([1, 2, 2**64 - 1], dtype=np.uint64),
            np.array([0.1, 1e300, -2.5]),
            np.array([0.1, 0.5, 2.0], dtype=np.float32),
            np.array(["a", "bc", "ü☃"]),
            np.array(["a", "b", "c"], dtype="<U20"),
            np.array(["a", "bc", "a longer one"], dtype=object),
            np.array(["", "\ud800", '"\\\n'], dtype=object),
        ],
        ids=lambda classes: str(classes.dtype),
    )
    def test_labels_keep_their_dtype(self, classes: NDArray[Any], tmp_path: Path) -> None:
        make_posterior(classes=classes)[0].save(tmp_path / "p")
        same(class_labels(Posterior.load(tmp_path / "p").target), classes)

    def test_bool_labels(self, tmp_path: Path) -> None:
        make_posterior(n_classes=2, classes=np.array([False, True]))[0].save(tmp_path / "p")
        same(class_labels(Posterior.load(tmp_path / "p").target), np.array([False, True]))

    def test_parameters_and_missing_parts(self, tmp_path: Path) -> None:
        posterior = replace(make_posterior()[0], leaf=Flat(0.25), prior=TreePrior(0.5, 2), log_evidences=None)
        posterior = replace(posterior, log_likelihoods=np.zeros(posterior.forest.n_trees))
        posterior.save(tmp_path / "p")
        assert_equal(Posterior.load(tmp_path / "p"), replace(posterior, prior=TreePrior(0.5, 2.0)))

    @pytest.mark.parametrize(("dtype", "sizes"), [(FILTER_RECORD, (0, 3, 1)), (NO_RECORD, (0, 0, 0))])
    def test_traces_of_any_length(self, dtype: Any, sizes: tuple[int, ...], tmp_path: Path) -> None:
        traces = [np.zeros(n, dtype=dtype) for n in sizes]
        posterior = replace(make_posterior()[0], trace=traces, provenance=infer_provenance(traces))
        posterior.save(tmp_path / "p")
        assert_equal(Posterior.load(tmp_path / "p"), posterior)

    @pytest.mark.parametrize("kind", [*KINDS, *NUMERIC])
    def test_every_sampler(self, kind: str, tmp_path: Path) -> None:
        posterior = fitted(kind)
        posterior.save(tmp_path / "p")
        assert_equal(Posterior.load(tmp_path / "p"), posterior)

    def test_more_than_a_million_features_are_saved_only_where_they_are_listed(self, tmp_path: Path) -> None:
        many, path = 10**6 + 1, tmp_path / "p"
        posterior = replace(make_posterior()[0], n_features=many)
        with pytest.raises(ValueError, match="nothing lists the features"):
            posterior.save(path)
        listed = DataFingerprint(60, many * "0123456789abcdef", "1" * 16, "2" * 16, None)
        replace(posterior, fingerprint=listed).save(path, keep_rows=False)
        assert Posterior.load(path).inclusion_probabilities().shape == (many,)

    def test_a_chain_that_was_cut_short(self, tmp_path: Path) -> None:
        posterior = fitted("chains").until(20)
        posterior.save(tmp_path / "p")
        ask_everything(Posterior.load(tmp_path / "p"))

    def test_loaded_arrays_can_be_written_to(self, file: Path) -> None:
        assert Posterior.load(file).forest.statistics.flags.writeable

    def test_same_posterior_same_bytes(self, file: Path, tmp_path: Path) -> None:
        Posterior.load(file).save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == file.read_bytes()


class TestSave:
    @pytest.mark.parametrize(
        "classes",
        [
            np.array([1, "a", None], dtype=object),
            np.array([1, 2, 3], dtype=object),
            np.array([1 + 2j, 0, 1]),
            np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]"),
            np.array([b"a", b"b", b"c"]),
            np.array([0.0, 1.0, np.nan]),
            np.array([0.0, 1.0, np.inf]),
        ],
        ids=lambda classes: str(classes.dtype),
    )
    def test_other_labels_are_refused(self, classes: NDArray[Any], tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"Class labels of dtype .* cannot be saved .* use integers"):
            make_posterior(classes=classes)[0].save(tmp_path / "p")
        assert list(tmp_path.iterdir()) == []

    def test_unknown_leaf_models_are_refused(self, tmp_path: Path) -> None:
        class Poisson(Categorical):
            pass

        with pytest.raises(ValueError, match="leaf model Poisson cannot be saved; known are Categorical, Flat"):
            replace(make_posterior()[0], leaf=Poisson()).save(tmp_path / "p")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("trace", [np.array([None]), np.zeros(1, dtype=[("step", "i8")]), np.zeros(2)])
    def test_traces_of_unknown_records_are_refused(self, trace: NDArray[Any], tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"a trace must consist of the records|must be empty"):
            replace(make_posterior()[0], trace=[trace] * 3).save(tmp_path / "p")

    def test_a_failed_save_leaves_the_old_file(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = file.read_bytes()

        def fail(*_: Any) -> None:
            raise OSError("disk full")

        monkeypatch.setattr("particletree._posterior.files.trees.os.fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            make_posterior(seed=1)[0].save(file)
        assert file.read_bytes() == before
        assert list(file.parent.iterdir()) == [file]

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            make_posterior()[0].save(tmp_path / "no" / "p")


def drop(name: str) -> Callable[[Members], Members]:
    return lambda members: {key: data for key, data in members.items() if key != name}


def put(name: str, data: bytes) -> Callable[[Members], Members]:
    return lambda members: members | {name: data}


def edit(name: str, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Members], Members]:
    """Change an array member."""
    return lambda members: members | {name: npy(change(np.load(io.BytesIO(members[name]))))}


def header(**changes: Any) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        return members | {"header.json": json.dumps(json.loads(members["header.json"]) | changes).encode()}

    return change


def target(**parts: Any) -> Callable[[Members], Members]:
    return header(target=parts)


def classes(labels: Any) -> Callable[[Members], Members]:
    return target(kind="classes", classes=labels)


def with_first(value: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    def change(array: NDArray[Any]) -> NDArray[Any]:
        array = array.copy()
        array.flat[0] = value
        return array

    return change


def with_field(records: NDArray[Any], name: str, value: ArrayLike) -> NDArray[Any]:
    """Return records of which the field has this value in the first half."""
    records = records.copy()
    records[name][: records.size // 2] = value
    return records


def last_node(**numbers: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Change the last node, which is the root of a tree."""

    def change(nodes: NDArray[Any]) -> NDArray[Any]:
        nodes = nodes.copy()
        for name, number in numbers.items():
            nodes[name][-1] = number
        return nodes

    return change


def with_last(value: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda array: with_first(value)(array[::-1])[::-1].copy()


def claim_shape(members: Members) -> Members:
    """Let a member claim more numbers than memory could hold."""
    data = members["statistics.npy"]
    start, end = data.index(b"'shape': (") + 10, data.index(b")", data.index(b"'shape'"))
    huge = b"9999999999999, 99"
    padding = data[end:].index(b"\n")
    return members | {
        "statistics.npy": data[:start]
        + huge
        + data[end : end + padding - len(huge) + end - start]
        + data[end + padding :]
    }


def many_roots(n: int) -> Posterior:
    """Return `n` trees with different first cuts above a leaf and a chain of `n` splits, which they share."""
    nodes, number = np.full(3 * n + 2, LEAF), np.arange(n)
    leaves, splits, other, roots = 2 * number + 1, 2 * number + 2, 2 * n + 1, 2 * n + 2 + number
    nodes["block"][leaves], nodes["block"][splits] = number + 1, number + n + 1
    nodes["block"][other], nodes["block"][roots] = 2 * n + 1, 2 * n + 2
    for chosen, feature, threshold, left, right in (
        (splits, 1, number.astype(float), leaves, splits - 2),
        (roots, 0, np.linspace(0, 0.5, n), other, 2 * n),
    ):
        nodes["feature"][chosen], nodes["left"][chosen], nodes["right"][chosen] = feature, left, right
        nodes["threshold"][chosen] = nodes["gap_low"][chosen] = threshold
        nodes["gap_high"][chosen] = threshold + 1
    rows = np.eye(3)[np.arange(n + 1) % 3]  # of the leaves of the chain, one each
    below = np.cumsum(rows, axis=0)[1:]
    row_of_other = np.array([[0.0, 0.0, 1.0]])
    statistics = np.vstack([rows, below, row_of_other, below[-1:] + row_of_other])
    forest = Forest(nodes, roots.astype(np.int32), statistics, np.arange(2 * n + 3, dtype=np.uint64))
    leaf = Categorical(3.0)
    log_marginal = leaf.log_marginal(statistics)[nodes["block"]]
    trace = [np.zeros(0, dtype=FILTER_RECORD)]
    return replace(
        make_posterior()[0],
        forest=forest,
        leaf=leaf,
        log_likelihoods=forest.sum_over_subtrees(np.where(forest.is_split, 0.0, log_marginal))[roots],
        log_priors=np.zeros(n),
        island_weights=csr_array(np.full((1, n), 1 / n)),
        island_shares=np.ones(1),
        log_evidences=None,
        trace=trace,
        provenance=infer_provenance(trace),
        kept_rows=None,
    )


class TestKeptRows:
    ROWS = np.array([[0.0, 2.0, np.nan], [1.0, np.nan, 1e30], [2.0, 3.0, 0.0]])
    NUMBERS = np.array([7, 0, 2])

    @pytest.fixture
    def with_rows(self, tmp_path: Path) -> Path:
        """Return the file of a posterior of a tree that is a root, whose first feature has two levels."""
        data = make_training_data([["a", 2, None], ["b", None, 1], ["a", 3, 0]], [0, 1, 1], 2, None, [0])
        smc = SMC.paper(n_particles=2, n_islands=1)
        seed = np.random.SeedSequence(0)
        posterior = smc.run(data, TreePrior.paper(max_depth=0), Categorical(1.0), seed=seed)
        replace(posterior, kept_rows=self.ROWS, kept_row_numbers=self.NUMBERS).save(tmp_path / "p")
        return tmp_path / "p"

    def test_come_back(self, with_rows: Path) -> None:
        loaded = Posterior.load(with_rows)
        assert loaded.kept_rows is not None
        same(loaded.kept_rows, self.ROWS)
        assert loaded.kept_row_numbers is not None
        same(loaded.kept_row_numbers, self.NUMBERS)
        assert [each.row for each in loaded.explain([None, 1, 1]).neighbours] == [7, 0, 2]

    @pytest.mark.parametrize(
        ("name", "array", "message"),
        [
            ("kept_rows", ROWS[:, :2], "kept_rows must have at least one row, with 3 values"),
            ("kept_rows", ROWS[:0], "kept_rows must have at least one row, with 3 values"),
            ("kept_rows", ROWS[0], "kept_rows.npy has the wrong type or number of dimensions"),
            ("kept_rows", ROWS.astype("<f4"), "kept_rows.npy has the wrong type or number of dimensions"),
            ("kept_rows", np.where(ROWS == 3, np.inf, ROWS), "values of kept_rows must be finite, or nan where one"),
            ("kept_rows", np.where(ROWS == 1, 0.5, ROWS), "must have the number of a level for each categorical"),
            ("kept_rows", np.where(ROWS == 1, 3.0, ROWS), "must have the number of a level for each categorical"),
            ("kept_rows", np.where(ROWS == 1, -1.0, ROWS), "must have the number of a level for each categorical"),
            ("kept_rows", np.where(ROWS == 1, np.nan, ROWS), "must have the number of a level for each categorical"),
            ("kept_rows", ROWS[:2], "kept_row_numbers must have a number of at least 0 for each kept row"),
            ("kept_row_numbers", NUMBERS - 1, "kept_row_numbers must have a number of at least 0"),
            ("kept_row_numbers", NUMBERS // 7, "none of them twice"),
            ("kept_row_numbers", NUMBERS[:, None], "kept_row_numbers.npy has the wrong type or number of dim"),
            ("kept_row_numbers", NUMBERS.astype("<f8"), "kept_row_numbers.npy has the wrong type or number of dim"),
        ],
    )
    def test_are_checked(self, name: str, array: NDArray[Any], message: str, with_rows: Path) -> None:
        write(with_rows, members_of(with_rows) | {f"{name}.npy": npy(array)})
        with pytest.raises(ValueError, match=message):
            Posterior.load(with_rows)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (header(has_rows=1), "has_rows in header.json must be true or false"),
            (header(has_rows=False), "unknown members: kept_row_numbers.npy, kept_rows.npy"),
            (drop("kept_rows.npy"), "missing members: kept_rows.npy"),
        ],
    )
    def test_are_there_or_not(self, change: Callable[[Members], Members], message: str, with_rows: Path) -> None:
        write(with_rows, change(members_of(with_rows)))
        with pytest.raises(ValueError, match=message):
            Posterior.load(with_rows)

    def test_can_be_left_out(self, tmp_path: Path) -> None:
        posterior = fitted("chains")
        assert posterior.kept_rows is not None
        posterior.save(tmp_path / "p", keep_rows=False)
        assert not any(name.startswith("kept_row") for name in members_of(tmp_path / "p"))
        assert_equal(Posterior.load(tmp_path / "p"), posterior.without_rows())


class TestHostileFiles:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (drop("header.json"), "header.json is missing"),
            (drop("nodes.npy"), "missing members: nodes.npy"),
            (drop("roots.npy"), "missing members: roots.npy"),
            (drop("log_evidences.npy"), "missing members: log_evidences.npy"),
            (put("evil.py", b"1 / 0"), "unknown members: evil.py"),
            (put("\x1b[2J\n", b""), r"unknown members: \\x1b\[2J\\n$"),
            (
                header(prior={"kind": "TreePrior", "alpha": 0.5, "\x1b[2J": 0.5}),
                "exactly the parameters alpha, beta, max_depth, min_sam",
            ),
            (put("header.json", b"{"), "not valid JSON"),
            (put("header.json", b"[" * 100_000), "not valid JSON"),
            (put("header.json", b"\xff"), "not valid JSON"),
            (put("header.json", b"[]"), "does not say that the format is"),
            (header(version=2), "version 2 of the format, but this program reads version 1; load it with"),
            (header(version=1.0), "version 1.0 of the format, but this program reads version 1"),
            (header(version="1"), "version '1' of the format, but this program reads version 1"),
            (header(has_genealogy=1), "has_genealogy in header.json must be true or false"),
            (header(has_genealogy=True), "missing members: genealogy.npy, genealogy_offsets.npy"),
            (put("genealogy.npy", npy(np.zeros(0, dtype=DESCENDANT))), "unknown members: genealogy.npy"),
            (header(fingerprint=[]), "fingerprint in header.json must be null or have exactly the parts"),
            (header(fingerprint={"n_rows": 60}), "must be null or have exactly the parts n_rows, values, rows"),
            (header(fingerprint=FINGERPRINT | {"values": "0" * 32}), "values of a fingerprint must be 48 hexadecimal"),
            (header(fingerprint=FINGERPRINT | {"n_rows": "60"}), "n_rows of a fingerprint must be an integer"),
            (header(n_features=2**31 - 1, feature_names=None, fingerprint=FINGERPRINT), "values of a fingerprint must"),
            (header(provenance=None), "provenance must have exactly the parts kind, sampler, settings, seed, version"),
            (
                header(provenance=PROVENANCE | {"kind": "chain"}),
                "the traces must hold what runs of the kind 'chain' rec",
            ),
            (header(provenance=PROVENANCE | {"kind": ["filter"]}), "the kind of runs must be one of filter, chain"),
            (header(provenance=PROVENANCE | {"sampler": "\x1b[2J"}), "the sampler must be a name or null"),
            (header(provenance=PROVENANCE | {"seed": 7}), "the seed must be null, or have exactly the parts"),
            (header(version=True), "version True of the format"),
            (header(more=1), "exactly the keys"),
            (header(n_features=2), "feature name for each feature|feature must be below"),
            (header(n_features=0, feature_names=None), "n_features in header.json must be an integer of at least 1"),
            (header(n_features=-1), "n_features in header.json must be"),
            (header(n_features="3"), "n_features in header.json must be"),
            (header(has_evidence=False), "unknown members: log_evidences.npy"),
            (header(has_evidence=1), "has_evidence in header.json must be"),
            (header(feature_names=["a", "b"]), "a feature name for each feature"),
            (header(feature_names=["a", "b", 3]), "null or a list of strings"),
            (header(feature_names="abc"), "null or a list of strings"),
            (header(n_features=10**400), "n_features in header.json must be"),
            (header(n_features=2**31 - 1, feature_names=None), "at most 1000000"),
            (classes([0, 1, 2]), "classes must have a dtype"),
            (classes({"dtype": "int64", "values": [0, 1]}), "the statistics must be those of the target's outputs"),
            (classes({"dtype": "int64", "values": [0, 1, "2"]}), "not every class label is a int"),
            (classes({"dtype": "int64", "values": [0, 1, True]}), "not every class label is a int"),
            (classes({"dtype": "int8", "values": [0, 1, 300]}), "does not fit into int8|not a finite value"),
            (classes({"dtype": "float32", "values": [0.0, 1.0, 0.1]}), "not a finite value of float32"),
            (classes({"dtype": "float64", "values": [0.0, 1.0, float("nan")]}), "not a finite value"),
            (classes({"dtype": "<U1", "values": ["a", "b", "cd"]}), "not a finite value of <U1"),
            (classes({"dtype": "<U9999999", "values": ["a"] * 9}), "class labels are too long"),
            (classes({"dtype": "int64", "values": [0, 1, 1]}), "no two class labels may be the same"),
            (classes({"dtype": "float64", "values": [0.0, 1.0, -0.0]}), "no two class labels may be the same"),
            (classes({"dtype": "float16", "values": [0.0, 1.0, 1e300]}), "not a finite value of float16"),
            (classes({"dtype": "V8", "values": [0, 1, 2]}), "not a dtype for class labels"),
            (header(target=None), "the target must be classes with their labels, or numbers with"),
            (header(target=[]), "the target must be classes with their labels, or numbers with"),
            (target(), "the target must be classes with their labels, or numbers with"),
            (target(kind="classes"), "the target must be classes with their labels, or numbers with"),
            (target(kind=["classes"], classes=LABELS), "the target must be classes with their labels"),
            (target(kind="ranks", classes=LABELS), "the target must be classes with their labels"),
            (target(kind="classes", classes=LABELS, more=1), "the target must be classes with their labels"),
            (target(kind="classes", n_targets=3, names=None), "the target must be classes with their labels"),
            (target(kind="numbers", n_targets=3), "the target must be classes with their labels, or numbers with"),
            (target(kind="numbers", n_targets=3, names=None), "Categorical must have a target of its kind"),
            (target(kind="numbers", n_targets=0, names=None), "n_targets must be an integer between 1 and 1048576"),
            (target(kind="numbers", n_targets=2**21, names=None), "n_targets must be an integer between 1 and"),
            (target(kind="numbers", n_targets=10**400, names=None), "n_targets must be an integer between 1 and"),
            (target(kind="numbers", n_targets=3, names=["a"]), "names of the targets must be null or a text for each"),
            (header(classes=LABELS), "exactly the keys"),
            (header(fingerprint=FINGERPRINT | {"more": 1}), "must be null or have exactly the parts"),
            (header(fingerprint=FINGERPRINT | {"target": None}), "target of a fingerprint must be 16 hexadecimal"),
            (
                header(fingerprint=FINGERPRINT | {"row_columns": {"exposure": "3"}}),
                "exposure of a fingerprint must be 16 hexadecimal",
            ),
            (header(prior={"kind": "TreePrior", "alpha": 0.5}), "TreePrior, which must have exactly the parameters"),
            (header(prior={"kind": "TreePrior", "alpha": 2.0, "beta": 0.5}), "wrong parameters of TreePrior"),
            (header(prior={"kind": "TreePrior", "alpha": "x", "beta": 0.5}), "wrong parameters of TreePrior"),
            (header(prior=[1]), "the prior must be one of TreePrior"),
            (header(leaf={"kind": "Exec", "concentration": 1.0}), "leaf model must be one of"),
            (header(leaf={"kind": "Flat", "concentration": -1.0}), "wrong parameters of Flat"),
            (header(leaf=None), "leaf model must be one of"),
            (header(leaf={"kind": [], "concentration": 1.0}), "leaf model must be one of"),
            (header(leaf={"kind": {}, "concentration": 1.0}), "leaf model must be one of"),
            (header(leaf={"kind": "Flat", "concentration": 10**400}), "wrong parameters of Flat"),
            (header(prior={"kind": "TreePrior", "alpha": 10**400, "beta": 0.5}), "wrong parameters of TreePrior"),
            (header(prior={"kind": "TreePrior", "alpha": 0.5, "beta": 10**400}), "wrong parameters of TreePrior"),
            (header(prior={"kind": "TreePrior", "alpha": 0.5, "beta": -(10**400)}), "wrong parameters of TreePrior"),
            (put("roots.npy", b""), "roots.npy has no valid header"),
            (put("roots.npy", b"\x93NUMPY\x01\x00"), "roots.npy has no valid header"),
            (put("roots.npy", npy(np.zeros(3))), "roots.npy has the wrong type"),
            (put("roots.npy", npy(np.zeros((2, 2), dtype=np.int32))), "wrong type or number of dimensions"),
            (put("statistics.npy", npy(np.asfortranarray(np.ones((4, 3))))), "wrong type or number of dimensions"),
            (put("trace.npy", npy(np.array([print]), allow_pickle=True)), "trace.npy has the wrong type"),
            (put("trace.npy", npy(np.array(["a"]))), "trace.npy has the wrong type"),
            (claim_shape, "does not match its size"),
            (edit("nodes.npy", last_node(right=2**31 - 1)), "children of a split must come before"),
            (edit("nodes.npy", last_node(block=2**31 - 1)), "block must lie between"),
            (edit("roots.npy", with_first(-1)), "a root must lie between"),
            (edit("roots.npy", lambda a: a[:0]), "Cannot load"),
            (edit("nodes.npy", last_node(feature=99)), "feature must be below 3"),
            (edit("nodes.npy", last_node(threshold=-np.inf)), "threshold of a split must be finite"),
            (edit("nodes.npy", last_node(gap_low=np.nan)), "gap_low of a split must be finite"),
            (edit("nodes.npy", last_node(gap_high=-9.0)), "a threshold must lie in its gap"),
            (edit("row_hashes.npy", lambda a: a[1:]), "a hash of the rows for each block"),
            (edit("statistics.npy", with_first(np.nan)), "statistics must be finite numbers; block 0"),
            (edit("statistics.npy", with_first(np.inf)), "statistics must be finite numbers; block 0"),
            (edit("statistics.npy", with_first(-1.0)), "the statistics of a split's children must add up to its own"),
            (edit("statistics.npy", lambda a: -a), "counts must be finite numbers of at least 0; block 0"),
            (edit("statistics.npy", lambda a: 0 * a), "the counts of a block must have a positive, finite sum"),
            (edit("statistics.npy", lambda a: np.ascontiguousarray(a[:, :2])), "Cannot load"),
            (edit("log_likelihoods.npy", with_first(np.nan)), "log_likelihoods must be 5. finite numbers"),
            (edit("log_likelihoods.npy", with_first(-1.0)), "log_likelihoods must be the sums"),
            (edit("log_priors.npy", lambda a: a[1:]), "log_priors must be"),
            (edit("log_evidences.npy", with_first(-np.inf)), "log_evidences must be"),
            (edit("island_shares.npy", with_first(2.0)), "island_shares must be"),
            (edit("island_shares.npy", lambda a: a[:0]), "Cannot load"),
            (edit("weights_data.npy", with_first(-0.5)), "island_weights must be"),
            (edit("weights_data.npy", with_first(np.nan)), "island_weights must be"),
            (edit("weights_data.npy", lambda a: a[1:]), "the same length"),
            (edit("weights_indices.npy", with_first(10**6)), "weights_indices must lie between 0 and 5., the"),
            (edit("weights_indices.npy", with_first(-1)), "weights_indices must lie between"),
            (edit("weights_indices.npy", lambda a: a[::-1].copy()), "weights_indices must increase within each island"),
            (edit("weights_indices.npy", lambda a: a[[1, 1, *range(2, a.size)]]), "so that no tree has two weights"),
            (edit("weights_indptr.npy", with_first(7)), "weights_indptr must lead from 0"),
            (edit("weights_indptr.npy", lambda a: a[::-1].copy()), "weights_indptr must lead from 0"),
            (edit("weights_indptr.npy", with_last(-1)), "weights_indptr must lead from 0 to the number of weights"),
            (edit("weights_indptr.npy", with_last(-(2**31))), "weights_indptr must lead from 0"),
            (edit("weights_indptr.npy", lambda a: a[[0, 2, 1, 3]]), "weights_indptr must .* never decrease"),
            (edit("weights_indptr.npy", lambda a: a[:-1]), "one entry more than there are islands"),
            (edit("statistics.npy", with_first(1e13)), "the statistics of a split's children must add up to its own"),
            (edit("statistics.npy", lambda a: 1e13 * a), "counts must be at most 2e.12"),
            (edit("log_priors.npy", with_first(1e308)), "log_priors must be 5. finite numbers, none beyond 1e.100"),
            (edit("trace_offsets.npy", with_first(1)), "trace_offsets must lead from 0"),
            (edit("trace_offsets.npy", lambda a: a[[0, -1]]), "a trace for each island"),
        ],
    )
    def test_are_refused_with_a_reason(self, file: Path, change: Callable[[Members], Members], message: str) -> None:
        write(file, change(members_of(file)))
        with pytest.raises(ValueError, match=message) as caught:
            Posterior.load(file)
        assert str(caught.value).startswith(f"Cannot load a posterior from {file}: ")

    @pytest.mark.parametrize("n_features", [10**7, 2**31 - 1])
    @pytest.mark.parametrize("fingerprint", [None, FINGERPRINT], ids=["names", "fingerprint"])
    def test_features_that_are_only_claimed_cost_no_memory(self, n_features: int, fingerprint: Any, file: Path) -> None:
        change = header(n_features=n_features, fingerprint=fingerprint, feature_names=None if fingerprint else ["a"])
        write(file, change(members_of(file)))
        tracemalloc.start()
        try:
            with pytest.raises(ValueError, match=r"a feature name for each feature|values of a fingerprint must be"):
                Posterior.load(file)
            assert tracemalloc.get_traced_memory()[1] < 10**7
        finally:
            tracemalloc.stop()

    def test_many_roots_above_one_large_subtree(self, tmp_path: Path) -> None:
        """It is a valid file; compiled for predictions, the subtree would be there once for each root."""
        n = 2_000
        posterior = many_roots(n)
        posterior.save(tmp_path / "p")
        loaded = Posterior.load(tmp_path / "p")
        X = np.array([[0.25, 0.5, 0.0], [0.25, n + 0.5, 0.0], [2.0, 3.0, 0.0]])
        blocks = np.array([tree.nodes["block"][tree.apply(X)] for tree in loaded.trees[:: n // 10]])
        assert len(np.unique(blocks[:, 0])) == 2
        mean = loaded.leaf.mean(loaded.forest.statistics)
        share = np.mean(loaded.forest.nodes["threshold"][loaded.forest.roots] < 0.25)
        chain, other = mean[loaded.trees[0].nodes["block"][loaded.trees[0].apply(X)]], mean[2 * n + 1]
        expected = np.array([share * chain[0] + (1 - share) * other, share * chain[1] + (1 - share) * other, chain[2]])
        np.testing.assert_allclose(loaded.predictive(X), expected, rtol=1e-9)
        assert loaded.predictions._predictor.n_cuts <= 2**20
        assert np.isfinite(loaded.predictive_interval(X)).all()

    @pytest.mark.parametrize("index", [100_000, 10**9])
    def test_indices_that_scipy_does_not_look_at(self, file: Path, index: int) -> None:
        """SciPy's full check takes an indptr that ends in -1 for an empty array, and its product writes anywhere."""
        members = edit("weights_indptr.npy", with_last(-1))(members_of(file))
        write(file, edit("weights_indices.npy", with_first(index))(members))
        with pytest.raises(ValueError, match="weights_indptr must lead from 0"):
            Posterior.load(file)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda t: with_field(t, "move", 9), "moves must be numbered below 5"),
            (lambda t: with_field(t, "move", 200), "moves must be numbered below 5"),
            (lambda t: with_field(retyped(t, "move", "<i8"), "move", 2**33), "trace.npy has the wrong type"),
            (lambda t: retyped(t, "accepted", "<f8"), "trace.npy has the wrong type"),
            (lambda t: retyped(t, "tree", "<i8"), "trace.npy has the wrong type"),
            (lambda t: with_field(t, "tree", 10**6), "names a tree that is not there"),
            (lambda t: with_field(t, "tree", -2), "trees must be numbered from 0"),
            (lambda t: with_field(t, "tree", -1), "trees must be numbered from 0"),
            (lambda t: with_field(t, "iteration", 0), "iterations must be numbered from 1 and increase"),
            (lambda t: with_field(t, "iteration", 7), "iterations must be numbered from 1 and increase"),
            (lambda t: with_field(t, "tree", np.minimum(t["tree"], 0)[: t.size // 2]), "weights must be the shares"),
            (lambda t: with_field(t, "seconds", np.nan), "seconds must be finite"),
            (lambda t: with_field(t.view([("b", "u1", t.dtype.itemsize)]), "b", 2).view(t.dtype), "true or false"),
            (lambda t: np.zeros(t.size, dtype=FILTER_RECORD.newbyteorder("<")), "runs of the kind 'chain' record"),
            (lambda t: np.zeros(t.size), "must be empty"),
        ],
    )
    def test_traces_of_chains(self, change: Callable[[Any], Any], message: str, tmp_path: Path) -> None:
        path = tmp_path / "p"
        fitted("chains").save(path)
        write(path, edit("trace.npy", change)(members_of(path)))
        with pytest.raises(ValueError, match=message):
            Posterior.load(path)

    def test_genealogies(self, tmp_path: Path) -> None:
        path = tmp_path / "p"
        fitted("islands").save(path)
        members = members_of(path)
        for change, message in (
            (
                edit("genealogy_offsets.npy", with_first(1)),
                "genealogy_offsets must lead from 0 to the length of",
            ),
            (edit("genealogy_offsets.npy", lambda offsets: offsets[[0, -1]]), "a genealogy for each island"),
            (edit("genealogy.npy", lambda g: with_field(g, "parent", 99)), "a parent that is not there"),
            (edit("genealogy.npy", lambda g: with_field(g, "copies", 0)), "at least one copy"),
            (edit("genealogy.npy", lambda g: with_field(g, "generation", 2**32 - 1)), "one generation per resampling"),
            (edit("genealogy.npy", lambda g: retyped(g, "copies", "<i8")), "genealogy.npy has the wrong type"),
        ):
            write(path, change(members))
            with pytest.raises(ValueError, match=message):
                Posterior.load(path)

    @pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
    def test_compressed_members(self, file: Path, compression: int) -> None:
        write(file, members_of(file), compression)
        with pytest.raises(ValueError, match="a member is compressed"):
            Posterior.load(file)

    def test_members_that_occur_twice(self, file: Path) -> None:
        members = members_of(file)
        with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("roots.npy", members["roots.npy"])
        with pytest.raises(ValueError, match="a member occurs twice"):
            Posterior.load(file)

    def test_not_a_zip(self, file: Path) -> None:
        file.write_bytes(b"no zip at all")
        with pytest.raises(ValueError, match="not an intact zip archive"):
            Posterior.load(file)

    def test_flipped_bytes_fail_the_checksum(self, file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[data.index(b"\x93NUMPY") + 200] ^= 1
        file.write_bytes(data)
        with pytest.raises(ValueError, match="not an intact zip archive"):
            Posterior.load(file)

    def test_a_missing_file_is_reported_as_such(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            Posterior.load(tmp_path / "none")


def load_or_refuse(path: Path, original: Posterior) -> bool:
    """Load a damaged file: it must be refused with a `ValueError`, or give the posterior that was saved."""
    try:
        loaded = Posterior.load(path)
    except ValueError:
        return False
    assert_equal(loaded, original)
    return True


class TestFuzz:
    def test_random_bytes_and_truncations(self, file: Path) -> None:
        original, good, rng = Posterior.load(file), file.read_bytes(), np.random.default_rng(0)
        n_loaded = 0
        for _ in range(600):
            data = bytearray(good)
            # Half of the damage goes to the directory at the end, where nothing but the parser stands guard.
            start = len(data) - 1600 if rng.random() < 0.5 else 0
            for at in rng.integers(start, len(data), size=rng.integers(1, 4)):
                data[at] = rng.integers(256)
            end = rng.integers(len(data)) if rng.random() < 0.2 else len(data)
            file.write_bytes(data[:end])
            n_loaded += load_or_refuse(file, original)
        assert 0 < n_loaded < 500  # both outcomes occur: dates and the like do not matter

    def test_swapped_members(self, file: Path) -> None:
        original, members, rng = Posterior.load(file), members_of(file), np.random.default_rng(1)
        names = list(members)
        for _ in range(100):
            one, two = rng.choice(names, size=2, replace=False)
            write(file, members | {one: members[two], two: members[one]})
            load_or_refuse(file, original)
        write(file, members)
        assert load_or_refuse(file, original)

    def test_damaged_arrays_behind_valid_checksums(self, file: Path) -> None:
        """Whatever is loaded from an edited member satisfies every rule, so the kernel can use it."""
        members, rng = members_of(file), np.random.default_rng(2)
        arrays = [name for name in members if name.endswith(".npy")]
        for _ in range(400):
            name = str(rng.choice(arrays))
            data = bytearray(members[name])
            data[rng.integers(len(data))] = rng.integers(256)
            write(file, members | {name: bytes(data)})
            try:
                loaded = Posterior.load(file)
            except ValueError:
                continue
            loaded.check()
            loaded.predictive(np.zeros((2, 3)))

    @pytest.mark.parametrize(
        "kind",
        [*QUICK, *(pytest.param(kind, marks=pytest.mark.slow) for kind in (*KINDS, *NUMERIC) if kind not in QUICK)],
    )
    def test_every_array(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "p"
        fitted(kind).save(path)
        members = members_of(path)
        n_loaded = n_tried = 0
        for name in (name for name in members if name.endswith(".npy")):
            for what, array in damaged(np.load(io.BytesIO(members[name]))):
                write(path, members | {name: npy(array, allow_pickle=True)})
                n_loaded += refused_or_answers(path, f"{name}: {what}")
                n_tried += 1
        assert 0 < n_loaded < n_tried

    @pytest.mark.parametrize(
        "kind",
        [
            *QUICK,
            *(pytest.param(kind, marks=pytest.mark.slow) for kind in (*KINDS, *NUMERIC) if kind not in QUICK),
        ],
    )
    def test_every_field_of_the_header(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "p"
        fitted(kind).save(path)
        members = members_of(path)
        n_loaded = n_tried = 0
        for what, content in damaged_headers(json.loads(members["header.json"])):
            write(path, members | {"header.json": json.dumps(content).encode()})
            n_loaded += refused_or_answers(path, what)
            n_tried += 1
        assert 0 < n_loaded < n_tried

    @pytest.mark.parametrize("kind", [*KINDS, *NUMERIC])
    def test_two_damages_at_once(self, kind: str, tmp_path: Path) -> None:
        path, rng = tmp_path / "p", np.random.default_rng(6)
        fitted(kind).save(path)
        members = members_of(path)
        choices = {
            name: [npy(array, allow_pickle=True) for _, array in damaged(np.load(io.BytesIO(data)))]
            for name, data in members.items()
            if name.endswith(".npy")
        }
        for _ in range(300):
            names = [str(name) for name in rng.choice(list(choices), size=2, replace=False)]
            write(path, members | {name: choices[name][rng.integers(len(choices[name]))] for name in names})
            refused_or_answers(path, str(names))


def refused_or_answers(path: Path, what: str) -> bool:
    """Load a file: it must be refused with a `ValueError`, or answer every public question."""
    try:
        loaded = Posterior.load(path)
    except ValueError:
        return False
    try:
        ask_everything(loaded)
    except Exception as error:
        raise AssertionError(f"loaded, but does not answer: {what}") from error
    return True
