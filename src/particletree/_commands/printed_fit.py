"""The text that `fit` prints: a description of the data, the scores and the posterior."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from particletree._commands.columns import is_present
from particletree._commands.console import format_table
from particletree._commands.held_out import CLASS_SCORES, NUMBER_SCORES, Score
from particletree._commands.training_table import Problem
from particletree._files import Kind
from particletree._model.text import one_line
from particletree._posterior import Posterior

MOST_LEAVES_SHOWN = 12
CLASSES_SHOWN = 8
_KIND_NAMES = {Kind.NUMBER: "of numbers", Kind.TEXT: "of text", Kind.BOOLEAN: "of true/false"}
_CLASS_LEGEND = "log-prob. is the mean log probability of the right class; CART's leaves are smoothed."
_NUMBER_LEGEND = "CART's distribution is a normal one with the standard deviation of its residuals."


def describe_data(name: str, problem: Problem) -> str:
    """Describe what was read: rows, columns by kind, missing values, and the target."""
    lines = [
        f"{one_line(name)}: {problem.n_rows:,} rows",
        f"  features  {_count_kinds(problem)}",
        f"  missing   {_count_missing(problem)}",
        f"  target    {one_line(problem.roles.target)}: {_describe_target(problem)}",
    ]
    return "\n".join(lines)


def _count_kinds(problem: Problem) -> str:
    counts = Counter(problem.roles.features.values())
    parts = [f"{counts[kind]} {words}" for kind, words in _KIND_NAMES.items() if counts[kind]]
    return f"{sum(counts.values())}: {', '.join(parts)}"


def _count_missing(problem: Problem) -> str:
    counts = [int((~is_present(column)).sum()) for column in problem.X.T]
    n_missing, n_columns = sum(counts), sum(count > 0 for count in counts)
    if n_missing == 0:
        return "none"
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    return f"{n_missing:,} values in {columns} ({n_missing / problem.X.size:.2%} of all cells)"


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
