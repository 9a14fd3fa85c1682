"""Write docs/diagnostics.md from the checks of the findings: `python docs/make_diagnostics.py`."""

from __future__ import annotations

import inspect
from pathlib import Path

from particletree._posterior.findings import ADVICE, GROUPS

PAGE = Path(__file__).with_name("diagnostics.md")
OPENING = """\
# Diagnostics that advise

`posterior.findings()` says in plain words what a posterior tells about itself, with the number behind each finding and
what to do about it:

```python
from sklearn.datasets import load_iris
from particletree import SMC, BayesianTreeClassifier

X, y = load_iris(return_X_y=True)
clf = BayesianTreeClassifier(sampler=SMC(n_islands=1), random_state=0).fit(X, y)
for finding in clf.posterior_.findings():
    print(finding.level, finding.name, finding.number, finding.threshold)
print(clf.posterior_.findings())  # as text, warnings first
```

A finding is **good** (it speaks for the result), a **note** (to be known) or a **warning** (to be acted on). It has the
fields `level`, `name`, `finding`, `number`, `threshold` and `advice`; `findings().to_dict()` can be written as JSON.
The limits and words of what runs agree on are those of `posterior.summary()`. Without held-out rows, findings are
computed from the posterior alone: that there is no warning does not prove that nothing was missed, and nothing says
that the trees predict well. `findings(X_test, y_test)` compares them with a constant.

This page is made from the checks themselves by `python docs/make_diagnostics.py`; a test holds the two together.
"""


def page() -> str:
    """Return the page."""
    parts = [OPENING]
    for title, checks in GROUPS.items():
        parts += [f"## {title}\n", *map(describe, checks)]
    return "\n".join(parts)


def describe(check) -> str:
    """Return the section of one check: its description, its threshold, and its advice."""
    what, _, threshold = inspect.getdoc(check).partition("\n\n")
    advice = ADVICE.get(check.__name__)
    lines = [f"### `{check.__name__}`", "", what, "", threshold, ""]
    return "\n".join(lines + ([f"**What to do.** {advice}", ""] if advice else []))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
