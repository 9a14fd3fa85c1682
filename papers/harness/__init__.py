"""Shared code of the papers: `journal.py` stores results, `grid.py` runs what is missing, `panels.py` draws.

`spread.py` has the statistics over seeds.
"""
