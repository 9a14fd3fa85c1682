"""The page's texts about the posterior, for readers without prior knowledge; its key figures and provenance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from particletree._model.leaf import MeanWords
from particletree._model.target import ClassLabels
from particletree._model.text import format_count, one_line, shorten
from particletree._plots.names import output_names
from particletree._posterior import Posterior
from particletree._posterior.findings import Finding
from particletree._posterior.summary.trees import Summary
from particletree._report.rows import GivenRows

CLASSES_NAMED = 5
FEATURES_NAMED = 3
WORTH_NAMING = 0.05  # gain share
MINUS = "\u2212"


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
        is_better, shares = value > guess, posterior.leaf.mean(posterior.root_statistics)
        most_frequent = shorten(output_names(posterior.target)[int(shares.argmax())])
        guessed = f"always guessing {most_frequent}, the most frequent class of the training rows,"
        text = f"On {rows} its most probable class is right for {value:.1%}; {guessed} is right for {guess:.1%}."
    else:
        is_better, constant = value < guess, f"the {mean_words(posterior).noun} of the training rows"
        text = f"On {rows} its predictions have an error (RMSE) of {value:.4g}; "
        text += f"always guessing {constant} has {guess:.4g}."
    if value == guess:
        text += " The features add nothing to this guess."
    elif not is_better:
        text += " The plain guess is better on these rows."
    return [text + caution]


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
    named = [use for use in summary.features[:FEATURES_NAMED] if use.gain_share >= WORTH_NAMING] or summary.features[:1]
    names = [shorten(use.name, 40) for use in named]
    share = f"{sum(use.gain_share for use in named):.0%} of the gain of all splits"
    return [f"What matters most is {_listed(names)}: {'together ' if len(names) > 1 else ''}{share}."]


def figures(posterior: Posterior, summary: Summary, scores: dict[str, Any] | None) -> list[dict[str, str]]:
    """Return the key figures, each with a short explanation: first the score beside a plain guess."""
    leaves, n_outputs = summary.leaves, posterior.target.n_outputs
    n_levels, n_missing = len(posterior.columns.levels), len(posterior.columns.missing)
    kinds = "all numbers" if n_levels == 0 else f"{posterior.n_features - n_levels} numbers, {n_levels} categories"
    is_class, mean = isinstance(posterior.target, ClassLabels), mean_words(posterior)
    outputs = f"of {n_outputs} classes"
    if not is_class:
        outputs = f"with {_number(n_outputs, mean.noun if mean.per else 'number')} to predict"
    found = []
    if scores is not None:
        first, name, form = scores["scores"][0], "Accuracy" if is_class else "Error", ".1%" if is_class else ".4g"
        where = {"held out": ", held-out rows", "training": ", training rows", "unknown": ""}[scores["origin"]]
        found.append((name + where, format(first["value"], form), f"plain guess: {format(first['guess'], form)}"))
    n_rows = format_count(float(posterior.leaf.n_rows(posterior.root_statistics)))
    runs = _number(summary.n_islands, "chain" if posterior.is_chain else "island")
    found += [
        ("Training rows", _grouped(n_rows), outputs),
        ("Features", f"{posterior.n_features:,}", f"{kinds}; {n_missing or 'none'} with missing values"),
        ("Distinct trees", f"{summary.n_trees:,}", f"from {runs}"),
        ("Leaves of a tree", f"{leaves.mean:.1f}", f"90% between {leaves.low:g} and {leaves.high:g}"),
    ]
    return [{"name": name, "value": value, "note": note} for name, value, note in found]


def findings(found: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return the findings of the diagnostics; a number is shown unless the text contains it already."""
    shown = []
    for each in found:
        is_told = any(character.isdigit() for character in each.finding)
        is_number = not is_told and each.number is not None and math.isfinite(each.number)
        number = f"{each.number:.3g}" if is_number else None
        shown.append({"level": each.level, "finding": each.finding, "number": number, "advice": each.advice})
    return shown


def provenance(posterior: Posterior, summary: Summary) -> list[list[str]]:
    """Return how the posterior was made: names and values, for a table."""
    made = posterior.provenance
    seed = "not known" if made.seed is None else f"{made.seed.entropy}"
    settings = ", ".join(f"{name}={value!r}" for name, value in made.settings.items() if value is not None)
    if summary.convergence is None:
        worth = f"{summary.effective_sample_size:.1f}, equally weighted trees worth as much"
    else:  # it accounts for the autocorrelation of chains
        ess = summary.convergence.ess
        worth = f"{'not known' if math.isnan(ess) else f'{ess:.0f}'}, independent draws worth as much as the chains"
    pairs = [
        ("Sampler", made.sampler_name),
        ("Its settings", settings or "not known"),
        ("Seed", seed),
        ("Prior over trees", repr(posterior.prior)),
        ("Leaf model", repr(posterior.leaf)),
        *([("Chosen by the evidence", str(posterior.choice))] if posterior.choice else []),
        ("Effective sample size", worth),
        ("Log evidence", _evidence(summary)),
        ("Version", f"particletree {made.version or '(not known)'}"),
    ]
    return [[name, one_line(value)] for name, value in pairs]


def _evidence(summary: Summary) -> str:
    value, bound = (
        f"{number:,.1f}".replace("-", MINUS) for number in (summary.log_evidence, summary.log_evidence_bound)
    )
    if math.isnan(summary.log_evidence):
        return f"not estimated, lower bound {bound}"
    if summary.log_evidence_se == 0:
        return f"{value}, exact"
    return value if math.isnan(summary.log_evidence_se) else f"{value}, standard error {summary.log_evidence_se:.2g}"


def _grouped(count: str) -> str:
    return f"{int(count):,}" if count.isdigit() else count


def _number(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
