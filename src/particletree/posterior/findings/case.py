"""The input of the checks: a posterior, with cached values that several checks need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree.posterior.convergence import ConvergenceReport
from particletree.posterior.findings.finding import Finding
from particletree.posterior.provenance import FILTER
from particletree.posterior.summary import report_convergence
from particletree.posterior.verdict import Evidence

if TYPE_CHECKING:
    from particletree.posterior.posterior import Posterior

Floats = NDArray[np.float64]
Check = Callable[["Case"], Finding | None]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that were not in the training data, checked.

    Attributes
    ----------
    X : ndarray, shape (n_rows, n_features)
        The rows as numbers, levels encoded.
    y : ndarray
        Their targets in the form of the leaf model: numbers of classes, or a table of numbers.
    exposure : ndarray or None
        The exposures of counts.
    """

    X: Floats
    y: NDArray[Any]
    exposure: Floats | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """A posterior with cached values for the checks.

    Attributes
    ----------
    posterior : Posterior
        The posterior.
    held_out : HeldOut or None
        Held-out rows, if they were given.
    """

    posterior: Posterior
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
        posterior = self.posterior
        return Evidence(posterior.log_evidence, posterior.log_evidence_se, posterior.log_evidence_bound)

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
