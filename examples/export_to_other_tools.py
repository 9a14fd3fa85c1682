"""
How do I use a tree in a database, or without Python?
=====================================================

Export one tree as an SQL expression, JSON or a scikit-learn tree, and the mean over all trees as an ONNX model.
:doc:`/exports` lists what each format cannot represent.
"""

import sqlite3

import numpy as np
import onnxruntime
from palmerpenguins import load_penguins
from sklearn.tree import export_text

from particletree import BayesianTreeClassifier, TreePrior

penguins = load_penguins().drop(columns=["year", "island", "sex"])
X = penguins.drop(columns="species")
clf = BayesianTreeClassifier(TreePrior.expecting(n_leaves=4), random_state=0).fit(X, penguins["species"])
tree = clf.posterior_.consensus_tree().rounded()
print(tree.to_sql())

# %%
# The expression runs in a database, here SQLite, and gives the same predictions.

with sqlite3.connect(":memory:") as connection:
    penguins.to_sql("penguins", connection, index=False)
    answers = [row[0] for row in connection.execute(f"SELECT {tree.to_sql()} FROM penguins")]
print("same as predict:", np.mean(np.array(answers) == tree.predict(X)))

# %%
# A fitted scikit-learn tree, for scikit-learn's own tools and for SHAP:

print(export_text(clf.to_sklearn(tree), feature_names=list(X.columns)))

# %%
# The mean over all trees of the posterior as one ONNX model, run by onnxruntime:

session = onnxruntime.InferenceSession(clf.to_onnx().SerializeToString())
(probabilities,) = session.run(["probabilities"], {"X": clf.posterior_.as_numbers(X)})
print(f"largest difference from predict_proba: {np.abs(probabilities - clf.predict_proba(X)).max():.1e}")
