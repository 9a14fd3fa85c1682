"""The command `python -m papers.icml2013`, run at the root of the repository."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.style import MatplotlibMissingError
from papers.harness.grid import CellsFailedError
from papers.icml2013 import EXPERIMENTS
from papers.icml2013 import run as icml2013
from papers.icml2013.scale import SCALES
from particletree import __version__
from particletree._commands.console import MissingExtraError, run_command, tell
from particletree.datasets import VARIABLE

PROGRAM = "python -m papers.icml2013"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit status (1: fits failed, 2: the arguments were wrong, 130: interrupted)."""
    options = make_parser().parse_args(arguments)
    return run_command("icml2013", lambda: run(options))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    names = ", ".join(EXPERIMENTS)
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Run the experiments of the ICML 2013 paper again, figure by figure, and write data, pictures and "
        "a page of verdicts: half an hour for all, minutes with --quick. Finished fits are kept in the folder at "
        "once: after Ctrl-C, or worse, the same command goes on where it stopped.",
        epilog=f"Experiments: {names}.",
    )
    parser.add_argument("--version", action="version", version=f"particletree {__version__}")
    parser.add_argument("name", metavar="NAME", help=f"one of {names}, or {icml2013.ALL}")
    parser.add_argument("--quick", action="store_true", help="fewer seeds and iterations: about four minutes")
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        type=Path,
        help=f"folder with the paper's data sets (UCI files); without it, {VARIABLE} or a download",
    )
    parser.add_argument("--n-jobs", metavar="N", type=int, default=-1, help="fits at a time; default: all cores")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("icml2013"), help="folder for the results; default: ./icml2013"
    )
    return parser


def run(options: argparse.Namespace) -> int:
    """Run experiments and print the path of the page; 1 if some fits failed."""
    experiments = icml2013.choose(options.name)
    check_paths(options)
    try:
        page = icml2013.run(
            experiments,
            SCALES["quick" if options.quick else "full"],
            options.out,
            version=__version__,
            command=typed_command(options),
            data_dir=options.data_dir,
            n_jobs=options.n_jobs,
        )
    except (MatplotlibMissingError, ModuleNotFoundError) as error:
        raise MissingExtraError(f'{error}. Experiments need more packages: pip install ".[papers]"') from error
    except CellsFailedError as error:
        tell(f"icml2013: {error}")
        return 1
    except KeyboardInterrupt:
        tell(f"Finished fits are kept in {options.out}; the same command goes on where it stopped.")
        raise
    print(f"The page is {page}")
    return 0


def check_paths(options: argparse.Namespace) -> None:
    """Check the number of jobs and the paths, before the work begins."""
    if options.n_jobs == 0:
        raise ValueError("--n-jobs must not be 0; give a number of fits at a time, or -1 for all cores.")
    if options.data_dir is not None and not options.data_dir.is_dir():
        raise FileNotFoundError(f"There is no folder {options.data_dir}.")
    if options.out.exists() and not options.out.is_dir():
        raise NotADirectoryError(f"{options.out} is a file; name a folder for the results with --out.")


def typed_command(options: argparse.Namespace) -> str:
    """Return the command for others to repeat: NAME for the experiments on the page, and placeholders for paths."""
    given = {
        "--quick": options.quick,
        "--data-dir DIR": options.data_dir or os.environ.get(VARIABLE),
        f"--n-jobs {options.n_jobs}": options.n_jobs != -1,
        "--out OUT": True,
    }
    return " ".join([f"{PROGRAM} NAME", *(text for text, value in given.items() if value)])
