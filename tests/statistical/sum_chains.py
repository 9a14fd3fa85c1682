"""Chains over sums of trees, called as the kernel has them, with every set of moves."""

import numpy as np

from mixed_data import ranked
from particletree import _kernel
from particletree._inference.bart.sampler import BARTMoves
from particletree._inference.parallel import prior_for_kernel
from sum_oracle import SumData

LOCAL = (0.4, 0.4, 0.2, 0.0)
MOVES = {
    "grow and prune": BARTMoves(regrow_share=0.0, move_weights=(0.5, 0.5, 0.0, 0.0)),
    "grow, prune and change": BARTMoves(regrow_share=0.0, move_weights=LOCAL),
    "uneven": BARTMoves(regrow_share=0.0, move_weights=(0.2, 0.5, 0.3, 0.0)),
    "mostly grow, with change": BARTMoves(regrow_share=0.0, move_weights=(0.7, 0.1, 0.2, 0.0)),
    "mostly change": BARTMoves(regrow_share=0.0, move_weights=(0.15, 0.15, 0.7, 0.0)),
    "mixed, optimal": BARTMoves(regrow_share=0.3, move_weights=LOCAL, n_particles=2),
    "regrow, resampling at every stage": BARTMoves(
        regrow_share=1.0, proposal="empirical", n_particles=4, ess_threshold=1.0
    ),
    "regrow, optimal, resampling at every stage": BARTMoves(regrow_share=1.0, n_particles=3, ess_threshold=1.0),
    "mixed, lookahead": BARTMoves(regrow_share=0.3, proposal="lookahead", n_candidates=3, n_particles=3),
    **{
        f"regrow, {proposal}, {n} particles": BARTMoves(
            regrow_share=1.0, proposal=proposal, n_particles=n, n_candidates=3
        )
        for proposal, n in [("prior", 4), ("empirical", 4), ("optimal", 2), ("optimal", 4), ("lookahead", 3)]
    },
}


def make_problem(data: SumData, prior):
    table = ranked(data.X, data.n_levels, np.arange(len(data.X)))
    weights = np.empty(0) if data.weights is None else data.weights
    return _kernel.SumProblem(
        table.ranks, table.values, table.offsets, table.n_levels, weights, **prior_for_kernel(prior)
    )


def run(problem, y, model, moves, generator, n_iterations, burn_in, initial=None):
    return _kernel.run_sum_of_trees(
        problem=problem,
        target=y,
        is_probit=False,
        offset=0.0,
        n_trees=model.n_trees,
        leaf_sd=model.leaf_sd,
        noise_df=model.noise_df,
        noise_scale=model.noise_scale,
        noise_sd=model.noise_sd,
        n_iterations=n_iterations,
        burn_in=burn_in,
        thin=1,
        initial=initial,
        generator=generator,
        monitor=_kernel.Monitor(1),
        chain=0,
        most_nodes=model.most_nodes,
        **moves.kernel_settings() | {"n_start": 0, "n_before": 0},
    )
