"""Join runs to one posterior; a tree that occurs in several runs is kept once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from particletree._posterior.runs.islands import Island, island_shares, renumbered_traces
from particletree._posterior.structure.sharing import distinct_trees, join


def join_islands(islands: Sequence[Island], island_weighting: str) -> dict[str, Any]:
    """Return the fields of a posterior that come from its runs; equal trees are kept once."""
    forest = join([island.forest for island in islands])
    kept, number = distinct_trees(forest)
    n_trees = [island.forest.n_trees for island in islands]
    row = np.repeat(np.arange(len(islands)), n_trees)
    weights = np.concatenate([island.weights for island in islands])
    evidences = [island.log_evidence for island in islands if island.log_evidence is not None]
    log_evidences = np.array(evidences) if len(evidences) == len(islands) else None
    genealogies = [island.genealogy for island in islands if island.genealogy is not None]
    return {
        "forest": replace(forest, roots=forest.roots[kept]),
        "log_likelihoods": np.concatenate([island.log_likelihoods for island in islands])[kept],
        "log_priors": np.concatenate([island.log_priors for island in islands])[kept],
        "island_weights": csr_array((weights, (row, number)), shape=(len(islands), kept.size)),
        "island_shares": island_shares(len(islands), log_evidences, island_weighting),
        "log_evidences": log_evidences,
        "trace": renumbered_traces([island.trace for island in islands], number, [0, *np.cumsum(n_trees)]),
        "genealogy": genealogies if len(genealogies) == len(islands) else None,
    }
