"""The page's texts about the posterior, for readers without prior knowledge; its key figures and provenance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from particletree._model.leaf import MeanWords
from particletree._model.target import ClassLabels
from particletree._model.text import format_count, one_line, shorten
from particletree._plots.names import output_names
from particletree._posterior import Posterior
from particletree._posterior.findings import Case, HeldOut, find
from particletree._posterior.summary.trees import Summary
from particletree._report.checked_arguments import GivenRows

CLASSES_NAMED = 5
FEATURES_NAMED = 3
WORTH_NAMING = 0.05  # share of the importances
MINUS = "\u2212"
LEVELS = ("good", "note", "warning")


def title_of(posterior: Posterior, target_name: str | None) -> str:
    """Return the page's title."""
    name = target_name_of(posterior, target_name)
    return "A posterior over decision trees" if name is None else f"Predicting {name}"


def target_name_of(posterior: Posterior, target_name: str | None) -> str | None:
    """Return the name of the target, if it is known."""
    if target_name is None and not isinstance(posterior.target, ClassLabels) and posterior.target.names:
        target_name = " and ".join(posterior.target.names)
    return None if target_name is None else one_line(target_name)


def mean_words(posterior: Posterior) -> MeanWords:
    """Return what the predicted means are called."""
    return posterior.leaf.mean_words(posterior.row_columns)


def sentences(
    posterior: Posterior,
    summary: Summary,
    target_name: str | None,
    scores: dict[str, Any] | None = None,
    unscored: str | None = None,
) -> list[str]:
    """Return sentences about what was fitted, how good the predictions are, and what a prediction is."""
    n_rows = format_count(float(posterior.leaf.n_rows(posterior.root_statistics)))
    what, features = _what(posterior, target_name), _number(posterior.n_features, "feature")
    return [
        f"The model predicts {what} from {features}. It has learnt from {_grouped(n_rows)} rows.",
        *quality(posterior, scores, unscored),
        "It is not one decision tree but many that explain the data well, each weighted by its probability given the "
        f"data. {_trees(summary)} A prediction is the average over all trees, and where they disagree it says so.",
        *_feature_sentence(summary),
    ]


def _trees(summary: Summary) -> str:
    if summary.n_trees == 1:
        return "Here only one was found."
    low, high = summary.leaves.low, summary.leaves.high
    size = f"{low:g} to {high:g} leaves" if low < high else ("one leaf" if low == 1 else f"{low:g} leaves")
    return f"Here these are {summary.n_trees:,} distinct trees, most of them with {size}."


def _what(posterior: Posterior, target_name: str | None) -> str:
    name, n, mean = target_name_of(posterior, target_name), posterior.target.n_outputs, mean_words(posterior)
    if not isinstance(posterior.target, ClassLabels):
        if mean.per and name is not None:
            return f"the {mean.noun}{'s' * (n > 1)} of {name}{mean.per}"
        noun = mean.noun if mean.per else "number"
        kind = f"a {noun}{mean.per}" if n == 1 else f"{n} {noun}s{mean.per}"
        return kind if name is None else f"{name}, {kind},"
    classes = [shorten(label) for label in output_names(posterior.target)]
    more = [f"{len(classes) - CLASSES_NAMED} more"] if len(classes) > CLASSES_NAMED else []
    listed = _listed([*classes[:CLASSES_NAMED], *more])
    of = "the class" if name is None else name
    return f"{of}, one of {len(classes)} classes ({listed}),"


def quality(posterior: Posterior, scores: dict[str, Any] | None, unscored: str | None) -> list[str]:
    """Return a sentence that sets the first score beside a guess that uses no feature, or says why there is none."""
    if scores is None:
        return [
            unscored
            or "How good the predictions are is not known here: that needs held-out rows with their targets (the "
            "command with --data and --test-size, or write_report with X_test and y_test)."
        ]
    value, guess = scores["scores"][0]["value"], scores["scores"][0]["guess"]
    kind = {"held out": "held-out rows", "training": "training rows", "unknown": "rows"}[scores["origin"]]
    rows = f"{scores['rows']:,} {kind}"
    caution = "" if scores["origin"] == "held out" else " On rows that were not held out this is too optimistic."
    if isinstance(posterior.target, ClassLabels):
        guessed = f"always guessing {_most_frequent(posterior)}, the most frequent class of the training rows,"
        text = f"On {rows} its most probable class is right for {value:.1%}; {guessed} is right for {guess:.1%}."
        return [text + _verdict(value > guess, value == guess) + caution]
    constant = f"the {mean_words(posterior).noun} of the training rows"
    text = f"On {rows} its predictions have an error (RMSE) of {value:.4g}; always guessing {constant} has {guess:.4g}."
    return [text + _verdict(value < guess, value == guess) + caution]


def _verdict(is_better: bool, is_equal: bool) -> str:
    if is_better:
        return ""
    return " The features add nothing to this guess." if is_equal else " The plain guess is better on these rows."


def _most_frequent(posterior: Posterior) -> str:
    names, shares = output_names(posterior.target), posterior.leaf.mean(posterior.root_statistics)
    return shorten(names[int(shares.argmax())])


def why_unscored(posterior: Posterior, given: GivenRows) -> str | None:
    """Return why rows with known targets are not scored; None if they are, or if there are none."""
    lacking = given.lacking(posterior)
    if given.y is None or not lacking:
        return None
    name, mean = lacking[0], mean_words(posterior)
    what = f"they are {mean.noun}s{mean.per}, and the" if mean.per else "the"
    return (
        f"Predictions are not scored here: {what} {name} of the {mean.observation}s was not given. The command with "
        f"--{name} COL, or write_report with {name}{given.suffix}=..., adds calibration and scores."
    )


def _feature_sentence(summary: Summary) -> list[str]:
    if not summary.features:
        return ["No tree splits the rows: the features say nothing about the target that the data could show."]
    if len(summary.features) == 1:
        return [f"Only {shorten(summary.features[0].name, 40)} is used by the trees."]
    named = [use for use in summary.features[:FEATURES_NAMED] if use.importance >= WORTH_NAMING] or summary.features[:1]
    names = [shorten(use.name, 40) for use in named]
    share = f"{sum(use.importance for use in named):.0%} of what the trees' splits explain"
    return [f"What matters most is {_listed(names)}: {'together ' if len(names) > 1 else ''}{share}."]


def figures(posterior: Posterior, summary: Summary, scores: dict[str, Any] | None) -> list[dict[str, str]]:
    """Return the key figures, each with a short explanation: first the score beside a plain guess."""
    leaves = summary.leaves
    n_rows = format_count(float(posterior.leaf.n_rows(posterior.root_statistics)))
    found = [
        *_score(posterior, scores),
        ("Training rows", _grouped(n_rows), _target_note(posterior)),
        ("Features", f"{posterior.n_features:,}", _columns(posterior)),
        ("Distinct trees", f"{summary.n_trees:,}", f"from {_number(summary.n_islands, _run(posterior))}"),
        ("Leaves of a tree", f"{leaves.mean:.1f}", f"90% between {leaves.low:g} and {leaves.high:g}"),
    ]
    return [{"name": name, "value": value, "note": note} for name, value, note in found]


def _score(posterior: Posterior, scores: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    if scores is None:
        return []
    first = scores["scores"][0]
    where = {"held out": ", held-out rows", "training": ", training rows", "unknown": ""}[scores["origin"]]
    if isinstance(posterior.target, ClassLabels):
        return [(f"Accuracy{where}", f"{first['value']:.1%}", f"plain guess: {first['guess']:.1%}")]
    return [(f"Error{where}", f"{first['value']:.4g}", f"plain guess: {first['guess']:.4g}")]


def _worth(summary: Summary) -> tuple[str, str]:
    """Return the effective sample size; for chains it accounts for autocorrelation."""
    if summary.convergence is None:
        return f"{summary.effective_sample_size:.1f}", "equally weighted trees worth as much"
    ess = summary.convergence.ess
    return ("not known" if math.isnan(ess) else f"{ess:.0f}"), "independent draws worth as much as the chains"


def _target_note(posterior: Posterior) -> str:
    n = posterior.target.n_outputs
    if isinstance(posterior.target, ClassLabels):
        return f"of {n} classes"
    mean = mean_words(posterior)
    return f"with {_number(n, mean.noun if mean.per else 'number')} to predict"


def _columns(posterior: Posterior) -> str:
    n_levels, n_missing = len(posterior.columns.levels), len(posterior.columns.missing)
    kinds = "all numbers" if n_levels == 0 else f"{posterior.n_features - n_levels} numbers, {n_levels} categories"
    return f"{kinds}; {'none' if n_missing == 0 else n_missing} with missing values"


def _run(posterior: Posterior) -> str:
    return "chain" if posterior.is_chain else "island"


def _evidence(summary: Summary) -> str:
    return "not estimated" if math.isnan(summary.log_evidence) else _signed(summary.log_evidence)


def _signed(value: float) -> str:
    return f"{value:,.1f}".replace("-", MINUS)


def _evidence_note(summary: Summary) -> str:
    if math.isnan(summary.log_evidence):
        return f"lower bound {_signed(summary.log_evidence_bound)}"
    if summary.log_evidence_se == 0:
        return "exact"
    return "" if math.isnan(summary.log_evidence_se) else f"standard error {summary.log_evidence_se:.2g}"


def findings(posterior: Posterior, summary: Summary, held_out: HeldOut | None = None) -> list[dict[str, Any]]:
    """Return the findings of the diagnostics, with those on held-out rows, or else the summary's verdict."""
    if held_out is not None:
        return [_finding(each) for each in find(Case(posterior, held_out))]
    ask = getattr(posterior, "findings", None)
    if ask is None:
        return [{"level": "note", "finding": summary.verdict, "number": None, "advice": ""}]
    return [_finding(each) for each in (ask() if callable(ask) else ask)]


def _finding(found: Any) -> dict[str, Any]:
    level, number = str(getattr(found, "level", "note")), getattr(found, "number", None)
    is_told = any(character.isdigit() for character in str(found.finding))  # the text contains the number already
    is_number = not is_told and isinstance(number, int | float | np.number) and math.isfinite(number)
    return {
        "level": level if level in LEVELS else "note",
        "finding": str(found.finding),
        "number": f"{number:.3g}" if is_number else None,
        "advice": str(getattr(found, "advice", "") or ""),
    }


def provenance(posterior: Posterior, summary: Summary) -> list[list[str]]:
    """Return how the posterior was made: names and values, for a table."""
    made = posterior.provenance
    seed = "not known" if made.seed is None else f"{made.seed.entropy}"
    settings = ", ".join(f"{name}={value!r}" for name, value in made.settings.items() if value is not None)
    pairs = [
        ("Sampler", made.sampler_name),
        ("Its settings", settings or "not known"),
        ("Seed", seed),
        ("Prior over trees", repr(posterior.prior)),
        ("Leaf model", repr(posterior.leaf)),
        *([("Chosen by the evidence", str(posterior.choice))] if posterior.choice else []),
        ("Effective sample size", ", ".join(_worth(summary))),
        ("Log evidence", ", ".join(filter(None, (_evidence(summary), _evidence_note(summary))))),
        ("Version", f"particletree {made.version or '(not known)'}"),
    ]
    return [[name, one_line(value)] for name, value in pairs]


def _grouped(count: str) -> str:
    return f"{int(count):,}" if count.isdigit() else count


def _number(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
