"""The command line, as somebody who types it meets it."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version

import pytest

from particletree.benchmarks.settings import Settings
from particletree.benchmarks.suite import CASES
from particletree.cli import main
from particletree.datasets import VARIABLE
from particletree.experiments.icml2013.cells import Cell
from particletree.experiments.icml2013.scale import SCALES, TINY


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "particletree", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def test_demo_prints_the_table_and_a_tree():
    result = run("demo")
    assert result.returncode == 0, result.stderr
    for text in ("breast cancer", "digits", "CART", "accuracy", "log evidence", "ESS", "├── yes:", "malignant"):
        assert text in result.stdout
    assert result.stderr == ""


def test_version():
    assert run("--version").stdout == f"particletree {version('particletree')}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("dance",), "invalid choice: 'dance'"),
        (("bench", "--slow"), "unrecognized arguments: --slow"),
        (("bench", "--data-dir", "/nowhere"), "There is no folder /nowhere"),
        (("bench", "--json", "/nowhere/figures.json"), "There is no folder /nowhere"),
        (("bench", "--only", "dance"), "There is no case 'dance'; choose from fit, reach, samplers"),
        (("experiment",), "the following arguments are required: NAME"),
        (("experiment", "figure2"), "There is no experiment 'figure2'; choose from prior, proposals"),
        (("experiment", "all", "--data-dir", "/nowhere"), "There is no folder /nowhere"),
        (("experiment", "all", "--n-jobs", "0"), "--n-jobs must not be 0"),
        (("experiment", "all", "--n-jobs", "many"), "invalid int value: 'many'"),
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


def test_wrong_arguments_from_outside():
    result = run("bench", "--only", "dance")
    assert result.returncode == 2
    assert result.stderr.startswith("particletree: There is no case 'dance'")
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.fixture
def tiny_bench(monkeypatch):
    """The command measures as little as it can."""
    monkeypatch.setattr("particletree.cli.Settings", lambda scale, **others: Settings("tiny", **others))


@pytest.mark.usefixtures("tiny_bench")
def test_bench_prints_tables_and_writes_them(capsys, tmp_path):
    arguments = ["bench", "--quick", "--only", "fit", "--out", str(tmp_path / "new" / "out")]
    assert main([*arguments, "--json", str(tmp_path / "figures.json")]) == 0
    output, progress = capsys.readouterr()
    assert output.index("| work | target | measured | verdict |") < output.index("| data | method | fit |")
    assert "`particletree bench --quick --only fit" in output
    assert "[ 0:00] fit: breast cancer" in progress
    record = json.loads((tmp_path / "figures.json").read_text())
    assert record["cases"]["fit"][0]["method"] == "CART, gini"
    assert all(row["seconds"] > 0 for row in record["cases"]["fit"])
    written = {path.name for path in (tmp_path / "new" / "out").iterdir()}
    assert written >= {"README.md", "results.json"}


@pytest.mark.usefixtures("tiny_bench")
def test_an_interrupted_bench_keeps_what_it_has(monkeypatch, capsys, tmp_path):
    def interrupt(settings):
        yield from CASES["fit"].measure(settings)
        raise KeyboardInterrupt

    monkeypatch.setitem(CASES, "chain", replace(CASES["fit"], name="chain", measure=interrupt))
    assert main(["bench", "--only", "chain", "--json", str(tmp_path / "figures.json")]) == 130
    output, progress = capsys.readouterr()
    assert "This run was interrupted" in output
    assert progress.endswith("particletree: interrupted\n")
    record = json.loads((tmp_path / "figures.json").read_text())
    assert len(record["cases"]["chain"]) == 6
    assert record["is_complete"] is False


@pytest.mark.usefixtures("tiny_bench")
def test_a_bench_with_a_case_that_fails_says_so(monkeypatch, capsys):
    def fail(_):
        raise RuntimeError("out of luck")

    monkeypatch.setitem(CASES, "fit", replace(CASES["fit"], measure=fail))
    assert main(["bench", "--only", "fit"]) == 1
    assert "out of luck" in capsys.readouterr().out


@pytest.fixture
def tiny_experiment(monkeypatch):
    """The command runs as little as it can, whatever data the environment names."""
    monkeypatch.setitem(SCALES, "quick", TINY)
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.usefixtures("tiny_experiment")
def test_an_experiment_says_where_its_page_is(capsys, tmp_path):
    assert main(["experiment", "prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path / "new" / "out")]) == 0
    page = tmp_path / "new" / "out" / "reproduction.md"
    output, progress = capsys.readouterr()
    assert output == f"The page is {page}\n"
    assert "4 of 4 cells 100%" in progress
    assert "`particletree experiment prior --quick --n-jobs 1 --out OUT`" in page.read_text()


@pytest.mark.usefixtures("tiny_experiment")
def test_a_page_tells_to_name_data_that_the_environment_named(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert main(["experiment", "prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "reproduction.md").read_text()
    assert "`particletree experiment prior --quick --data-dir DIR --n-jobs 1 --out OUT`" in page


@pytest.mark.usefixtures("tiny_experiment")
def test_an_interrupted_experiment_goes_on_where_it_stopped(monkeypatch, capsys, tmp_path):
    arguments = ["experiment", "prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path)]
    run_cell, seen = Cell.run, []

    def watch(cell):
        seen.append(cell)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return run_cell(cell)

    monkeypatch.setattr(Cell, "run", watch)
    assert main(arguments) == 130
    assert capsys.readouterr().err.endswith(
        f"Finished fits are kept in {tmp_path}; the same command goes on where it stopped.\nparticletree: interrupted\n"
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
    assert main(["experiment", "prior", "--quick", "--n-jobs", "1", "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert "4 of 4 cells failed" in message
    assert "out of luck" in message


@pytest.mark.usefixtures("tiny_experiment")
@pytest.mark.parametrize("package", ["matplotlib", "tqdm"])
def test_an_experiment_without_its_packages_says_how_to_get_them(monkeypatch, capsys, tmp_path, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["experiment", "prior", "--quick", "--out", str(tmp_path)]) == 2
    assert 'pip install "particletree[experiments]"' in capsys.readouterr().err


def test_interrupted(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("particletree.cli.run_demo", interrupt)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "particletree: interrupted\n"
