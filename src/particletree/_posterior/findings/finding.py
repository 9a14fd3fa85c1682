"""A finding: a text, the number behind it, how serious it is, and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.row_columns import RowColumns
from particletree._model.text import to_html, to_json
from particletree._posterior.runs.convergence import ConvergenceReport
from particletree._posterior.runs.provenance import FILTER
from particletree._posterior.summary.agreement import Agreement
from particletree._posterior.summary.trees import report_convergence
from particletree._posterior.summary.verdict import CLOSER_EVIDENCES, FIND_MISSED, Evidence, stabilise
from particletree._posterior.weighted_trees import WeightedTrees

GOOD, NOTE, WARNING = "good", "note", "warning"
LEVELS = (WARNING, NOTE, GOOD)  # in the order in which findings are listed
LINE_WIDTH = 100


@dataclass(frozen=True)
class Finding:
    """One result of the diagnostics of a posterior.

    Attributes
    ----------
    level : {"good", "note", "warning"}
        Whether it supports the result, is for information, or needs action.
    name : str
        A short, stable identifier.
    finding : str
        What was found, as text, with its number.
    number : float or None
        The number behind it; None if there is none.
    threshold : float or None
        The number from which the finding is a note or a warning, or up to which it is good.
    advice : str
        What to do about it, in terms of the parameters; empty if nothing need be done.
    """

    level: str
    name: str
    finding: str
    number: float | None
    threshold: float | None
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON; numbers that are not finite become None."""
        return dict(to_json(self))

    def __str__(self) -> str:
        lead = f"{self.level:<7}  "
        text = f"{lead}{self.finding} {self.advice}".rstrip()
        return textwrap.fill(text, LINE_WIDTH, subsequent_indent=" " * len(lead), break_on_hyphens=False)


class Findings(tuple[Finding, ...]):
    """Findings, warnings first; `print` them to read them.

    Examples
    --------
    >>> from particletree.results import Finding, Findings
    >>> print(Findings([Finding("note", "few_trees", "There are 3 trees.", 3.0, 10.0, "Run more islands.")]))
    note     There are 3 trees. Run more islands.
    """

    __slots__ = ()

    def of_level(self, level: str) -> Findings:
        """Return the findings of one level."""
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}.")
        return Findings(finding for finding in self if finding.level == level)

    def to_dict(self) -> dict[str, Any]:
        """Return all findings as plain values for JSON."""
        return {"findings": [finding.to_dict() for finding in self]}

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self)

    __repr__ = __str__  # so that they are readable without `print`

    def _repr_html_(self) -> str:
        """Show the findings in a notebook."""
        return to_html(str(self))


# What to do about each finding, in terms of the parameters; the summary's verdict gives the same advice.

ADVICE = {
    "one_island": "Run two or more (n_islands).",
    "predictions": stabilise("predictions"),  # of chains: n_chains
    "gain_shares": stabilise("gain shares"),
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


# The input of the checks: a posterior, with cached values that several checks need.

Floats = NDArray[np.float64]
Check = Callable[["Examined"], Finding | None]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that were not in the training data, checked.

    Attributes
    ----------
    X : ndarray, shape (n_rows, n_features)
        The rows as numbers, levels encoded.
    y : ndarray
        Their targets in the form of the leaf model: numbers of classes, or a table of numbers.
    row_columns : mapping from str to ndarray, shape (n_rows,)
        What else is known of the observations.
    """

    X: Floats
    y: NDArray[Any]
    row_columns: RowColumns = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Examined:
    """A posterior under examination, with cached values for the checks.

    Attributes
    ----------
    posterior : WeightedTrees
        The posterior.
    agreement : Agreement
        How far its runs agree.
    held_out : HeldOut or None
        Held-out rows, if they were given.
    """

    posterior: WeightedTrees
    agreement: Agreement
    held_out: HeldOut | None = None

    @property
    def is_filter(self) -> bool:
        """Whether the runs are islands of particles, with a record of every stage."""
        return self.posterior.provenance.kind == FILTER and any(trace.size for trace in self.posterior.trace)

    @property
    def runs(self) -> str:
        """What the runs are called."""
        return "chains" if self.posterior.is_chain else "islands"

    def setting(self, name: str) -> Any:
        """Return a parameter of the sampler; None if it is not known."""
        return self.posterior.provenance.settings.get(name)

    @cached_property
    def report(self) -> ConvergenceReport | None:
        """Convergence diagnostics of the chains; None for islands."""
        return report_convergence(self.posterior) if self.posterior.is_chain else None

    @property
    def evidence(self) -> Evidence:
        """The estimate of the evidence with its error and bound."""
        return Evidence.of(self.posterior)

    @cached_property
    def leaf_weights(self) -> Floats:
        """Posterior mean of how often each node of the forest is a leaf of a tree."""
        forest = self.posterior.forest
        return np.where(forest.is_split, 0.0, forest.node_weights(self.posterior.weights))

    @cached_property
    def node_rows(self) -> Floats:
        """The (weighted) number of training rows of each node of the forest."""
        posterior = self.posterior
        return np.asarray(posterior.leaf.n_rows(posterior.forest.statistics)[posterior.forest.nodes["block"]])
