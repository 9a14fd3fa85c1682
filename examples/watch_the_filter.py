"""
What does the particle filter do during a fit?
==============================================

Particles are partial trees. At each stage every particle decides on one block of rows. The weights become uneven and
the effective sample size falls. When it falls below a threshold, particles are resampled in proportion to their
weights.
"""

from sklearn.datasets import load_iris

from particletree import SMC, BayesianTreeClassifier
from particletree.plots import plot_genealogy, plot_stages

X, y = load_iris(return_X_y=True, as_frame=True)
clf = BayesianTreeClassifier(sampler=SMC.paper(n_particles=200, n_islands=4), random_state=0).fit(X, y)
axes = plot_stages(clf)

# %%
# The genealogy of the particles. A band is a lineage of equal particles. Its width is the number of copies, and it is
# blue if particles at the end descend from it. All trees of an island descend from a few early decisions, which is why
# several islands are run.

axes = plot_genealogy(clf, island=1)
