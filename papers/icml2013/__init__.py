"""The evaluation of Lakshminarayanan, Roy & Teh, *Top-down particle filtering for Bayesian decision trees* (ICML 2013).

One module a figure; `EXPERIMENTS` has them in the order of the paper. The README beside this file is a map.
"""

from papers.icml2013 import (
    chains,
    classic,
    evidence,
    irrelevant,
    islands,
    prior,
    proposals,
    reasons,
    sensitivity,
    variants,
)
from papers.icml2013.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (prior, proposals, variants, irrelevant, islands, chains, classic, evidence, sensitivity, reasons)
}
