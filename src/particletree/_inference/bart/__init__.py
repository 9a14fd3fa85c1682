"""Sums of trees (BART): Markov chains over the trees of a sum, each given the residual of the others."""
