"""Conversion of a posterior to ArviZ, for its plots, tables and comparisons.

The variables are numbers of each tree, by chain and draw::

    posterior      log_posterior (= log_likelihood + log_prior), log_likelihood, log_prior, n_leaves, depth
    sample_stats   tree, the index into `posterior.trees` (a label, whose mean or R-hat is meaningless), and for chains
                   also accepted, and move (0 grow, 1 prune, 2 change, 3 swap, 4 regrow), of the kept iterations

A Markov chain becomes a chain whose draws are its kept iterations. An island of particles has weights and no order,
which ArviZ cannot represent. So each island becomes a chain of `n_draws` trees, drawn independently in proportion to
their weights, with a fixed seed: means and quantiles are correct, and R-hat compares the islands. But ArviZ treats the
draws as independent information: its effective sample size is near `n_draws`, however few particles there were, and
islands have equal weights even if they were weighted by evidence. The attributes `island_shares` and, if the sampler
estimates them, `log_evidences` keep this information.

ArviZ 0.x uses an `InferenceData`, 1.x a `DataTree` of xarray; both are made from the same datasets.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._posterior.runs.traces import MOVES
from particletree._posterior.weighted_trees import WeightedTrees
from particletree._version import __version__

DIMS = ("chain", "draw")
LIBRARY = {"inference_library": "particletree", "inference_library_version": __version__}
MISSING = 'to_arviz() needs ArviZ, which is not installed; run: pip install "particletree[arviz]"'


def to_arviz(posterior: WeightedTrees, n_draws: int = 1000, random_state: int | np.random.Generator = 0) -> Any:
    """Return the posterior in the form of the installed ArviZ.

    Parameters
    ----------
    posterior : Posterior
        A posterior from chains or islands.
    n_draws : int, default 1000
        Draws per island; chains have their kept iterations.
    random_state : int or Generator, default 0
        Seed of the draws from the islands.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        For ArviZ 0.x or 1.x, respectively.
    """
    attributes: dict[str, Any] = LIBRARY | {"sampler": posterior.provenance.sampler_name}  # netCDF can hold them all
    if posterior.is_chain:
        stats = {name: np.stack([trace[name] for trace in posterior.trace]) for name in ("tree", "accepted", "move")}
        attributes["moves"] = ", ".join(f"{code} {name}" for code, name in enumerate(MOVES))
    else:
        stats = {"tree": draw_from_islands(posterior, n_draws, random_state)}
        attributes["island_shares"] = posterior.island_shares.tolist()
        if posterior.log_evidences is not None:
            attributes["log_evidences"] = posterior.log_evidences.tolist()
    by_tree: dict[str, NDArray[Any]] = {
        "log_posterior": posterior.log_likelihoods + posterior.log_priors,
        "log_likelihood": posterior.log_likelihoods,
        "log_prior": posterior.log_priors,
        "n_leaves": posterior.n_leaves,
        "depth": posterior.depths,
    }
    variables = {name: values[stats["tree"]] for name, values in by_tree.items()}
    return in_the_form_of_arviz({"posterior": variables, "sample_stats": stats}, attributes)


def in_the_form_of_arviz(groups: dict[str, dict[str, NDArray[Any]]], attributes: dict[str, Any]) -> Any:
    """Return groups of variables, with axes for chains, draws and others, in the form of the installed ArviZ."""
    arviz, xarray = _import("arviz"), _import("xarray")
    datasets = {}
    for group, variables in groups.items():
        named = {}
        for name, values in variables.items():
            more = (f"{name}_dim_{i}" for i in range(values.ndim - len(DIMS)))
            named[name] = ((*DIMS, *more), values)
        dataset = xarray.Dataset(named, attrs=attributes)
        datasets[group] = dataset.assign_coords({dim: np.arange(size) for dim, size in dataset.sizes.items()})
    # ArviZ 1.x also accepts the old name, with a warning, by a module-level __getattr__; it is not in `vars`.
    if "InferenceData" in vars(arviz):
        return arviz.InferenceData(**datasets)
    return xarray.DataTree.from_dict(datasets)


def _import(name: str) -> ModuleType:
    """Import a module by name, untyped, because its contents differ between the versions of ArviZ."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(MISSING) from error


def draw_from_islands(
    posterior: WeightedTrees, n_draws: int, random_state: int | np.random.Generator = 0
) -> NDArray[np.int64]:
    """Draw trees from each island by weight, independently; return their indices, shape (n_islands, n_draws)."""
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws!r}.")
    generator = np.random.default_rng(random_state)
    weights, ends = posterior.island_weights, posterior.island_weights.indptr
    rows = []
    for start, end in pairwise(ends):
        island = weights.data[start:end]
        rows.append(generator.choice(weights.indices[start:end], size=n_draws, p=island / island.sum()))
    return np.array(rows, dtype=np.int64)
