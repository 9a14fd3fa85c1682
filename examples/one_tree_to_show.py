"""
Which one tree should I show?
=============================

A posterior has many trees. ``consensus_tree`` returns the one whose predictions are closest to those of all trees
together, ``rounded`` moves its thresholds to readable numbers between the same training values, and ``explained_share``
says how much of the variance of the posterior's predictions it explains.
"""

from palmerpenguins import load_penguins

from particletree import SMC, BayesianTreeClassifier, TreePrior
from particletree.plots import plot_tree

X = load_penguins().drop(columns="year")
y = X.pop("species")
sampler = SMC(n_particles=100, n_islands=20)
clf = BayesianTreeClassifier(TreePrior.expecting(n_leaves=5), sampler=sampler, random_state=0).fit(X, y)
tree = clf.posterior_.consensus_tree().rounded()
print(tree)
print(f"explained share: {clf.posterior_.explained_share(tree):.2f}")

# %%
# The same as a plot. The number at a split is its support: the share of the posterior's trees, by weight, that make
# about the same splits from the root down to it. Cuts of a feature that send at most 10% of a node's rows to another
# side are about the same. A star marks a split that only one of the 20 islands has found.

ax = plot_tree(tree, posterior=clf.posterior_)

# %%
# Where it is below one, there are alternative splits. These are the most probable ones at the root:

for split in clf.posterior_.credible_splits(level=0.9, tree=tree):
    print(f"{split.probability:.2f}  in {split.n_runs} of the islands: {split.rule}")
