"""
Which features matter, and how sure is that?
============================================

The importance of a feature is the share of the variance of the predictions that is lost without it: how far they move
if its values are replaced by those of other rows.
"""

from sklearn.datasets import load_diabetes

from particletree import SMC, BayesianTreeRegressor
from particletree.plots import plot_dependence, plot_importances

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
reg = BayesianTreeRegressor(sampler=SMC(n_particles=50, n_islands=20), random_state=0).fit(X, y)
ax = plot_importances(reg)

# %%
# The inclusion probability is the share of trees, by weight, that split on a feature at all. A feature can be in most
# trees and still matter little.

for share, name in sorted(zip(reg.posterior_.inclusion_probabilities(), X.columns, strict=True), reverse=True)[:4]:
    print(f"{name:4} is in {share:4.0%} of the trees")

# %%
# How the prediction depends on the body mass index: averaged over all rows, with a 90% band over trees.

ax = plot_dependence(reg, "bmi", X)
