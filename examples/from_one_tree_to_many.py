"""
What is averaged when trees are averaged?
=========================================

One tree cuts the plane into rectangles. Four trees drawn from the posterior cut it differently. ``predict_proba``
returns the average over all trees of the posterior, weighted by their posterior probability.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from particletree import BayesianTreeClassifier

data = load_iris()
X, y = data.data[50:, 2:], data.target_names[data.target[50:]]  # petals of two species that overlap
clf = BayesianTreeClassifier(random_state=1).fit(X, y)

# %%
# The colour is the probability of virginica: in four single trees, and in the mean over all of them.

axes_of_grid = [np.linspace(X[:, f].min() - 0.2, X[:, f].max() + 0.2, 120) for f in (0, 1)]
grid = np.stack(np.meshgrid(*axes_of_grid), axis=-1).reshape(-1, 2)
trees = clf.posterior_.sample(4, random_state=3)
panels = [(f"one tree, {tree.n_leaves} leaves", tree.predict_proba(grid)[:, 1]) for tree in trees]
panels.append(("mean over the posterior", clf.predict_proba(grid)[:, 1]))

figure, axes = plt.subplots(2, 3, figsize=(8, 5.2), sharex=True, sharey=True, layout="constrained")
axes[1, 2].set_axis_off()
for ax, (title, values) in zip(axes.flat, panels, strict=False):
    image = ax.pcolormesh(*axes_of_grid, values.reshape(120, 120), cmap="PuOr_r", vmin=0, vmax=1, shading="nearest")
    for name, colour in (("versicolor", "#542788"), ("virginica", "#e08214")):
        ax.scatter(*X[y == name].T, s=10, c=colour, edgecolors="white", linewidths=0.4)
    ax.set_title(title)
figure.supxlabel("petal length, cm", fontsize="medium")
figure.supylabel("petal width, cm", fontsize="medium")
figure.colorbar(image, ax=axes[1, 2], label="probability of virginica", fraction=0.8, aspect=8)
