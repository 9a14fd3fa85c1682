"""
Where is the model unsure?
==========================

Predictions of CART and of the posterior, and the uncertainty of the posterior, on 300 generated points in the plane.
CART is certain in every rectangle. The posterior mean changes gradually where trees disagree, and the width of its 90%
interval shows where there are too few points to be sure.

Run it as ``python examples/uncertainty.py [FILE]``; it needs matplotlib (``pip install "particletree[plots]"``).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier

from particletree import SMC, BayesianTreeClassifier

SIDE = 90


def make_panels():
    """Return the points, the axes of a grid, and three (title, values on the grid, colour map, label) panels."""
    X, y = make_moons(300, noise=0.3, random_state=4)
    cart = DecisionTreeClassifier(min_samples_leaf=10, random_state=0).fit(X, y)
    sampler = SMC.paper(n_particles=400, n_islands=20)
    bayes = BayesianTreeClassifier(sampler=sampler, n_jobs=-1, random_state=0).fit(X, y)
    axes = [np.linspace(X[:, f].min() - 0.3, X[:, f].max() + 0.3, SIDE) for f in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    interval = bayes.predict_interval(grid, level=0.9)[:, 1]
    share = "probability of the orange class"
    panels = [
        ("CART: one tree", cart.predict_proba(grid)[:, 1], "PuOr_r", share),
        ("particletree: mean over the posterior", bayes.predict_proba(grid)[:, 1], "PuOr_r", share),
        ("particletree: how unsure it is", interval[:, 1] - interval[:, 0], "cividis", "width of the 90% interval"),
    ]
    return X, y, axes, panels


def draw(path):
    """Draw the panels side by side, into a file if it is named."""
    X, y, (x_axis, y_axis), panels = make_panels()
    figure, columns = plt.subplots(1, 3, figsize=(12, 4.1), sharey=True, layout="constrained")
    for column, (title, values, colours, label) in zip(columns, panels, strict=True):
        image = column.pcolormesh(
            x_axis, y_axis, values.reshape(SIDE, SIDE), cmap=colours, vmin=0, vmax=1, shading="nearest", rasterized=True
        )
        for k, (colour, marker) in enumerate((("#542788", "o"), ("#e08214", "^"))):
            column.scatter(*X[y == k].T, s=16, c=colour, marker=marker, edgecolors="white", linewidths=0.5)
        column.set(title=title, xlabel="feature 1", xlim=x_axis[[0, -1]], ylim=y_axis[[0, -1]])
        figure.colorbar(image, ax=column, location="bottom", label=label, shrink=0.9)
    columns[0].set_ylabel("feature 2")
    if path:
        figure.savefig(path, dpi=110)


draw(sys.argv[1] if len(sys.argv) > 1 else None)
