r"""The measure on binary questions behind the Mondrian prior: which questions there are, and how probable is each.

A question separates rows by one feature, drawn in proportion to its weight :math:`w_d` (they add up to 1). For a
number, "is it missing?" has the share :math:`\rho`; the others are "is it at most t?", where t is uniform on the
feature's *unit scale* :math:`u = F_d(x) \in (0, 1)` and missing values take a side by a fair coin. For a categorical
feature every level, missing among them, takes a side by a fair coin. The *mass* :math:`|S|` of some rows S is the
measure of the questions that separate them, the sum over features of

===========================================================  =============================================
rows with numbers of range r on the unit scale               :math:`w_d (1 - \rho) r`
the same, some of them missing                               :math:`w_d (\rho + (1 - \rho) (1 + r) / 2)`
rows with k levels                                           :math:`w_d (1 - 2^{1 - k})`
===========================================================  =============================================

Everything is fixed before the first row is learnt from, so that the prior does not depend on which rows there are: that
makes it coherent when rows arrive. So :math:`F_d` has tails, and no new value is infinitely surprising. The kernel has
the masses in ``kernel/measure.h``; it works on the unit scale only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

RHO = 0.2  # the share of "is it missing?" among the questions about a number
N_KNOTS = 1024
LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True, eq=False)
class UnitScale:
    """A strictly increasing map of the numbers of a feature into (0, 1), with heavy tails.

    It is linear between *knots*. Beyond the first knot a, at u = A, it is A s / (s + a - x), and beyond the last knot
    the mirror image of that, so that its inverse exists everywhere.

    Attributes
    ----------
    knots : ndarray of float64
        Increasing numbers, at least one.
    positions : ndarray of float64
        Their places on the unit scale, increasing, strictly between 0 and 1.
    spread : float
        The length s of the tails: where their mass has halved.

    Examples
    --------
    >>> scale = UnitScale.of_values([1.0, 2.0, 4.0])
    >>> scale.to_unit([0.0, 1.0, 3.0, 4.0]).round(3).tolist()
    [0.125, 0.167, 0.667, 0.833]
    >>> scale.from_unit(scale.to_unit([-7.0, 2.5, 40.0])).round(9).tolist()
    [-7.0, 2.5, 40.0]
    """

    knots: Floats
    positions: Floats
    spread: float

    @classmethod
    def of_values(cls, values: ArrayLike, counts: ArrayLike | None = None, n_knots: int = N_KNOTS) -> UnitScale:
        """Return the scale of observed numbers: their smoothed quantiles, with mid-ranks at ties; nan is left out."""
        x, inverse = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
        weights = np.bincount(inverse.ravel(), None if counts is None else np.asarray(counts, dtype=np.float64))
        x, weights = x[~np.isnan(x)], weights[: x.size][~np.isnan(x)]
        x, weights = x[weights > 0], weights[weights > 0]
        if x.size == 0:
            return cls(np.zeros(1), np.full(1, 0.5), 1.0)
        ends = np.cumsum(weights)
        u = (ends - weights / 2) / ends[-1]
        if x.size > n_knots:
            kept = np.unique(np.searchsorted(u, np.linspace(u[0], u[-1], n_knots)))
            x, u = x[kept], u[kept]
        return cls(x, u, _spread(x))

    @classmethod
    def of_range(cls, low: float, high: float, share: float = 0.9) -> UnitScale:
        """Return the scale on which numbers between `low` and `high` are uniform; `share` of the mass is there."""
        tail = (1 - share) / 2
        knots = np.array([low, high], dtype=np.float64)
        return cls(knots, np.array([tail, 1 - tail]), _spread(knots))

    def __eq__(self, other: object) -> bool:
        """Tell whether two scales are the same map."""
        return isinstance(other, UnitScale) and (
            self.spread == other.spread
            and np.array_equal(self.knots, other.knots)
            and np.array_equal(self.positions, other.positions)
        )

    __hash__ = None  # type: ignore[assignment]

    def increasing_units(self, x: Floats) -> Floats:
        """Return the places of increasing numbers, different ones also where rounding says otherwise."""
        units = self.to_unit(x)
        for i in range(1, units.size if (np.diff(units) <= 0).any() else 0):
            units[i] = max(units[i], np.nextafter(units[i - 1], 1.0))
        return units

    def to_unit(self, x: ArrayLike) -> Floats:
        """Return the places of numbers on the unit scale; nan stays nan."""
        numbers = np.asarray(x, dtype=np.float64)
        first, last = self.knots[0], self.knots[-1]
        inner = np.interp(
            numbers / 4, self.knots / 4, self.positions
        )  # quarters: a range may be beyond the largest float
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            below = self.positions[0] * (1 / (1 + (first - numbers) / self.spread))
            above = 1 - (1 - self.positions[-1]) * (1 / (1 + (numbers - last) / self.spread))
        units = np.where(numbers < first, below, np.where(numbers > last, above, inner))
        return np.where(np.isnan(numbers), np.nan, units)

    def from_unit(self, u: ArrayLike) -> Floats:
        """Return the numbers at places on the unit scale."""
        places = np.asarray(u, dtype=np.float64)
        inner = 4 * np.interp(places, self.positions, self.knots / 4)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            below = self.knots[0] - self.spread * (self.positions[0] / places - 1)
            above = self.knots[-1] + self.spread * ((1 - self.positions[-1]) / (1 - places) - 1)
        x = np.where(places < self.positions[0], below, np.where(places > self.positions[-1], above, inner))
        return np.clip(x, -LARGEST, LARGEST)


def _spread(knots: Floats) -> float:
    """Return the length of the tails: the range, or for a single number its size."""
    width = min(float(knots[-1] / 2 - knots[0] / 2) * 2, LARGEST)
    return width if width > 0 else float(abs(knots[0])) or 1.0


@dataclass(frozen=True, eq=False)
class Measure:
    """The weights of the features, the share of "is it missing?", and the scale of each number.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_features,)
        Weights of the features; they add up to 1.
    scales : tuple of UnitScale or None
        The scale of each number; None for categorical features.
    rho : float
        The share of "is it missing?" among the questions about a number.
    """

    weights: Floats
    scales: tuple[UnitScale | None, ...]
    rho: float = RHO

    @classmethod
    def of_columns(
        cls, columns: Sequence[Floats | None], feature_weights: Sequence[float] | None = None, rho: float = RHO
    ) -> Measure:
        """Return the measure of a table: the numbers of each feature with repetitions, or None if it is categorical."""
        given = np.ones(len(columns)) if feature_weights is None else np.asarray(feature_weights, dtype=np.float64)
        scales = tuple(None if column is None else UnitScale.of_values(column) for column in columns)
        return cls(given / given.sum(), scales, rho)

    def __eq__(self, other: object) -> bool:
        """Tell whether two measures are the same."""
        return isinstance(other, Measure) and (
            self.rho == other.rho and np.array_equal(self.weights, other.weights) and self.scales == other.scales
        )

    __hash__ = None  # type: ignore[assignment]

    def to_numbers(self) -> list[float]:
        """Return the measure as the list of numbers that the kernel reads (``kernel/measure.h``)."""
        numbers = [self.rho]
        for weight, scale in zip(self.weights.tolist(), self.scales, strict=True):
            if scale is None:
                numbers += [weight, 1.0, 0.0]
            else:
                numbers += [weight, scale.spread, scale.knots.size, *scale.knots.tolist(), *scale.positions.tolist()]
        return numbers

    def to_plain(self) -> dict[str, Any]:
        """Return the measure as plain values for JSON."""
        scales = [
            scale and {"knots": scale.knots.tolist(), "positions": scale.positions.tolist(), "spread": scale.spread}
            for scale in self.scales
        ]
        return {"weights": self.weights.tolist(), "scales": scales, "rho": self.rho}

    @classmethod
    def from_plain(cls, plain: Any) -> Measure:
        """Return the measure from plain values; raise a `ValueError` if they are invalid."""

        def scale_of(parts: Any) -> UnitScale:
            knots, positions = (np.array(parts[name], dtype=np.float64) for name in ("knots", "positions"))
            return UnitScale(knots, positions, float(parts["spread"]))

        try:
            scales = tuple(None if parts is None else scale_of(parts) for parts in plain["scales"])
            measure = cls(np.array(plain["weights"], dtype=np.float64), scales, float(plain["rho"]))
            is_valid = measure._is_valid()
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise ValueError(f"the measure of the prior is not valid ({error})") from error
        if not is_valid:
            raise ValueError(
                "the measure of the prior is not valid: its weights must add up to 1, knots must increase, with "
                "positions between 0 and 1, and rho must be a share below 1"
            )
        return measure

    def _is_valid(self) -> bool:
        def increase(values: Floats, low: float, high: float) -> bool:
            is_list = values.ndim == 1 and values.size > 0
            return is_list and bool((np.diff(values) > 0).all() and low < values[0] and values[-1] < high)

        return (
            self.weights.shape == (len(self.scales),)
            and bool((self.weights >= 0).all())
            and abs(float(self.weights.sum()) - 1) < 1e-9
            and 0 <= self.rho < 1
            and all(
                scale is None
                or (
                    scale.knots.shape == scale.positions.shape
                    and 0 < scale.spread <= LARGEST
                    and increase(scale.knots, -np.inf, np.inf)
                    and increase(scale.positions, 0, 1)
                )
                for scale in self.scales
            )
        )

    def to_unit(self, X: Floats) -> Floats:
        """Return rows with their numbers on the unit scale; levels stay as they are."""
        units = np.array(X, dtype=np.float64)
        for feature, scale in enumerate(self.scales):
            if scale is not None:
                units[:, feature] = scale.to_unit(units[:, feature])
        return units

    def mass(self, units: Floats) -> float:
        """Return the mass of some rows, given as `to_unit` returns them."""
        return float(sum(self.masses(units)))

    def masses(self, units: Floats) -> Floats:
        """Return the mass of each feature in some rows, its weight included."""
        # NumPy counts all nan as one value, as missing is one level
        return self.weights * [
            mass_of_levels(np.unique(column).size) if scale is None else mass_of_numbers(column, self.rho)
            for scale, column in zip(self.scales, np.asarray(units).T, strict=True)
        ]


def mass_of_numbers(units: Floats, rho: float) -> float:
    """Return the mass of rows by one number, on the unit scale, nan for missing, without the weight."""
    present = units[~np.isnan(units)]
    if present.size == 0:
        return 0.0
    width = float(np.ptp(present))
    return (1 - rho) * width if present.size == units.size else rho + (1 - rho) * (1 + width) / 2


def mass_of_levels(n_levels: int) -> float:
    """Return the mass of rows that have so many different levels, missing among them, without the weight."""
    return float(1 - 2.0 ** (1 - n_levels)) if n_levels > 1 else 0.0
