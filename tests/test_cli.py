"""The command line, as somebody who types it meets it."""

import json
import subprocess
import sys
from functools import partial
from importlib.metadata import version

import pytest

from particletree.benchmarks import chain, fit
from particletree.benchmarks.timing import best_times
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
    ],
)
def test_wrong_arguments_are_explained(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def compare_few(compare, data, n_iterations):
    return compare(data, 600)


def test_bench_prints_a_table_and_writes_the_figures(monkeypatch, capsys, tmp_path):
    small = list(fit.data_sets(None))[:1] * 3  # the chain runs on the third and those after it
    monkeypatch.setattr(chain, "COST_ITERATIONS", 200)
    monkeypatch.setattr("particletree.cli.chain.compare_samplers", partial(compare_few, chain.compare_samplers))
    monkeypatch.setattr(fit, "data_sets", lambda folder: iter(small))
    assert main(["bench", "--quick", "--json", str(tmp_path / "figures.json")]) == 0
    output = capsys.readouterr().out
    assert "| data | method | fit, ms | x CART |" in output
    record = json.loads((tmp_path / "figures.json").read_text())
    assert [row["method"] for row in record["fit"]] == ["CART", *fit.SAMPLERS] * 3
    assert record["chain"]["cost"][0]["passes"] > 0
    assert [row["method"].split()[0] for row in record["chain"]["outcomes"]] == ["SMC,", "SMC,", "MCMC", "MCMC"]
    assert "| data | iterations a second | passes an iteration |" in output
    assert record["fit"][0]["ratio"] == 1.0
    assert all(row["seconds"] > 0 for row in record["fit"])


def test_interrupted(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("particletree.cli.run_demo", interrupt)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "particletree: interrupted\n"


def test_contestants_take_turns():
    order = []
    best_times({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, n_rounds=3)
    assert order == ["a", "b"] * 3
