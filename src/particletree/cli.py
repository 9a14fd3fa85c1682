"""The command line: `particletree demo`, `particletree bench` and `particletree experiment`."""

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
from particletree.experiments.harness import CellsFailedError
from particletree.experiments.icml2013 import EXPERIMENTS
from particletree.experiments.icml2013 import run as icml2013
from particletree.experiments.icml2013.scale import SCALES
from particletree.plots.style import MatplotlibMissingError


class MissingExtraError(RuntimeError):
    """A command needs packages that are not installed."""


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
    except (OSError, ValueError, MissingExtraError) as error:
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
    add_experiment(commands)
    return parser


def add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command `bench`."""
    bench = commands.add_parser(
        "bench",
        help="measure speed and memory against scikit-learn's trees, as ratios in one run; about half an hour",
        description="Measure speed and memory, as ratios in one run, and hold them against what we promise. Tables "
        "go to standard output, progress to standard error. Ctrl-C keeps what has been measured.",
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
        "--data-dir DIR": options.data_dir or os.environ.get(VARIABLE),
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


def add_experiment(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command `experiment`."""
    names = ", ".join(EXPERIMENTS)
    experiment = commands.add_parser(
        "experiment",
        help="run the paper's evaluation again, figure by figure; half an hour for all, minutes with --quick",
        description="Run the experiments of the ICML 2013 paper and write data, pictures and a page of verdicts. "
        "Finished fits are kept in the folder at once: after Ctrl-C, or worse, the same command goes on where it "
        "stopped.",
        epilog=f"Experiments: {names}.",
    )
    experiment.add_argument("name", metavar="NAME", help=f"one of {names}, or {icml2013.ALL}")
    experiment.add_argument(
        "--quick", action="store_true", help="fewer seeds, particles and iterations: some 3 minutes"
    )
    experiment.add_argument(
        "--data-dir",
        metavar="DIR",
        type=Path,
        help=f"folder with the paper's data sets (UCI files); without it, {VARIABLE} or a download",
    )
    experiment.add_argument("--n-jobs", metavar="N", type=int, default=-1, help="fits at a time; default: all cores")
    experiment.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("icml2013"), help="folder for the results; default: ./icml2013"
    )
    experiment.set_defaults(run=run_experiment)


def run_experiment(options: argparse.Namespace) -> int:
    """Run experiments and say where the page is; 1 if some fits failed."""
    experiments = icml2013.choose(options.name)
    if options.n_jobs == 0:
        raise ValueError("--n-jobs must not be 0; give a number of fits at a time, or -1 for all cores.")
    if options.data_dir is not None and not options.data_dir.is_dir():
        raise FileNotFoundError(f"There is no folder {options.data_dir}.")
    if options.out.exists() and not options.out.is_dir():
        raise NotADirectoryError(f"{options.out} is a file; name a folder for the results with --out.")
    try:
        page = icml2013.run(
            experiments,
            SCALES["quick" if options.quick else "full"],
            options.out,
            version=__version__,
            command=experiment_command(options),
            data_dir=options.data_dir,
            n_jobs=options.n_jobs,
        )
    except (MatplotlibMissingError, ModuleNotFoundError) as error:
        raise MissingExtraError(
            f'{error}. Experiments need more packages: pip install "particletree[experiments]"'
        ) from error
    except CellsFailedError as error:
        print(f"particletree: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        tell(f"Finished fits are kept in {options.out}; the same command goes on where it stopped.")
        raise
    print(f"The page is {page}")
    return 0


def experiment_command(options: argparse.Namespace) -> str:
    """Return the command as others would type it: NAME for what is on the page, and places of their own."""
    given = {
        "--quick": options.quick,
        "--data-dir DIR": options.data_dir or os.environ.get(VARIABLE),
        f"--n-jobs {options.n_jobs}": options.n_jobs != -1,
        "--out OUT": True,
    }
    return " ".join(["particletree experiment NAME", *(text for text, value in given.items() if value)])


def tell(text: str) -> None:
    """Say how far a command is, beside its output."""
    print(text, file=sys.stderr, flush=True)
