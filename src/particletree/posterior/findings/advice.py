"""What to do about each finding, in terms of the parameters; the summary's verdict gives the same advice."""

from __future__ import annotations

from particletree.posterior.verdict import CLOSER_EVIDENCES, FIND_MISSED, stabilise

ADVICE = {
    "one_island": "Run two or more (n_islands).",
    "predictions": stabilise("predictions"),  # of chains: n_chains
    "importances": stabilise("importances"),
    "evidence": CLOSER_EVIDENCES,
    "evidence_bound": FIND_MISSED,
    "island_share": (
        'Use island_weighting="uniform", or more particles (n_particles) so that the islands\' evidences come closer.'
    ),
    "few_trees": "More islands (n_islands) or particles (n_particles) give more trees.",
    "first_split": "More islands (n_islands) add draws of the first split; more particles (n_particles) keep several.",
    "sizes_between_islands": "More islands (n_islands), or more particles (n_particles) in each, stabilise the sizes.",
    "truncated": "Raise max_stages, or leave it at None.",
    "one_chain": "Run two or more (n_chains).",
    "rhat": 'Run longer (n_iterations) or more chains (n_chains), start with initial="smc", or use SMC.',
    "chain_ess": "Run longer (n_iterations); thin does not help.",
    "burn_in": 'Raise burn_in together with n_iterations, or start with initial="smc".',
    "held_out": (
        "Do not use these predictions in place of a constant before you know why: other features, a leaf model that "
        "suits the targets, or a sum of trees may do better."
    ),
    "roots_alone": (
        "If you expect an effect, more rows or other features would show it; a higher alpha in TreePrior lets trees "
        "split more readily."
    ),
    "larger_than_prior": (
        'TreePrior.expecting(n_leaves=...) with a larger number, a smaller beta, or TreePrior("auto", "auto"), which '
        "lets the evidence choose."
    ),
    "depth_limit": "Raise max_depth in TreePrior, or leave it at None and let the prior limit the depth.",
    "rows_alone": (
        "Expect fewer leaves (a larger beta in TreePrior, or min_samples_split), or more noise in a leaf "
        '(noise_sd="auto" for numbers, a larger concentration for classes).'
    ),
    "unused_features": (
        'If you expect one of them to matter, proposal="lookahead" with more candidates (n_candidates) looks at more; '
        "else they can be left out."
    ),
    "identifying_feature": "If it is a row number, a date of entry or a key, leave the column out of X.",
    "rows_needed": "Call findings() on a posterior with its rows: that of the fit, or one saved with them.",
}
