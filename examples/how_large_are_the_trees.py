"""
Does the prior or the data decide how large trees are?
======================================================

A tree prior says how many leaves to expect before any label is seen. ``TreePrior.expecting`` finds the prior with a
given mean number of leaves, and ``plot_sizes`` compares tree sizes under the prior and under the posterior.
"""

from sklearn.datasets import load_breast_cancer

from particletree import BayesianTreeClassifier, TreePrior
from particletree.plots import plot_sizes

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
for n_leaves in (4, 30):
    prior = TreePrior.expecting(n_leaves=n_leaves)
    clf = BayesianTreeClassifier(prior, random_state=0).fit(X, y)
    leaves = clf.posterior_.weights @ clf.posterior_.n_leaves
    print(f"expecting {n_leaves} leaves: beta {prior.beta:.2f}, posterior mean {leaves:.1f} leaves")

# %%
# The second of the two fits. The difference between the two distributions is the effect of the data.

axes = plot_sizes(clf, X)
