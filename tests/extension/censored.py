r"""Waiting times that may be censored: a leaf model that is not part of the package, with a row column of its own.

A row's column `event` is 1 if its time is that of the event, and 0 if the row was left before:

.. math::
    \lambda \sim \mathrm{Gamma}(a, a m), \qquad p(y, e \mid \lambda) = \lambda^e \exp(-\lambda y).

So it is the exponential leaf model with the number of events :math:`D = \sum w e` in the place of the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from particletree import Exponential
from particletree._model.distributions import Lomax
from particletree.extending import (
    NO_COLUMNS,
    Faults,
    Floats,
    Observations,
    RowColumn,
    RowColumns,
    Target,
    broken,
    for_each_target,
    format_count,
    register_leaf_model,
    rows_faults,
)

EVENT = RowColumn(
    "event",
    "whether the time is that of the event (1) or the row was left before it (0)",
    lambda event: (event != 0) & (event != 1),
    "is neither 0 nor 1",
    default=1.0,
)


@dataclass(frozen=True, eq=False)
class ObservedTimes(Lomax):
    """Lomax distributions of times; of a censored one it is observed only that the event came later."""

    event: Floats

    def log_density(self, x: Floats) -> Floats:
        """Return the log density of an event at x, or the log probability of one after x."""
        return np.where(self.event == 1, super().log_density(x), -self.shape * np.log1p(x / self.scale))


@register_leaf_model
@dataclass
class Censored(Exponential):
    """Waiting times, some of them censored, with a mean that is unknown in each leaf.

    The parameters are those of `Exponential`.

    Examples
    --------
    >>> Censored(prior_mean=10.0).mean([3, 2.0, 6.0])  # three rows, two with an event, and a total time of 60
    array([26.66666667])
    """

    kernel_name: ClassVar[str] = "censored"
    declared_columns: ClassVar[tuple[RowColumn, ...]] = (EVENT,)

    def n_statistics(self, target: Target) -> int:
        """Return one, and two for each target."""
        return 1 + 2 * target.n_outputs

    def row_statistics(self, observations: Observations) -> Floats:
        """Return each row's weight, and, times it, its event and its time for each target."""
        time, w = observations.values / self._values("prior_mean"), observations.row_weights[:, None]
        event = np.broadcast_to(EVENT.values(observations.row_columns)[..., None], time.shape)
        return np.hstack((w, w * np.stack((event, time), axis=-1).reshape(len(time), -1)))

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal density of times and events with these statistics."""
        a, (shape, total) = self._values("shape"), self._posterior(statistics)
        gammas = gammaln(shape) - gammaln(a) + a * np.log(a) - shape * np.log(total)
        return np.asarray((gammas - (shape - a) * np.log(self._unit())).sum(axis=-1))

    def predictive_distributions(self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS) -> Lomax:
        """Return the distributions of a new time, or of what was observed of it."""
        parameters = self._shape_and_scale(statistics, output)
        if EVENT.name not in row_columns:
            return Lomax(*parameters)
        return ObservedTimes(*parameters, EVENT.values(row_columns))

    def faults(self, statistics: Floats) -> Faults:
        """Yield that the number of rows is in range and that no number of events and no time is negative."""
        yield from rows_faults(statistics)
        yield broken(~(statistics[:, 1:] >= 0)), "events and total times must be at least 0"

    def _posterior(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return a + D and a + S, with an axis for the targets."""
        numbers, a = np.asarray(statistics, dtype=np.float64), self._values("shape")
        return a + numbers[..., 1::2], a + numbers[..., 2::2]

    def _describe_data(self, statistics: Floats, target: Target) -> str:
        texts = [f"{format_count(events)} events" for events in statistics[1::2].tolist()]
        return for_each_target(texts, target, " ")
