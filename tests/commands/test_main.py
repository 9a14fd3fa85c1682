"""The command line, as somebody who types it meets it."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from particletree._commands.main import main


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "particletree", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env=os.environ | {"PYTHONUTF8": "1"},  # on Windows the console's letters are others
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
    result = run("dance")
    assert result.returncode == 2
    assert "invalid choice: 'dance'" in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("demo", "--help"), ("dance",)])
def test_what_needs_no_fit_imports_nothing_heavy(arguments):
    code = f"""
import sys
from particletree._commands.main import main
try:
    main({list(arguments)!r})
except SystemExit:
    pass
print(sorted({{"numpy", "scipy", "sklearn", "joblib"}} & sys.modules.keys()))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout.endswith("[]\n"), result.stderr


def test_interrupted(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("particletree._commands.demo.run_demo", interrupt)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "particletree: interrupted\n"
