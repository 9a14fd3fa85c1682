"""Summary of a posterior: sizes of trees, evidence, features, and how far independent runs agree.

A single run cannot show its own Monte Carlo error. Several runs are compared by their predictions and gain shares
(``agreement.py``) and their evidence (``evidence.py``), Markov chains also by split R-hat and effective sample sizes of
log posterior, number of leaves and depth (``convergence.py``). ``verdict.py`` writes the verdict.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.text import one_line
from particletree._posterior.runs.convergence import ConvergenceReport, convergence
from particletree._posterior.runs.provenance import Choice
from particletree._posterior.runs.traces import count_moves, iterations_per_second
from particletree._posterior.structure.importances import gain_shares, inclusion_probabilities
from particletree._posterior.summary.agreement import Agreement
from particletree._posterior.summary.verdict import EXACT, Evidence, chain_verdict, island_verdict
from particletree._posterior.weighted_trees import WeightedTrees

FEATURES_SHOWN = 5
LINE_WIDTH = 100


@dataclass(frozen=True)
class Spread:
    """A quantity under the posterior: mean, standard deviation, and the 5% and 95% quantiles."""

    mean: float
    sd: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"mean {self.mean:.1f}, sd {self.sd:.1f}, 90% between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class FeatureUse:
    """The use of a feature: its inclusion probability, and its share in the gain of all splits."""

    name: str
    inclusion: float
    gain_share: float


@dataclass(frozen=True)
class Summary:
    """Summary of a posterior; `print` it to read it.

    Attributes
    ----------
    n_trees, n_islands : int
        Number of distinct trees, and of islands (or chains).
    effective_sample_size : float
        Of the weighted distinct trees: 1 / sum of squared weights.
    leaves, depth : Spread
        Size of the trees.
    log_evidence, log_evidence_se : float
        Log evidence with its standard error; nan if there is none.
    log_evidence_bound : float
        Lower bound of the log evidence, from the trees (``evidence.py``).
    island_log_evidences : tuple of float
        Each island's estimate, empty if the sampler gives none.
    island_leaves : tuple of float
        Mean number of leaves in each island.
    agreement : Agreement
        How far the islands or chains agree on predictions and gain shares.
    features : tuple of FeatureUse
        The features that are used most, the largest gain share first.
    n_features : int
        Number of features of the data.
    verdict : str
        Text: what the islands or chains agree on, what that means, and what to do.
    convergence : ConvergenceReport or None
        Convergence diagnostics of chains; None for islands of particles.
    choice : Choice or None
        The settings that the evidence has chosen; None if no parameter was "auto".
    prior : str
        What the first fit has fixed of the prior; empty for a prior that depends on the rows.
    """

    n_trees: int
    n_islands: int
    effective_sample_size: float
    leaves: Spread
    depth: Spread
    log_evidence: float
    log_evidence_se: float
    log_evidence_bound: float
    island_log_evidences: tuple[float, ...]
    island_leaves: tuple[float, ...]
    agreement: Agreement
    features: tuple[FeatureUse, ...]
    n_features: int
    verdict: str
    convergence: ConvergenceReport | None = None
    choice: Choice | None = None
    prior: str = ""

    @property
    def log_evidence_sd(self) -> float:
        """Standard deviation of the islands' log evidences; nan for fewer than two."""
        return float(np.std(self.island_log_evidences, ddof=1)) if len(self.island_log_evidences) > 1 else float("nan")

    def __str__(self) -> str:
        return "\n".join(
            [
                *self._tree_lines(),
                *self._more_lines(),
                *self._feature_lines(),
                textwrap.fill(self.verdict, LINE_WIDTH),
            ]
        )

    __repr__ = __str__  # so that it is readable without `print`

    def _repr_html_(self) -> str:
        """Show the summary in a notebook, with a bar at each feature."""
        title, *facts = [*self._tree_lines(), *self._more_lines()]
        return summary_html(title, facts, self.features, self.n_features, self.verdict)

    def _more_lines(self) -> list[str]:
        return [
            *self._evidence_lines(),
            *self._run_lines(),
            *([f"  chosen        {self.choice}"] if self.choice else []),
            *([f"  prior         {self.prior}"] if self.prior else []),
            *(self.convergence.lines() if self.convergence else []),
        ]

    def _tree_lines(self) -> list[str]:
        # The information in a chain depends on autocorrelation, which its own effective sample sizes account for.
        worth = "" if self.convergence else f", effective sample size {self.effective_sample_size:.1f}"
        return [
            f"Posterior over trees: {_count(self.n_trees, 'distinct tree')} from "
            f"{_count(self.n_islands, 'chain' if self.convergence else 'island')}{worth}",
            f"  leaves        {self.leaves}",
            f"  depth         {self.depth}",
        ]

    def _evidence_lines(self) -> list[str]:
        bound = f"lower bound {self.log_evidence_bound:.2f}"
        if np.isnan(self.log_evidence):
            return [f"  log evidence  {bound}"]
        if self.log_evidence_se == 0:
            return [f"  log evidence  {self.log_evidence:.2f} (exact)"]
        error = "" if np.isnan(self.log_evidence_se) else f" (standard error {self.log_evidence_se:.2g})"
        return [f"  log evidence  {self.log_evidence:.2f}{error}; {bound}"]

    def _run_lines(self) -> list[str]:
        if self.n_islands == 1:
            return []
        name = "chains" if self.convergence else "islands"
        leaves = f"mean leaves from {min(self.island_leaves):.1f} to {max(self.island_leaves):.1f}"
        if not self.island_log_evidences:
            return [f"  {name:<12}  {leaves}"]
        low, high = min(self.island_log_evidences), max(self.island_log_evidences)
        return [f"  {name:<12}  log evidence from {low:.2f} to {high:.2f} (sd {self.log_evidence_sd:.2g}), {leaves}"]

    def _feature_lines(self) -> list[str]:
        if not self.features:
            return ["  features      no tree cuts any"]
        names = [one_line(use.name)[:30] for use in self.features]
        width = max(len(name) for name in names)
        lines = [
            f"  {name:<{width}}  in {use.inclusion:4.0%} of the trees, gain share {use.gain_share:.2f}"
            for name, use in zip(names, self.features, strict=True)
        ]
        return [f"Largest gain shares of {_count(self.n_features, 'feature')}:", *lines]


def summarize(posterior: WeightedTrees, agreement: Agreement) -> Summary:
    """Summarise a posterior: sizes of trees, evidence, features, and whether the islands or chains agree.

    Parameters
    ----------
    posterior : Posterior
        The result of a sampler.
    agreement : Agreement
        How far its runs agree.

    Returns
    -------
    Summary
        Numbers, with a text for `print`.
    """
    weights, n_leaves = posterior.weights, posterior.n_leaves
    evidence = Evidence.of(posterior)
    log_evidences = () if posterior.log_evidences is None else tuple(posterior.log_evidences.tolist())
    report = report_convergence(posterior) if posterior.is_chain else None
    if posterior.is_exact:
        verdict = EXACT
    elif report:
        verdict = chain_verdict(report, agreement, posterior.leaf)
    else:
        verdict = island_verdict(agreement, evidence, posterior.leaf)
    return Summary(
        n_trees=posterior.forest.n_trees,
        n_islands=posterior.n_islands,
        effective_sample_size=posterior.effective_sample_size,
        leaves=spread(n_leaves, weights),
        depth=spread(posterior.depths, weights),
        log_evidence=evidence.estimate,
        log_evidence_se=evidence.error,
        log_evidence_bound=evidence.bound,
        island_log_evidences=log_evidences,
        island_leaves=tuple(float(mean) for mean in posterior.island_weights @ n_leaves),
        agreement=agreement,
        features=most_used_features(posterior),
        n_features=posterior.n_features,
        verdict=verdict,
        convergence=report,
        choice=posterior.choice,
        prior=posterior.prior.describe(),
    )


def report_convergence(posterior: WeightedTrees) -> ConvergenceReport:
    """Return the convergence diagnostics of the chains of a posterior."""
    log_posterior = posterior.along_chains(posterior.log_likelihoods + posterior.log_priors)
    return ConvergenceReport(
        n_chains=posterior.n_islands,
        n_iterations=max(int(trace["iteration"][-1]) for trace in posterior.trace),
        n_kept=max(draws.size for draws in log_posterior),
        iterations_per_second=iterations_per_second(posterior.trace),
        moves=count_moves(posterior.trace),
        log_posterior=convergence(log_posterior),
        leaves=convergence(posterior.along_chains(posterior.n_leaves)),
        depth=convergence(posterior.along_chains(posterior.depths)),
    )


def spread(values: ArrayLike, weights: NDArray[np.float64]) -> Spread:
    """Return mean, standard deviation and the 5% and 95% quantiles of weighted values."""
    numbers = np.asarray(values, dtype=np.float64)
    exponent = np.frexp(np.abs(numbers).max())[1]
    scaled = np.ldexp(numbers, -exponent)  # squares of thresholds would overflow
    mean = weights @ scaled
    order = np.argsort(numbers, kind="stable")
    cumulative = np.cumsum(weights[order])
    low, high = np.searchsorted(cumulative, np.array([0.05, 0.95]) * cumulative[-1])
    return Spread(
        mean=float(np.ldexp(mean, exponent)),
        sd=float(np.ldexp(np.sqrt(weights @ (scaled - mean) ** 2), exponent)),
        low=float(numbers[order[low]]),
        high=float(numbers[order[high]]),
    )


def most_used_features(posterior: WeightedTrees, n: int = FEATURES_SHOWN) -> tuple[FeatureUse, ...]:
    """Return the n features of the largest gain share (then of highest inclusion probability) that occur in trees."""
    shares, inclusion = gain_shares(posterior), inclusion_probabilities(posterior)
    order = np.lexsort((-inclusion, -shares))[:n]
    names = posterior.feature_names
    return tuple(
        FeatureUse(f"x[{f}]" if names is None else names[f], float(inclusion[f]), float(shares[f]))
        for f in order
        if inclusion[f] > 0
    )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


# The summary as HTML for notebooks: a table of facts, a bar for the gain share of each feature, and the verdict.
# It has inline styles and no script; text has the colour of the page, light or dark. All text from the data is escaped.

NAME_WIDTH = 14  # characters of the name of a fact in the text
TABLE = "border-collapse:collapse;margin:.4em 0 .4em 1em;font-size:inherit;color:inherit"
CELL = "text-align:left;padding:.05em .8em .05em 0;border:0;background:none;white-space:nowrap"
BAR = "display:inline-block;height:.7em;width:{:.3g}em;background:#0072b2;vertical-align:baseline"
LONGEST = 8.0  # em, length of a full bar


def summary_html(
    title: str, facts: Iterable[str], features: tuple[FeatureUse, ...], n_features: int, verdict: str
) -> str:
    """Return the HTML; `facts` are lines of the text, each a name of fixed width and its value.

    Examples
    --------
    >>> use = FeatureUse("a < b", inclusion=1.0, gain_share=0.5)
    >>> "a &lt; b" in summary_html("Posterior", ["  depth         mean 2"], (use,), 3, "All is well.")
    True
    """
    rows = [_row(html.escape(line[:NAME_WIDTH].strip()), html.escape(line[NAME_WIDTH:].strip())) for line in facts]
    used = (
        f"Largest gain shares of {n_features} feature{'s' if n_features > 1 else ''}:"
        if features
        else "No tree cuts any."
    )
    parts = (
        f"<b>{html.escape(title)}</b>",
        _table(rows),
        html.escape(used),
        _table(_feature_row(use) for use in features),
    )
    return f'<div>{"".join(parts)}<div style="max-width:50em">{html.escape(verdict)}</div></div>'


def _feature_row(use: FeatureUse) -> str:
    bar = f'<span style="{BAR.format(LONGEST * use.gain_share)}"></span> {use.gain_share:.2f}'
    return _row(html.escape(one_line(use.name)[:30]), f"in {use.inclusion:.0%} of the trees", bar)


def _table(rows: Iterable[str]) -> str:
    return f'<table style="{TABLE}">{"".join(rows)}</table>'


def _row(*cells: str) -> str:
    return "<tr>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells) + "</tr>"
