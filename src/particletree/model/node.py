"""A node of a tree: the only declaration of its columns in Python.

A node is a record of :data:`NODE`. Code that concatenates, selects or stores nodes handles whole records, so that a new
column is declared only here, in the kernel (``kernel/node.h``), and in the code that uses it:

    rule      feature, kind, threshold, gap_low, gap_high   which side a row takes (``rule.py``)
    children  left, right                                   numbers of nodes
    block     block                                         row of the table of statistics

A leaf has the feature -1, no children (-1), the kind 0, and nan in the rest of the rule.
"""

from __future__ import annotations

import numpy as np

from particletree.model.rule import NO_RULE, RULE

NODE = np.dtype([*RULE, ("left", np.int32), ("right", np.int32), ("block", np.int32)])
LEAF = np.array((*NO_RULE, -1, -1, 0), dtype=NODE)
