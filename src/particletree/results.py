"""Types of what methods of estimators and posteriors return, for annotations and for reading."""

from particletree._data import DataFingerprint
from particletree._model import ClassLabels, Forest, Numbers, Tree
from particletree._model.bart import Scaling, SumPrior
from particletree._posterior import Island, Provenance
from particletree._posterior.base import BasePosterior
from particletree._posterior.explanation.conditions import LevelApart, RowRule
from particletree._posterior.explanation.explanation import Explanation, Neighbour
from particletree._posterior.explanation.groups import Parting, TreeGroup
from particletree._posterior.findings.finding import Finding, Findings
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.predictions.trees import Predictions, Variances
from particletree._posterior.runs.convergence import Convergence, ConvergenceReport
from particletree._posterior.runs.provenance import Choice, Seed
from particletree._posterior.structure.splits import NodeProbabilities
from particletree._posterior.structure.support import CredibleSplit
from particletree._posterior.summary.agreement import Agreement
from particletree._posterior.summary.sums import BARTSummary, SumConvergence
from particletree._posterior.summary.trees import FeatureUse, Spread, Summary
from particletree._posterior.sums_of_trees import SumsOfTrees
from particletree._posterior.weighted_trees import WeightedTrees

__all__ = [
    "Agreement",
    "BARTSummary",
    "BasePosterior",
    "Choice",
    "ClassLabels",
    "Convergence",
    "ConvergenceReport",
    "CredibleSplit",
    "DataFingerprint",
    "Explanation",
    "FeatureUse",
    "Finding",
    "Findings",
    "Forest",
    "Island",
    "LevelApart",
    "Neighbour",
    "NodeProbabilities",
    "Numbers",
    "Parting",
    "Predictions",
    "Provenance",
    "RowRule",
    "Scaling",
    "Seed",
    "Spread",
    "SumConvergence",
    "SumPrior",
    "Summary",
    "SumsOfTrees",
    "Tree",
    "TreeGroup",
    "TreeSums",
    "Variances",
    "WeightedTrees",
]
