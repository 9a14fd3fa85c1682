"""The command `fit`: read a table, fit a posterior, save it to a file, and print a description of both."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from particletree._commands.columns import choose_columns, doubtful_columns
from particletree._commands.console import say, tell
from particletree._commands.held_out import choose_held_out, left_out_of_cart, score_cart, score_fit
from particletree._commands.output_files import check_output
from particletree._commands.printed_fit import describe_data, describe_posterior, describe_scores
from particletree._commands.target import doubt_classes
from particletree._commands.training_table import Problem, make_problem
from particletree._estimators import BayesianTreeClassifier, BayesianTreeRegressor
from particletree._files import open_table
from particletree._inference.smc import SMC
from particletree._model.target import Numbers
from particletree._posterior import Posterior


@dataclass(frozen=True)
class FitOptions:
    """The options of the command; ``particletree fit --help`` explains them."""

    data: Path
    target: str
    output: Path
    regression: bool = False
    test_size: float | None = None
    drop: tuple[str, ...] = ()
    weights: str | None = None
    seed: int = 0
    jobs: int | None = None
    time_budget: float | None = None
    islands: int | None = None
    no_header: bool = False
    decimal_comma: bool = False
    no_rows: bool = False

    @classmethod
    def of(cls, options: argparse.Namespace) -> FitOptions:
        """Return the options that the command line's parser has found."""
        given = vars(options)
        return cls(**{name: given[name] for name in cls.__dataclass_fields__})


def run_fit(options: FitOptions) -> None:
    """Read, fit, score and save, and print a description of each step."""
    check_output(options.output, options.data)
    problem = read_problem(options)
    train, test = hold_out(problem, options)
    model = make_model(options, train)
    seconds = fit(model, train)
    posterior = name_parts(model.posterior_, train)
    posterior.save(options.output, keep_rows=not options.no_rows)
    with saved(options.output):
        say(f"\nFitted to {train.n_rows:,} rows in {seconds:.2f} s.\n")
        if test is not None:
            without = [list(train.roles.features)[index] for index in left_out_of_cart(train)]
            scores = [score_cart(train, test), score_fit(model, seconds, test)]
            say(describe_scores(scores, test, without), end="\n\n")
        say(describe_posterior(posterior))
    left_out = "" if test is None else ", without the rows held out"
    say(f"\nThe posterior is in {options.output}{left_out}.")


def read_problem(options: FitOptions) -> Problem:
    """Read the file, describe its contents, and return the rows to learn from."""
    file = open_table(options.data, not options.no_header, options.decimal_comma)
    roles, frame = choose_columns(file, options.target, options.weights, list(options.drop))
    problem, notes = make_problem(roles, frame, options.regression)
    doubts = [] if options.regression else doubt_classes(problem.y, roles.target)
    for note in (*file.notes, *notes, *doubtful_columns(frame, roles.features), *doubts):
        tell(f"particletree: note: {note}")
    say(describe_data(str(options.data), problem))
    return problem


def hold_out(problem: Problem, options: FitOptions) -> tuple[Problem, Problem | None]:
    """Return the rows to fit and, if a share is to be held out, those to score."""
    if options.test_size is None:
        return problem, None
    held_out = choose_held_out(problem.y, options.test_size, options.seed, options.regression)
    return problem.rows(~held_out), problem.rows(held_out)


def make_model(options: FitOptions, train: Problem) -> Any:
    """Return the default estimator for the problem, with a progress bar if standard error is a terminal."""
    kind = BayesianTreeRegressor if options.regression else BayesianTreeClassifier
    return kind(
        sampler=make_sampler(options, train),
        categorical_features=train.categorical or None,
        n_jobs=options.jobs,
        random_state=options.seed,
        verbose=int(sys.stderr.isatty()),
    )


def make_sampler(options: FitOptions, train: Problem) -> SMC | None:
    """Return None for the default sampler, or the default with another number of islands or with a time budget."""
    return SMC(time_budget=options.time_budget, n_islands=options.islands)


def fit(model: Any, train: Problem) -> float:
    """Fit, and return the seconds that it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"y has \d+ classes in")  # the command has printed its own note
        model.fit(train.X, train.y, sample_weight=train.weights)
    return time.perf_counter() - start


@contextmanager
def saved(output: Path) -> Iterator[None]:
    """Tell on Ctrl-C that the posterior was saved before."""
    try:
        yield
    except KeyboardInterrupt:
        tell(f"particletree: note: the posterior is in {output}; only its description was interrupted")
        raise


def name_parts(posterior: Posterior, train: Problem) -> Posterior:
    """Return the posterior with the names of the columns, so that `predict` finds the columns by name."""
    target = Numbers(1, (train.roles.target,)) if train.is_regression else posterior.target
    return replace(posterior, feature_names=list(train.roles.features), target=target)
