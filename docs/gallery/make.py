"""Draws every plot of particletree.plots on real data, and writes the page that shows them.

python docs/gallery/make.py          from a clone, with pip install ".[plots]" palmerpenguins
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.model_selection import train_test_split

from particletree import MCMC, SMC, BayesianTreeClassifier, BayesianTreeRegressor, TreePrior, plots

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))  # of the clone, for how pictures are saved
PICTURES: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Register a drawing function for the gallery; its docstring is the sentence below the picture."""
    PICTURES[draw.__name__] = draw
    return draw


@cache
def iris() -> Any:
    """Return flowers and their species."""
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@cache
def cancer() -> Any:
    """Return cells and their diagnoses, half for training and half for testing."""
    data = load_breast_cancer(as_frame=True)
    return train_test_split(data.data, data.target_names[data.target], test_size=0.5, random_state=0)


@cache
def diabetes() -> Any:
    """Return patients and the progression of their disease."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@cache
def penguins() -> Any:
    """Return penguins, with categories and missing values, and their species."""
    from palmerpenguins import load_penguins

    frame = load_penguins()
    return frame.drop(columns=["species", "year"]), frame["species"]


@cache
def letters() -> Any:
    """Return a generated table with 26 classes and long names."""
    X, y = make_classification(3000, 12, n_informative=10, n_classes=26, n_clusters_per_class=1, random_state=0)
    import pandas as pd

    names = [f"intensity of the reflected light, channel {i}" for i in range(12)]
    return pd.DataFrame(X, columns=names), np.array([f"letter {chr(65 + k)}" for k in y])


@cache
def fitted(data: Callable[[], Any], estimator: type = BayesianTreeClassifier) -> Any:
    """Return an estimator fitted to a table, with the defaults."""
    X, y = (cancer()[0], cancer()[2]) if data is cancer else data()
    return estimator(random_state=0).fit(X, y)


@picture
def tree_of_classes() -> Any:
    """One tree for the iris data: support of each split, class probabilities and rows of each leaf."""
    posterior = fitted(iris).posterior_
    return plots.plot_tree(posterior.consensus_tree(), posterior=posterior)


@picture
def tree_of_numbers() -> Any:
    """A tree that predicts numbers: density of a new observation, mean and 90% credible interval of each leaf."""
    posterior = fitted(diabetes, BayesianTreeRegressor).posterior_
    return plots.plot_tree(posterior.best_tree())


@picture
def tree_in_one_column() -> Any:
    """The same tree as an outline, for one column of a page, with the support of each split."""
    posterior = fitted(diabetes, BayesianTreeRegressor).posterior_
    return plots.plot_tree(posterior.best_tree(), posterior=posterior, outline=True)


@picture
def tree_folded() -> Any:
    """A tree with 26 classes and long names: deeper parts are folded, names are cut, leaves show two classes."""
    posterior = fitted(letters).posterior_
    return plots.plot_tree(posterior.best_tree(), max_leaves=10)


@picture
def dependence_of_a_class() -> Any:
    """Probability along one feature, averaged over the rows, with a 90% band over trees; ticks are the deciles."""
    X = cancer()[0]
    return plots.plot_dependence(fitted(cancer), "worst concave points", X)


@picture
def dependence_of_a_mean() -> Any:
    """The same for a mean: the progression of diabetes along the body mass index."""
    X, _ = diabetes()
    return plots.plot_dependence(fitted(diabetes, BayesianTreeRegressor), "bmi", X)


@picture
def dependence_with_missing() -> Any:
    """The probabilities of three species along a feature with missing values, which have marks of their own."""
    X, _ = penguins()
    return plots.plot_dependence(fitted(penguins), "bill_length_mm", X)


@picture
def dependence_on_levels() -> Any:
    """A categorical feature: points with bars."""
    X, _ = penguins()
    return plots.plot_dependence(fitted(penguins), "island", X)


@picture
def importances() -> Any:
    """Importance and inclusion probability of 30 features, with whiskers over islands."""
    return plots.plot_importances(fitted(cancer))


@picture
def interactions() -> Any:
    """How often two features are cut in one tree, and on one path from the root, with standard errors over islands."""
    return plots.plot_interactions(fitted(diabetes, BayesianTreeRegressor))


@picture
def sizes() -> Any:
    """Leaves and depth under the posterior against the prior on the same rows: what the data say about size."""
    X = cancer()[0]
    return plots.plot_sizes(fitted(cancer), X)


@picture
def calibration() -> Any:
    """Whether probabilities on test data come true, with counts and proper scores."""
    _, X_test, _, y_test = cancer()
    return plots.plot_calibration(fitted(cancer), X_test, y_test)


@picture
def stages() -> Any:
    """The particle filter at work: effective sample size with resampling, and the log evidence, by stage."""
    X, y = iris()
    clf = BayesianTreeClassifier(sampler=SMC.paper(n_particles=200, n_islands=4), random_state=0).fit(X, y)
    return plots.plot_stages(clf)


@picture
def genealogy() -> Any:
    """Which particles have descendants: a band is a lineage, as wide as it has copies, and blue if it is not lost."""
    X, y = iris()
    clf = BayesianTreeClassifier(sampler=SMC.paper(n_particles=200, n_islands=4), random_state=0).fit(X, y)
    return plots.plot_genealogy(clf, island=1)


@picture
def genealogy_of_many() -> Any:
    """The same with 2,000 particles and hundreds of resamplings, of which those nearest to the end are shown."""
    X, y = letters()
    clf = BayesianTreeClassifier(sampler=SMC.paper(n_particles=2000, n_islands=1), random_state=0).fit(X, y)
    return plots.plot_genealogy(clf)


@picture
def stages_of_chains() -> Any:
    """Markov chains: leaves and log likelihood along the kept iterations."""
    X, y = iris()
    clf = BayesianTreeClassifier(sampler=MCMC(n_iterations=2000, n_chains=3), random_state=0).fit(X, y)
    return plots.plot_stages(clf)


@picture
def islands() -> Any:
    """Islands compared: evidence, size of the trees, and how far each one's predictions are from all together."""
    return plots.plot_islands(fitted(diabetes, BayesianTreeRegressor))


@picture
def partition_of_classes() -> Any:
    """The plane of two features: colour is the most probable species, paler where it is less sure."""
    X, _ = iris()
    return plots.plot_partition(fitted(iris), X, ("petal length (cm)", "petal width (cm)"))


@picture
def partition_of_means() -> Any:
    """The same for a mean, hatched where its credible interval is wide; other features are at their median."""
    X, _ = diabetes()
    return plots.plot_partition(fitted(diabetes, BayesianTreeRegressor), X, ("bmi", "s5"))


@picture
def choice() -> Any:
    """Settings of the prior that were tried where they are "auto", and their evidence."""
    X, y = iris()
    prior = TreePrior(alpha="auto", beta="auto")
    return plots.plot_choice(BayesianTreeClassifier(prior=prior, random_state=0).fit(X, y))


def code_of(draw: Callable[[], Any]) -> str:
    """Return the source of a function's body, without its docstring."""
    lines = inspect.getsource(draw).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.endswith('"""')) + 1
    return textwrap.dedent("\n".join(lines[begin:])).replace("return ", "ax = ")


def entry(name: str) -> str:
    """Draw one picture, and return its entry on the page."""
    from benchmarks.style import save

    axes, sentence = PICTURES[name](), inspect.getdoc(PICTURES[name])
    figure = (axes[0] if isinstance(axes, list) else axes).figure
    save(figure, FOLDER, name)
    pyplot.close(figure)
    code = code_of(PICTURES[name])
    words = name.replace("_", " ")
    return f"## {words}\n\n{sentence}\n\n![{words}]({name}.png)\n\n```python\n{code}\n```\n"


def is_available(name: str) -> bool:
    """Tell whether the data of a picture are available."""
    return "penguins" not in code_of(PICTURES[name]) or find_spec("palmerpenguins") is not None


HEAD = """# Every plot

Every plot of `particletree.plots`, drawn by `python docs/gallery/make.py`. There the functions `iris`, `cancer`,
`diabetes` and `penguins` load real tables, `letters` generates one with 26 classes and long names, and `fitted` fits an
estimator with the defaults. For each plot there is a function that returns its data without matplotlib, for example
`plots.importances_data`.
"""


def main() -> None:
    """Draw all pictures, and write the page."""
    entries = [entry(name) for name in PICTURES if is_available(name)]
    (FOLDER / "README.md").write_text("\n".join([HEAD, *entries]), encoding="utf-8")


if __name__ == "__main__":
    main()
