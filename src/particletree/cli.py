"""The command line: `particletree demo` and `particletree bench`."""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import sys
from pathlib import Path

import numpy as np
import sklearn

from particletree import __version__
from particletree.benchmarks import chain, fit
from particletree.datasets import Split
from particletree.demo import run_demo


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status (2: the arguments were wrong, 130: interrupted)."""
    options = make_parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no box lines or ± gets a mark instead
    try:
        options.run(options)
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
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser for all commands."""
    parser = argparse.ArgumentParser(prog="particletree", description="Bayesian decision trees by particle filtering.")
    parser.add_argument("--version", action="version", version=f"particletree {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="fit data that ship with scikit-learn beside CART; takes a few seconds")
    demo.set_defaults(run=lambda _: run_demo())
    bench = commands.add_parser("bench", help="measure fits against CART and chains, in one run on one thread")
    bench.add_argument("--quick", action="store_true", help="few rounds, for a first impression")
    bench.add_argument("--json", metavar="FILE", type=Path, help="write the figures to FILE as well")
    bench.add_argument("--data-dir", metavar="DIR", type=Path, help="folder with the paper's data sets (UCI files)")
    bench.set_defaults(run=run_bench)
    return parser


def run_bench(options: argparse.Namespace) -> None:
    """Print the table of fit times and write it to a file if one was named."""
    for folder in (options.data_dir, options.json and options.json.absolute().parent):
        if folder is not None and not folder.is_dir():
            raise FileNotFoundError(f"There is no folder {folder}.")
    if options.json is not None and options.json.is_dir():
        raise IsADirectoryError(f"{options.json} is a folder; name a file for the figures.")
    data_sets = list(fit.data_sets(options.data_dir))
    print(f"{describe_machine()}; best of {n_rounds(options)} interleaved rounds, one thread\n")
    results: list[fit.Result] = []
    for data in data_sets:
        print(f"{data.name} ...", file=sys.stderr, flush=True)
        results += fit.compare_fits(data, n_rounds(options))
    print(fit.to_markdown(results))
    costs, outcomes = measure_chains(data_sets[2:], 20_000 if options.quick else 300_000)
    print(f"\n{chain.to_markdown(costs, outcomes)}")
    if options.json is not None:
        record = {
            "machine": describe_machine(),
            "n_rounds": n_rounds(options),
            "fit": fit.to_json(results),
            "chain": chain.to_json(costs, outcomes),
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def measure_chains(data_sets: list[Split], n_iterations: int) -> tuple[list[chain.Cost], list[chain.Outcome]]:
    """Measure the Markov chain on the larger data sets."""
    costs: list[chain.Cost] = []
    outcomes: list[chain.Outcome] = []
    for data in data_sets:
        print(f"chains on {data.name} ...", file=sys.stderr, flush=True)
        costs.append(chain.measure_cost(data))
        outcomes += chain.compare_samplers(data, n_iterations)
    return costs, outcomes


def n_rounds(options: argparse.Namespace) -> int:
    """Return how often each method is timed."""
    return 3 if options.quick else 15


def describe_machine() -> str:
    """Return the versions and the machine that figures were measured on, in one line."""
    return (
        f"particletree {__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
