r"""The leaf slot: what a leaf says about the targets of its rows.

A leaf model is a conjugate pair: a distribution of one observation given a parameter, and a prior of the parameter
that can be integrated out. All that a leaf knows about its rows is their *statistics*, a few numbers that add up over
rows. From these the leaf model answers, and nothing outside it knows its parameters:

===================================  ======================================================================
question                             method
===================================  ======================================================================
what does a row contribute?          :meth:`LeafModel.row_statistics`; a block's statistics are the sum
how probable are a block's targets?  :meth:`LeafModel.log_marginal`, the parameter integrated out
what is the prediction?              :meth:`LeafModel.mean`
how sure is the prediction?          :meth:`LeafModel.parameter_laws`, the laws of what `mean` is the mean of
what will be observed?               :meth:`LeafModel.predictive_laws` and :meth:`LeafModel.variances`
are these numbers statistics?        :meth:`LeafModel.faults`
what would the prior give?           :meth:`LeafModel.draw`
how is it put in words?              :meth:`LeafModel.describe_prediction` and :meth:`LeafModel.describe_rows`
===================================  ======================================================================

The kernel has the same marginal in ``kernel/leaves/<kernel_name>.h``, knows the leaf model by its `kernel_name` and
gets the numbers that `kernel_parameters` returns. Each leaf model is a module of ``leaves/``, listed in
``leaves/__init__.py``.

Parameters that are None are open: :meth:`LeafModel.resolve` gives them values from the data, by the formulas that the
leaf model documents. A posterior keeps the resolved leaf model, in which nothing is open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree.model.laws import Laws
from particletree.model.parameters import Parameters
from particletree.model.target import Observations, Target

Self = TypeVar("Self", bound="LeafModel")
Floats = NDArray[np.float64]
Faults = Iterator[tuple[Any, str]]  # a mask of the blocks that break a rule, and the rule


class LeafModel(Parameters, ABC):
    """Base of the leaf models; subclasses are dataclasses of parameters.

    Wherever statistics are asked for they stand in the last axis, and the answer has the axes before it, followed by
    one for the outputs (classes or targets) where there are several.
    """

    kernel_name: ClassVar[str]
    target_type: ClassVar[type]  # ClassLabels or Numbers
    uses_exposure: ClassVar[bool] = False

    def resolve(self: Self, observations: Observations) -> Self:
        """Return the leaf model with a value for every parameter, taken from the data where it was left open."""
        return self

    def grid(self, observations: Observations) -> dict[str, list[Any]]:
        """Return, for each parameter that is "auto", the values among which the evidence is to choose, in order."""
        return {}

    def check_observations(self, observations: Observations) -> None:
        """Raise a `ValueError` that names the row if something was observed that has no probability here."""
        return

    @abstractmethod
    def kernel_parameters(self, target: Target) -> Floats:
        """Return the numbers that the kernel gets, in the order of the leaf model's header there."""

    @abstractmethod
    def n_statistics(self, target: Target) -> int:
        """Return the number of statistics."""

    @abstractmethod
    def row_statistics(self, observations: Observations) -> Floats:
        """Return what each row contributes to the statistics, shape (n_rows, n_statistics), its weight included."""

    @abstractmethod
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal likelihood of the targets of rows with these statistics."""

    @abstractmethod
    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the prediction: class probabilities, or the mean of each target."""

    @abstractmethod
    def n_rows(self, statistics: ArrayLike) -> Floats:
        """Return the (weighted) number of rows."""

    @abstractmethod
    def parameter_laws(self, statistics: Floats, output: int) -> Laws:
        """Return the posterior law of what `mean` is the mean of, for each of some statistics, shape (n, n_statistics).

        Of a class probability (a Beta law), or of the mean of a target.
        """

    def predictive_laws(self, statistics: Floats, output: int, exposure: Floats | None = None) -> Laws:
        """Return the law of a new observation of a target, for each of some statistics, shape (n, n_statistics).

        `exposure`, one number for each, is for leaf models of counts.
        """
        raise TypeError(f"{type(self).__name__} predicts classes, which have probabilities and no law on a line.")

    def variances(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the variance of a new observation in two parts: noise, and what is unknown of the parameter."""
        raise TypeError(f"{type(self).__name__} predicts classes, which have no variance.")

    def deviations(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the roots of `variances`, which are there in units in which the squares vanish or overflow."""
        raise TypeError(f"{type(self).__name__} predicts classes, which have no variance.")

    def distance(self, means: Floats, others: Floats, everything: Floats) -> Floats:
        """Return how far predictions are from others, where `everything` are the statistics of all rows.

        For numbers: the absolute difference in standard deviations of the target, averaged over targets.
        """
        deviation = np.hypot(*self.deviations(everything))
        return np.asarray((np.abs(means - others) / deviation).mean(axis=-1))

    def describe_distance(self, distance: float) -> str:
        """Return in words that predictions move by a distance."""
        return f"predictions by about {distance:.2g} standard deviations of the target"

    @abstractmethod
    def faults(self, statistics: Floats) -> Faults:
        """Yield rules that statistics from outside (a file) must keep, each with a mask of the blocks that break it."""

    @abstractmethod
    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a parameter from the prior, and the targets of some rows given it."""

    @abstractmethod
    def describe_prediction(self, statistics: Floats, target: Target) -> str:
        """Return the prediction of one leaf in words."""

    @abstractmethod
    def describe_rows(self, statistics: Floats, target: Target) -> str:
        """Return the rows of one node in words."""


def total_variation(p: Floats, q: Floats) -> Floats:
    """Return the total variation distance between probabilities along the last axis."""
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2, dtype=np.float64)
