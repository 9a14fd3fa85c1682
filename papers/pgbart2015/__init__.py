"""Hypercubes: does particle Gibbs mix where a tree must be deep? ``python -m papers.pgbart2015`` runs it.

The data are those of B. Lakshminarayanan, D. M. Roy & Y. W. Teh, *Particle Gibbs for Bayesian additive regression
trees* (AISTATS 2015).
"""
