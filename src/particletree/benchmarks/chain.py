"""The question: what does an iteration of the Markov chain cost, and where do long chains end beside the filter.

An iteration touches the rows of one node. The trace counts how often a row was read for it, so that the cost can be
told in passes over that node's rows, independent of the machine. Long chains and the particle filter aim at the same
posterior: mean log-likelihood and number of leaves, with their standard deviation between runs, tell if they agree.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from particletree.benchmarks.cart import accuracy, mean_log_probability
from particletree.datasets import Split
from particletree.estimators import BayesianTreeClassifier
from particletree.inference import MCMC, SMC
from particletree.posterior import Posterior

COST_ITERATIONS = 20_000


@dataclass(frozen=True)
class Cost:
    """What iterations of one chain cost on one data set."""

    data: str
    iterations_per_second: float
    passes: float  # over the rows of the node that is touched, mean over iterations
    rows: float  # of that node, mean over iterations
    acceptance: tuple[float, float, float, float]


@dataclass(frozen=True)
class Outcome:
    """Where a sampler ends on one data set."""

    data: str
    method: str
    seconds: float
    accuracy: float
    log_probability: float
    log_likelihood: tuple[float, float]  # mean, and standard deviation between islands or chains
    leaves: tuple[float, float]


def measure_cost(data: Split) -> Cost:
    """Run one chain from the root and read its trace."""
    model = fit(data, MCMC(n_iterations=COST_ITERATIONS, n_chains=1))
    trace = model.posterior_.trace[0]
    touching = trace[trace["rows"] > 0]
    rates = [float(trace["accepted"][trace["move"] == move].mean()) for move in range(4)]
    return Cost(
        data=data.name,
        iterations_per_second=COST_ITERATIONS / float(trace["seconds"][-1]),
        passes=float(np.mean(touching["visits"] / touching["rows"])),
        rows=float(touching["rows"].mean()),
        acceptance=(rates[0], rates[1], rates[2], rates[3]),
    )


def compare_samplers(data: Split, n_iterations: int) -> list[Outcome]:
    """Fit the filter and long chains, and tell where they end."""
    chains = MCMC(n_iterations=n_iterations, n_chains=4, burn_in=n_iterations // 3, thin=50)
    samplers: dict[str, SMC | MCMC] = {
        "SMC, prior, 5 x 100": SMC(),
        "SMC, optimal, 5 x 100": SMC(proposal="optimal"),
        f"MCMC from the root, 4 x {n_iterations:,}": chains,
        f"MCMC from SMC, 4 x {n_iterations:,}": replace(chains, initial="smc"),
    }
    return [measure_outcome(data, name, sampler) for name, sampler in samplers.items()]


def measure_outcome(data: Split, name: str, sampler: SMC | MCMC) -> Outcome:
    """Fit one sampler and score it on the test rows."""
    start = time.perf_counter()
    model = fit(data, sampler)
    seconds = time.perf_counter() - start
    predicted, posterior = model.predict_proba(data.X_test), model.posterior_
    return Outcome(
        data=data.name,
        method=name,
        seconds=seconds,
        accuracy=accuracy(predicted, model.classes_, data.y_test),
        log_probability=mean_log_probability(predicted, model.classes_, data.y_test),
        log_likelihood=between_runs(posterior, posterior.log_likelihoods),
        leaves=between_runs(posterior, posterior.n_leaves),
    )


def fit(data: Split, sampler: SMC | MCMC) -> BayesianTreeClassifier:
    """Fit a classifier on the training rows, on one thread."""
    return BayesianTreeClassifier(sampler=sampler, n_jobs=1, random_state=0).fit(data.X_train, data.y_train)


def between_runs(posterior: Posterior, values: Any) -> tuple[float, float]:
    """Return the mean of a number over islands or chains, and its standard deviation between them."""
    means = posterior.island_weights @ np.asarray(values, dtype=np.float64)
    return float(means.mean()), float(means.std(ddof=1))


def to_markdown(costs: list[Cost], outcomes: list[Outcome]) -> str:
    """Return both tables in Markdown."""
    lines = [
        "| data | iterations a second | passes an iteration | rows of the node | accepted: grow, prune, change, swap |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for c in costs:
        rates = ", ".join(f"{rate:.0%}" for rate in c.acceptance)
        lines.append(f"| {c.data} | {c.iterations_per_second:,.0f} | {c.passes:.2f} | {c.rows:.0f} | {rates} |")
    lines += [
        "",
        "| data | method | fit, s | accuracy | mean log-probability | log-likelihood (sd) | leaves (sd) |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for o in outcomes:
        scores = f"{o.seconds:.2f} | {o.accuracy:.3f} | {o.log_probability:.3f}"
        trees = f"{o.log_likelihood[0]:.0f} ({o.log_likelihood[1]:.0f}) | {o.leaves[0]:.1f} ({o.leaves[1]:.1f})"
        lines.append(f"| {o.data} | {o.method} | {scores} | {trees} |")
    return "\n".join(lines)


def to_json(costs: list[Cost], outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the figures as plain dictionaries."""
    return {"cost": [asdict(cost) for cost in costs], "outcomes": [asdict(outcome) for outcome in outcomes]}
