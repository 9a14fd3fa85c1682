r"""The interface of leaf models: the distribution of the targets in a leaf.

A leaf model is a conjugate pair: a distribution of one observation given a parameter, and a prior of the parameter
that can be integrated out. It uses the rows of a leaf only through their *sufficient statistics*, a few numbers that
add up over rows. The parameters of a leaf model are used by its own methods only:

===================================  ======================================================================
question                             method
===================================  ======================================================================
what does a row contribute?          :meth:`LeafModel.row_statistics`; a block's statistics are the sum
how probable are a block's targets?  :meth:`LeafModel.log_marginal`, the parameter integrated out
what is the prediction?              :meth:`LeafModel.mean`
how certain is the prediction?       :meth:`LeafModel.parameter_distributions`, of what `mean` is the mean of
what will be observed?               :meth:`LeafModel.predictive_distributions` and :meth:`LeafModel.variances`
are these numbers statistics?        :meth:`LeafModel.faults`
what would the prior give?           :meth:`LeafModel.draw`
how is it shown as text?             :meth:`LeafModel.describe_prediction` and :meth:`LeafModel.describe_rows`
===================================  ======================================================================

The kernel computes the same marginal likelihood in ``kernel/leaves/<kernel_name>.h``, selected by `kernel_name`, with
the numbers that `kernel_parameters` returns. Each leaf model is a module of ``leaves/``, listed in
``leaves/__init__.py``. A *distribution* is a probability distribution (``distributions/``).

Parameters that are None are *open*: :meth:`LeafModel.resolve` estimates them from the data, by formulas that the module
of the leaf model documents. A posterior keeps the resolved leaf model, in which every parameter has a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.distributions import Distributions
from particletree._model.parameters import Parameters
from particletree._model.row_columns import NO_COLUMNS, RowColumn, RowColumns
from particletree._model.target import Observations, Target

Self = TypeVar("Self", bound="LeafModel")
Floats = NDArray[np.float64]
Faults = Iterator[tuple[Any, str]]  # a mask of the blocks that violate a rule, and the rule


class MeanWords(NamedTuple):
    """What `mean` predicts, in words.

    Attributes
    ----------
    noun : str
        What it is called.
    per : str
        To what it refers, after the noun: " per unit of exposure".
    new : str
        To what a new observation refers of which no more is known: " over an exposure of 1".
    observation : str
        What one observation is called.
    scored : str
        How it is compared with observations: " of counts, predicted as rate times exposure".
    """

    noun: str = "mean"
    per: str = ""
    new: str = ""
    observation: str = "observation"
    scored: str = ""


class LeafModel(Parameters, ABC):
    """Base of the leaf models; subclasses are dataclasses of parameters.

    Statistics are along the last axis of an argument; the result has the other axes, followed by one for the outputs
    (classes or targets) if there can be several.
    """

    kernel_name: ClassVar[str]
    target_type: ClassVar[type]  # ClassLabels or Numbers
    declared_columns: ClassVar[tuple[RowColumn, ...]] = ()  # what it can use of a row besides features and targets

    def resolve(self: Self, observations: Observations) -> Self:
        """Return the leaf model with a value for every parameter, estimated from the data where it is None."""
        return self

    def grid(self, observations: Observations) -> dict[str, list[Any]]:
        """Return the grid of values, in order, among which the evidence chooses, for each parameter that is "auto"."""
        return {}

    def check_observations(self, observations: Observations) -> None:
        """Raise a `ValueError` that names the row if an observation is impossible under the model."""
        return

    @abstractmethod
    def kernel_parameters(self, target: Target) -> Floats:
        """Return the parameters for the kernel, in the order of the leaf model's header file."""

    @abstractmethod
    def n_statistics(self, target: Target) -> int:
        """Return the number of statistics."""

    @abstractmethod
    def row_statistics(self, observations: Observations) -> Floats:
        """Return the contribution of each row to the statistics, shape (n_rows, n_statistics), times its weight."""

    @abstractmethod
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal likelihood of the targets of rows with these statistics."""

    @abstractmethod
    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the prediction: class probabilities, or the mean of each target."""

    @abstractmethod
    def n_rows(self, statistics: ArrayLike) -> Floats:
        """Return the (weighted) number of rows."""

    def information_per_row(self, statistics: ArrayLike) -> Floats:
        """Return what a row tells about the mean, in observations with the noise of `variances`; the rows' average.

        It is 1 unless a column of the rows says more, such as over what a count was taken.
        """
        return np.ones_like(self.n_rows(statistics))

    def columns_of_new_rows(self, row_columns: RowColumns) -> RowColumns:
        """Return the columns on which observations that are still to come depend."""
        of_new_rows = {column.name for column in self.declared_columns if column.of_new_rows}
        return {name: values for name, values in row_columns.items() if name in of_new_rows}

    def expected(self, means: Floats, row_columns: RowColumns) -> Floats:
        """Return the expected observations of rows, shape (n_rows, n_outputs), from what `mean` predicts for them."""
        return means

    def mean_words(self, given: Collection[str]) -> MeanWords:
        """Return what `mean` is called where the training rows had these columns."""
        return MeanWords()

    @abstractmethod
    def parameter_distributions(self, statistics: Floats, output: int) -> Distributions:
        """Return the posterior distribution of a class probability (a Beta distribution), or of the mean of a target.

        The statistics have shape (n, n_statistics); there is one distribution for each.
        """

    def predictive_distributions(
        self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS
    ) -> Distributions:
        """Return the distribution of a new observation of a target for each row of statistics, (n, n_statistics).

        `row_columns` are those of the observations, one number for each.
        """
        raise TypeError(
            f"{type(self).__name__} predicts classes, which have probabilities and no distribution on a line."
        )

    def variances(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the variance of a new observation in two parts: noise, and uncertainty of the parameter."""
        raise TypeError(f"{type(self).__name__} predicts classes, which have no variance.")

    def deviations(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the square roots of `variances`, also where the variances would underflow or overflow."""
        raise TypeError(f"{type(self).__name__} predicts classes, which have no variance.")

    def distance(self, means: Floats, others: Floats, everything: Floats) -> Floats:
        """Return the distance of predictions from others; `everything` are the statistics of all rows.

        For numbers: the absolute difference in standard deviations of the target, averaged over targets; where rows
        tell more than one observation, in those of an average row.
        """
        noise, parameter = self.deviations(everything)
        deviation = np.hypot(noise / np.sqrt(self.information_per_row(everything))[..., None], parameter)
        return np.asarray((np.abs(means - others) / deviation).mean(axis=-1))

    def describe_distance(self, distance: float) -> str:
        """Return a sentence that says by how much predictions change."""
        return f"predictions by about {distance:.2g} standard deviations of the target"

    @abstractmethod
    def faults(self, statistics: Floats) -> Faults:
        """Yield rules that statistics from a file must satisfy, each with a mask of the blocks that violate it."""

    @abstractmethod
    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a parameter from the prior, and the targets of some rows given it."""

    def draw_observations(
        self,
        statistics: Floats,
        leaf_of: NDArray[np.int64],
        output: int,
        rng: np.random.Generator,
        row_columns: RowColumns = NO_COLUMNS,
    ) -> Floats:
        """Draw observations of a target jointly: those of the same leaf share its parameter.

        A parameter is drawn from its posterior for each row of statistics, (n_leaves, n_statistics), and then an
        observation for each entry of `leaf_of`, the number of its leaf. The columns have one number for
        each observation.
        """
        raise TypeError(
            f"{type(self).__name__} does not define draw_observations, which draws of new observations need."
        )

    @abstractmethod
    def describe_prediction(self, statistics: Floats, target: Target) -> str:
        """Return the prediction of one leaf as text."""

    @abstractmethod
    def describe_rows(self, statistics: Floats, target: Target) -> str:
        """Return a description of the rows of one node as text."""


def total_variation(p: Floats, q: Floats) -> Floats:
    """Return the total variation distance between probabilities along the last axis."""
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2, dtype=np.float64)
