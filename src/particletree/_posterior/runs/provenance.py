"""The provenance of a posterior: the kind of its runs, the sampler with its settings, the seed and the version.

The kind determines which methods are available (chains have a time order) and what can be merged. The rest documents
how a file was made, and makes it reproducible: the same sampler, settings, seed, data, model and version give the same
bits. It is kept as plain values, so that it can be written to a file as JSON; files are untrusted, so
:func:`decode_provenance` checks everything.

For trees that were assembled by hand the sampler is not known: then the kind is inferred from the traces of the runs
(``traces.py``).
"""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from particletree._posterior.runs.traces import CHAIN_RECORD, FILTER_RECORD, NO_RECORD
from particletree._version import __version__

FILTER, CHAIN, EXACT_DRAWS = "filter", "chain", "exact draws"
RECORD_OF_KIND = {FILTER: FILTER_RECORD, CHAIN: CHAIN_RECORD, EXACT_DRAWS: NO_RECORD}
USUAL_SAMPLER = {FILTER: "SMC", CHAIN: "MCMC", EXACT_DRAWS: "Exact"}

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
NUMBERS = ("max_stages", "n_particles", "time_budget")  # settings that are numbers where a sampler has them
VERSION = re.compile(r"[A-Za-z0-9_.+!-]{1,64}")
MAX_LENGTH = 1000  # of a text or a list
MAX_INTEGER = 2**63
MAX_ENTROPY = 2**4096  # 1,234 digits; Python refuses to read numbers of more than 4,300
USUAL_POOL = np.random.SeedSequence(0).pool_size

Setting: TypeAlias = "bool | int | float | str | list[bool | int | float | str | None] | None"


@dataclass(frozen=True)
class Seed:
    """A seed in plain numbers: the arguments of NumPy's `SeedSequence`.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.results import Seed
    >>> Seed.of(np.random.SeedSequence(7).spawn(2)[1])
    Seed(entropy=7, spawn_key=(1,))
    """

    entropy: int | tuple[int, ...]
    spawn_key: tuple[int, ...] = ()

    @classmethod
    def of(cls, sequence: np.random.SeedSequence) -> Seed | None:
        """Return the numbers of a seed sequence; None if a file cannot store them."""
        try:
            entropy: Any = sequence.entropy
            whole = tuple(map(operator.index, entropy)) if np.ndim(entropy) else operator.index(entropy)
            seed = cls(whole, tuple(map(operator.index, sequence.spawn_key)))
            seed.check()
        except (TypeError, ValueError):
            return None
        return seed if sequence.pool_size == USUAL_POOL else None

    def sequence(self) -> np.random.SeedSequence:
        """Return the seed sequence, to rerun the sampler."""
        entropy = list(self.entropy) if isinstance(self.entropy, tuple) else self.entropy
        return np.random.SeedSequence(entropy, spawn_key=self.spawn_key)

    def check(self) -> None:
        """Raise a `ValueError` if these are not the numbers of a seed."""
        entropy = self.entropy if isinstance(self.entropy, tuple) else (self.entropy,)
        valid = _are_whole(entropy, below=MAX_ENTROPY) and _are_whole(self.spawn_key, below=2**32)
        _require(valid, "the entropy and spawn_key of a seed must be integers of at least 0, or lists of some")


@dataclass(frozen=True)
class Provenance:
    """How a posterior was made.

    Attributes
    ----------
    kind : {"filter", "chain", "exact draws"}
        What the runs are: islands of particles, Markov chains, or independent draws from the exact posterior.
    sampler : str or None
        Name of the sampler; None if it is not known.
    settings : dict
        The sampler's parameters by name, as plain values; of merged posteriors those that all fits have in common.
    seed : Seed or None
        The seed of the fit; None if it is not known, or if there was more than one.
    version : str or None
        Version of the package.

    Examples
    --------
    >>> from particletree import SMC, BayesianTreeClassifier
    >>> clf = BayesianTreeClassifier(sampler=SMC(n_islands=3), random_state=7).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> made = clf.posterior_.provenance
    >>> made.kind, made.sampler, made.settings["n_islands"], made.seed
    ('filter', 'SMC', 3, Seed(entropy=7, spawn_key=()))
    """

    kind: str
    sampler: str | None = None
    settings: dict[str, Setting] = field(default_factory=dict)
    seed: Seed | None = None
    version: str | None = None

    @property
    def sampler_name(self) -> str:
        """Name of the sampler, or of the usual sampler for this kind of runs."""
        return USUAL_SAMPLER[self.kind] if self.sampler is None else self.sampler

    def check(self) -> None:
        """Raise a `ValueError` that names the part if this is not a valid provenance."""
        _require(
            isinstance(self.kind, str) and self.kind in RECORD_OF_KIND,
            f"the kind of runs must be one of {', '.join(RECORD_OF_KIND)}",
        )
        _require(self.sampler is None or _matches(NAME, self.sampler), "the sampler must be a name or null")
        _require(self.version is None or _matches(VERSION, self.version), "the version must be a short text or null")
        _require(isinstance(self.settings, dict) and len(self.settings) <= MAX_LENGTH, "the settings must be a table")
        for name, value in self.settings.items():
            _require(_matches(NAME, name), "the settings must have names")
            _require(_is_setting(value), f"the setting {name} must be a finite number, a text, or a list of some")
            is_number = value is None or type(value) in (int, float)
            _require(is_number or name not in NUMBERS, f"the setting {name} must be a number or null")
        if self.seed is not None:
            self.seed.check()

    def fits(self, traces: Sequence[NDArray[Any]]) -> bool:
        """Tell whether the traces have the records of this kind of runs."""
        return all(trace.dtype == RECORD_OF_KIND[self.kind] for trace in traces)


def describe_run(kind: str, sampler: str, parameters: dict[str, Any], sequence: np.random.SeedSequence) -> Provenance:
    """Return the provenance of a run of a sampler of this version with these parameters and this seed."""
    settings = {name: _plain(value) for name, value in parameters.items()}
    return Provenance(kind, sampler, settings, Seed.of(sequence), __version__)


def infer_provenance(traces: Sequence[NDArray[Any]]) -> Provenance:
    """Return the provenance that follows from the traces alone: the kind of runs."""
    if traces and all("tree" in (trace.dtype.names or ()) for trace in traces):
        return Provenance(CHAIN)
    if traces and all("ess" in (trace.dtype.names or ()) for trace in traces):
        return Provenance(FILTER)
    return Provenance(EXACT_DRAWS)


def merge_provenances(parts: Sequence[Provenance]) -> Provenance:
    """Return what all have in common; islands of particles merged with exact draws count as draws without a trace.

    Examples
    --------
    >>> from particletree._posterior.runs.provenance import Provenance, Seed, merge_provenances
    >>> one = Provenance("filter", "SMC", {"n_islands": 5, "n_particles": 100}, Seed(0))
    >>> two = Provenance("filter", "SMC", {"n_islands": 3, "n_particles": 100}, Seed(1))
    >>> merge_provenances([one, two])
    Provenance(kind='filter', sampler='SMC', settings={'n_particles': 100}, seed=None, version=None)
    """
    first = parts[0]
    common = {
        name: value
        for name, value in first.settings.items()
        if all(name in part.settings and part.settings[name] == value for part in parts)
    }
    same = {
        name: getattr(first, name) if all(getattr(part, name) == getattr(first, name) for part in parts) else None
        for name in ("sampler", "seed", "version")
    }
    kind = first.kind if all(part.kind == first.kind for part in parts) else EXACT_DRAWS
    return Provenance(kind, settings=common, **same)


def encode_provenance(provenance: Provenance) -> dict[str, Any]:
    """Return the provenance as plain values for JSON."""
    provenance.check()
    return asdict(provenance)


def decode_provenance(parts: Any) -> Provenance:
    """Return the provenance from the result of `encode_provenance`; raise a `ValueError` for anything else."""
    names = [part.name for part in fields(Provenance)]
    exact = isinstance(parts, dict) and set(parts) == set(names)
    _require(exact, f"provenance must have exactly the parts {', '.join(names)}")
    seed = parts["seed"]
    if seed is not None:
        exact = isinstance(seed, dict) and set(seed) == {"entropy", "spawn_key"} and isinstance(seed["spawn_key"], list)
        _require(exact, "the seed must be null, or have exactly the parts entropy and spawn_key, a list")
        entropy = seed["entropy"]
        seed = Seed(tuple(entropy) if isinstance(entropy, list) else entropy, tuple(seed["spawn_key"]))
    provenance = Provenance(**parts | {"seed": seed})
    provenance.check()
    return provenance


def _plain(value: Any) -> Any:
    """Return a parameter as plain values for JSON: Python's own numbers, and lists."""
    if isinstance(value, str | bool | None):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return [_plain(one) for one in value]


def _is_setting(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_LENGTH and all(_is_single(one) for one in value)
    return _is_single(value)


def _is_single(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < MAX_INTEGER
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) is bool or (type(value) is str and len(value) <= MAX_LENGTH)


def _are_whole(values: tuple[Any, ...], below: int) -> bool:
    return len(values) <= MAX_LENGTH and all(type(value) is int and 0 <= value < below for value in values)


def _matches(pattern: re.Pattern[str], text: Any) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Not a valid provenance: {rule}.")


# The settings that the evidence has chosen, the alternatives, and how clear the choice was.

MOST_SETTINGS = 10_000
TOSS_UP = 3.0  # nats: two settings that are closer than this cannot be distinguished


@dataclass(frozen=True)
class Choice:
    """The settings that were tried, and the estimated log evidence of each.

    Attributes
    ----------
    settings : tuple of dict
        The values of the parameters that were "auto", for each setting that was tried.
    log_evidences : tuple of float
        The estimated log evidence of each setting, from one quick island with the same seed.

    Examples
    --------
    >>> from particletree.results import Choice
    >>> choice = Choice(({"beta": 0.2}, {"beta": 0.5}), (-103.2, -120.9))
    >>> print(choice)
    beta 0.2, of 2 settings tried (17.7 nats above the next)
    """

    settings: tuple[dict[str, Any], ...]
    log_evidences: tuple[float, ...]

    @property
    def chosen(self) -> dict[str, Any]:
        """The setting with the highest evidence."""
        return self.settings[max(range(len(self.settings)), key=lambda i: self.log_evidences[i])]

    @property
    def margin(self) -> float:
        """Difference in nats between the chosen and the next setting; infinite if nothing else was tried."""
        first, *rest = sorted(self.log_evidences, reverse=True)
        return first - rest[0] if rest else math.inf

    def __str__(self) -> str:
        values = []
        for name, value in self.chosen.items():
            shown = [f"{each:.4g}" for each in (value if isinstance(value, tuple) else (value,))]
            values.append(f"{name} ({', '.join(shown)})" if isinstance(value, tuple) else f"{name} {shown[0]}")
        clear = "a toss-up with the next" if self.margin < TOSS_UP else f"{self.margin:.1f} nats above the next"
        return f"{', '.join(values)}, of {len(self.settings)} settings tried ({clear})"


def encode_choice(choice: Choice | None) -> dict[str, Any] | None:
    """Return a choice as plain values for JSON."""
    if choice is None:
        return None
    settings = [
        {name: list(map(float, value)) if isinstance(value, tuple) else float(value) for name, value in each.items()}
        for each in choice.settings
    ]
    return {"settings": settings, "log_evidences": list(choice.log_evidences)}


def decode_choice(parts: Any) -> Choice | None:
    """Return the choice from plain values; raise a `ValueError` if they are not those of a choice."""
    if parts is None:
        return None
    if not isinstance(parts, dict) or set(parts) != {"settings", "log_evidences"}:
        raise ValueError("choice must be null or have exactly the parts settings and log_evidences")
    settings, evidences = parts["settings"], parts["log_evidences"]
    if not isinstance(settings, list) or not isinstance(evidences, list) or len(settings) != len(evidences):
        raise ValueError("a choice must have a log evidence for each setting")
    if not 1 <= len(settings) <= MOST_SETTINGS or not all(_is_number(value) for value in evidences):
        raise ValueError("the log evidences of a choice must be finite numbers, one for each setting")
    return Choice(tuple(_decode_setting(each) for each in settings), tuple(evidences))


def _decode_setting(setting: Any) -> dict[str, Any]:
    if not isinstance(setting, dict) or not all(isinstance(name, str) and name.isidentifier() for name in setting):
        raise ValueError("a setting must have parameters by name")
    for value in setting.values():
        if not all(_is_number(each) for each in (value if isinstance(value, list) else [value])):
            raise ValueError("the values of a setting must be finite numbers, or lists of such")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in setting.items()}


def _is_number(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)
