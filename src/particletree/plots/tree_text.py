"""The texts in the figure of a tree: rules in boxes, notes beside leaves, probabilities of splits."""

from __future__ import annotations

from particletree.model.text import format_probability, format_rows
from particletree.model.tree import Tree
from particletree.plots.names import output_names, shorten
from particletree.plots.tree_layout import TreeLayout, has_classes

RULE_WIDTH = 18  # characters of a line in a box
NAME_WIDTH = 18  # characters of a class in a leaf


def wrap_rule(rule: str, width: int = RULE_WIDTH) -> str:
    r"""Break a rule after the name if it is too long for one line, and shorten both parts if necessary.

    Examples
    --------
    >>> from particletree.plots.tree_text import wrap_rule
    >>> wrap_rule("worst concave points <= 0.14")
    'worst con…e points\n≤ 0.14'
    """
    name, rest = split_rule(rule)
    if len(name) + len(rest) < width:
        return f"{name} {rest}".strip()
    is_number = rest.startswith("≤")  # not shortened: its digits are needed to separate the rows
    return f"{shorten(name, width)}\n{rest if is_number else shorten(rest, width)}"


def split_rule(rule: str) -> tuple[str, str]:
    """Return the name of a rule's feature, and the rest of the rule."""
    for sign in (" <= ", " not in {", " in {", " is "):
        name, found, value = rule.rpartition(sign)
        if found:
            return name, f"{sign.strip()}{' ' * sign.endswith(' ')}{value}".replace("<=", "≤")
    return rule, ""


def leaf_notes(tree: Tree, layout: TreeLayout, output: int) -> list[str]:
    """Return the text beside each leaf or folded part, empty for the splits."""
    describe = describe_class if has_classes(tree) else describe_mean
    notes = [f"{describe(tree, layout, node, output)}\n{rows(layout, node)}" for node in range(layout.nodes.size)]
    return ["" if split else note for split, note in zip(layout.is_split, notes, strict=True)]


def rows(layout: TreeLayout, node: int) -> str:
    """Return the rows of a node, and the leaves that are folded into it."""
    folded = f", {layout.n_leaves[node]} leaves" if layout.n_leaves[node] > 1 else ""
    return format_rows(float(layout.n_rows[node])) + folded


def describe_class(tree: Tree, layout: TreeLayout, node: int, output: int) -> str:
    """Return the most probable class and its probability."""
    best = int(layout.means[node].argmax())
    probability = format_probability(float(layout.means[node, best]))
    return f"{shorten(output_names(tree.target)[best], NAME_WIDTH)} p {probability}"


def describe_mean(tree: Tree, layout: TreeLayout, node: int, output: int) -> str:
    """Return the mean and its interval."""
    low, high = layout.intervals[node, output]
    return f"{layout.means[node, output]:.3g} [{low:.3g}, {high:.3g}]"


def longest_line(text: str) -> int:
    """Return the number of characters of the longest line."""
    return max(map(len, text.split("\n")))


def percent(probability: float) -> str:
    """Return a probability in percent; only exactly 0 and 1 are shown as 0% and 100%.

    Examples
    --------
    >>> from particletree.plots.tree_text import percent
    >>> percent(0.004), percent(0.62), percent(0.999), percent(1.0)
    ('<1%', '62%', '>99%', '100%')
    """
    if 0 < probability < 0.01:
        return "<1%"
    return ">99%" if 0.99 < probability < 1 - 1e-9 else f"{probability:.0%}"
