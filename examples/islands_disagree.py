"""
The islands disagree: what now?
===============================

An island is an independent run of the sampler on all the data. Where islands disagree, part of the result depends on
the random seed. ``findings`` says on what they disagree, by how much, and what to do.
"""

from sklearn.datasets import load_breast_cancer

from particletree import SMC, BayesianTreeClassifier
from particletree.plots import plot_islands

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
clf = BayesianTreeClassifier(random_state=0).fit(X, y)
print(clf.posterior_.findings())

# %%
# The same as a plot: the evidence of each island, the size of its trees, and how far its predictions are from those of
# all islands together.

axes = plot_islands(clf)

# %%
# **Predictions and gain shares** are averages over islands, so more islands make them more stable. You can continue an
# existing fit: with ``warm_start`` the new islands are added to the old ones. Only their number changes here; the other
# settings stay the estimator's.

clf.set_params(warm_start=True, sampler__n_islands=40)
clf.fit(X, y)
for name in ("predictions", "gain_shares"):
    print(next(finding for finding in clf.posterior_.findings() if finding.name == name))

# %%
# **The evidence** does not become stable by more islands alone: each island has too few particles to find the trees
# that the others have. More particles, or more candidates per particle, bring the islands closer together.

few = SMC(n_particles=10, n_islands=10, n_candidates=7)
many = SMC(n_particles=300, n_islands=10, n_candidates=60)
for sampler in (few, many):
    posterior = BayesianTreeClassifier(sampler=sampler, random_state=0).fit(X, y).posterior_
    spread = posterior.log_evidences.std()
    print(
        f"{sampler.n_particles:3} particles: log evidence {posterior.log_evidence:.1f}, spread of islands {spread:.1f}"
    )
