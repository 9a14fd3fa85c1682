"""Benchmarks: one module a question, each figure a ratio measured in one run.

What people compare us with runs beside us, in turn (ours, theirs, ours, theirs), and each is known by its best time, so
that a busy moment of the machine hits both or neither. Everything runs on one thread unless the question is about
threads. A module measures (`measure` yields small frozen dataclasses, so that an interrupted run keeps what it has) and
writes Markdown (`to_markdown`); ``plots.py`` draws, ``targets.py`` holds the figures against what we promise,
``suite.py`` runs the cases in order and ``document.py`` writes the result. `python -m benchmarks` is the way in.
"""
