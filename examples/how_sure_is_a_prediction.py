"""
How sure is this prediction?
============================

Two tumours can have the same predicted probability with very different support in the data. The credible interval of
the probability shows the difference: it is narrow where many rows and most trees agree, and wide where rows are few or
trees disagree.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from particletree import BayesianTreeClassifier

data = load_breast_cancer(as_frame=True)
labels = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, labels, test_size=0.4, random_state=0)
clf = BayesianTreeClassifier(random_state=0).fit(X_train, y_train)

# %%
# For every row of the test data: the probability that the tumour is benign, and its 90% credible interval.
# ``predict_interval`` has one interval per class, in the order of ``classes_``.

benign = list(clf.classes_).index("benign")
probability = clf.predict_proba(X_test)[:, benign]
low, high = clf.predict_interval(X_test, level=0.9)[:, benign].T
order = np.argsort(probability)
wrong = clf.predict(X_test) != y_test

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
place = np.arange(len(order))
ax.vlines(place, low[order], high[order], color="0.75", label="90% interval")
ax.plot(place, probability[order], ".", color="C0", label="posterior mean")
ax.plot(place[wrong[order]], probability[order][wrong[order]], "x", color="C3", label="wrong prediction")
ax.set(xlabel="test rows, sorted", ylabel="probability of benign")
ax.legend()

# %%
# Wrong predictions tend to have wide intervals: a wide interval is a reason to check a row.

width = high - low
print(f"mean width: {width[~wrong].mean():.2f} where right, {width[wrong].mean():.2f} where wrong")
