"""The command `fit`: read a table, fit a posterior, save it to a file, and print a description of both."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from particletree._commands.console import check_output, format_table, say, tell
from particletree._commands.held_out import (
    CLASS_SCORES,
    NUMBER_SCORES,
    Score,
    choose_held_out,
    left_out_of_cart,
    score_cart,
    score_fit,
)
from particletree._commands.training_table import (
    Problem,
    choose_columns,
    doubt_classes,
    doubtful_columns,
    is_present,
    make_problem,
)
from particletree._estimators import BayesianTreeClassifier, BayesianTreeRegressor
from particletree._files import Kind, open_table
from particletree._inference.smc import SMC
from particletree._model.target import Numbers
from particletree._model.text import one_line
from particletree._posterior import Posterior

MOST_LEAVES_SHOWN = 12
CLASSES_SHOWN = 8
_KIND_NAMES = {Kind.NUMBER: "of numbers", Kind.TEXT: "of text", Kind.BOOLEAN: "of true/false"}
_CLASS_LEGEND = "log-prob. is the mean log probability of the right class; CART's leaves are smoothed."
_NUMBER_LEGEND = "CART's distribution is a normal one with the standard deviation of its residuals."


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
    train, test = problem, None
    if options.test_size is not None:
        held_out = choose_held_out(problem.y, options.test_size, options.seed, options.regression)
        train, test = problem.rows(~held_out), problem.rows(held_out)
    model = make_model(options, train)
    seconds = fit(model, train)
    # With the names of the columns, by which `predict` finds them.
    target = Numbers(1, (train.roles.target,)) if train.is_regression else model.posterior_.target
    posterior = replace(
        model.posterior_,
        feature_names=list(train.roles.features),
        target=target,
        kept_row_numbers=train.row_numbers[model.posterior_.kept_row_numbers],
    )
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


def make_model(options: FitOptions, train: Problem) -> Any:
    """Return the default estimator for the problem, with a progress bar if standard error is a terminal."""
    kind = BayesianTreeRegressor if options.regression else BayesianTreeClassifier
    return kind(
        sampler=SMC(time_budget=options.time_budget, n_islands=options.islands),
        categorical_features=train.categorical or None,
        n_jobs=options.jobs,
        random_state=options.seed,
        verbose=int(sys.stderr.isatty()),
    )


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


def describe_data(name: str, problem: Problem) -> str:
    """Describe what was read: rows, columns by kind, missing values, and the target."""
    kinds = Counter(problem.roles.features.values())
    features = [f"{kinds[kind]} {words}" for kind, words in _KIND_NAMES.items() if kinds[kind]]
    counts = [int((~is_present(column)).sum()) for column in problem.X.T]
    n_missing, n_columns = sum(counts), sum(count > 0 for count in counts)
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    missing = (
        f"{n_missing:,} values in {columns} ({n_missing / problem.X.size:.2%} of all cells)" if n_missing else "none"
    )
    lines = [
        f"{one_line(name)}: {problem.n_rows:,} rows",
        f"  features  {kinds.total()}: {', '.join(features)}",
        f"  missing   {missing}",
        f"  target    {one_line(problem.roles.target)}: {_describe_target(problem)}",
    ]
    return "\n".join(lines)


def _describe_target(problem: Problem) -> str:
    if problem.is_regression:
        return f"numbers from {problem.y.min():g} to {problem.y.max():g}, mean {np.mean(problem.y):.4g}"
    counts = Counter(problem.y.tolist())
    shown = ", ".join(f"{one_line(label)} ({n:,})" for label, n in counts.most_common(CLASSES_SHOWN))
    return f"{len(counts)} classes, {shown}" + (", ..." if len(counts) > CLASSES_SHOWN else "")


def describe_scores(scores: Sequence[Score], test: Problem, without: Sequence[str] = ()) -> str:
    """Return a table of the scores, with an explanation of each; CART did without some columns."""
    headings = ("method", "fit, ms", *(NUMBER_SCORES if test.is_regression else CLASS_SCORES))
    table = format_table([headings, *(score.cells() for score in scores)], n_texts=1)
    legend = _NUMBER_LEGEND if test.is_regression else _CLASS_LEGEND
    if without:
        columns = f"column{'s' * (len(without) > 1)} {', '.join(map(repr, without))}"
        legend += f"\nCART is fitted without the {columns}, where most rows have a text of their own."
    return f"On the {test.n_rows:,} rows held out:\n\n{table}\n\n{legend}"


def describe_posterior(posterior: Posterior) -> str:
    """Return the summary and, if it is small enough to read, the consensus tree."""
    tree = posterior.consensus_tree()
    share = f"explains {posterior.explained_share(tree):.0%} of the variance of the posterior's predictions"
    if tree.n_leaves > MOST_LEAVES_SHOWN:
        return f"{posterior.summary()}\n\nThe consensus tree has {tree.n_leaves} leaves, too many to show, and {share}."
    return f"{posterior.summary()}\n\nThe consensus tree {share}:\n\n{tree.rounded()}"
