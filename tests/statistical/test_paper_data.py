"""Quality on the paper's data, where the folder with them is there: mean over 10 seeds, default settings."""

import os
from pathlib import Path

import numpy as np
import pytest

from particletree import BayesianTreeClassifier
from particletree._commands.cart import accuracy, make_cart, mean_log_probability, smoothed_probabilities
from particletree.datasets import VARIABLE, load_magic, load_pendigits

FOLDER = Path(os.environ.get(VARIABLE, Path(__file__).parents[3] / "shared" / "data"))


def mean_scores(load):
    """Return the mean test accuracy and log-probability over 10 seeds, ours and CART's."""
    ours, carts = [], []
    for seed in range(10):
        data = load(seed)
        model = BayesianTreeClassifier(random_state=seed).fit(data.X_train, data.y_train)
        cart = make_cart(random_state=seed).fit(data.X_train, data.y_train)
        for scores, predicted in (
            (ours, model.predict_proba(data.X_test)),
            (carts, smoothed_probabilities(cart, data.X_test)),
        ):
            y, classes = data.y_test, model.classes_
            scores.append((accuracy(predicted, classes, y), mean_log_probability(predicted, classes, y)))
    print(f"ours {np.mean(ours, axis=0)} (sd {np.std(ours, axis=0)}), CART {np.mean(carts, axis=0)}")
    return np.mean(ours, axis=0), np.mean(carts, axis=0)


@pytest.mark.skipif(not (FOLDER / "pendigits.tra.gz").exists(), reason="the pen-digits data are not here")
def test_pendigits():
    ours, cart = mean_scores(lambda _: load_pendigits(FOLDER))
    assert ours[0] >= 0.925
    assert ours[1] >= -0.28
    assert (ours > cart).all()


@pytest.mark.skipif(not (FOLDER / "magic04.data.gz").exists(), reason="the MAGIC data are not here")
def test_magic():
    ours, cart = mean_scores(lambda seed: load_magic(FOLDER, seed))
    assert ours[0] >= 0.85
    assert ours[1] >= -0.365
    assert (ours > cart).all()
