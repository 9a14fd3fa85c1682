"""Base of the leaf models of numbers: parameters with a value per target, and descriptions as text.

A row has T targets, independent given the tree, so that log marginal likelihoods add up over targets. A parameter is
one number for all targets or a sequence of T numbers; a *resolved* leaf model (``leaf.py``) has a number if T is 1 and
a tuple of T numbers otherwise.
"""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.leaf import Faults, Floats, LeafModel
from particletree._model.parameters import AUTO
from particletree._model.target import Numbers, Observations, Target
from particletree._model.text import format_rows, one_line

Self = TypeVar("Self", bound="NumbersLeaf")
PerTarget: TypeAlias = float | Sequence[float] | str  # the text is "auto"

NOISE_SHARE = 0.3  # of the sample standard deviation: the tree is expected to explain nine tenths of the variance
NOISE_SHARES = (0.1, 0.2, 0.3, 0.5, 0.8)  # the grid for "auto"
SHAPES = (0.3, 1.0, 3.0, 10.0)
TARGETS_SHOWN = 3
LARGEST_COUNT = 2e12  # twice the limit of _data/training.py
SMALLEST_SCALE, LARGEST_SCALE = 1e-300, 1e300
FARTHEST = 1e150  # in units of the noise: beyond it, squares overflow
ROUNDING = 1e-6  # relative tolerance for statistics from a file, which may be differences of larger numbers
DIGITS = 15  # significant digits of a float


class NumbersLeaf(LeafModel):
    """Base of the leaf models of numbers.

    The first of the statistics is the weighted number of rows. Variances are computed in a separate unit per target,
    and converted to the scale of the data at the end.
    """

    target_type: ClassVar[type] = Numbers

    def n_rows(self, statistics: ArrayLike) -> Floats:
        """Return the (weighted) number of rows."""
        return np.asarray(statistics, dtype=np.float64)[..., 0]

    def variances(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the variance of a new observation in two parts: noise, and uncertainty of the parameter."""
        noise, parameter = self.deviations(statistics)
        with np.errstate(over="ignore"):
            return noise**2, parameter**2

    def deviations(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the square roots of `variances`, also where the variances would underflow or overflow."""
        noise, parameter = self._unit_variances(np.asarray(statistics, dtype=np.float64))
        return self._unit() * np.sqrt(noise), self._unit() * np.sqrt(parameter)

    def describe_prediction(self, statistics: Floats, target: Target) -> str:
        """Return the mean of each target and the standard deviation of a new observation."""
        noise, parameter = self._unit_variances(statistics)
        means, deviations = self.mean(statistics), self._unit() * np.sqrt(noise + parameter)
        pairs = zip(means.tolist(), deviations.tolist(), strict=True)
        return for_each_target([format_with_spread(*pair) for pair in pairs], target, ": ")

    def describe_rows(self, statistics: Floats, target: Target) -> str:
        """Return the number of rows and a description of their targets."""
        return f"{format_rows(float(statistics[0]))}: {self._describe_data(statistics, target)}"

    @abstractmethod
    def _unit(self) -> Floats:
        """Return the unit of each target."""

    @abstractmethod
    def _unit_variances(self, statistics: Floats) -> tuple[Floats, Floats]:
        """Return `variances` in squares of the unit."""

    @abstractmethod
    def _describe_data(self, statistics: Floats, target: Target) -> str:
        """Return a description of the rows' targets from the statistics, as text."""

    def _n_targets(self, statistics: Floats) -> int:
        return int(self.mean(statistics).shape[-1])

    def _values(self, name: str) -> Floats:
        """Return a parameter as an array of one number, or of one number per target."""
        value = getattr(self, name)
        if isinstance(value, str):
            raise ValueError(f'{type(self).__name__}.{name} is "auto": a sampler chooses it by the evidence.')
        if value is None:
            owner = type(self).__name__
            raise ValueError(f"{owner}.{name} is open (None): give it a value, or take `resolve(observations)` first.")
        return np.atleast_1d(np.asarray(value, dtype=np.float64))

    def _columns(self, names: Sequence[str], target: Target) -> Floats:
        """Return parameters as one array, shape (n_targets, n_parameters)."""
        columns = [_spread(self._values(name), type(self).__name__, name, target.n_outputs) for name in names]
        return np.stack(columns, axis=-1)

    def _resolved(self: Self, target: Target, **open_values: Callable[[], Floats]) -> Self:
        """Return the leaf model with all parameters per target; those that are None get the value of their function."""
        values = {}
        for name, value in self.get_params().items():
            found = open_values[name]() if value is None else self._values(name)
            values[name] = as_parameter(_spread(found, type(self).__name__, name, target.n_outputs))
        return replace(self, **values)


class CountsOfEvents(NumbersLeaf):
    """Base of the leaf models with a Gamma prior of the rate, whose `shape` can be "auto"."""

    shape: PerTarget

    def grid(self, observations: Observations) -> dict[str, list[Any]]:
        """Return the shapes among which the evidence chooses."""
        return {"shape": list(SHAPES)} if isinstance(self.shape, str) else {}


class MomentsLeaf(NumbersLeaf):
    """Base of the leaf models whose statistics are the moments of z = (y - prior_mean) / noise_sd.

    The statistics are [n, (S1, S2) x T] with S1 the weighted sum of z and S2 that of its square. Standardising avoids
    overflow, and loss of accuracy if the target is far from zero, even 1e15 standard deviations. A log marginal of 100
    rows is exact to 1e-9 if noise_sd is chosen from the data. If it is given and rows differ by d times noise_sd, about
    1e-14 d^2 is lost: 0.01 at d = 1e6.
    """

    noise_sd: PerTarget | None

    def grid(self, observations: Observations) -> dict[str, list[Any]]:
        """Return the grid of noise guesses for "auto": shares of the sample standard deviation."""
        if not isinstance(self.noise_sd, str):
            return {}
        return {"noise_sd": [as_parameter(share * sample_scale(observations)) for share in NOISE_SHARES]}

    def check_observations(self, observations: Observations) -> None:
        """Refuse targets so far from the mean that their squares overflow."""
        if self.get_params()["prior_mean"] is not None and self.noise_sd is not None:
            problem = f"lies more than {FARTHEST:g} times noise_sd from prior_mean"
            advice = "Give a larger noise_sd, or None to have it chosen from the data."
            refuse_first(np.abs(self._standardised(observations)) > FARTHEST, observations, problem, advice)

    def n_statistics(self, target: Target) -> int:
        """Return 1 + 2 times the number of targets."""
        return 1 + 2 * target.n_outputs

    def row_statistics(self, observations: Observations) -> Floats:
        """Return each row's weight, and z and its square for each target, multiplied by the weight."""
        z = self._standardised(observations)
        moments = np.stack((z, z * z), axis=-1).reshape(len(z), -1)
        w = observations.row_weights[:, None]
        return np.hstack((w, w * moments))

    def faults(self, statistics: Floats) -> Faults:
        """Yield the rules that the number of rows is in range, and that the moments are consistent."""
        yield from rows_faults(statistics)
        n, s1, s2 = self._moments(statistics)
        yield broken(s2 < -ROUNDING * n), "a sum of squares must be at least 0"
        largest = np.sqrt(np.maximum(n, 0)) * np.sqrt(np.maximum(s2, 0) + ROUNDING * np.maximum(n, 0))
        yield broken(np.abs(s1) > largest * (1 + ROUNDING)), "a sum must not exceed what its sum of squares allows"

    def _standardised(self, observations: Observations) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray((observations.values - self._values("prior_mean")) / self._values("noise_sd"))

    def _moments(self, statistics: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return n, with an axis for the targets, S1 and S2."""
        numbers_ = np.asarray(statistics, dtype=np.float64)
        return numbers_[..., :1], numbers_[..., 1::2], numbers_[..., 2::2]

    def _unit(self) -> Floats:
        return self._values("noise_sd")

    def _describe_data(self, statistics: Floats, target: Target) -> str:
        n, s1, s2 = self._moments(statistics)
        center, spread = s1 / n, np.sqrt(np.maximum(s2 / n - (s1 / n) ** 2, 0.0))
        means, deviations = self._values("prior_mean") + self._unit() * center, self._unit() * spread
        pairs = zip(means.tolist(), deviations.tolist(), strict=True)
        return for_each_target([_describe_sample(*pair) for pair in pairs], target, " ")


def check_per_target(
    owner: object, name: str, rule: str, *, low: float, high: float, is_optional: bool = False, or_auto: bool = False
) -> None:
    """Check that a parameter is a number from `low` to `high`, or a list or tuple of such numbers, one per target."""
    value, label = getattr(owner, name), f"{type(owner).__name__}.{name}"
    if (value is None and is_optional) or (or_auto and isinstance(value, str) and value == AUTO):
        return
    entries = value if isinstance(value, list | tuple) else (value,)
    expected = f"{label} must be a number {rule}, or a list or tuple of one per target"
    expected += ", or None to have it chosen from the data" if is_optional else ""
    expected += ', or "auto" to have it chosen by the evidence' if or_auto else ""
    if not entries or not all(isinstance(entry, numbers.Real) and not isinstance(entry, bool) for entry in entries):
        raise TypeError(f"{expected}; got {value!r}.")
    if not all(low <= entry <= high for entry in entries):
        raise ValueError(f"{expected}; got {value!r}.")


def check_location(owner: object, name: str) -> None:
    """Check that a parameter is None, or real numbers."""
    rule = f"between {-LARGEST_SCALE:g} and {LARGEST_SCALE:g}"
    check_per_target(owner, name, rule, low=-LARGEST_SCALE, high=LARGEST_SCALE, is_optional=True)


def check_scale(owner: object, name: str, or_auto: bool = False) -> None:
    """Check that a parameter is None, or positive numbers."""
    rule = f"between {SMALLEST_SCALE:g} and {LARGEST_SCALE:g}"
    check_per_target(owner, name, rule, low=SMALLEST_SCALE, high=LARGEST_SCALE, is_optional=True, or_auto=or_auto)


def refuse_first(bad: NDArray[np.bool_], observations: Observations, problem: str, advice: str) -> None:
    """Raise a `ValueError` that names the first target where `bad`, shape (n_rows, n_targets), is true, if any."""
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        labels, of_target = target_names(observations.target), ""
        if len(labels) > 1:
            of_target = f" of {labels[column]}"
        value, number = float(observations.values[row, column]), observations.number_of_row(row)
        raise ValueError(f"The value {value!r}{of_target} in row {number} (counted from 0) {problem}. {advice}")


def rows_faults(statistics: Floats) -> Faults:
    """Yield the rules that statistics are finite and the number of rows is in range."""
    yield broken(~np.isfinite(statistics)), "statistics must be finite numbers"
    n = statistics[:, :1]
    yield broken(~(n > 0) | (n > LARGEST_COUNT)), f"the number of rows must be above 0 and at most {LARGEST_COUNT:g}"


def broken(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows in which the mask is true anywhere."""
    return np.asarray(np.any(mask, axis=1))


def sample_mean_and_sd(observations: Observations) -> tuple[Floats, Floats]:
    """Return the weighted mean and standard deviation of each target.

    Differences to the first row are summed, in units of a power of two, so that constants have a standard deviation of
    exactly 0, offsets lose no accuracy, and nothing overflows.
    """
    weights = observations.row_weights / observations.row_weights.sum()
    exponent = np.frexp(np.abs(observations.values).max(axis=0))[1]
    values = np.ldexp(observations.values, -exponent)
    difference = values - values[0]
    shift = weighted_sums(weights, difference)
    sd = np.sqrt(weighted_sums(weights, (difference - shift) ** 2))
    return np.ldexp(values[0] + shift, exponent), np.ldexp(sd, exponent)


def weighted_sums(weights: Floats, values: Floats) -> Floats:
    """Return the weighted sum of each column, or of the only one.

    Not by `weights @ values`: BLAS would start its own threads, although a fit should use one, and they are many times
    slower if other programs use the cores.

    Examples
    --------
    >>> weighted_sums(np.array([0.5, 2.0]), np.array([[1.0, 10.0], [2.0, 20.0]])).tolist()
    [4.5, 45.0]
    """
    return np.asarray(np.einsum("i,i...->...", weights, values))


def sample_scale(observations: Observations) -> Floats:
    """Return the standard deviation of each target; for a constant target its absolute value, or 1 if that is 0.

    A constant has no spread; its absolute value is the one scale that changes with the unit of measurement.
    """
    mean, sd = sample_mean_and_sd(observations)
    size = np.where(mean == 0, 1.0, np.abs(mean))
    return np.clip(np.where(sd > 0, sd, size), SMALLEST_SCALE, LARGEST_SCALE)


def noise_guess(observations: Observations) -> Floats:
    """Return a guess of the noise's standard deviation: a share of the sample's, the tree explains the rest."""
    return np.maximum(NOISE_SHARE * sample_scale(observations), SMALLEST_SCALE)


def target_names(target: Target) -> list[str]:
    """Return the names of the targets, or their numbers."""
    names = target.names if isinstance(target, Numbers) else None
    return [one_line(name) for name in names] if names else [f"target {k}" for k in range(target.n_outputs)]


def for_each_target(texts: list[str], target: Target, between: str) -> str:
    """Return the text of the only target, or the texts of the first few targets with their names."""
    if len(texts) == 1:
        return texts[0]
    named = [f"{name}{between}{text}" for name, text in zip(target_names(target), texts, strict=True)]
    n_hidden = len(named) - TARGETS_SHOWN
    more = [] if n_hidden <= 0 else ["1 more target" if n_hidden == 1 else f"{n_hidden} more targets"]
    return "; ".join(named[:TARGETS_SHOWN] + more)


def format_with_spread(mean: float, sd: float) -> str:
    """Format a mean and a standard deviation, with as many digits as the standard deviation makes meaningful.

    Examples
    --------
    >>> print(format_with_spread(152.3456, 12.0987))
    152.3 ± 12.1
    """
    if not 0 < sd < math.inf:
        return f"{mean:.4g}"
    mean_exponent, sd_exponent = math.floor(math.log10(abs(mean) or sd)), math.floor(math.log10(sd))
    largest, decimals = max(mean_exponent, sd_exponent), max(0, 2 - sd_exponent)
    if -5 < largest < DIGITS - decimals:
        return f"{round(mean, decimals) + 0.0:.{decimals}f} ± {sd:.{decimals}f}"
    return f"{mean:.{min(DIGITS, max(2, 2 + mean_exponent - sd_exponent))}e} ± {sd:.2e}"


def _describe_sample(mean: float, sd: float) -> str:
    mean_text, _, sd_text = format_with_spread(mean, sd).partition(" ± ")
    return f"mean {mean_text}, sd {sd_text or '0'}"


def _spread(values: Floats, owner: str, name: str, n_targets: int) -> Floats:
    """Return one value per target, from one for all or one per target."""
    if values.size not in (1, n_targets):
        raise ValueError(f"{owner}.{name} has {values.size} values, but there are {n_targets} targets: give one each.")
    return np.broadcast_to(values, n_targets)


def as_parameter(values: Floats) -> float | tuple[float, ...]:
    """Return values per target as a parameter: a number if there is one target, otherwise a tuple."""
    return float(values[0]) if values.size == 1 else tuple(values.tolist())
