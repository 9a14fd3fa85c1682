"""The command: run what is missing, then write data, figures and the page from all results.

In the folder of a run, `reproduction.md` is the page, and `reproduction/` has `results.jsonl` (every cell, from which
everything else is generated; after a complete run it is also compressed, for the repository), `claims.csv` with what
was measured for each claim, and for each figure a CSV file and a PNG file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.machine import describe_machine
from benchmarks.style import our_style, save
from papers.harness.grid import CellsFailedError, distinct_cells, run_cells
from papers.harness.journal import Entry, Journal
from papers.harness.packed import pack, unpack
from papers.harness.panels import draw
from papers.icml2013 import EXPERIMENTS
from papers.icml2013.cells import BREAST_CANCER, UNLIMITED, Cell, load
from papers.icml2013.experiment import Experiment
from papers.icml2013.methods import MEASURES
from papers.icml2013.page import CLAIMS, FOLDER, PAGE, Run, Section, claims_to_csv, to_markdown
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import NotMeasuredError, Points, summarise, to_csv

ALL = "all"
RESULTS = "results.jsonl"


def choose(name: str) -> list[Experiment]:
    """Return the experiment of a name, or all of them."""
    if name == ALL:
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise ValueError(f"There is no experiment {name!r}; choose from {', '.join(EXPERIMENTS)} or {ALL}.")
    return [EXPERIMENTS[name]]


def run(
    experiments: Sequence[Experiment],
    scale: Scale,
    out: Path,
    *,
    version: str,
    command: str,
    data_dir: Path | None = None,
    n_jobs: int = -1,
    show_progress: bool = True,
) -> Path:
    """Run the cells that `out` does not have yet, and write all complete figures; return the path of the page.

    Parameters
    ----------
    experiments : sequence of Experiment
        The experiments to run.
    scale : Scale
        The size of the grids.
    out : Path
        Folder for the page and its figures, created if it does not exist.
    version : str
        Version of the package, for the record.
    command : str
        Command to repeat the run, for the record; `NAME` is replaced by the names of the experiments on the page.
    data_dir : Path or None, default None
        Folder with the data sets; None as in `particletree.datasets`.
    n_jobs : int, default -1
        Number of cells in parallel; -1 means all cores.
    show_progress : bool, default True
        Whether to show a progress bar.
    """
    folder = out / FOLDER
    cells = located([cell for experiment in experiments for cell in experiment.cells(scale)], data_dir)
    check_data(cells)
    folder.mkdir(parents=True, exist_ok=True)
    with our_style():  # first, so that missing matplotlib is an error before the work
        pass
    unpack(folder / RESULTS)
    conditions = {"scale": scale.name, "measures": MEASURES}
    with Journal(folder / RESULTS, conditions, describe_machine(version)) as journal:
        try:
            run_cells(cells, journal, n_jobs=n_jobs, show_progress=show_progress)
        except CellsFailedError:  # complete figures are written even if others failed
            write(out, scale, journal, command)
            raise
        pack(folder / RESULTS)
        return write(out, scale, journal, command)


def located(cells: Sequence[Cell], data_dir: Path | None) -> list[Cell]:
    """Return the cells with the folder of the data."""
    folder = None if data_dir is None else str(data_dir.absolute())
    return [replace(cell, folder=folder) for cell in cells]


def check_data(cells: Sequence[Cell]) -> None:
    """Load every data set once, so that a missing or damaged file is reported before the work begins."""
    for name, folder in {(cell.data, cell.folder): None for cell in cells}:
        if name not in (UNLIMITED, BREAST_CANCER):
            load(name, folder)


def write(out: Path, scale: Scale, journal: Journal, command: str) -> Path:
    """Write data and figure of every experiment with complete results, and the page; return its path."""
    sections, missing, used = [], [], []
    for experiment in EXPERIMENTS.values():
        try:
            points = points_of(experiment, scale, journal.entries)
        except NotMeasuredError:
            missing.append(experiment.name)
            continue
        write_figure(experiment, points, out / FOLDER)
        about_it = experiment.reading(points), experiment.claims(points), experiment.trials(points)
        sections.append(Section(experiment, *about_it))
        used += experiment.cells(scale)
    page = out / PAGE
    names = ALL if not missing else " or ".join(section.experiment.name for section in sections)
    command = command.replace("NAME", names)
    machine = {name: value for name, value in journal.conditions.items() if name not in ("scale", "measures")}
    about = Run(command, journal.elapsed, len(distinct_cells(used)), scale, machine)
    (out / FOLDER / CLAIMS).write_text(claims_to_csv(sections), encoding="utf-8")
    page.write_text(to_markdown(about, sections, missing), encoding="utf-8")
    return page


def points_of(experiment: Experiment, scale: Scale, entries: Mapping[str, Entry]) -> Points:
    """Return the points of an experiment."""
    return Points(summarise(experiment.cells(scale), entries))


def write_figure(experiment: Experiment, points: Points, folder: Path) -> None:
    """Write an experiment's CSV file and its figure."""
    (folder / f"{experiment.name}.csv").write_text(to_csv(points.all), encoding="utf-8")
    with our_style():
        save(draw(experiment.panels(points), experiment.n_columns), folder, experiment.name)
