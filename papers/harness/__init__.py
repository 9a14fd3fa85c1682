"""What all papers share: `journal.py` keeps what is done, `grid.py` does what is left, `spread.py` sums up over seeds.

`panels.py` draws.
"""
