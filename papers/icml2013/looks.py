"""The style of each method in all figures: as in the paper, optimal in blue circles and prior in red squares."""

from __future__ import annotations

from papers.harness.panels import Look

OPTIMAL = Look(0)
PRIOR = Look(1)
EMPIRICAL = Look(2)
OPTIMAL_LAYER = Look(0, dashed=True)
PRIOR_LAYER = Look(1, dashed=True)
ONE_CHAIN = Look(6, marker=3)
FIVE_CHAINS = Look(3, marker=4)

LOG_PROBABILITY = "mean test log-probability, nats"
ACCURACY = "test accuracy"
SECONDS = "fit time, processor seconds"
PARTICLES = "number of particles"
SCORES = {"log_probability": LOG_PROBABILITY, "accuracy": ACCURACY}
