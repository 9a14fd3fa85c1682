"""Loading of any file of this package: the posterior of single trees, or that of sums of trees."""

from __future__ import annotations

import os

from particletree._posterior.archive import HEADER, SUMS_OF_TREES, errors_about, read_archive
from particletree._posterior.bart_posterior import BARTPosterior
from particletree._posterior.files.schema import format_of
from particletree._posterior.posterior import Posterior


def load(path: str | os.PathLike[str]) -> Posterior | BARTPosterior:
    """Read a posterior from a file that `save` or `particletree fit` wrote.

    Nothing in the file is executed, and a damaged file raises a `ValueError`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Posterior or BARTPosterior
        The posterior of single trees, or of sums of trees (BART); `from_posterior` of an estimator takes it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import particletree
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> clf = particletree.BayesianTreeClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.posterior_.save(Path(folder) / "trees.npz")
    ...     posterior = particletree.load(Path(folder) / "trees.npz")
    >>> particletree.BayesianTreeClassifier.from_posterior(posterior).predict([[0.2], [2.7]]).tolist()
    ['a', 'b']
    """
    with errors_about(path):
        members = read_archive(path)
        kind = BARTPosterior if format_of(members[HEADER]) == SUMS_OF_TREES else Posterior
        return kind.from_members(members)
