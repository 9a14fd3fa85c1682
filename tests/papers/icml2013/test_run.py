"""All experiments from end to end, on data that ship with scikit-learn: files, page, and a run that is killed."""

import csv
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from papers.harness.grid import CellsFailedError
from papers.harness.journal import JournalError
from papers.icml2013 import EXPERIMENTS
from papers.icml2013.cells import Cell
from papers.icml2013.page import Run, Section, to_markdown
from papers.icml2013.run import choose, run
from papers.icml2013.scale import FULL, QUICK, TINY
from papers.icml2013.sensitivity import MODELS

TIMES = ("seconds", "elapsed")
SCRIPT = """
import sys
from pathlib import Path
from papers.icml2013.run import choose, run
from papers.icml2013.scale import TINY

if __name__ == "__main__":
    run(choose("all"), TINY, Path(sys.argv[1]), version="test", command="test", n_jobs=2, show_progress=False)
"""


def run_tiny(out, name="all", n_jobs=1):
    return run(choose(name), TINY, out, version="test", command="test", n_jobs=n_jobs, show_progress=False)


def without_times(value):
    """Return results without what may differ between two runs."""
    if isinstance(value, dict):
        return {name: without_times(v) for name, v in value.items() if name not in TIMES}
    return value


def results(out):
    return [json.loads(line) for line in (out / "reproduction" / "results.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of an uninterrupted run."""
    out = tmp_path_factory.mktemp("finished")
    run_tiny(out, n_jobs=2)
    return out


def test_every_figure_is_there(finished):
    names = {path.name for path in (finished / "reproduction").iterdir()}
    expected = {f"{name}.{kind}" for name in EXPERIMENTS for kind in ("csv", "png")}
    expected |= {"results.jsonl", "results.jsonl.xz", "claims.csv"}
    assert names == expected


def test_the_page_has_every_claim_and_every_figure(finished):
    page = (finished / "reproduction.md").read_text()
    for name, experiment in EXPERIMENTS.items():
        assert f"## {experiment.title}" in page
        assert f"(reproduction/{name}.png)" in page
    claims = [line for line in page.splitlines() if re.search(r"\| (holds|\*\*.*\*\*) \|", line)]
    with (finished / "reproduction" / "claims.csv").open(encoding="utf-8") as file:
        measured = list(csv.DictReader(file))
    assert [row["whose"] for row in measured] == ["the paper's"] * 26 + ["a reason of ours"] * 4
    assert all(row["measured"] for row in measured)
    assert len(claims) == 26
    assert f"Of {len(claims)} claims:" in page
    assert "This was a **tiny** run" in page
    assert "Not run" not in page


def test_links_of_the_page_lead_somewhere(finished):
    page = (finished / "reproduction.md").read_text()
    for target in re.findall(r"\]\(([^)]+)\)", page):
        if target.startswith("#"):
            headings = re.findall(r"^## (.*)$", page, flags=re.M)
            assert target[1:] in {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in headings}
        else:
            assert (finished / target).is_file()


def test_data_are_a_table_with_spread(finished):
    header, *rows = (finished / "reproduction" / "islands.csv").read_text().splitlines()
    assert {"data", "method", "n_particles", "n_islands", "log_probability mean", "log_probability sd"} <= set(
        header.split(",")
    )
    assert len(rows) == len(TINY.islands)
    assert all(len(row.split(",")) == len(header.split(",")) for row in rows)


def test_machine_and_versions_are_recorded(finished):
    assert {"processor", "cores", "scikit-learn", "numpy", "particletree"} <= results(finished)[0]["conditions"].keys()


def test_one_experiment_alone_writes_its_figure_and_says_what_is_missing(tmp_path):
    page = run_tiny(tmp_path, "prior").read_text()
    assert "## The prior itself" in page
    assert "No results yet: proposals, variants" in page
    assert {path.stem for path in (tmp_path / "reproduction").glob("*.png")} == {"prior"}


def test_a_page_without_claims_has_no_table_of_them():
    section = Section(EXPERIMENTS["reasons"], "It is so.", [])
    page = to_markdown(Run("particletree", 1.0, 3, TINY, {}), [section], ["prior"])
    assert "## Our reasons, put to the test" in page
    assert "## The paper's claims" not in page


def test_a_second_run_finds_everything_done(tmp_path):
    run_tiny(tmp_path, "prior")
    before = (tmp_path / "reproduction" / "results.jsonl").read_bytes()
    run_tiny(tmp_path, "prior")
    assert (tmp_path / "reproduction" / "results.jsonl").read_bytes() == before


def test_the_compressed_results_are_enough(tmp_path, monkeypatch):
    run_tiny(tmp_path, "prior")
    plain = tmp_path / "reproduction" / "results.jsonl"
    before = plain.read_bytes()
    plain.unlink()
    monkeypatch.setattr(Cell, "run", None)  # nothing runs again
    run_tiny(tmp_path, "prior")
    assert plain.read_bytes() == before


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
def test_a_killed_run_goes_on_where_it_stopped(finished, tmp_path, monkeypatch):
    out = tmp_path / "killed"
    file = out / "reproduction" / "results.jsonl"
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "script.py", out], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    deadline = time.monotonic() + 100
    while not file.exists() or file.read_bytes().count(b"\n") < 30:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "no results to be seen"
        time.sleep(0.01)
    workers = children_of(process.pid)
    process.kill()
    process.wait()
    assert workers, "no worker processes were seen"
    done = set(file.read_bytes().splitlines(keepends=True))
    done = {line for line in done if line.endswith(b"\n")}
    assert len(done) < len(results(finished))
    monkeypatch.setattr("papers.icml2013.run.write_figure", lambda *_: None)  # it was seen elsewhere
    run_tiny(out, n_jobs=2)
    assert not [pid for pid in workers if is_alive(pid)], "workers of the killed run are still at work"
    assert done <= set(file.read_bytes().splitlines(keepends=True))  # nothing ran again: its times would have changed
    assert without_times_of_all(results(out)) == without_times_of_all(results(finished))


def children_of(pid):
    """Return the processes that a process has started to work for it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if parent_and_state(folder)[0] == pid and b"LokyProcess" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def is_alive(pid):
    """Return whether a process is there, and no mere entry that nobody has asked about."""
    with suppress(OSError):
        return parent_and_state(Path(f"/proc/{pid}"))[1] != "Z"
    return False


def parent_and_state(folder):
    state, parent, *_ = (folder / "stat").read_text().rsplit(")", 1)[1].split()
    return int(parent), state


def without_times_of_all(lines):
    """Return the lines of a results file, in order, without times and without machine."""
    return [without_times(line) for line in lines[1:]]


def test_every_point_has_every_seed_once(finished):
    for name in EXPERIMENTS:
        with (finished / "reproduction" / f"{name}.csv").open() as file:
            assert {row["seeds"] for row in csv.DictReader(file)} == {str(TINY.n_seeds)}, name


def test_another_scale_in_the_same_folder_is_refused(tmp_path):
    run_tiny(tmp_path, "prior")
    other = replace(TINY, name="other")
    with pytest.raises(JournalError, match="scale: tiny then, other now"):
        run(choose("prior"), other, tmp_path, version="test", command="test", n_jobs=1, show_progress=False)


def test_complete_figures_are_written_even_if_a_cell_fails(monkeypatch, tmp_path):
    run_tiny(tmp_path, "prior")
    (tmp_path / "reproduction.md").unlink()
    monkeypatch.setattr(Cell, "run", lambda _: 1 / 0)
    with pytest.raises(CellsFailedError, match="ZeroDivisionError"):
        run_tiny(tmp_path, "islands")
    assert "## The prior itself" in (tmp_path / "reproduction.md").read_text()


def test_an_unknown_name_is_explained():
    with pytest.raises(ValueError, match=r"no experiment 'figure2'; choose from prior, proposals.* or all"):
        choose("figure2")


def test_the_full_grids_are_the_papers():
    cells = {name: experiment.cells(FULL) for name, experiment in EXPERIMENTS.items()}
    assert {cell.seed for group in cells.values() for cell in group} == set(range(10))
    assert {cell.data for cell in cells["irrelevant"]} == {"Madelon"}
    assert all(
        {"pen-digits", "MAGIC"} <= {c.data for c in group} for name, group in cells.items() if name != "irrelevant"
    )
    assert {c.method.total for c in cells["islands"]} == {2000}
    assert {min(FULL.islands), max(FULL.islands)} == {1, 400}
    assert {c.method.n_islands for c in cells["chains"] if c.method.kind == "SMC"} == {5}
    assert {c.method.min_samples_leaf for c in cells["classic"] if c.method.kind == "CART"} == {1, 5, 10}
    assert [(m.alpha, m.beta, m.concentration) for m in MODELS] == [
        (0.95, 0.5, 5.0),
        (0.8, 0.5, 5.0),
        (0.95, 0.2, 5.0),
        (0.8, 0.2, 5.0),
        (0.95, 0.5, 1.0),
    ]


def test_a_quick_run_has_every_figure_too():
    assert all(experiment.cells(QUICK) for experiment in EXPERIMENTS.values())
