"""Settings are passed to the samplers of the kernel by name: each must be there, be known, and have the right type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from particletree import Categorical, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.parallel import Task, prior_for_kernel
from particletree._model.rule import LEAF

DATA = make_training_data(np.arange(4.0)[:, None], [0, 0, 1, 1], 2)
TASK = Task.prepare(DATA, TreePrior.paper(), Categorical.paper())
FILTER = {"n_particles": 3, "proposal": "prior", "n_candidates": 2, "ess_threshold": 0.5}
LENGTH = {"n_iterations": 5, "burn_in": 0, "thin": 1, "move_weights": np.ones(4), "regrow_share": 0.5}
ISLAND = FILTER | {"expansion": "node", "priority": "oldest", "resampling": "multinomial", "max_stages": 9}
PRIORS = {"leaf_sd": 0.5, "noise_df": 0.0, "noise_scale": 0.0, "noise_sd": 0.1}
SUM = FILTER | LENGTH | PRIORS | {"n_trees": 2, "is_probit": False, "offset": 0.0, "n_start": 0, "n_before": 0}


def run_island(**settings: Any) -> Any:
    return _kernel.run_island(TASK.problem, **running("island"), **settings)


def run_chain(**settings: Any) -> Any:
    nodes = LEAF.reshape(1).view(np.uint8).reshape(1, -1)
    return _kernel.run_chain(TASK.problem, initial_nodes=nodes, **running("chain"), **settings)


def run_sums(**settings: Any) -> Any:
    arrays = {name: TASK.arrays()[name] for name in ("ranks", "values", "offsets", "n_levels", "weights")}
    problem = _kernel.SumProblem(**arrays, **prior_for_kernel(TreePrior.paper()))
    target = np.arange(4.0)
    return _kernel.run_sum_of_trees(problem, target=target, initial=None, **running("chain"), **settings)


def running(number: str) -> dict[str, Any]:
    return {"generator": np.random.PCG64(0), "monitor": _kernel.Monitor(1), number: 0}


SAMPLERS = pytest.mark.parametrize(
    ("run", "settings"),
    [(run_island, ISLAND), (run_chain, FILTER | LENGTH), (run_sums, SUM)],
    ids=["island", "chain", "sums"],
)


@SAMPLERS
def test_complete_settings_are_accepted(run: Callable[..., Any], settings: dict[str, Any]) -> None:
    assert run(**settings)


@SAMPLERS
def test_unknown_settings_are_named(run: Callable[..., Any], settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"unknown setting: n_partciles; those that are used here are .*n_particles"):
        run(**settings, n_partciles=3)


@SAMPLERS
def test_missing_settings_are_named(run: Callable[..., Any], settings: dict[str, Any]) -> None:
    optional = {"n_candidates"} if run is run_island else {"regrow_share"} if run is run_chain else set()
    for name in settings.keys() - optional:
        with pytest.raises(TypeError, match=f"the setting {name} is missing"):
            run(**{other: value for other, value in settings.items() if other != name})


@SAMPLERS
@pytest.mark.parametrize(("name", "value"), [("n_particles", "many"), ("n_particles", -1), ("ess_threshold", None)])
def test_wrong_types_are_named(run: Callable[..., Any], settings: dict[str, Any], name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"the setting {name} has a value of a wrong type or range"):
        run(**settings | {name: value})


def test_settings_of_the_filter_are_refused_where_nothing_is_regrown() -> None:
    length = {name: value for name, value in LENGTH.items() if name != "regrow_share"}
    with pytest.raises(TypeError, match="unknown setting: "):
        run_chain(**FILTER, **length)
