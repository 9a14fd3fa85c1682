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
    ],
)
def test_wrong_arguments_are_explained(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
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


def test_interrupted(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("particletree.cli.run_demo", interrupt)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "particletree: interrupted\n"
