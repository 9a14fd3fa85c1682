"""The command line: `particletree demo` and `particletree bench`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path

from particletree import __version__
from particletree.benchmarks import document, suite
from particletree.benchmarks.machine import describe_machine
from particletree.benchmarks.settings import Settings
from particletree.benchmarks.suite import CASES
from particletree.datasets import VARIABLE
from particletree.demo import run_demo


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status (1: something failed, 2: the arguments were wrong, 130: interrupted)."""
    options = make_parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no box lines or ± gets a mark instead
    try:
        status = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has gone, as in `particletree demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("particletree: interrupted", file=sys.stderr)
        return 130
    except (OSError, ValueError) as error:
        print(f"particletree: {error}", file=sys.stderr)
        return 2
    return status or 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser for all commands."""
    parser = argparse.ArgumentParser(prog="particletree", description="Bayesian decision trees by particle filtering.")
    parser.add_argument("--version", action="version", version=f"particletree {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="fit data that ship with scikit-learn beside CART; takes a few seconds")
    demo.set_defaults(run=lambda _: run_demo())
    add_bench(commands)
    return parser


def add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command `bench`."""
    bench = commands.add_parser(
        "bench",
        help="measure speed and memory against scikit-learn's trees, as ratios in one run; about half an hour",
        description="Measure speed and memory, as ratios in one run, and hold them against what we promise. Tables go "
        "to standard output, progress to standard error. Ctrl-C keeps what has been measured.",
    )
    bench.add_argument("--quick", action="store_true", help="small sizes and few rounds: about two minutes")
    bench.add_argument("--only", metavar="CASE,...", help=f"run these cases alone: {', '.join(CASES)}")
    bench.add_argument("--out", metavar="DIR", type=Path, help="write README.md, plots and results.json to DIR as well")
    bench.add_argument("--json", metavar="FILE", type=Path, help="write the figures to FILE as well")
    bench.add_argument("--data-dir", metavar="DIR", type=Path, help="folder with the paper's data sets (UCI files)")
    bench.set_defaults(run=run_bench)


def run_bench(options: argparse.Namespace) -> int:
    """Run the cases, print the tables, and write them where asked, also when interrupted; 1 if a case failed."""
    cases = suite.choose_cases(options.only)
    check_places(options)
    settings = Settings(scale="quick" if options.quick else "full", data_dir=options.data_dir, say=tell)
    record = suite.Record(bench_command(options), describe_machine(__version__))
    try:
        suite.run(settings, cases, record)
    finally:
        print(document.to_markdown(record), end="", flush=True)
        if options.json is not None:
            document.write_json(record, options.json)
        if options.out is not None:
            document.write_folder(record, options.out, tell)
    return 1 if record.failures else 0


def bench_command(options: argparse.Namespace) -> str:
    """Return the command as others would type it: with its choices, but places of their own."""
    given = {
        "--quick": options.quick,
        f"--only {options.only}": options.only,
        "--data-dir DIR": options.data_dir or VARIABLE in os.environ,
        "--out DIR": options.out,
        "--json FILE": options.json,
    }
    return " ".join(["particletree bench", *(text for text, value in given.items() if value)])


def check_places(options: argparse.Namespace) -> None:
    """Refuse places that cannot be read or written before half an hour is spent; make the folder for the results."""
    for folder in (options.data_dir, options.json and options.json.absolute().parent):
        if folder is not None and not folder.is_dir():
            raise FileNotFoundError(f"There is no folder {folder}.")
    if options.json is not None and options.json.is_dir():
        raise IsADirectoryError(f"{options.json} is a folder; name a file for the figures.")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)


def tell(text: str) -> None:
    """Say how far a command is, beside its output."""
    print(text, file=sys.stderr, flush=True)
