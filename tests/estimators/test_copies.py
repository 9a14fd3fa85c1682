"""What an estimator can do after a fit it can do after pickling and after loading, with the same answers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.tree import export_text

import particletree
from fitted_estimators import ESTIMATORS, fitted, table
from particletree import Posterior
from particletree._posterior.base import NO_ROWS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::FutureWarning")

# What fits an estimator, makes a posterior or a file, or is an object whose methods the others call.
LEFT_OUT = {"fit", "from_posterior", "get_metadata_routing", "set_params", "get_params", "states"}
ONLY_CHAINS, ONLY_ISLANDS = {"along_chains", "convergence"}, {"log_evidence", "log_evidence_se"}
ONLY_ISLANDS |= {f"{name}_" for name in ONLY_ISLANDS}
REFUSED = {
    "classes": ONLY_CHAINS,
    "numbers": ONLY_CHAINS,
    "counts": ONLY_CHAINS | {"to_sklearn"},  # a categorical feature
    "chains of 3 classes": ONLY_ISLANDS,
    "sums": set(),
    "sums of 2 classes": {"noise_sd"},
    "sums of 3 classes": {"noise_sd"},
}
LEFT_OUT |= {"from_islands", "from_members", "load", "save", "merge", "check", "extended", "until", "predictions"}


@pytest.fixture(params=list(ESTIMATORS))
def name(request):
    return request.param


@pytest.fixture(params=["pickled", "saved"])
def copied(request, name, tmp_path):
    """Return the copy of an estimator: by joblib, or from the file of its posterior."""
    model = fitted(name)
    if request.param == "pickled":
        joblib.dump(model, tmp_path / "model")
        return joblib.load(tmp_path / "model")
    model.posterior_.save(tmp_path / "posterior")
    return type(model).from_posterior(particletree.load(tmp_path / "posterior"))


def arguments(name, posterior):
    """Return the arguments of every method that needs some."""
    X, y, _, more = table(name)
    X, y, more = X[:9], y[:9], {key: value[:9] for key, value in more.items()}
    of_rows = ("predict", "predict_interval", "predict_proba", "predict_log_proba", "predict_variance")
    of_posterior = ("as_numbers", "predictive", "predictive_interval", "predictive_draws")
    found = dict.fromkeys((*of_rows, *of_posterior), (X,)) | {
        "along_chains": (np.arange(posterior.weights.size),),
        "explain": (X.iloc[1],),
        "predictive_quantiles": (X, (0.1, 0.9)),
        "predict_quantiles": (X, (0.1, 0.9)),
        "predict_log_density": (X, y, *more.values()),
        "sample": (3, 0),
        "sample_predictive": (X, 3, 0),
        "score": (X, y, None, *more.values()),
    }
    if isinstance(posterior, Posterior):
        tree = posterior.best_tree()
        found |= {"explained_share": (tree,), "node_probabilities": (tree,)}
        found |= {"leaf_blocks": (posterior.as_numbers(X),)}
    return found


def answers(thing, of_methods):
    """Return the answers of all public methods and properties, and the names of those that refuse to answer."""
    parameters = thing.get_params() if hasattr(thing, "get_params") else {}
    found, refused = {}, set()
    for name in dir(type(thing)):
        if name.startswith(("_", "set_")) or name in LEFT_OUT or name in parameters:
            continue
        try:
            value = getattr(thing, name)
            found[name] = plain(value(*of_methods.get(name, ())) if inspect.ismethod(value) else value)
        except (AttributeError, ValueError):
            refused.add(name)
    return found, refused


def plain(value):
    """Return an answer as arrays, texts and numbers, and lists and mappings of these."""
    if isinstance(value, np.ndarray) and value.dtype.names is not None:
        return value.tobytes()
    if hasattr(value, "SerializeToString"):
        return value.SerializeToString()
    if isinstance(value, csr_array):
        return value.toarray()
    if isinstance(value, BaseEstimator):
        return [str(value), export_text(value)]
    if type(value).__name__ in ("InferenceData", "DataTree"):
        return {key: np.asarray(values) for key, values in value.posterior.data_vars.items()}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value) if each.name != "states"}
    assert " at 0x" not in repr(value)
    return value if isinstance(value, np.ndarray | np.generic | float) else repr(value)


def test_copies_answer_the_same(name, copied):
    model = fitted(name)
    arguments_of_all = arguments(name, model.posterior_)
    for mine, its in ((model, copied), (model.posterior_, copied.posterior_)):
        expected, refused = answers(mine, arguments_of_all)
        found, also_refused = answers(its, arguments_of_all)
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            np.testing.assert_equal(found[key], value, err_msg=key)
        assert also_refused == refused
        assert refused <= REFUSED[name]
    assert copied.prior_ == model.prior_


@pytest.mark.parametrize("name", ["classes", "numbers", "counts", "sums", "sums of 3 classes"])
def test_what_needs_rows_says_so_without_them(name, tmp_path):
    """One sentence, the same everywhere; everything else answers as before."""
    posterior = fitted(name).posterior_
    posterior.save(tmp_path / "posterior", keep_rows=False)
    loaded = particletree.load(tmp_path / "posterior")
    X = table(name)[0]
    np.testing.assert_array_equal(loaded.predictive(X), posterior.predictive(X))
    model = type(fitted(name)).from_posterior(loaded)
    if isinstance(loaded, Posterior):
        calls = [model.to_sklearn, loaded.consensus_tree, lambda: loaded.explained_share(loaded.best_tree())]
        assert model.explain(X.iloc[0]).neighbours_note == NO_ROWS
    else:
        calls = [loaded.convergence]
        assert loaded.summary().verdict == NO_ROWS
    for call in (*calls, loaded.feature_importances, lambda: model.feature_importances_):
        with pytest.raises(ValueError, match=re.escape(NO_ROWS)):
            call()
