"""`python -m benchmarks`, as somebody who types it meets it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.command import main
from benchmarks.settings import Settings
from benchmarks.suite import CASES

ROOT = Path(__file__).parents[2]


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--slow",), "unrecognized arguments: --slow"),
        (("--data-dir", "/nowhere"), "There is no folder /nowhere"),
        (("--json", "/nowhere/figures.json"), "There is no folder /nowhere"),
        (
            ("--only", "dance"),
            "There is no case 'dance'; choose from fit, regression, additive, columns, reach, samplers",
        ),
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
    result = run("--only", "dance")
    assert result.returncode == 2
    assert result.stderr.startswith("benchmarks: There is no case 'dance'")
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.fixture
def tiny_bench(monkeypatch):
    """The command measures as little as it can."""
    monkeypatch.setattr("benchmarks.command.Settings", lambda scale, **others: Settings("tiny", **others))


@pytest.mark.usefixtures("tiny_bench")
def test_bench_prints_tables_and_writes_them(capsys, tmp_path):
    arguments = ["--quick", "--only", "fit", "--out", str(tmp_path / "new" / "out")]
    assert main([*arguments, "--json", str(tmp_path / "figures.json")]) == 0
    output, progress = capsys.readouterr()
    assert output.index("| work | target | measured | verdict |") < output.index("| data | fit, x CART | accuracy |")
    assert "`python -m benchmarks --quick --only fit" in output
    assert "[ 0:00] fit: breast cancer" in progress
    record = json.loads((tmp_path / "figures.json").read_text())
    assert record["cases"]["fit"][0]["method"] == "CART, gini"
    assert all(row["seconds"] > 0 for row in record["cases"]["fit"])
    written = {path.name for path in (tmp_path / "new" / "out").iterdir()}
    assert written >= {"README.md", "fit.csv"}


@pytest.mark.usefixtures("tiny_bench")
def test_an_interrupted_bench_keeps_what_it_has(monkeypatch, capsys, tmp_path):
    def interrupt(settings):
        yield from CASES["fit"].measure(settings)
        raise KeyboardInterrupt

    monkeypatch.setitem(CASES, "chain", replace(CASES["fit"], name="chain", measure=interrupt))
    assert main(["--only", "chain", "--json", str(tmp_path / "figures.json")]) == 130
    output, progress = capsys.readouterr()
    assert "This run was interrupted" in output
    assert progress.endswith("benchmarks: interrupted\n")
    record = json.loads((tmp_path / "figures.json").read_text())
    assert len(record["cases"]["chain"]) == 7
    assert record["is_complete"] is False


@pytest.mark.usefixtures("tiny_bench")
def test_a_bench_with_a_case_that_fails_says_so(monkeypatch, capsys):
    def fail(_):
        raise RuntimeError("out of luck")

    monkeypatch.setitem(CASES, "fit", replace(CASES["fit"], measure=fail))
    assert main(["--only", "fit"]) == 1
    assert "out of luck" in capsys.readouterr().out
