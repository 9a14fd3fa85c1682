"""Benchmarks: one module per question, each figure a ratio measured in one run.

Our method and the ones that it is compared with take turns (ours, theirs, ours, theirs), and the best time of each
counts, so that other load on the machine affects all alike. Everything runs on one thread unless the question is about
threads. A module measures (`measure` yields small frozen dataclasses, so that an interrupted run keeps its results) and
writes in Markdown what a reader decides by (`to_markdown`); ``plots.py`` draws, ``targets.py`` compares the figures
with the targets, ``suite.py`` runs the cases in order, and ``document.py`` writes the page and all measurements as CSV.
`python -m benchmarks` runs them.
"""
