"""The hypercube data of B. Lakshminarayanan, D. M. Roy & Y. W. Teh, *Particle Gibbs for Bayesian additive regression
trees* (AISTATS 2015): does particle Gibbs mix where the tree must be deep? ``python -m papers.pgbart2015`` runs it.
"""
