"""
Which sampler should I use?
===========================

This example fits the same model with several samplers: the particle filter with its proposals, and the Markov chain.
One table is only an illustration; the benchmarks measure many.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from particletree import MCMC, SMC, BayesianTreeClassifier, Categorical, Exact, TreePrior

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
samplers = {
    "prior, 5 x 100": SMC.paper(n_particles=100, n_islands=5),
    "prior, 20 x 100": SMC.paper(n_particles=100, n_islands=20),
    "lookahead, 5 x 10": SMC.paper(n_particles=10, n_islands=5, proposal="lookahead"),
    "lookahead, 20 x 10": SMC.paper(n_particles=10, n_islands=20, proposal="lookahead"),
    "optimal, 5 x 2": SMC.paper(n_particles=2, n_islands=5, proposal="optimal"),
    "chains, 5 x 40,000": MCMC(n_iterations=40_000, n_chains=5),
}
prior, leaf = TreePrior(0.95, 0.2), Categorical(0.3)

# %%
# CPU time on one thread against the mean log-probability of the right class on the held-out half of the rows.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, sampler in samplers.items():
    start = time.process_time()
    clf = BayesianTreeClassifier(prior, leaf, sampler, random_state=0).fit(X_train, y_train)
    seconds = time.process_time() - start
    score = -log_loss(y_test, clf.predict_proba(X_test))
    print(f"{name:18} {score:.3f}")
    ax.plot(1000 * seconds, score, "o")
    ax.annotate(name, (1000 * seconds, score), xytext=(0, 6), textcoords="offset points", ha="center")
ax.set(xscale="log", xlabel="fit, milliseconds", ylabel="mean log-probability of the test rows")
ax.margins(x=0.25, y=0.15)
ax.xaxis.set_minor_formatter("")
ax.xaxis.set_major_formatter("{x:g}")

# %%
# On a much smaller table (18 flowers, two features) ``Exact`` computes the sum over all trees, which the samplers
# approximate.

flowers, species = load_iris(return_X_y=True)
rows = np.r_[0:6, 60:66, 110:116]
small, labels = flowers[rows][:, 2:], species[rows]
for sampler in (Exact(), SMC.paper(n_particles=1000, n_islands=20)):
    clf = BayesianTreeClassifier(TreePrior.paper(), Categorical.paper(), sampler, random_state=0).fit(small, labels)
    print(f"{type(sampler).__name__:5} log evidence {clf.log_evidence_:.3f}")
