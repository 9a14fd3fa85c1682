r"""Class labels with a symmetric Dirichlet prior in each leaf (paper, equation 3).

The statistics are the class counts :math:`m_1, \dots, m_K`, and the parameter is a vector of class probabilities with a
symmetric Dirichlet prior of total mass :math:`a`, the concentration:

.. math::
    \ell(m) = \frac{\Gamma(a)}{\Gamma(a / K)^K} \frac{\prod_k \Gamma(m_k + a / K)}{\Gamma(\sum_k m_k + a)},
    \qquad
    p(k \mid m) = \frac{m_k + a / K}{\sum_j m_j + a}.

A class probability has the Beta distribution :math:`\mathrm{Beta}(m_k + a / K,\; n - m_k + a - a / K)` with n rows in
the leaf. The kernel computes the marginal from tables (``kernel/leaves/categorical.h``); a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from particletree._model.distributions import Beta
from particletree._model.leaf import Faults, Floats, LeafModel, total_variation
from particletree._model.parameters import AUTO, check_real
from particletree._model.target import ClassLabels, Observations, Target
from particletree._model.text import format_count, format_probability, format_rows, is_number, one_line

CLASSES_SHOWN = 3
CONCENTRATIONS = (0.1, 0.3, 1.0, 3.0)  # the grid for "auto"
DEFAULT_CONCENTRATION = 0.3  # docs/defaults.md compares it with others
LARGEST_COUNT = 2e12  # twice the limit of _data/training.py: beyond it, the log marginal likelihood is inaccurate
SMALLEST_PARAMETER = (
    1e-300  # keeps the parameters of a Beta distribution positive if a tiny concentration is rounded to 0
)


@dataclass
class Categorical(LeafModel):
    """Class labels with a symmetric Dirichlet prior in each leaf.

    Parameters
    ----------
    concentration : float, "auto" or None, default None
        Total mass of the Dirichlet prior: each of the K classes starts with `concentration / K` pseudo-counts. Larger
        values shrink the probabilities of a leaf more towards equal ones. With "auto" the evidence chooses among 0.1,
        0.3, 1 and 3. None means the estimator's choice, 0.3; `Categorical.paper()` has the paper's 5.

    Examples
    --------
    >>> from particletree import Categorical
    >>> Categorical(concentration=2.0).mean([3, 1]).round(3)
    array([0.667, 0.333])
    """

    kernel_name: ClassVar[str] = "categorical"
    target_type: ClassVar[type] = ClassLabels

    concentration: float | str | None = None

    def validate(self) -> None:
        """Check that the concentration is in the range in which the marginal likelihood is accurate."""
        if self.concentration is None:
            return
        check_real(self, "concentration", "between 1e-100 and 1e8", low=1e-100, high=1e8, closed="both", or_auto=True)

    def grid(self, observations: Observations) -> dict[str, list[Any]]:
        """Return the concentrations among which the evidence chooses."""
        return {"concentration": list(CONCENTRATIONS)} if self.concentration == AUTO else {}

    def resolve(self, observations: Observations) -> Categorical:
        """Return the leaf model with the default concentration if none was given."""
        return self if self.concentration is not None else replace(self, concentration=DEFAULT_CONCENTRATION)

    def kernel_parameters(self, target: Target) -> Floats:
        """Return the number of classes and the concentration."""
        return np.array([target.n_outputs, self._total], dtype=np.float64)

    @property
    def _total(self) -> float:
        """The concentration as a number; an error if it is still None or "auto"."""
        if self.concentration is None or isinstance(self.concentration, str):
            raise ValueError(
                f"Categorical.concentration={self.concentration!r} is chosen for the data by an estimator; where there "
                "are no data, give a number, e.g. Categorical.paper()."
            )
        return self.concentration

    @classmethod
    def paper(cls) -> Categorical:
        """Return the paper's leaf model, with concentration 5."""
        return cls(5.0)

    def n_statistics(self, target: Target) -> int:
        """Return the number of classes."""
        return target.n_outputs

    def row_statistics(self, observations: Observations) -> Floats:
        """Return each row's weight in the column of its class."""
        counts = np.zeros((observations.n_rows, observations.target.n_outputs))
        counts[np.arange(observations.n_rows), observations.values] = observations.row_weights
        return counts

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal probability of labels with these class counts."""
        m = np.asarray(statistics, dtype=np.float64)
        share = self._total / m.shape[-1]
        classes: Any = (gammaln(m + share) - gammaln(share)).sum(axis=-1)
        total: Any = gammaln(m.sum(axis=-1) + self._total) - gammaln(self._total)
        return np.asarray(classes - total, dtype=np.float64)

    def pseudo_counts(self, statistics: ArrayLike) -> Floats:
        """Return the parameters of the leaf's Dirichlet posterior."""
        m = np.asarray(statistics, dtype=np.float64)
        return np.asarray(m + self._total / m.shape[-1], dtype=np.float64)

    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the predictive class probabilities, the mean of the leaf's Dirichlet posterior."""
        parameters = self.pseudo_counts(statistics)
        return np.asarray(parameters / parameters.sum(axis=-1, keepdims=True), dtype=np.float64)

    def n_rows(self, statistics: ArrayLike) -> Floats:
        """Return the sum of the class counts."""
        return np.asarray(np.sum(statistics, axis=-1), dtype=np.float64)

    def parameter_distributions(self, statistics: Floats, output: int) -> Beta:
        """Return the Beta distributions of the probability of one class.

        Their second parameter is not computed as a difference of sums, in which a small concentration would be lost.
        """
        share, n_classes = self._total / statistics.shape[-1], statistics.shape[-1]
        m, n = statistics[..., output], statistics.sum(axis=-1)
        a, b = m + share, n - m + share * (n_classes - 1)
        return Beta(np.maximum(a, SMALLEST_PARAMETER), np.maximum(b, SMALLEST_PARAMETER))

    def distance(self, means: Floats, others: Floats, everything: Floats) -> Floats:
        """Return the total variation distance between class probabilities."""
        return total_variation(means, others)

    def describe_distance(self, distance: float) -> str:
        """Return a sentence that says by how much class probabilities change."""
        return f"class probabilities by about {min(distance, 1.0):.2g}"

    def faults(self, statistics: Floats) -> Faults:
        """Yield the rules that counts are neither negative nor too large, and that no block is empty."""
        is_count = np.isfinite(statistics) & (statistics >= 0)
        yield np.asarray(~np.all(is_count, axis=1)), "counts must be finite numbers of at least 0"
        yield np.asarray(np.any(statistics > LARGEST_COUNT, axis=1)), f"counts must be at most {LARGEST_COUNT:g}"
        yield np.asarray(~np.any(statistics > 0, axis=1)), "the counts of a block must have a positive, finite sum"

    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw class probabilities from the Dirichlet prior, and labels given these."""
        probabilities = rng.dirichlet(self.pseudo_counts(np.zeros(target.n_outputs)))
        return rng.choice(target.n_outputs, size=n_rows, p=probabilities).astype(np.int32)

    def describe_prediction(self, statistics: Floats, target: Target) -> str:
        """Return the most probable class with its probability."""
        names, _ = class_names(target)
        probabilities = self.mean(statistics)
        best = int(np.argmax(probabilities))
        return f"{names[best]}, p {format_probability(float(probabilities[best]))}"

    def describe_rows(self, statistics: Floats, target: Target) -> str:
        """Return the number of rows, and how many of them the largest classes have."""
        names, of = class_names(target)
        order = np.argsort(-statistics, kind="stable")
        present = order[statistics[order] > 0]
        parts = [f"{format_count(statistics[k])} {of}{names[k]}" for k in present[:CLASSES_SHOWN]]
        n_hidden = present.size - CLASSES_SHOWN
        if n_hidden > 0:
            parts.append("1 more class" if n_hidden == 1 else f"{n_hidden} more classes")
        return f"{format_rows(statistics.sum())}: {', '.join(parts)}"


def class_names(target: Target) -> tuple[list[str], str]:
    """Return the names of the classes, and the text between a number of rows and a class.

    The names are the labels if all are words; otherwise `class 1` and so on.
    """
    labels = target.classes if isinstance(target, ClassLabels) else range(target.n_outputs)
    are_words = all(isinstance(label, str) and not is_number(label) for label in labels)
    names = [one_line(label) if are_words else f"class {one_line(label)}" for label in labels]
    return names, "" if are_words else "of "
