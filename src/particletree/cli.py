"""The command line: `particletree demo`.

A command is imported when it runs, so that `particletree --help` answers at once, without NumPy and scikit-learn.
"""

from __future__ import annotations

import argparse

from particletree import __version__
from particletree.console import run_command


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status (1: something failed, 2: the arguments were wrong, 130: interrupted)."""
    options = make_parser().parse_args(arguments)
    return run_command("particletree", options.run)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser for all commands."""
    parser = argparse.ArgumentParser(prog="particletree", description="Bayesian decision trees by particle filtering.")
    parser.add_argument("--version", action="version", version=f"particletree {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="fit data that ship with scikit-learn beside CART; takes a few seconds")
    demo.set_defaults(run=demonstrate)
    return parser


def demonstrate() -> None:
    """Run the command `demo`."""
    from particletree import demo

    demo.run_demo()
