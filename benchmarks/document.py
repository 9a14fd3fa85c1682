"""The output of a run: a page of Markdown, the same figures as JSON, and a folder with both and the plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.markdown import duration
from benchmarks.style import MatplotlibMissingError
from benchmarks.suite import CASES, Record
from benchmarks.targets import JUDGED, targets
from benchmarks.targets import to_markdown as targets_to_markdown

ADVICE = 'Plots need matplotlib: pip install ".[bench]"'
INTRODUCTION = """\
Every ratio is measured in one run: we and what we are compared with take turns on the same data, and each is known by
its best time. One thread, unless the case is about threads. CART is scikit-learn's
`DecisionTreeClassifier(min_samples_leaf=10)`, its leaves smoothed with the same prior as ours where probabilities are
scored. "prior, 5 x 100" means the prior proposal with 5 islands of 100 particles."""


def to_markdown(record: Record, figures: Mapping[str, list[plots.Saved]] | None = None) -> str:
    """Return the whole page: machine, targets, then one section per case, with its plots if there are any."""
    parts = [heading(record), INTRODUCTION, how_to_run(record), machine_to_markdown(record)]
    if not record.is_complete:
        parts.append("**This run was interrupted: what follows is what it had measured by then.**")
    if JUDGED & record.results.keys() or not record.results:
        parts += ["## Targets", targets_to_markdown(targets(record.results))]
    for name, case in CASES.items():
        if name in record.results or name in record.failures:
            parts += [f"## {case.title}", case.question]
            parts += [f"![{saved.description}]({saved.file})" for saved in (figures or {}).get(name, [])]
        if name in record.results:
            parts.append(case.to_markdown(record.results[name]))
        if name in record.failures:
            parts.append(f"**The case failed:** {record.failures[name]}")
    return "\n\n".join(parts) + "\n"


def heading(record: Record) -> str:
    """Return the page's heading, with the names of the cases if only some were run."""
    is_choice = "--only" in record.command and record.results
    return f"# Benchmarks: {', '.join(record.results)}" if is_choice else "# Benchmarks"


def how_to_run(record: Record) -> str:
    """Return text: how the figures were measured."""
    paper = "; the paper's data sets are UCI's files" if "--data-dir" in record.command else ""
    return f"Measured with `{record.command}` in {duration(record.seconds)}{paper}."


def machine_to_markdown(record: Record) -> str:
    """Return the machine and the versions as a list."""
    return "\n".join(f"- {name}: {value}" for name, value in record.machine.items())


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


def write_folder(record: Record, folder: Path, say: Callable[[str], None]) -> None:
    """Write README.md, results.json and the plots to a folder; without matplotlib, print how to get the plots."""
    write_json(record, folder / "results.json")
    try:
        figures = plots.save_all(record.results, folder)
    except MatplotlibMissingError:
        say(ADVICE)
        figures = {}
    (folder / "README.md").write_text(to_markdown(record, figures), encoding="utf-8")
