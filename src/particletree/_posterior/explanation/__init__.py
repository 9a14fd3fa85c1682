"""Explanation of one prediction: conditions on the way to a leaf, groups of trees that disagree, and neighbours."""
