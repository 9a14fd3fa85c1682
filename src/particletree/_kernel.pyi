"""Types of the compiled kernel (kernel/bindings/)."""

from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

LEAF_MODELS: tuple[str, ...]
PRIORS: tuple[str, ...]
PROPOSALS: tuple[str, ...]

class TreeArrays(TypedDict):
    nodes: NDArray[np.uint8]  # a row of bytes per node
    roots: NDArray[np.int32]
    statistics: NDArray[np.float64]
    row_hashes: NDArray[np.uint64]
    weights: NDArray[np.float64]
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]

class IslandArrays(TreeArrays):
    log_evidence: float
    truncated: bool
    trace_ess: NDArray[np.float64]
    trace_resampled: NDArray[np.uint8]
    trace_n_blocks: NDArray[np.uint32]
    trace_log_evidence: NDArray[np.float64]
    genealogy_generation: NDArray[np.uint32]
    genealogy_parent: NDArray[np.uint32]
    genealogy_copies: NDArray[np.uint32]

class ChainArrays(TreeArrays):
    trace_iteration: NDArray[np.uint32]
    trace_tree: NDArray[np.int32]
    trace_move: NDArray[np.uint8]
    trace_accepted: NDArray[np.uint8]
    trace_seconds: NDArray[np.float32]
    trace_rows: NDArray[np.uint32]
    trace_visits: NDArray[np.uint32]

class Monitor:
    def __init__(self, n_islands: int) -> None: ...
    def cancel(self) -> None: ...
    def n_running(self) -> int: ...
    def step(self, run: int) -> int: ...
    def value(self, run: int) -> float: ...
    def is_done(self, run: int) -> bool: ...

class Problem:
    def __init__(
        self,
        ranks: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        values: NDArray[np.float64],
        offsets: NDArray[np.int64],
        n_levels: NDArray[np.uint32],
        target: NDArray[np.int32] | NDArray[np.float64],
        weights: NDArray[np.float64],
        leaf: str,
        leaf_parameters: NDArray[np.float64],
        prior: str,
        prior_parameters: NDArray[np.float64],
        feature_weights: NDArray[np.float64],
        row_columns: dict[str, NDArray[np.float64]] = ...,
    ) -> None: ...

class Predictor:
    def __init__(
        self,
        n_features: int,
        nodes: NDArray[np.uint8],
        roots: NDArray[np.int32],
        leaf_means: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> None: ...
    @property
    def n_cuts(self) -> int: ...
    @property
    def n_leaves(self) -> int: ...
    def means(self, X: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def mixtures(
        self, X: NDArray[np.float64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint32]]: ...

def rank_columns(
    X: NDArray[np.float64], positions: NDArray[np.uint32], n_levels: NDArray[np.uint32]
) -> tuple[NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]: ...
def hash_stretches(content: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]: ...
def half_deviance(x: float, mean: float) -> float: ...
def log_gamma(x: float) -> float: ...
def log_rising(start: float, n: int) -> NDArray[np.float64]: ...
def log_rising_ratio(a: float, d: float) -> float: ...
def stirling_error(x: float) -> float: ...
def run_island(
    problem: Problem,
    *,
    generator: np.random.BitGenerator,
    monitor: Monitor,
    island: int,
    n_particles: int,
    proposal: str,
    expansion: str,
    priority: str,
    resampling: str,
    ess_threshold: float,
    max_stages: int,
    n_candidates: int = 10,
    cache_bytes: int = 0,
) -> IslandArrays: ...
def run_chain(
    problem: Problem,
    *,
    initial_nodes: NDArray[np.uint8],
    generator: np.random.BitGenerator,
    monitor: Monitor,
    chain: int,
    n_iterations: int,
    burn_in: int,
    thin: int,
    move_weights: NDArray[np.float64],
    regrow_share: float = ...,  # with it, also the following
    n_particles: int = ...,
    proposal: str = ...,
    n_candidates: int = ...,
    expansion: str = "node",
    ess_threshold: float = ...,
) -> ChainArrays: ...
def apply(X: NDArray[np.float64], nodes: NDArray[np.uint8], roots: NDArray[np.int32]) -> NDArray[np.int32]: ...
def share_nodes(
    nodes: NDArray[np.uint8], row_hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def draw_uniform(generator: np.random.BitGenerator, n: int) -> NDArray[np.float64]: ...
def draw_successes(
    generator: np.random.BitGenerator, n_trials: int, probability: float, n: int
) -> NDArray[np.uint32]: ...
def draw_below(generator: np.random.BitGenerator, bound: int, n: int) -> NDArray[np.uint32]: ...
def draw_between(generator: np.random.BitGenerator, low: float, high: float, n: int) -> NDArray[np.float64]: ...
def draw_categories(
    generator: np.random.BitGenerator, log_weights: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int64], float]: ...
def resample(generator: np.random.BitGenerator, weights: NDArray[np.float64], scheme: str) -> NDArray[np.uint32]: ...

class SumArrays(TypedDict):
    nodes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    structure_of: NDArray[np.int32]
    values: NDArray[np.float64]
    trace_iteration: NDArray[np.uint32]
    trace_noise_sd: NDArray[np.float64]
    trace_log_likelihood: NDArray[np.float64]
    trace_n_leaves: NDArray[np.uint32]
    trace_seconds: NDArray[np.float32]
    moves_proposed: NDArray[np.uint64]
    moves_accepted: NDArray[np.uint64]
    state: dict[str, Any]

class SumProblem:
    def __init__(
        self,
        ranks: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        values: NDArray[np.float64],
        offsets: NDArray[np.int64],
        n_levels: NDArray[np.uint32],
        weights: NDArray[np.float64],
        prior: str,
        prior_parameters: NDArray[np.float64],
        feature_weights: NDArray[np.float64],
    ) -> None: ...

def run_sum_of_trees(
    problem: SumProblem,
    *,
    target: NDArray[np.float64],
    initial: dict[str, Any] | None,
    generator: np.random.BitGenerator,
    monitor: Monitor,
    chain: int,
    is_probit: bool,
    offset: float,
    n_trees: int,
    leaf_sd: float,
    noise_df: float,
    noise_scale: float,
    noise_sd: float,
    n_start: int,
    n_before: int,
    n_iterations: int,
    burn_in: int,
    thin: int,
    move_weights: NDArray[np.float64],
    regrow_share: float,
    n_particles: int,
    proposal: str,
    n_candidates: int,
    ess_threshold: float,
    expansion: str = "node",
    most_nodes: int = ...,
) -> SumArrays: ...

class SumDraws:
    def __init__(
        self,
        nodes: NDArray[np.uint8],
        starts: NDArray[np.int64],
        structure_of: NDArray[np.int32],
        values: NDArray[np.float64],
    ) -> None: ...
    def predict(self, X: NDArray[np.float64], first_draw: int, last_draw: int) -> NDArray[np.float64]: ...
    def mean(self, X: NDArray[np.float64]) -> NDArray[np.float64]: ...

class ParticleTrees:
    def __init__(
        self,
        weights: NDArray[np.float64],
        has_levels: NDArray[np.uint8],
        rho: float,
        rate: float,
        n_classes: int,
        concentration: float,
        n_particles: int,
    ) -> None: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_level_sets(self) -> int: ...
    def extend(
        self,
        generator: np.random.BitGenerator,
        rows: NDArray[np.float64],
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64],
        adapted: bool = True,
    ) -> NDArray[np.float64]: ...
    def means(self, rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def resample(self, survivors: NDArray[np.int64]) -> None: ...
    def tree(self, particle: int) -> Any: ...
