"""The file format of a posterior: open, and reading it executes no code.

A file is a zip archive without compression. Its member ``header.json`` holds the names and parameters as text; every
other member is one array in NumPy's ``.npy`` format, so that any language with a zip reader can use it::

    header.json              format, version, n_features, feature_names, columns, target, prior, leaf, has_rows
                             (whether the arrays of the kept rows are there),
                             has_evidence (whether log_evidences.npy is there), has_genealogy (whether those of
                             the genealogy are), fingerprint (of the data, or null),
                             provenance (kind of runs, sampler, settings, seed, version) and choice (of settings
                             by evidence, or null)
    nodes.npy roots.npy statistics.npy row_hashes.npy                                 the trees (_model/forest.py)
    log_likelihoods.npy log_priors.npy                                                one number per tree
    weights_data.npy weights_indices.npy weights_indptr.npy                           islands x trees, sparse rows
    island_shares.npy log_evidences.npy                                               one number per island
    trace.npy trace_offsets.npy                                                       the islands' traces, concatenated
    genealogy.npy genealogy_offsets.npy                                               and genealogies (genealogy.py)
    kept_rows.npy kept_row_numbers.npy                                                rows of the data (base.py)

The same posterior gives the same bytes. A file is written under a temporary name and then moved into place, so that an
interrupted save leaves the old file.

Files are untrusted, so reading checks everything: members must be exactly those above, uncompressed (a compressed
member can be a zip bomb), intact (checksums), of the expected dtype, and exactly as long as their shape requires. The
arrays of the sparse weights are checked here, before SciPy uses them; all other consistency conditions are checked by
`Posterior.check`, before the kernel uses the arrays. Memory is bounded by the size of the file: more than a million
features must be listed, by their names or by their part of the fingerprint.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from particletree._model.forest import Forest
from particletree._model.rule import NODE
from particletree._model.text import one_line
from particletree._posterior.archive import HEADER, SINGLE_TREES, read_array, write_archive
from particletree._posterior.files.description import (
    DESCRIPTION,
    ROW_LAYOUTS,
    decode_description,
    decode_leaf,
    encode_description,
    encode_leaf,
    row_arrays,
)
from particletree._posterior.files.schema import (
    ANYTHING,
    TRUTH,
    check_fields,
    check_version,
    read_header,
)
from particletree._posterior.runs.genealogy import DESCENDANT
from particletree._posterior.runs.provenance import decode_choice, decode_provenance, encode_choice, encode_provenance
from particletree._posterior.runs.traces import RECORDS, check_layouts
from particletree._posterior.weighted_trees import WeightedTrees

FORMAT = SINGLE_TREES
VERSION = 1
FIELDS = DESCRIPTION | {
    "leaf": ANYTHING,
    "has_evidence": TRUTH,
    "has_genealogy": TRUTH,
    "provenance": ANYTHING,
    "choice": ANYTHING,
}
FOREST: dict[str, tuple[Any, int]] = {
    "nodes": (NODE.newbyteorder("<"), 1),
    "roots": ("<i4", 1),
    "statistics": ("<f8", 2),
    "row_hashes": ("<u8", 1),
}
ARRAYS = FOREST | {
    "log_likelihoods": ("<f8", 1),
    "log_priors": ("<f8", 1),
    "weights_data": ("<f8", 1),
    "weights_indices": ("<i8", 1),
    "weights_indptr": ("<i8", 1),
    "island_shares": ("<f8", 1),
    "log_evidences": ("<f8", 1),
    "trace_offsets": ("<i8", 1),
    "genealogy": (DESCENDANT.newbyteorder("<"), 1),
    "genealogy_offsets": ("<i8", 1),
    **ROW_LAYOUTS,
}
OPTIONAL: dict[str, tuple[str, ...]] = {  # by header key
    "has_evidence": ("log_evidences",),
    "has_genealogy": ("genealogy", "genealogy_offsets"),
    "has_rows": tuple(ROW_LAYOUTS),
}
FILE_RECORDS = [record.newbyteorder("<") for record in RECORDS]


def save(path: str | os.PathLike[str], posterior: WeightedTrees) -> None:
    """Write a posterior to a file, completely or not at all."""
    header = {"format": FORMAT, "version": VERSION} | encode_description(posterior)
    header |= {
        "leaf": encode_leaf(posterior.leaf),
        "has_evidence": posterior.log_evidences is not None,
        "has_genealogy": posterior.genealogy is not None,
        "provenance": encode_provenance(posterior.provenance),
        "choice": encode_choice(posterior.choice),
    }
    check_fields(header, FIELDS)
    check_layouts(posterior.trace)
    weights = posterior.island_weights.copy()
    weights.sum_duplicates()  # canonical form, which loading requires; samplers give no other
    arrays: dict[str, Any] = {name: getattr(posterior.forest, name) for name in FOREST} | {
        "log_likelihoods": posterior.log_likelihoods,
        "log_priors": posterior.log_priors,
        "weights_data": weights.data,
        "weights_indices": weights.indices,
        "weights_indptr": weights.indptr,
        "island_shares": posterior.island_shares,
        "trace_offsets": _offsets(posterior.trace),
    }
    if posterior.log_evidences is not None:
        arrays["log_evidences"] = posterior.log_evidences
    if posterior.genealogy is not None:
        arrays["genealogy"] = np.concatenate(posterior.genealogy)
        arrays["genealogy_offsets"] = _offsets(posterior.genealogy)
    arrays |= row_arrays(posterior)
    arrays = {name: np.asarray(array, dtype=ARRAYS[name][0]) for name, array in arrays.items()}
    trace = np.concatenate(posterior.trace)
    arrays["trace"] = trace.astype(trace.dtype.newbyteorder("<"))
    write_archive(path, json.dumps(header, allow_nan=False, indent=1).encode("ascii"), arrays)


def decode(members: dict[str, bytes]) -> dict[str, Any]:
    """Return the fields of the posterior in a file; `Posterior.check` must be called before they are used."""
    header = read_header(members[HEADER], FORMAT)
    check_version(header, VERSION)
    check_fields(header, FIELDS)
    absent = {name for key, names in OPTIONAL.items() if not header[key] for name in names}
    expected, found = {f"{name}.npy" for name in (*ARRAYS, "trace") if name not in absent}, set(members) - {HEADER}
    if expected - found:
        raise ValueError(f"missing members: {', '.join(sorted(expected - found))}")
    if found - expected:
        raise ValueError(f"unknown members: {', '.join(one_line(name) for name in sorted(found - expected))}")
    arrays = {
        name: read_array(name, members[f"{name}.npy"], [np.dtype(dtype)], n_dimensions)
        for name, (dtype, n_dimensions) in ARRAYS.items()
        if name not in absent
    }
    arrays["trace"] = read_array("trace", members["trace.npy"], FILE_RECORDS, 1)
    shares = arrays["island_shares"]
    return decode_description(header) | {
        "forest": Forest(**{name: arrays[name] for name in FOREST}),
        "leaf": decode_leaf(header["leaf"]),
        "log_likelihoods": arrays["log_likelihoods"],
        "log_priors": arrays["log_priors"],
        "island_weights": _decode_weights(arrays, shares.size, arrays["roots"].size),
        "island_shares": shares,
        "log_evidences": arrays.get("log_evidences"),
        "trace": _decode_runs(arrays, "trace"),
        "genealogy": _decode_runs(arrays, "genealogy") if header["has_genealogy"] else None,
        "provenance": decode_provenance(header["provenance"]),
        "choice": decode_choice(header["choice"]),
        **{name: arrays.get(name) for name in ROW_LAYOUTS},
    }


def _offsets(runs: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the offsets of the concatenated records of the runs."""
    return np.cumsum([0] + [len(records) for records in runs])


def _decode_weights(arrays: dict[str, NDArray[Any]], n_islands: int, n_trees: int) -> csr_array[Any]:
    """Return the islands' weights; everything is checked first, because SciPy's products do no bounds checks.

    SciPy's `check_format` ignores the indices if the last entry of indptr is 0 or negative.
    """
    data, indices, indptr = (arrays[f"weights_{part}"] for part in ("data", "indices", "indptr"))
    if indptr.size != n_islands + 1:
        raise ValueError("weights_indptr must have one entry more than there are islands")
    _check_offsets("weights_indptr", indptr, indices.size, "the number of weights")
    if data.size != indices.size:
        raise ValueError("weights_data and weights_indices must have the same length")
    if ((indices < 0) | (indices >= n_trees)).any():
        raise ValueError(f"weights_indices must lie between 0 and {n_trees - 1}, the last tree")
    island = np.repeat(np.arange(n_islands), np.diff(indptr))
    if ((island[1:] == island[:-1]) & (indices[1:] <= indices[:-1])).any():
        raise ValueError("weights_indices must increase within each island, so that no tree has two weights")
    return csr_array((data, indices, indptr), shape=(n_islands, n_trees))


def _decode_runs(arrays: dict[str, NDArray[Any]], name: str) -> list[NDArray[Any]]:
    """Return the records of each run from the concatenated ones."""
    records, offsets = arrays[name], arrays[f"{name}_offsets"]
    _check_offsets(f"{name}_offsets", offsets, records.size, f"the length of the {name}")
    return [records[start:end] for start, end in itertools.pairwise(offsets)]


def _check_offsets(name: str, offsets: NDArray[Any], end: int, meaning: str) -> None:
    if offsets.size < 1 or offsets[0] != 0 or offsets[-1] != end or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"{name} must lead from 0 to {meaning}, {end}, and never decrease")
