"""The question: how many instructions does a standard fit execute, counted by valgrind's callgrind.

Counts are exact to one part in a thousand, so two versions of the code can be compared on a busy machine. Counted is
the whole call in Python, input checks included, without imports and making the data: `callgrind_control` switches the
counting on before a call and off after it, and what this costs by itself is subtracted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import markdown
from benchmarks.growth import particles_data
from benchmarks.models import STANDARD, bayesian_tree
from benchmarks.probe import Task, environment, load
from benchmarks.settings import Settings

TOOLS = ("valgrind", "callgrind_control")
PREDICTED_ROWS = 1000
PATIENCE = 900  # timeout in seconds; an idle machine takes about one minute


@dataclass(frozen=True)
class Count:
    """Instructions of one call."""

    data: str
    work: str
    instructions: int


@dataclass(frozen=True)
class Absent:
    """The reason why there are no counts."""

    reason: str


def measure(settings: Settings) -> Iterator[Count | Absent]:
    """Count the standard fits and a prediction, if valgrind is installed."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        yield Absent(f"{missing[0]} is not installed.")
        return
    made_up = Task(n_rows=settings.choose(tiny=60, quick=2000, full=7500), n_features=16, n_classes=10)
    tasks = list(dict.fromkeys([_named(made_up), _named(particles_data(settings))]))
    if settings.scale != "full":
        tasks = tasks[:1]
    for name in tasks:
        settings.say(f"{name.label}, under valgrind")
        yield from count_in_new_process(name)


@dataclass(frozen=True)
class NamedTask:
    """Data with a name; hashable, unlike the task with its dictionary of settings."""

    label: str
    n_rows: int
    n_features: int
    n_classes: int
    pendigits_dir: str | None

    def task(self) -> Task:
        """Return the task without a sampler."""
        values = asdict(self)
        del values["label"]
        return Task(**values)


def _named(task: Task) -> NamedTask:
    label = "pen-digits" if task.pendigits_dir else f"made up, {task.n_rows:,} x {task.n_features}"
    return NamedTask(label, task.n_rows, task.n_features, task.n_classes, task.pendigits_dir)


def count_in_new_process(data: NamedTask) -> list[Count]:
    """Run this module under valgrind and read the counts of its dumps."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={profile}"]
        command += [sys.executable, "-m", "benchmarks.instructions"]
        result = subprocess.run(
            command,
            input=json.dumps(asdict(data)),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env=environment() | {"PYTHONHASHSEED": "0"},
        )
        if result.returncode != 0:
            reason = (result.stderr.strip() or "nothing was said").splitlines()[-1]
            raise RuntimeError(f"Counting with valgrind ended with status {result.returncode}: {reason}")
        works = json.loads(result.stdout.splitlines()[-1])
        totals = [read_total(profile.with_name(f"profile.{i}")) for i in range(1, len(works) + 1)]
    return [Count(data.label, work, total - totals[0]) for work, total in zip(works[1:], totals[1:], strict=True)]


def read_total(path: Path) -> int:
    """Return the instructions in a dump of callgrind."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("totals:"):
            return int(line.split()[1])
    raise ValueError(f"{path} has no line that starts with 'totals:'; is it a profile of callgrind?")


def count_everything(data: NamedTask) -> list[str]:
    """Do the work under valgrind, with one dump per call; return the names of the calls, in order."""
    X, y = load(data.task())
    models = {name: bayesian_tree(sampler) for name, sampler in STANDARD.items()}
    for model in models.values():
        model.fit(X[:50], y[:50]).predict_proba(X[:50])  # lazy imports must not count
    calls: dict[str, Callable[[], Any]] = {"nothing": lambda: None}
    calls |= {f"fit, {name}": partial(model.fit, X, y) for name, model in models.items()}
    first = next(iter(models))
    calls[f"predict_proba, {first}, {min(PREDICTED_ROWS, len(X)):,} rows"] = partial(
        models[first].predict_proba, X[:PREDICTED_ROWS]
    )
    for call in calls.values():
        tell_valgrind("--instr=on")
        call()
        tell_valgrind("--instr=off")
        tell_valgrind("--dump")
    return list(calls)


def tell_valgrind(command: str) -> None:
    """Send a command to the valgrind of this process."""
    tool = ["callgrind_control", command, str(os.getpid())]
    subprocess.run(tool, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=60)


def to_markdown(results: Sequence[Count | Absent]) -> str:
    """Return the counts as a Markdown table, or the reason why there are none."""
    counts = [r for r in results if isinstance(r, Count)]
    if not counts:
        return "No counts: " + " ".join(r.reason for r in results if isinstance(r, Absent))
    rows = [[c.data, c.work, f"{c.instructions / 1e6:,.1f}"] for c in counts]
    return markdown.table(["data", "work"], ["million instructions"], rows)


if __name__ == "__main__":
    done = count_everything(NamedTask(**json.load(sys.stdin)))
    print(json.dumps(done), flush=True)
    os._exit(0)  # the interpreter's cleanup takes seconds under valgrind
