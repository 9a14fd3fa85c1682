"""The file format of a posterior of sums of trees: open, and reading it executes no code (``archive.py``).

    header.json                 format, version, n_features, feature_names, columns, target, prior, sum_prior,
                                scaling, offsets, class_order, n_iterations, n_burn_in, thin, fingerprint, has_rows
    nodes_S.npy starts_S.npy structure_of_S.npy values_S.npy      the draws of sum S = 0, 1, ... (``tree_sums.py``)
    trace_S.npy n_proposed_S.npy n_accepted_S.npy                 what its chains recorded (``traces.py``)
    chain.npy                                                     the chain of each draw, the same for all sums
    kept_rows.npy kept_row_numbers.npy                            rows of the training data (``base.py``), if any

The states from which chains can be continued are not saved. After reading,
`BARTPosterior.check` verifies that the parts are consistent, before they are used.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.bart import Scaling, SumPrior
from particletree._model.rule import NODE
from particletree._posterior.archive import HEADER, SUMS_OF_TREES, read_array, write_archive
from particletree._posterior.files.description import (
    DESCRIPTION,
    ROW_LAYOUTS,
    decode_description,
    encode_description,
    row_arrays,
)
from particletree._posterior.files.schema import (
    check_fields,
    check_version,
    integer,
    list_of,
    parts,
    read_header,
    real,
)
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs.traces import SUM_TRACE, SumRecord
from particletree._posterior.sums_of_trees import SumsOfTrees

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
FIELDS = DESCRIPTION | {
    "sum_prior": parts([each.name for each in fields(SumPrior)], real()),
    "scaling": list_of("finite numbers", real(), 2),
    "offsets": list_of("finite numbers", real()),
    "class_order": list_of("numbers of classes", integer(0)),
    "n_iterations": integer(1),
    "n_burn_in": integer(0),
    "thin": integer(1),
}
COUNTS = ("n_iterations", "n_burn_in", "thin")


def save(path: str | os.PathLike[str], posterior: SumsOfTrees) -> None:
    """Write a posterior to a file, completely or not at all."""
    header = {"format": FORMAT, "version": VERSION} | encode_description(posterior)
    header |= {
        "sum_prior": {name: float(value) for name, value in posterior.sum_prior.get_params().items()},
        "scaling": [float(posterior.scaling.centre), float(posterior.scaling.width)],
        "offsets": [float(offset) for offset in posterior.offsets],
        "class_order": posterior.class_order.tolist(),
        **{name: int(getattr(posterior, name)) for name in COUNTS},
    }
    check_fields(header, FIELDS)
    arrays: dict[str, NDArray[Any]] = {"chain": posterior.chain.astype(CHAIN_LAYOUT[0])}
    for number, (sums, record) in enumerate(zip(posterior.sums, posterior.records, strict=True)):
        members = {
            "nodes": sums.nodes.view(NODE)[:, 0],
            "starts": sums.starts,
            "structure_of": sums.structure_of,
            "values": sums.values,
            "trace": record.trace,
            "n_proposed": record.n_proposed,
            "n_accepted": record.n_accepted,
        }
        arrays |= {f"{name}_{number}": part.astype(LAYOUTS[name][0]) for name, part in members.items()}
    arrays |= {name: rows.astype(ROW_LAYOUTS[name][0]) for name, rows in row_arrays(posterior).items()}
    write_archive(path, json.dumps(header, allow_nan=False, indent=1).encode("ascii"), arrays)


def decode(members: dict[str, bytes]) -> dict[str, Any]:
    """Return the fields of the posterior in a file; its `check` must be called before they are used."""
    header = read_header(members[HEADER], FORMAT)
    check_version(header, VERSION)
    check_fields(header, FIELDS)
    n_sums = len(header["offsets"])
    layouts = {"chain": CHAIN_LAYOUT} | (ROW_LAYOUTS if header["has_rows"] else {})
    common = list(layouts)
    layouts |= {f"{name}_{number}": layout for name, layout in LAYOUTS.items() for number in range(n_sums)}
    if set(members) != {HEADER, *(f"{name}.npy" for name in layouts)}:
        raise ValueError(
            f"the members of {n_sums} sums must be {HEADER}, those of each sum, and {', '.join(common)} as .npy"
        )
    arrays = {
        name: read_array(name, members[f"{name}.npy"], [np.dtype(dtype)], n_dimensions)
        for name, (dtype, n_dimensions) in layouts.items()
    }
    sums, records = [], []
    for number in range(n_sums):
        of_sum = {name: arrays[f"{name}_{number}"] for name in LAYOUTS}
        nodes = np.ascontiguousarray(of_sum["nodes"])
        as_bytes = nodes.view(np.uint8).reshape(nodes.size, NODE.itemsize)
        sums.append(
            TreeSums(as_bytes, of_sum["starts"], of_sum["structure_of"], of_sum["values"], chain=arrays["chain"])
        )
        records.append(SumRecord(of_sum["trace"], of_sum["n_proposed"], of_sum["n_accepted"]))
    return decode_description(header) | {
        "sums": tuple(sums),
        "records": tuple(records),
        "offsets": tuple(header["offsets"]),
        "scaling": Scaling(*header["scaling"]),
        "class_order": np.array(header["class_order"], dtype=np.int64),
        "sum_prior": _decode_sum_prior(header["sum_prior"]),
        **{name: arrays.get(name) for name in ROW_LAYOUTS},
        **{name: header[name] for name in COUNTS},
    }


def _decode_sum_prior(parameters: dict[str, Any]) -> SumPrior:
    if not parameters["n_trees"].is_integer():
        raise ValueError(f"n_trees of sum_prior in {HEADER} must be a whole number")
    try:
        return SumPrior(**parameters | {"n_trees": int(parameters["n_trees"])})
    except (TypeError, ValueError) as error:
        raise ValueError(f"wrong parameters of SumPrior ({error})") from error
