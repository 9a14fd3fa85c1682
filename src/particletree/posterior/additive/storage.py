"""The file format of a posterior of sums of trees: open, and reading it executes no code (``archive.py``).

    header.json                 format, version, n_features, feature_names, columns, target, prior, sum_prior,
                                scaling, offsets, class_order, n_iterations, n_burn_in, thin, fingerprint, importances
    nodes_S.npy starts_S.npy structure_of_S.npy values_S.npy      the draws of sum S = 0, 1, ... (``trees.py``)
    trace_S.npy n_proposed_S.npy n_accepted_S.npy                 what its chains recorded (``record.py``)
    chain.npy                                                     the chain of each draw, the same for all sums

The states from which chains can be continued and the rows of the training data are not saved. After reading,
`AdditivePosterior.check` verifies that the parts are consistent, before they are used.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree.data.fingerprint import DataFingerprint
from particletree.model.additive import Scaling, SumPrior
from particletree.model.node import NODE
from particletree.posterior.additive.record import SUM_TRACE, SumRecord
from particletree.posterior.additive.trees import TreeSums
from particletree.posterior.archive import HEADER, SUMS_OF_TREES, check_format, read_archive, read_array, write_archive
from particletree.posterior.stored_columns import decode_columns, encode_columns
from particletree.posterior.stored_model import decode_prior, encode_prior
from particletree.posterior.stored_target import decode_target, encode_target

if TYPE_CHECKING:
    from particletree.posterior.additive.posterior import AdditivePosterior

FORMAT = SUMS_OF_TREES
VERSION = 1
LAYOUTS: dict[str, tuple[Any, int]] = {
    "nodes": (NODE.newbyteorder("<"), 1),
    "starts": ("<i8", 1),
    "structure_of": ("<i4", 2),
    "values": ("<f8", 1),
    "trace": (SUM_TRACE.newbyteorder("<"), 1),
    "n_proposed": ("<u8", 1),
    "n_accepted": ("<u8", 1),
}
CHAIN_LAYOUT: tuple[Any, int] = ("<i4", 1)
COUNTS = ("n_features", "n_iterations", "n_burn_in", "thin")
KEYS = {
    "format",
    "version",
    "feature_names",
    "columns",
    "target",
    "prior",
    "sum_prior",
    "scaling",
    "offsets",
    "class_order",
    "fingerprint",
    "importances",
    *COUNTS,
}
MOST_SUMS = 10**5


def save(path: str | os.PathLike[str], posterior: AdditivePosterior) -> None:
    """Write a posterior to a file, completely or not at all."""
    header = json.dumps(_header(posterior), allow_nan=False, indent=1).encode("ascii")
    write_archive(path, header, _arrays(posterior))


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file and return the fields of its posterior; its `check` must be called before they are used."""
    members = read_archive(Path(path).read_bytes())
    header = _read_header(members.pop(HEADER))
    offsets = _decode_numbers("offsets", header["offsets"])
    expected = {f"{name}_{number}.npy" for name in LAYOUTS for number in range(len(offsets))} | {"chain.npy"}
    if set(members) != expected:
        raise ValueError(f"the members of {len(offsets)} sums must be {HEADER}, chain.npy and those of each sum")
    chain = read_array("chain", members["chain.npy"], [np.dtype(CHAIN_LAYOUT[0])], CHAIN_LAYOUT[1])
    parts = [_read_sum(members, number) for number in range(len(offsets))]
    centre, width = _decode_numbers("scaling", header["scaling"], 2)
    return {
        "sums": tuple(_to_sums(part, chain) for part in parts),
        "records": tuple(SumRecord(part["trace"], part["n_proposed"], part["n_accepted"]) for part in parts),
        "offsets": tuple(offsets),
        "scaling": Scaling(centre, width),
        "class_order": np.array(_decode_numbers("class_order", header["class_order"]), dtype=np.int64),
        "prior": decode_prior(header["prior"]),
        "sum_prior": _decode_sum_prior(header["sum_prior"]),
        "target": decode_target(header["target"]),
        "columns": decode_columns(header["columns"], header["n_features"]),
        "feature_names": _decode_names(header["feature_names"]),
        "fingerprint": _decode_fingerprint(header["fingerprint"]),
        "known_importances": _decode_importances(header),
        **{name: header[name] for name in COUNTS},
    }


def _header(posterior: AdditivePosterior) -> dict[str, Any]:
    names = posterior.feature_names
    return {
        "format": FORMAT,
        "version": VERSION,
        "feature_names": None if names is None else [str(name) for name in names],
        "columns": encode_columns(posterior.columns),
        "target": encode_target(posterior.target),
        "prior": encode_prior(posterior.prior),
        "sum_prior": {name: float(value) for name, value in posterior.sum_prior.get_params().items()},
        "scaling": [posterior.scaling.centre, posterior.scaling.width],
        "offsets": [float(offset) for offset in posterior.offsets],
        "class_order": posterior.class_order.tolist(),
        "fingerprint": None if posterior.fingerprint is None else asdict(posterior.fingerprint),
        "importances": None if posterior._importances is None else posterior._importances.tolist(),
        **{name: int(getattr(posterior, name)) for name in COUNTS},
    }


def _arrays(posterior: AdditivePosterior) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"chain": posterior.chain.astype(CHAIN_LAYOUT[0])}
    for number, (sums, record) in enumerate(zip(posterior.sums, posterior.records, strict=True)):
        parts = {
            "nodes": sums.nodes.view(NODE)[:, 0],
            "starts": sums.starts,
            "structure_of": sums.structure_of,
            "values": sums.values,
            "trace": record.trace,
            "n_proposed": record.n_proposed,
            "n_accepted": record.n_accepted,
        }
        arrays |= {f"{name}_{number}": part.astype(LAYOUTS[name][0]) for name, part in parts.items()}
    return arrays


def _read_header(data: bytes) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(data.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{HEADER} is not valid JSON ({error})") from error
    check_format(header, FORMAT)
    if header.get("version") != VERSION:
        raise ValueError(
            f"the file has version {header.get('version')!r} of the format, but this program reads version {VERSION}; "
            "load it with the version of particletree that wrote it"
        )
    if set(header) != KEYS:
        raise ValueError(f"{HEADER} must have exactly the keys {', '.join(sorted(KEYS))}")
    for name in COUNTS:
        if type(header[name]) is not int or not 0 <= header[name] < 2**31:
            raise ValueError(f"{name} in {HEADER} must be an integer of at least 0, below 2**31")
    return header


def _read_sum(members: dict[str, bytes], number: int) -> dict[str, NDArray[Any]]:
    return {
        name: read_array(f"{name}_{number}", members[f"{name}_{number}.npy"], [np.dtype(dtype)], n_dimensions)
        for name, (dtype, n_dimensions) in LAYOUTS.items()
    }


def _bytes(nodes: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(nodes).view(np.uint8).reshape(nodes.size, NODE.itemsize)


def _to_sums(part: dict[str, NDArray[Any]], chain: NDArray[np.int32]) -> TreeSums:
    return TreeSums(_bytes(part["nodes"]), part["starts"], part["structure_of"], part["values"], chain)


def _decode_numbers(name: str, values: Any, n: int | None = None) -> list[Any]:
    is_list = isinstance(values, list) and len(values) <= MOST_SUMS and (n is None or len(values) == n)
    if not is_list or not all(type(value) in (int, float) and math.isfinite(value) for value in values):
        raise ValueError(f"{name} in {HEADER} must be a list of finite numbers")
    return list(values)


def _decode_importances(header: dict[str, Any]) -> NDArray[np.float64] | None:
    if header["importances"] is None:
        return None
    values = np.array(_decode_numbers("importances", header["importances"], header["n_features"]), dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"importances in {HEADER} must be between 0 and 1")
    return values


def _decode_names(names: Any) -> list[str] | None:
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError(f"feature_names in {HEADER} must be null or a list of strings")
    return None if names is None else list(names)


def _decode_sum_prior(parameters: Any) -> SumPrior:
    names = [each.name for each in fields(SumPrior)]
    if not isinstance(parameters, dict) or set(parameters) != set(names):
        raise ValueError(f"sum_prior in {HEADER} must have exactly the parameters {', '.join(names)}")
    if not all(type(value) is float and math.isfinite(value) for value in parameters.values()):
        raise ValueError(f"the parameters of sum_prior in {HEADER} must be finite numbers")
    try:
        return SumPrior(**parameters | {"n_trees": int(parameters["n_trees"])})
    except (TypeError, ValueError) as error:
        raise ValueError(f"wrong parameters of SumPrior ({error})") from error


def _decode_fingerprint(parts: Any) -> DataFingerprint | None:
    names = [each.name for each in fields(DataFingerprint)]
    if parts is not None and (not isinstance(parts, dict) or set(parts) != set(names)):
        raise ValueError(f"fingerprint in {HEADER} must be null or have exactly the parts {', '.join(names)}")
    return None if parts is None else DataFingerprint(**parts)
