"""Grids of cells: nothing runs twice, nothing is lost, and an error in one cell leaves the others alone."""

import io
import sys

import pytest

from arithmetic import DEADLY, Square
from papers.harness.grid import CellsFailedError, distinct_cells, run_cells
from papers.harness.journal import Journal, JournalError


@pytest.fixture
def marks(tmp_path):
    path = tmp_path / "marks"
    path.touch()
    return path


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "results.jsonl", {"cores": "2"}) as journal:
        yield journal


def squares(journal):
    return {entry.cell["number"]: entry.result["square"] for entry in journal.entries.values()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_cell_runs_once(journal, marks, n_jobs):
    cells = [Square(i, marks) for i in (3, 1, 2, 1)]
    run_cells(cells, journal, n_jobs=n_jobs, show_progress=False)
    assert squares(journal) == {1: 1, 2: 4, 3: 9}
    assert sorted(marks.read_text().split()) == ["1", "2", "3"]
    run_cells([*cells, Square(4, marks)], journal, n_jobs=n_jobs, show_progress=False)
    assert sorted(marks.read_text().split()) == ["1", "2", "3", "4"]


def test_expensive_cells_start_first(journal, marks):
    run_cells([Square(i, marks) for i in range(4)], journal, show_progress=False)
    assert marks.read_text().split() == ["3", "2", "1", "0"]


def test_each_cell_is_on_the_disk_when_it_is_done(journal, marks, monkeypatch):
    seen = []
    append = journal.append

    def watch(entry):
        append(entry)
        seen.append(journal.path.read_bytes().count(b'"square"'))

    monkeypatch.setattr(journal, "append", watch)
    run_cells([Square(i, marks) for i in range(3)], journal, show_progress=False)
    assert seen == [1, 2, 3]


def test_on_another_machine_nothing_new_is_begun(tmp_path, marks):
    done, new = Square(1, marks), Square(2, marks)
    for processor, cells in (("fast", [done]), ("slow", [done])):
        with Journal(tmp_path / "results.jsonl", {}, {"processor": processor}) as journal:
            run_cells(cells, journal, show_progress=False)
    with (
        Journal(tmp_path / "results.jsonl", {}, {"processor": "slow"}) as journal,
        pytest.raises(JournalError, match="processor: fast then, slow now"),
    ):
        run_cells([done, new], journal, show_progress=False)
    assert marks.read_text().split() == ["1"]


def test_time_goes_on_where_it_stopped(journal, marks):
    run_cells([Square(1, marks, pause=0.2)], journal, show_progress=False)
    first = journal.elapsed
    run_cells([Square(2, marks, pause=0.2)], journal, show_progress=False)
    assert first >= 0.2
    assert journal.elapsed >= first + 0.2


def test_an_error_is_told_and_the_cell_runs_again_next_time(journal, marks):
    cells = [Square(i, marks) for i in (5, -1, 6)]
    with pytest.raises(CellsFailedError, match=r"1 of 3 cells failed(.|\n)*ArithmeticError: negative numbers"):
        run_cells(cells, journal, show_progress=False)
    assert squares(journal) == {5: 25, 6: 36}
    with pytest.raises(CellsFailedError, match="1 of 1 cells failed"):
        run_cells(cells, journal, show_progress=False)


def test_a_process_that_is_ended_from_outside_is_told_and_what_is_done_stays(journal, marks):
    cells = [Square(20, marks), Square(DEADLY, marks, pause=1.0)]
    with pytest.raises(CellsFailedError, match="ended from outside"):
        run_cells(cells, journal, n_jobs=2, show_progress=False)
    assert squares(journal).items() <= {20: 400}.items()
    run_cells([Square(20, marks), Square(21, marks)], journal, n_jobs=2, show_progress=False)
    assert squares(journal) == {20: 400, 21: 441}


def test_the_bar_counts_cells_and_tells_the_time_left(journal, marks, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    run_cells([Square(i, marks) for i in range(3)], journal)
    last = stream.getvalue().replace("\n", "\r").rstrip("\r").split("\r")[-1]
    assert "3 of 3 cells 100%" in last
    assert "00:00 left" in last


def test_cells_that_figures_share_are_counted_once(marks):
    assert [cell.number for cell in distinct_cells([Square(1, marks), Square(2, marks), Square(1, marks)])] == [1, 2]
