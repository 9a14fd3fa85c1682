"""The question: does regrowing subtrees (particle Gibbs) mix better per second than Chipman's moves alone.

All chains start at a draw from the same quick filter and run for the same processor time. The table has the effective
sample size per second of the number of leaves in the second half of the run, and R-hat over the chains; where R-hat is
far from 1 the former says little. The data also have log-likelihoods in tenths of the run, the same for predictions
(the median over some test rows), and the log-probability of the test rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from benchmarks import markdown
from benchmarks.data_sets import LOADERS, paper_data_sets, split_at_random
from benchmarks.models import bayesian_tree
from benchmarks.samplers import later_half
from benchmarks.settings import Settings
from particletree._commands.cart import mean_log_probability
from particletree._model.target import class_labels
from particletree._posterior import Posterior
from particletree._posterior.runs.convergence import bulk_ess, split_rhat
from particletree.datasets import Split
from particletree.inference import MCMC, ParticleGibbs

N_CHAINS = 4
N_ROWS = 30  # test rows whose predictions are monitored
MOST_KEPT = 1000  # iterations per chain


def lookahead(regrow_share: float, n_particles: int = 10) -> ParticleGibbs:
    """Return particle Gibbs with the lookahead proposal."""
    return ParticleGibbs(proposal="lookahead", regrow_share=regrow_share, n_particles=n_particles)


VARIANTS: Mapping[str, MCMC | ParticleGibbs] = {
    "MCMC": MCMC(initial="smc"),
    "lookahead, 5 %": lookahead(0.05),
    "lookahead, 20 %": lookahead(0.2),
    "lookahead, 20 %, 4 particles": lookahead(0.2, n_particles=4),
    "lookahead, 20 %, 30 particles": lookahead(0.2, n_particles=30),
    "lookahead, 50 %": lookahead(0.5),
    "optimal, 20 %, 4 particles": ParticleGibbs(proposal="optimal", regrow_share=0.2, n_particles=4),
    "prior, 20 %": ParticleGibbs(proposal="prior", regrow_share=0.2),
}


@dataclass(frozen=True)
class Mixing:
    """How one sampler mixes on one data set."""

    data: str
    sampler: str
    n_iterations: int
    seconds: float  # of all chains together
    log_likelihoods: tuple[float, ...]  # means over the chains in tenths of the run
    leaves_per_second: float  # effective sample sizes
    predictions_per_second: float
    rhat: float  # of the number of leaves
    log_probability: float  # of the test rows


def measure(settings: Settings) -> Iterator[Mixing]:
    """Run every variant on every data set."""
    seconds = settings.choose(tiny=0.02, quick=1.0, full=5.0)
    for data in data_sets(settings):
        for name, sampler in VARIANTS.items():
            settings.say(f"{data.name}, {name}")
            yield measure_mixing(data, name, sampler, seconds)


def data_sets(settings: Settings) -> Iterator[Split]:
    """Yield breast cancer, and the paper's data if a folder is given."""
    yield split_at_random("breast cancer", *load_breast_cancer(return_X_y=True))
    if settings.scale != "tiny":
        yield from paper_data_sets(settings, list(LOADERS))


def measure_mixing(data: Split, name: str, sampler: MCMC | ParticleGibbs, seconds: float) -> Mixing:
    """Run the chains for about `seconds` each."""
    elapsed, posterior, thin = run_chains(data, sampler, n_iterations := iterations_within(data, sampler, seconds))
    half = posterior.trace[0].size // 2
    leaves = second_half(posterior, posterior.n_leaves)
    return Mixing(
        data=data.name,
        sampler=name,
        n_iterations=n_iterations,
        seconds=elapsed,
        log_likelihoods=in_tenths(posterior, posterior.log_likelihoods),
        leaves_per_second=2 * bulk_ess(leaves) / elapsed,
        predictions_per_second=2 * prediction_size(posterior, data) / elapsed,
        rhat=split_rhat(leaves),
        log_probability=held_out_log_probability(posterior, half, thin, data),
    )


def iterations_within(data: Split, sampler: MCMC | ParticleGibbs, seconds: float) -> int:
    """Return how many iterations take `seconds` per chain, from pilot runs of increasing length."""
    n, start = 100, run_chains(data, sampler, 10)[0]
    while (elapsed := run_chains(data, sampler, n)[0] - start) < 0.1 * seconds * N_CHAINS:
        n *= 3
    return int(n * seconds * N_CHAINS / elapsed)


def run_chains(data: Split, sampler: MCMC | ParticleGibbs, n_iterations: int) -> tuple[float, Posterior, int]:
    """Return the CPU time of a fit by chains of this length, the posterior, and the thinning."""
    thin = max(1, n_iterations // MOST_KEPT)
    settings = sampler.get_params() | {"n_iterations": n_iterations, "n_chains": N_CHAINS, "burn_in": 0, "thin": thin}
    model = bayesian_tree(type(sampler)(**settings))
    start = time.process_time()
    model.fit(data.X_train, data.y_train)
    return time.process_time() - start, model.posterior_, thin


def along_chains(posterior: Posterior, values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a quantity of each tree along the chains, shape (n_chains, n_kept)."""
    return np.array(posterior.along_chains(values), dtype=np.float64)


def second_half(posterior: Posterior, values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a quantity of each tree along the second half of the chains."""
    paths = along_chains(posterior, values)
    return paths[:, paths.shape[1] // 2 :]


def in_tenths(posterior: Posterior, values: NDArray[Any]) -> tuple[float, ...]:
    """Return the means of a quantity over all chains, in tenths of the run."""
    return tuple(float(part.mean()) for part in np.array_split(along_chains(posterior, values), 10, axis=1))


def prediction_size(posterior: Posterior, data: Split) -> float:
    """Return the median over some rows of the effective sample size of the probability of the row's true class."""
    rows, labels = np.arange(N_ROWS), np.searchsorted(class_labels(posterior.target), data.y_test[:N_ROWS])
    own = np.array([tree.predict_proba(data.X_test[:N_ROWS])[rows, labels] for tree in posterior.trees])
    return float(np.nanmedian([bulk_ess(second_half(posterior, of_row)) for of_row in own.T]))


def held_out_log_probability(posterior: Posterior, half: int, thin: int, data: Split) -> float:
    """Return the mean log-probability of the test rows, predicted by the second half of the chains."""
    n_kept = posterior.trace[0].size
    means = {half: posterior.until(half * thin).predictive(data.X_test), n_kept: posterior.predictive(data.X_test)}
    mean = later_half(means, n_kept).clip(min=1e-12)
    return float(mean_log_probability(mean, class_labels(posterior.target), data.y_test))


def to_markdown(mixings: Sequence[Mixing]) -> str:
    """Return effective sample sizes of the number of leaves per second, one column per data set, R-hat in brackets."""
    data = list(dict.fromkeys(m.data for m in mixings))
    cells = {(m.sampler, m.data): f"{m.leaves_per_second:.1f} ({m.rhat:.2f})" for m in mixings}
    samplers = dict.fromkeys(m.sampler for m in mixings)
    rows = [[sampler, *(cells.get((sampler, name), markdown.ABSENT) for name in data)] for sampler in samplers]
    return markdown.table(["leaves: ESS per s (R-hat)"], data, rows)
