"""Plots of a posterior: for each plot a function that returns its data, and one that draws them.

=====================================================  ================================================================
drawing                                                data
=====================================================  ================================================================
:func:`plot_tree`                                      :func:`tree_layout`
:func:`plot_dependence`                                :func:`dependence_data`
:func:`plot_importances`, :func:`plot_interactions`    :func:`importances_data`, :func:`interactions_data`
:func:`plot_sizes`                                     :func:`sizes_data`
:func:`plot_calibration`                               :func:`calibration_data`
:func:`plot_stages`, :func:`plot_islands`              :func:`stages_data`, :func:`islands_data`
:func:`plot_genealogy`                                 :func:`genealogy_data`
:func:`plot_partition`                                 :func:`partition_data`
:func:`plot_choice`                                    :func:`choice_data`
=====================================================  ================================================================

Drawing needs matplotlib (``pip install "particletree[plots]"``), the data do not. A plot draws on the given axes and
returns them; without axes it makes a new figure, one column wide, which can be saved by `ax.figure.savefig`.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from particletree import BayesianTreeClassifier
>>> from particletree.plots import importances_data
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> importances_data(BayesianTreeClassifier(random_state=0).fit(X, y)).names[0]
'petal width (cm)'
"""

from particletree._plots.calibration import Calibration, calibration_data, plot_calibration
from particletree._plots.dependence import Dependence, dependence_data, plot_dependence
from particletree._plots.genealogy import Bands, genealogy_data, plot_genealogy
from particletree._plots.importances import (
    Importances,
    Interactions,
    importances_data,
    interactions_data,
    plot_importances,
    plot_interactions,
)
from particletree._plots.partition import Partition, partition_data, plot_partition
from particletree._plots.runs import (
    Run,
    Runs,
    Settings,
    choice_data,
    islands_data,
    plot_choice,
    plot_islands,
    plot_stages,
    stages_data,
)
from particletree._plots.sizes import Sizes, plot_sizes, sizes_data
from particletree._plots.tree import plot_tree
from particletree._plots.tree_layout import TreeLayout, tree_layout

__all__ = [
    "Bands",
    "Calibration",
    "Dependence",
    "Importances",
    "Interactions",
    "Partition",
    "Run",
    "Runs",
    "Settings",
    "Sizes",
    "TreeLayout",
    "calibration_data",
    "choice_data",
    "dependence_data",
    "genealogy_data",
    "importances_data",
    "interactions_data",
    "islands_data",
    "partition_data",
    "plot_calibration",
    "plot_choice",
    "plot_dependence",
    "plot_genealogy",
    "plot_importances",
    "plot_interactions",
    "plot_islands",
    "plot_partition",
    "plot_sizes",
    "plot_stages",
    "plot_tree",
    "sizes_data",
    "stages_data",
    "tree_layout",
]
