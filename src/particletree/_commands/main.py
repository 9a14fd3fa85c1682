"""The command line: `particletree fit`, `predict`, `report` and `demo`.

A command is imported when it runs, so that `particletree --help` does not wait for NumPy and scikit-learn.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from particletree._commands.console import run_command
from particletree._version import __version__

MAIN_EXAMPLES = """examples:
  particletree fit penguins.csv --target species --test-size 0.3 -o penguins.npz
  particletree predict penguins.npz new.csv -o predictions.csv
  particletree report penguins.npz --data penguins.csv -o penguins.html
  particletree COMMAND --help"""

FIT_EXAMPLES = """examples:
  particletree fit penguins.csv --target species -o penguins.npz
  particletree fit penguins.csv --target species --test-size 0.3 --drop rownames year -o penguins.npz
  particletree fit houses.csv --target price --regression --jobs 2 --time-budget 60 -o houses.npz
  particletree fit magic04.data.gz --no-header --target x11 -o magic.npz

Columns of text and of true/false are categories. Empty cells, NA, N/A, NaN, NULL and ? are missing values, and stay so.
Files are CSV in UTF-8, divided by comma, semicolon, tab or bar, plain or .gz; or Parquet (.parquet, .pq), with polars
or pandas. Rows without a target are left out. With --test-size the model is that of the rows that are not held out."""

PREDICT_EXAMPLES = """examples:
  particletree predict penguins.npz new.csv -o predictions.csv
  particletree predict penguins.npz new.csv -o - | head

Columns are found by their names. For classes a row of the result has the most probable class, the probability of every
class, and a 90% interval of that of the most probable one; for numbers mean, standard deviation, and the 5% and 95%
quantiles of a new observation. Spreadsheets take a class such as =a, +a, -a or @a for a formula and run it: with
--safe-text it is written after a single quotation mark, which makes it text. Numbers such as -1 stay as they are."""

REPORT_EXAMPLES = """examples:
  particletree report penguins.npz -o penguins.html
  particletree report penguins.npz --data penguins.csv --target species -o penguins.html
  particletree report penguins.npz --data penguins.csv --test-size 0.3 -o penguins.html
  particletree report claims.npz --data claims.csv --target claims --exposure years -o claims.html

The page is one HTML file that needs no network. It holds the trees, counts and means, and no row of the data, but the
texts of all categories: --drop columns that name people from the fit. With rows it also has a consensus tree, the
dependence on features averaged over them and, if they have the target, calibration and scores. With the --test-size
(and --seed) of the fit, scores are those of the rows that it held out. What the fit, in Python, knew of each row beside
its features, such as the exposure of a count, is named by an option to score the rows: a column that need not be a
feature."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status (1: something failed, 2: the arguments were wrong, 130: interrupted)."""
    given = sys.argv[1:] if arguments is None else arguments
    options = make_parser(given[0] if given else "").parse_args(given)
    return run_command("particletree", lambda: options.run(options), failure=1, debug=options.debug)


def make_parser(command: str = "") -> argparse.ArgumentParser:
    """Return the parser for all commands; only that of `command` has the options for which the package is imported."""
    parser = _with_examples(
        argparse.ArgumentParser,
        MAIN_EXAMPLES,
        prog="particletree",
        description="Bayesian decision trees by particle filtering.",
    )
    parser.add_argument("--version", action="version", version=f"particletree {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_predict(commands)
    _add_report(commands, is_chosen=command == "report")
    demo = commands.add_parser("demo", help="fit data that ship with scikit-learn beside CART; takes a few seconds")
    _finish(demo, demonstrate)
    return parser


def _add_fit(commands: Any) -> None:
    parser = _with_examples(
        commands.add_parser, FIT_EXAMPLES, name="fit", help="fit a table in a file, and keep the posterior"
    )
    parser.add_argument("data", metavar="DATA", type=table, help="the table: CSV or Parquet; - for stdin")
    parser.add_argument("--target", metavar="COL", required=True, help="the column to predict")
    parser.add_argument("-o", "--output", metavar="MODEL", type=Path, required=True, help="the file for the posterior")
    parser.add_argument("--regression", action="store_true", help="predict a number instead of a class")
    parser.add_argument(
        "--test-size", metavar="SHARE", type=share, help="share of rows to hold out and score, e.g. 0.3"
    )
    parser.add_argument("--drop", metavar="COL", nargs="+", action="extend", default=[], help="columns not to use")
    parser.add_argument("--weights", metavar="COL", help="the column that says how often each row counts")
    parser.add_argument(
        "--seed", metavar="N", type=seed, default=0, help="seed of the fit and of the rows held out (0)"
    )
    parser.add_argument("--no-rows", action="store_true", help="keep no rows of the table in MODEL (else up to 1,000)")
    parser.add_argument("--jobs", metavar="N", type=jobs, help="threads, at most one per core; -1 for all cores (1)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--islands", metavar="N", type=islands, help="independent runs; more stabilise the predictions")
    length.add_argument("--time-budget", metavar="SECONDS", type=seconds, help="add islands until the time is used")
    _add_layout(parser)
    _finish(parser, fit)


def _add_predict(commands: Any) -> None:
    parser = _with_examples(
        commands.add_parser, PREDICT_EXAMPLES, name="predict", help="predict the rows of a file with a posterior"
    )
    parser.add_argument("model", metavar="MODEL", type=Path, help="the file that `particletree fit` wrote")
    parser.add_argument("data", metavar="DATA", type=table, help="the rows: CSV or Parquet; - for stdin")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file for the result; - for stdout")
    parser.add_argument("--jobs", metavar="N", type=jobs, help="threads, at most one per core; -1 for all cores (1)")
    _add_layout(parser)
    parser.add_argument("--safe-text", action="store_true", help="write '=a instead of =a, for spreadsheets")
    _finish(parser, predict)


def _add_layout(parser: argparse.ArgumentParser) -> None:
    """Add the options for the layout of a CSV file, which the file itself does not state."""
    parser.add_argument("--no-header", action="store_true", help="the first line is data; columns are x1, x2, ...")
    parser.add_argument("--decimal-comma", action="store_true", help="numbers are written 1,5 instead of 1.5")


def _add_report(commands: Any, is_chosen: bool) -> None:
    parser = _with_examples(
        commands.add_parser, REPORT_EXAMPLES, name="report", help="write a page about a posterior, to read and send on"
    )
    parser.add_argument("model", metavar="MODEL", type=Path, help="the file that `particletree fit` wrote")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the page, an HTML file")
    parser.add_argument("--data", metavar="DATA", type=table, help="rows like those of the fit: CSV or Parquet")
    parser.add_argument("--target", metavar="COL", help="the column with the target (found by itself where it can be)")
    parser.add_argument("--test-size", metavar="SHARE", type=share, help="the share that the fit held out: score that")
    parser.add_argument("--seed", metavar="N", type=seed, default=0, help="the seed of the fit, for --test-size (0)")
    parser.add_argument("--title", metavar="TEXT", help="the page's heading")
    if is_chosen:
        _add_row_columns(parser)
    _add_layout(parser)
    _finish(parser, report)


def _add_row_columns(parser: argparse.ArgumentParser) -> None:
    """Add an option for each column of the rows that a leaf model declares; they become one mapping."""
    from particletree._model.leaves import registered_leaf_models

    class Collect(argparse.Action):
        def __call__(self, parser: Any, options: argparse.Namespace, column: Any, option: str | None = None) -> None:
            options.row_columns = {**options.row_columns, self.dest: column}

    parser.set_defaults(row_columns={})
    declared = {column.name: column for leaf in registered_leaf_models().values() for column in leaf.declared_columns}
    for name, column in declared.items():
        kind = f"the column that says {column.meaning}; to score the rows"
        parser.add_argument(
            f"--{name}", action=Collect, default=argparse.SUPPRESS, metavar="COL", help=kind.replace("%", "%%")
        )


def _with_examples(make: Callable[..., Any], examples: str, **others: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = make(
        epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter, **others
    )
    return parser


def _finish(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], None]) -> None:
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.set_defaults(run=run)


def table(text: str) -> Path:
    """Return the path of a table; standard input is one."""
    return Path("/dev/stdin" if text == "-" else text)


def share(text: str) -> float:
    """Parse a share of the rows."""
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie strictly between 0 and 1, got {text}")
    return value


def seed(text: str) -> int:
    """Parse a seed."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2**32 - 1, got {text}")
    return int(text)


def islands(text: str) -> int:
    """Parse a number of islands."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text}")
    return int(text)


def jobs(text: str) -> int:
    """Parse a number of threads; more than there are cores would only wait for each other."""
    if not text.removeprefix("-").isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a number of threads, or -1 for all cores, got {text}")
    return min(int(text), os.cpu_count() or 1)


def seconds(text: str) -> float:
    """Parse a number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text}")
    return value


def demonstrate(options: argparse.Namespace) -> None:
    """Run the command `demo`."""
    from particletree._commands import demo

    demo.run_demo()


def fit(options: argparse.Namespace) -> None:
    """Run the command `fit`."""
    from particletree._commands.fit import FitOptions, run_fit

    run_fit(FitOptions.of(options))


def predict(options: argparse.Namespace) -> None:
    """Run the command `predict`."""
    from particletree._commands.predict import PredictOptions, run_predict

    output = None if options.output == "-" else Path(options.output)
    layout = (options.no_header, options.decimal_comma)
    run_predict(PredictOptions(options.model, options.data, output, options.jobs, *layout, options.safe_text))


def report(options: argparse.Namespace) -> None:
    """Run the command `report`."""
    from particletree._commands.report import ReportOptions, run_report

    run_report(ReportOptions.of(options))
