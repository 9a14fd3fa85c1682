"""The question: what does an iteration of the Markov chain cost, and where do long chains end beside the filter.

An iteration touches the rows of one node; its cost is given in passes over these rows, independent of the machine. Long
chains and the filter aim at the same posterior: log-likelihood and number of leaves, with their standard deviation
between runs, tell if they agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import markdown
from benchmarks.data_sets import main_data_sets
from benchmarks.models import bayesian_tree
from benchmarks.settings import Settings
from benchmarks.timing import time_once
from particletree._commands.cart import accuracy, mean_log_probability
from particletree._posterior import Posterior
from particletree.datasets import Split
from particletree.inference import MCMC, SMC


@dataclass(frozen=True)
class Cost:
    """The cost of the iterations of one chain on one data set."""

    data: str
    iterations_per_second: float
    passes: float  # over the rows of the node that a move changes, mean over iterations
    rows: float  # rows of that node, mean over iterations
    acceptance: tuple[float, float, float, float]


@dataclass(frozen=True)
class Outcome:
    """The result of a sampler on one data set."""

    data: str
    method: str
    seconds: float
    accuracy: float
    log_probability: float
    log_likelihood: tuple[float, float]  # mean, and standard deviation between islands or chains
    leaves: tuple[float, float]


def measure(settings: Settings) -> Iterator[Cost | Outcome]:
    """Measure the main data sets."""
    for data in main_data_sets(settings):
        settings.say(f"{data.name}, one chain")
        yield measure_cost(data, settings.choose(tiny=500, quick=20_000, full=20_000))
        for name, sampler in samplers(settings.choose(tiny=600, quick=10_000, full=100_000)).items():
            settings.say(f"{data.name}, {name}")
            yield measure_outcome(data, name, sampler)


def samplers(n_iterations: int) -> dict[str, SMC | MCMC]:
    """Return the filters and the long chains that are compared."""
    chains = MCMC(n_iterations=n_iterations, n_chains=4, burn_in=n_iterations // 3, thin=max(1, n_iterations // 1500))
    return {
        "SMC, prior, 5 x 100": SMC.paper(),
        "SMC, optimal, 5 x 100": SMC.paper(proposal="optimal"),
        f"MCMC from the root, 4 x {n_iterations:,}": chains,
        f"MCMC from SMC, 4 x {n_iterations:,}": replace(chains, initial="smc"),
    }


def measure_cost(data: Split, n_iterations: int) -> Cost:
    """Run one chain from the root and read its trace."""
    model = bayesian_tree(MCMC(n_iterations=n_iterations, n_chains=1, burn_in=0)).fit(data.X_train, data.y_train)
    trace = model.posterior_.trace[0]
    touching = trace[trace["rows"] > 0]
    rates = [float(np.mean(trace["accepted"][trace["move"] == move])) for move in range(4)]
    return Cost(
        data=data.name,
        iterations_per_second=n_iterations / float(trace["seconds"][-1]),
        passes=float(np.mean(touching["visits"] / touching["rows"])),
        rows=float(touching["rows"].mean()),
        acceptance=(rates[0], rates[1], rates[2], rates[3]),
    )


def measure_outcome(data: Split, name: str, sampler: SMC | MCMC) -> Outcome:
    """Fit one sampler and score it on the test rows."""
    model = bayesian_tree(sampler)
    seconds = time_once(lambda: model.fit(data.X_train, data.y_train))
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


def between_runs(posterior: Posterior, values: Any) -> tuple[float, float]:
    """Return the mean of a quantity over islands or chains, and its standard deviation between them."""
    means = posterior.island_weights @ np.asarray(values, dtype=np.float64)
    return float(means.mean()), float(means.std(ddof=1))


def to_markdown(results: Sequence[Cost | Outcome]) -> str:
    """Return both tables in Markdown."""
    costs = [r for r in results if isinstance(r, Cost)]
    outcomes = [r for r in results if isinstance(r, Outcome)]
    cost_table = markdown.table(
        ["data", "accepted: grow, prune, change, swap"],
        ["iterations a second", "passes an iteration", "rows of the node"],
        [
            [
                c.data,
                ", ".join(f"{rate:.0%}" for rate in c.acceptance),
                f"{c.iterations_per_second:,.0f}",
                f"{c.passes:.2f}",
                f"{c.rows:.0f}",
            ]
            for c in costs
        ],
    )
    outcome_table = markdown.table(
        ["data", "method"],
        ["fit", "accuracy", "mean log-probability", "log-likelihood (sd)", "leaves (sd)"],
        [
            [
                o.data,
                o.method,
                markdown.duration(o.seconds),
                f"{o.accuracy:.3f}",
                f"{o.log_probability:.3f}",
                f"{o.log_likelihood[0]:.0f} ({o.log_likelihood[1]:.0f})",
                f"{o.leaves[0]:.1f} ({o.leaves[1]:.1f})",
            ]
            for o in outcomes
        ],
    )
    return f"{cost_table}\n\n{outcome_table}"
