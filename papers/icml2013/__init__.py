"""The evaluation of Lakshminarayanan, Roy & Teh, *Top-down particle filtering for Bayesian decision trees* (ICML 2013).

One module per figure; `EXPERIMENTS` has them in the order of the paper. The README in this folder is an overview.
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
