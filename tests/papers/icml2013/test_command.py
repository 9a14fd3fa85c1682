"""`python -m papers.icml2013`, as somebody who types it meets it."""

import subprocess
import sys
from pathlib import Path

import pytest

from papers.icml2013.cells import Cell
from papers.icml2013.command import main
from papers.icml2013.scale import SCALES, TINY
from particletree.datasets import VARIABLE

ROOT = Path(__file__).parents[3]


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "papers.icml2013", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: NAME"),
        (("figure2",), "There is no experiment 'figure2'; choose from prior, proposals"),
        (("all", "--data-dir", "/nowhere"), "There is no folder /nowhere"),
        (("all", "--n-jobs", "0"), "--n-jobs must not be 0"),
        (("all", "--n-jobs", "many"), "invalid int value: 'many'"),
    ],
)
def test_wrong_arguments_are_explained(arguments, message, capsys):
    try:
        status = main(list(arguments))
    except SystemExit as end:  # by argparse
        status = end.code
    output, complaint = capsys.readouterr()
    assert status == 2
    assert message in complaint
    assert "Traceback" not in complaint
    assert output == ""


def test_help_from_outside():
    result = run("--help")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("usage: python -m papers.icml2013 ")
    assert "Experiments: prior, proposals, " in result.stdout


@pytest.fixture
def tiny_experiment(monkeypatch):
    """The command runs as little as it can, whatever data the environment names."""
    monkeypatch.setitem(SCALES, "quick", TINY)
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.usefixtures("tiny_experiment")
def test_an_experiment_says_where_its_page_is(capsys, tmp_path):
    assert main(["prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path / "new" / "out")]) == 0
    page = tmp_path / "new" / "out" / "reproduction.md"
    output, progress = capsys.readouterr()
    assert output == f"The page is {page}\n"
    assert "4 of 4 cells 100%" in progress
    assert "`python -m papers.icml2013 prior --quick --n-jobs 1 --out OUT`" in page.read_text()


@pytest.mark.usefixtures("tiny_experiment")
def test_a_page_tells_to_name_data_that_the_environment_named(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert main(["prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "reproduction.md").read_text()
    assert "`python -m papers.icml2013 prior --quick --data-dir DIR --n-jobs 1 --out OUT`" in page


@pytest.mark.usefixtures("tiny_experiment")
def test_an_interrupted_experiment_goes_on_where_it_stopped(monkeypatch, capsys, tmp_path):
    arguments = ["prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path)]
    run_cell, seen = Cell.run, []

    def watch(cell):
        seen.append(cell)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return run_cell(cell)

    monkeypatch.setattr(Cell, "run", watch)
    assert main(arguments) == 130
    assert capsys.readouterr().err.endswith(
        f"Finished fits are kept in {tmp_path}; the same command goes on where it stopped.\nicml2013: interrupted\n"
    )
    assert len((tmp_path / "reproduction" / "results.jsonl").read_text().splitlines()) == 1 + 2
    assert main(arguments) == 0
    assert len(seen) == 5
    assert len(set(seen)) == 4  # the interrupted one alone began twice


@pytest.mark.usefixtures("tiny_experiment")
def test_an_experiment_with_a_fit_that_fails_says_so(monkeypatch, capsys, tmp_path):
    def fail(_):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(Cell, "run", fail)
    assert main(["prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert "4 of 4 cells failed" in message
    assert "out of luck" in message


@pytest.mark.usefixtures("tiny_experiment")
@pytest.mark.parametrize("package", ["matplotlib", "tqdm"])
def test_an_experiment_without_its_packages_says_how_to_get_them(monkeypatch, capsys, tmp_path, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["prior", "--quick", "--out", str(tmp_path)]) == 2
    assert 'pip install ".[papers]"' in capsys.readouterr().err
