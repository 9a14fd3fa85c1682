"""The command `python -m benchmarks`, run at the root of the repository."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks import document, suite
from benchmarks.machine import describe_machine
from benchmarks.settings import Settings
from benchmarks.suite import CASES, STUDY
from particletree import __version__
from particletree._commands.console import run_command, tell
from particletree.datasets import VARIABLE

PROGRAM = "python -m benchmarks"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit status (1: a case failed, 2: the arguments were wrong, 130: interrupted)."""
    options = make_parser().parse_args(arguments)
    return run_command("benchmarks", lambda: run(options))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Measure speed and memory against scikit-learn's trees, as ratios in one run, and hold them "
        "against what we promise; about half an hour. Tables go to standard output, progress to standard error. Ctrl-C "
        "keeps what has been measured.",
    )
    parser.add_argument("--version", action="version", version=f"particletree {__version__}")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds: about two minutes")
    parser.add_argument(
        "--only",
        metavar="CASE,...",
        help=f"run these cases alone: {', '.join(CASES)}; the study of the defaults runs when named: {','.join(STUDY)}",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="write README.md, plots and all measurements (CSV) to DIR too"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to FILE as well")
    parser.add_argument("--data-dir", metavar="DIR", type=Path, help="folder with the paper's data sets (UCI files)")
    return parser


def run(options: argparse.Namespace) -> int:
    """Run the cases, print the tables, and write the requested files, also after Ctrl-C; 1 if a case failed."""
    cases = suite.choose_cases(options.only)
    check_paths(options)
    settings = Settings(scale="quick" if options.quick else "full", data_dir=options.data_dir, say=tell)
    record = suite.Record(typed_command(options), describe_machine(__version__))
    try:
        suite.run(settings, cases, record)
    finally:
        print(document.to_markdown(record), end="", flush=True)
        if options.json is not None:
            document.write_json(record, options.json)
        if options.out is not None:
            document.write_folder(record, options.out, tell)
    return 1 if record.failures else 0


def typed_command(options: argparse.Namespace) -> str:
    """Return the command for others to repeat: with its options, but placeholders for paths."""
    given = {
        "--quick": options.quick,
        f"--only {options.only}": options.only,
        "--data-dir DIR": options.data_dir or os.environ.get(VARIABLE),
        "--out DIR": options.out,
        "--json FILE": options.json,
    }
    return " ".join([PROGRAM, *(text for text, value in given.items() if value)])


def check_paths(options: argparse.Namespace) -> None:
    """Check the input and output paths before the long run; make the folder for the results."""
    for folder in (options.data_dir, options.json and options.json.absolute().parent):
        if folder is not None and not folder.is_dir():
            raise FileNotFoundError(f"There is no folder {folder}.")
    if options.json is not None and options.json.is_dir():
        raise IsADirectoryError(f"{options.json} is a folder; name a file for the figures.")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
