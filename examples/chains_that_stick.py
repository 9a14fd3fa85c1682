"""
Do my chains move, or do they stick?
====================================

A Markov chain over trees changes one node at a time. To change a first split it must undo everything below it, so a
chain can keep its first splits for the whole run. :class:`~particletree.ParticleGibbs` also regrows whole subtrees by a
particle filter that is conditioned on the current one. The numbers of leaves along four chains show whether they have
converged. A particle filter with 20 islands, each with its own first splits, is a cross-check.
"""

import time

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from particletree import MCMC, SMC, BayesianTreeClassifier, ParticleGibbs, TreePrior

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
samplers = {
    "MCMC": MCMC(n_iterations=100_000, n_chains=4, initial="smc"),
    "ParticleGibbs": ParticleGibbs(n_iterations=40_000, n_chains=4),
    "SMC": SMC(n_islands=20),
}
fits = {}
for name, sampler in samplers.items():
    start = time.process_time()
    clf = BayesianTreeClassifier(TreePrior(0.95, 0.5), sampler=sampler, random_state=0).fit(X_train, y_train)
    seconds = time.process_time() - start
    print(f"{name:13} {seconds:.1f} s, mean log-probability {-log_loss(y_test, clf.predict_proba(X_test)):.3f}")
    fits[name] = clf

# %%
# The number of leaves of each chain, over the kept iterations. R-hat compares the variance within the chains with that
# between them. It is near 1 if the chains have converged, and ``findings()`` warns above 1.1.

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for ax, name in zip(axes, ("MCMC", "ParticleGibbs"), strict=True):
    posterior = fits[name].posterior_
    for leaves in posterior.along_chains(posterior.n_leaves):
        ax.plot(leaves, linewidth=0.8)
    rhat = posterior.summary().convergence.leaves.rhat
    ax.set(title=f"{name}: R-hat of the leaves {rhat:.2f}", xlabel="kept iteration")
axes[0].set_ylabel("leaves")

# %%
# With either sampler one chain stays at smaller trees than the others. Regrowing helps where many features are noise
# (:doc:`the guide </guide/particle_gibbs>` has figures), but not here. The predictions of such chains depend on where
# each of them started: run more chains, or use the particle filter, where more islands are cheap.
