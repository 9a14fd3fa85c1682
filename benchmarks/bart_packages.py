"""The packages of the case `additive`: packages for BART with a common interface.

Each gets the number of trees, discarded and kept sweeps, chains, one thread and a seed, and otherwise uses its own
defaults. It returns draws, pooled over chains: of the function at the test rows and of the noise, or of the probability
of the second class. The CPU times of the fit and of these predictions are measured separately. Compilation by JAX and
PyTensor is not counted: `bartz` and `pymc-bart` run twice, and the second run counts.

`stochtree`, `bartz` and `pymc-bart` are not in the extra `bench`, because of their many dependencies: ``pip install
stochtree bartz pymc-bart``. A package that is not installed is left out, with a message.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning

from particletree import BARTClassifier, BARTRegressor
from particletree.datasets import Split
from particletree.inference import BARTMoves

Floats = NDArray[np.float64]
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


@dataclass(frozen=True)
class Length:
    """The length of chains: discarded and kept sweeps, number of chains, and grow-from-root sweeps before."""

    n_burn_in: int
    n_kept: int
    n_chains: int = 1
    n_start: int = 0


@dataclass(frozen=True)
class Run:
    """One fit: its CPU seconds, and its draws at the test rows."""

    fit_seconds: float
    predict_seconds: float
    draws: Floats  # (n_rows, n_draws): of the function, or of the probability of the second class
    noise_sd: Floats | None  # (n_draws,), None for classes
    compile_seconds: float = 0.0


Package: TypeAlias = Callable[[Split, int, Length, int], Run]  # data, trees, length, seed


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def has_classes(data: Split) -> bool:
    """Return whether the target is a class."""
    return data.y_train.dtype.kind not in "f"


def as_zero_and_one(data: Split) -> Floats:
    """Return the two classes of the training rows as 0 and 1."""
    return np.asarray(data.y_train == np.unique(data.y_train)[1], dtype=np.float64)


def particletree(data: Split, n_trees: int, length: Length, seed: int, **settings: Any) -> Run:
    """Run our chains, one after the other."""
    kind: Any = BARTClassifier if has_classes(data) else BARTRegressor
    model = kind(
        n_trees=n_trees,
        n_iterations=length.n_burn_in + length.n_kept,
        burn_in=length.n_burn_in,
        n_chains=length.n_chains,
        n_jobs=1,
        random_state=seed,
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # short chains are measured too
        fit_seconds, _ = timed(lambda: model.fit(data.X_train, data.y_train))
    posterior = model.posterior_
    predict_seconds, draws = timed(lambda: posterior.predictions.draws(data.X_test))
    noise_sd = None if has_classes(data) else posterior.noise_sd
    return Run(fit_seconds, predict_seconds, draws[..., -1], noise_sd)


def stochtree(data: Split, n_trees: int, length: Length, seed: int) -> Run:
    """Run chains of stochtree, one after the other."""
    from stochtree import BARTModel, OutcomeModel

    model, general = BARTModel(), {"random_seed": seed + 1, "num_threads": 1, "num_chains": length.n_chains}
    target, scale = data.y_train, "linear"
    if has_classes(data):
        general["outcome_model"] = OutcomeModel("binary", "probit")
        target, scale = as_zero_and_one(data), "probability"
    fit_seconds, _ = timed(
        lambda: model.sample(
            X_train=data.X_train,
            y_train=target,
            num_gfr=length.n_start,
            num_burnin=length.n_burn_in,
            num_mcmc=length.n_kept,
            general_params=general,
            mean_forest_params={"num_trees": n_trees},
        )
    )
    predict = lambda: model.predict(data.X_test, terms="y_hat", type="posterior", scale=scale)  # noqa: E731
    predict_seconds, draws = timed(predict)
    noise_sd = None if has_classes(data) else np.sqrt(np.ravel(model.global_var_samples))
    return Run(fit_seconds, predict_seconds, np.asarray(draws), noise_sd)


def bartz(data: Split, n_trees: int, length: Length, seed: int) -> Run:
    """Run chains of bartz in parallel, twice: the extra time of the first run is compilation."""
    os.environ.setdefault("XLA_FLAGS", ONE_THREAD)
    gbart: Any = importlib.import_module("bartz.BART").mc_gbart  # not among the names that it exports to type checkers
    kind, target = ("pbart", as_zero_and_one(data)) if has_classes(data) else ("wbart", data.y_train)
    n_draws = length.n_kept * length.n_chains
    chains = {"mc_cores": length.n_chains, "nskip": length.n_burn_in, "ndpost": n_draws}

    def run() -> Any:
        model = gbart(data.X_train, target, type=kind, seed=seed, ntree=n_trees, printevery=None, **chains)
        np.asarray(model.varcount)  # waits for the asynchronous computation
        return model

    def predict() -> Floats:
        sums = np.asarray(model.predict(data.X_test), dtype=np.float64).T
        return np.asarray(ndtr(sums)) if kind == "pbart" else sums

    first_seconds, _ = timed(run)
    fit_seconds, model = timed(run)
    predict()
    predict_seconds, draws = timed(predict)
    noise_sd = None if has_classes(data) else np.asarray(model.sigma_)
    return Run(fit_seconds, predict_seconds, draws, noise_sd, first_seconds - fit_seconds)


def pymc_bart(data: Split, n_trees: int, length: Length, seed: int) -> Run:
    """Run one chain of pymc-bart twice; only for regression."""
    import pymc
    from pymc_bart import BART

    quiet = {"progressbar": False, "random_seed": seed}

    def run() -> tuple[Any, Any]:
        with pymc.Model() as model:
            function = BART("function", pymc.Data("X", data.X_train), data.y_train, m=n_trees)
            noise_sd = pymc.HalfNormal("noise_sd", np.std(data.y_train))
            pymc.Normal("y", function, noise_sd, observed=data.y_train, shape=function.shape)
            chain = {"draws": length.n_kept, "tune": length.n_burn_in, "chains": 1, "cores": 1}
            return model, pymc.sample(**chain, **quiet, compute_convergence_checks=False)

    def predict() -> Floats:
        with model:
            pymc.set_data({"X": data.X_test})
            found = pymc.sample_posterior_predictive(draws, var_names=["function"], **quiet)
        return np.asarray(found.posterior_predictive["function"].values[0].T)

    first_seconds, _ = timed(run)
    fit_seconds, (model, draws) = timed(run)
    predict_seconds, functions = timed(predict)
    noise_sd = draws.posterior["noise_sd"].values[0]
    return Run(fit_seconds, predict_seconds, functions, noise_sd, first_seconds - fit_seconds)


PACKAGES: dict[str, Package] = {
    "particletree": particletree,
    "particletree, no regrowing": partial(particletree, moves=BARTMoves(regrow_share=0.0)),
    "particletree, 5% regrown": partial(particletree, moves=BARTMoves(regrow_share=0.05)),
    # About the prior standard deviation of leaf values in stochtree's default.
    "particletree, k = 3, 5% regrown": partial(particletree, moves=BARTMoves(regrow_share=0.05), k=3.0),
    "stochtree": stochtree,
    "bartz": bartz,
    "pymc_bart": pymc_bart,
}


def installed(say: Callable[[str], None]) -> dict[str, Package]:
    """Return the installed packages, and print which are missing."""
    found = {name: run for name, run in PACKAGES.items() if importlib.util.find_spec(name.split(",")[0]) is not None}
    for name in PACKAGES.keys() - found.keys():
        say(f"{name} is left out: pip install {name}")
    return found
