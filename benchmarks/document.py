"""The output of a run: a page of Markdown, and a folder with it, the plots and all measurements as CSV; or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.markdown import duration
from benchmarks.style import MatplotlibMissingError
from benchmarks.suite import CASES, Record
from benchmarks.targets import TARGETS, targets
from benchmarks.targets import to_markdown as targets_to_markdown

ADVICE = 'Plots need matplotlib: pip install ".[bench]"'
INTRODUCTION = """\
Every ratio is measured in one run: we and what we are compared with take turns on the same data, and each is known by
its best time. One thread, unless the case is about threads. CART is scikit-learn's
`DecisionTreeClassifier(min_samples_leaf=10)`. "prior, 5 x 100" means the prior proposal with 5 islands of 100
particles."""


def to_markdown(
    record: Record, figures: Mapping[str, list[plots.Saved]] | None = None, data: Mapping[str, str] | None = None
) -> str:
    """Return the whole page: machine, targets, then one section per case, with its plots and its file of data."""
    parts = [heading(record), INTRODUCTION, how_to_run(record), machine_to_markdown(record)]
    if not record.is_complete:
        parts.append("**This run was interrupted: what follows is what it had measured by then.**")
    judged = targets(record.results, record.results if is_choice(record) else TARGETS)
    if judged:
        parts += ["## Targets", targets_to_markdown(judged)]
    for name, case in CASES.items():
        if name in record.results or name in record.failures:
            parts += [f"## {case.title}", case.question]
            parts += [f"![{saved.description}]({saved.file})" for saved in (figures or {}).get(name, [])]
        if name in record.results:
            parts.append(case.to_markdown(record.results[name]))
        if name in record.failures:
            parts.append(f"**The case failed:** {record.failures[name]}")
        if data and name in data:
            parts.append(f"All measurements: [{data[name]}]({data[name]}).")
    return "\n\n".join(parts) + "\n"


def heading(record: Record) -> str:
    """Return the page's heading, with the names of the cases if only some were run."""
    return f"# Benchmarks: {', '.join(record.results)}" if is_choice(record) else "# Benchmarks"


def is_choice(record: Record) -> bool:
    """Return whether only some cases were run."""
    return "--only" in record.command and bool(record.results)


def how_to_run(record: Record) -> str:
    """Return text: how the figures were measured."""
    paper = "; the paper's data sets are UCI's files" if "--data-dir" in record.command else ""
    return f"Measured with `{record.command}` in {duration(record.seconds)}{paper}."


def machine_to_markdown(record: Record) -> str:
    """Return the machine and the versions."""
    return "Machine and versions: " + "; ".join(f"{name}: {value}" for name, value in record.machine.items()) + "."


def to_json(record: Record) -> dict[str, Any]:
    """Return everything as plain dictionaries and lists."""
    return {
        "machine": record.machine,
        "command": record.command,
        "seconds": record.seconds,
        "is_complete": record.is_complete,
        "targets": [asdict(target) for target in targets(record.results)],
        "cases": {name: [asdict(result) for result in results] for name, results in record.results.items()},
        "failures": record.failures,
    }


def write_json(record: Record, path: Path) -> None:
    """Write the figures to a file."""
    path.write_text(json.dumps(to_json(record), indent=1) + "\n", encoding="utf-8")


def to_csv(results: Sequence[Any]) -> str:
    """Return measurements as a table: one row per result, one column per field; parts of a field follow a dot.

    Examples
    --------
    >>> from benchmarks.study import Estimate
    >>> print(to_csv([Estimate(0.5, 0.1)]), end="")
    value,error
    0.5,0.1
    """
    rows = [flat(asdict(result)) for result in results]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without nesting: numbers with six significant digits, several values of one field with spaces."""
    row: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            row |= {f"{name}.{part}": inner for part, inner in flat(value).items()}
        elif isinstance(value, float):
            row[name] = f"{value:.6g}"
        else:
            row[name] = " ".join(f"{v:.6g}" for v in value) if isinstance(value, (tuple, list)) else value
    return row


def write_folder(record: Record, folder: Path, say: Callable[[str], None]) -> None:
    """Write README.md, the plots, and the data of every case; without matplotlib, print how to get the plots."""
    try:
        figures = plots.save_all(record.results, folder)
    except MatplotlibMissingError:
        say(ADVICE)
        figures = {}
    data = {name: f"{name}.csv" for name in record.results}
    for name, file in data.items():
        (folder / file).write_text(to_csv(record.results[name]), encoding="utf-8")
    (folder / "README.md").write_text(to_markdown(record, figures, data), encoding="utf-8")
