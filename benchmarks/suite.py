"""The cases in order, and their run, which keeps results after Ctrl-C and after the failure of a case."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import (
    additive,
    chain,
    columns,
    coverage,
    fit,
    frontier,
    gibbs,
    growth,
    instructions,
    islands,
    noise,
    onetree,
    predict,
    reach,
    regression,
    samplers,
    shapes,
    study,
)
from benchmarks.settings import Settings


@dataclass(frozen=True)
class Case:
    """One question: how it is measured and how the results are written."""

    name: str
    title: str
    question: str
    measure: Callable[[Settings], Iterator[Any]]
    to_markdown: Callable[[Sequence[Any]], str]


def _case(name: str, title: str, module: Any) -> Case:
    return Case(name, title, question_of(module.__doc__), module.measure, module.to_markdown)


def _growth(name: str, question: str, measure: Callable[[Settings], Iterator[Any]]) -> Case:
    return Case(name, f"Growth with {name}", question, measure, growth.to_markdown)


def question_of(text: str) -> str:
    """Return a module's docstring as the question and text of its section.

    Examples
    --------
    >>> question_of("The question: is it fast.")
    'Is it fast?'
    """
    first, _, rest = text.removeprefix("The question: ").partition("\n")
    return f"{first[0].upper()}{first[1:].rstrip('.')}?\n{rest}".strip()


CASES = {
    case.name: case
    for case in (
        _case("fit", "Fit, against CART and a random forest", fit),
        _case("regression", "Numbers: fit, error and intervals, against trees and ensembles", regression),
        _case("additive", "Sums of trees, against other packages for BART", additive),
        _case("columns", "Missing values and categories, as they are and prepared", columns),
        _case("reach", "Time to be as good as CART", reach),
        _case("samplers", "Particle filter against Markov chain", samplers),
        _case("chain", "What the Markov chain costs, and where it ends", chain),
        _case("gibbs", "Regrowing subtrees, against Chipman's moves alone", gibbs),
        _case("predict", "predict_proba, against a random forest", predict),
        _growth("rows", question_of(growth.__doc__), growth.measure_rows),
        _growth("features", "As for rows, but features are added.", growth.measure_features),
        _growth("classes", "As for rows, but classes are added.", growth.measure_classes),
        _growth("particles", "As for rows, but the data stay and particles are added.", growth.measure_particles),
        _case("islands", "Islands on one core and on two", islands),
        _case("shapes", "Shapes of data on which time could explode", shapes),
        _case("onetree", "One tree for the whole posterior", onetree),
        _case("coverage", "What intervals cover", coverage),
        _case("study", "The default settings, table by table", study),
        _case("frontier", "Settings of the particle filter, against time", frontier),
        _case("noise", "The prior of the noise, where numbers are predicted", noise),
        _case("instructions", "Instructions", instructions),
    )
}
STUDY = ("study", "frontier", "noise")  # behind docs/defaults.md, with their own page: run only if they are named


@dataclass
class Record:
    """The results of a run so far."""

    command: str  # that started it
    machine: dict[str, str]
    results: dict[str, list[Any]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    is_complete: bool = False


def choose_cases(text: str | None) -> list[Case]:
    """Return the cases named in a list with commas, in the order of the suite; for None all but those in `STUDY`.

    Examples
    --------
    >>> [case.name for case in choose_cases("predict,fit")]
    ['fit', 'predict']
    """
    if text is None:
        return [case for case in CASES.values() if case.name not in STUDY]
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in CASES]
    if unknown or not names:
        raise ValueError(f"There is no case {(unknown or [text])[0]!r}; choose from {', '.join(CASES)}.")
    return [case for case in CASES.values() if case.name in names]


def run(settings: Settings, cases: Sequence[Case], record: Record) -> None:
    """Run cases one after the other and fill the record, which keeps the results of an interrupted case."""
    start = time.perf_counter()

    def say(name: str, what: str) -> None:
        minutes, seconds = divmod(int(time.perf_counter() - start), 60)
        settings.say(f"[{minutes:2d}:{seconds:02d}] {name}: {what}")

    try:
        for case in cases:
            told = replace(settings, say=lambda what, name=case.name: say(name, what))  # type: ignore[misc]
            with threadpool_limits(1):  # OpenMP: gradient boosting would use, and wait for, all cores
                run_case(case, told, record)
        record.is_complete = True
    finally:
        record.seconds = time.perf_counter() - start


def run_case(case: Case, settings: Settings, record: Record) -> None:
    """Run one case; an error in it is recorded, and the other cases still run."""
    results: list[Any] = []
    try:
        for result in case.measure(settings):
            results.append(result)
            record.results[case.name] = results
    except Exception as error:
        settings.say(f"failed\n{traceback.format_exc()}")
        record.failures[case.name] = f"{type(error).__name__}: {error}"
