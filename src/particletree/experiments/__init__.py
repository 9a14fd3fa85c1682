"""Experiments that anybody can run again: a harness for grids of many cells, and one folder for each paper.

`journal.py` keeps what is done, `harness.py` does what is left, `spread.py` sums up over seeds, `panels.py` draws.
"""
