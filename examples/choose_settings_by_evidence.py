"""
Which settings fit my data, without a test set?
===============================================

The evidence (marginal likelihood) is the probability of the labels given the features, averaged over all trees of a
prior. A prior that fits the data has a higher evidence, so you can compare settings on the training data alone.
``"auto"`` does this over a small grid.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from particletree import BayesianTreeClassifier, Categorical, TreePrior
from particletree.plots import plot_choice

X, y = load_wine(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
prior, leaf = TreePrior(alpha="auto", beta="auto"), Categorical(concentration="auto")
clf = BayesianTreeClassifier(prior=prior, leaf=leaf, random_state=0).fit(X_train, y_train)
print(clf.posterior_.choice)
print(f"chosen: {clf.posterior_.prior}, {clf.posterior_.leaf}")

# %%
# Each point is one setting. A difference of less than about two standard errors is not significant.

ax = plot_choice(clf)

# %%
# The highest evidence does not always give the best predictions. Here are the chosen and the default settings on
# held-out data.

default = BayesianTreeClassifier(random_state=0).fit(X_train, y_train)
print(f"accuracy: {clf.score(X_test, y_test):.3f} chosen, {default.score(X_test, y_test):.3f} default")
