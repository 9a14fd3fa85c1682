"""Checks of Markov chains: whether they have settled, moved, and agree."""

from __future__ import annotations

import numpy as np

from particletree.posterior.convergence import ESS_PER_CHAIN_GOOD, RHAT_BAD, RHAT_GOOD
from particletree.posterior.findings.advice import ADVICE
from particletree.posterior.findings.case import Case
from particletree.posterior.findings.finding import GOOD, NOTE, WARNING, Finding

DRIFT = 2.0
DRAWS_FOR_DRIFT = 40


def one_chain(case: Case) -> Finding | None:
    """There is one chain, which cannot show what it has missed.

    Warning below 2 chains; 4 are usual (Vehtari et al. 2021).
    """
    if case.report is None or case.report.n_chains > 1:
        return None
    text = "There is one chain only, which can be compared with nothing but itself."
    return Finding(WARNING, "one_chain", text, 1.0, 2.0, ADVICE["one_chain"])


def rhat(case: Case) -> Finding | None:
    """The largest split R-hat of log posterior, leaves and depth.

    Good below 1.01 (Vehtari et al. 2021), warning from 1.05 on, where Stan warns too, a note between.
    Warning too where it is not defined: too few draws, or chains that never moved.
    """
    if case.report is None:
        return None
    found = case.report.rhat
    if np.isnan(found):
        text = "R-hat is not defined: there are too few draws, or all are the same."
        return Finding(WARNING, "rhat", text, None, RHAT_GOOD, ADVICE["rhat"])
    if found < RHAT_GOOD:
        return Finding(GOOD, "rhat", f"Chains agree: the largest R-hat is {found:.3f}.", found, RHAT_GOOD, "")
    where = "are in different places" if found >= RHAT_BAD else "agree roughly"
    level, limit = (WARNING, RHAT_BAD) if found >= RHAT_BAD else (NOTE, RHAT_GOOD)
    return Finding(level, "rhat", f"Chains {where}: the largest R-hat is {found:.3f}.", found, limit, ADVICE["rhat"])


def chain_ess(case: Case) -> Finding | None:
    """The smallest bulk effective sample size of log posterior, leaves and depth.

    Note up to 100 for each chain: below, R-hat itself is not reliable (Vehtari et al. 2021).
    """
    if case.report is None or np.isnan(case.report.ess):
        return None
    needed = ESS_PER_CHAIN_GOOD * case.report.n_chains
    text = f"The kept iterations are worth {case.report.ess:,.0f} independent draws."
    if case.report.ess > needed:
        return Finding(GOOD, "chain_ess", text, case.report.ess, needed, "")
    return Finding(NOTE, "chain_ess", text, case.report.ess, needed, ADVICE["chain_ess"])


def burn_in(case: Case) -> Finding | None:
    """The kept iterations begin before the chains had settled.

    Warning where the log posterior of the first tenth of the kept iterations is below that of the last half by more
    than 2 standard deviations of the latter, in the median chain. It needs 40 kept iterations.
    """
    if case.report is None or case.report.n_kept < DRAWS_FOR_DRIFT:
        return None
    posterior = case.posterior
    chains = posterior.along_chains(posterior.log_likelihoods + posterior.log_priors)
    drift = float(np.median([_drift(draws) for draws in chains]))
    if not drift > DRIFT:
        return None
    text = f"The log posterior still rose after the burn-in, by {drift:.1f} standard deviations of its later values."
    return Finding(WARNING, "burn_in", text, drift, DRIFT, ADVICE["burn_in"])


def _drift(draws: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return by how many standard deviations of the last half the first tenth of some draws is below it."""
    early, late = draws[: draws.size // 10], draws[draws.size // 2 :]
    rise, deviation = float(late.mean() - early.mean()), float(late.std())
    return rise / deviation if deviation > 0 else float(np.sign(rise)) * np.inf if rise else 0.0


CHECKS = (one_chain, rhat, chain_ess, burn_in)
