"""The filter's behaviour: traces, trees, memory, interruption. Its distribution is tested in tests/statistical."""

import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

import oracle
from benchmarks.memory import peak_bytes, peak_rise
from particletree import SMC, Categorical, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.parallel import Task
from particletree._inference.progress import progress_bar, progress_line
from particletree._inference.smc import TruncatedTreesWarning, _run_island
from particletree._model.validity import check_forest
from particletree.reference import Problem, particle_filter

PRIOR = TreePrior.paper()
LEAF = Categorical.paper()
not_under_asan = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer holds freed memory back: its peaks say nothing"
)


def run(data, seed=0, **settings):
    return SMC.paper(**settings).run(data, PRIOR, LEAF, seed=np.random.SeedSequence(seed))


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return make_training_data(X, y, 10)


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("expansion", ["node", "layer"])
@pytest.mark.parametrize("priority", ["oldest", "likelihood"])
def test_trees_are_valid_and_hold_every_row(digits, proposal, expansion, priority):
    posterior = run(digits, n_particles=20, n_islands=2, proposal=proposal, expansion=expansion, priority=priority)
    check_forest(posterior.forest, posterior.n_features)
    roots = posterior.forest.nodes["block"][posterior.forest.roots]
    assert (posterior.forest.statistics[roots].sum(axis=1) == 1797).all()
    assert posterior.weights.sum() == pytest.approx(1.0)
    X, y = load_digits(return_X_y=True)
    for t in (0, posterior.forest.n_trees - 1):
        tree = posterior.trees[t]
        leaf = tree.apply(X)
        for node in np.unique(leaf):
            np.testing.assert_array_equal(tree.node_statistics[node], np.bincount(y[leaf == node], minlength=10))


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("expansion", ["node", "layer"])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_blocks_forget_and_make_again_changes_nothing(digits, proposal, expansion, weighted):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, digits.observations.values.size) if weighted else None
    data = replace(digits, observations=replace(digits.observations, weights=weights))
    task = Task.prepare(data, PRIOR, LEAF)
    islands = [
        _kernel.run_island(
            task.problem,
            n_particles=40,
            proposal=proposal,
            expansion=expansion,
            priority="oldest",
            resampling="systematic",
            ess_threshold=0.5,
            max_stages=5000,
            generator=np.random.PCG64(1),
            monitor=_kernel.Monitor(1),
            island=0,
            cache_bytes=cache_bytes,
        )
        for cache_bytes in (0, 1, 50_000)
    ]
    for other in islands[1:]:
        assert other.keys() == islands[0].keys()
        for name, values in islands[0].items():
            np.testing.assert_array_equal(other[name], values, err_msg=name)


@not_under_asan
def test_memory_is_bounded_where_particles_have_nothing_in_common():
    # Labels that are independent of X: nobody dies, and each particle has blocks of its own.
    n_rows, n_particles = 20_000, 1000
    rng = np.random.default_rng(0)
    data = make_training_data(rng.normal(size=(n_rows, 4)), rng.integers(0, 2, n_rows), 2)
    with pytest.warns(TruncatedTreesWarning):
        rise = peak_rise(lambda: run(data, n_particles=n_particles, n_islands=1, ess_threshold=0.0, max_stages=40))
    if rise is None:
        pytest.skip("the system does not tell a process's peak memory")
    assert rise < n_particles * n_rows * 4 / 2  # the rows of half the particles, once


@pytest.mark.parametrize("n_particles", [10, 3000])  # few cuts are counted by comparison, many by bins
@pytest.mark.parametrize("n_values", [5, 200, 2500])  # ranks of 8 and 16 bits, dense and, deep in the trees, sparse
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_right_whichever_way_they_are_counted(n_particles, n_values, proposal, weighted):
    rng = np.random.default_rng(n_values)
    X = rng.integers(0, n_values, size=(2500, 2)) / n_values
    y = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.6) + (rng.random(2500) < 0.2)
    weights = rng.uniform(0.5, 2.0, 2500) if weighted else np.ones(2500)
    posterior = run(make_training_data(X, y, 4, weights), n_particles=n_particles, n_islands=1, proposal=proposal)
    for t in rng.permutation(posterior.forest.n_trees)[:20]:
        tree = posterior.trees[int(t)]
        leaf = tree.apply(X)
        expected = np.zeros_like(tree.node_statistics)
        np.add.at(expected, (leaf, y), weights)
        is_leaf = tree.feature < 0
        np.testing.assert_allclose(tree.node_statistics[is_leaf], expected[is_leaf], rtol=1e-12)


@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_log_priors_and_likelihoods_agree_with_the_oracle(data_set):
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    posterior = run(data, n_particles=50, n_islands=1)

    for t, tree in enumerate(posterior.trees):
        known = oracle.read_tree(tree, data_set.X)
        assert posterior.log_priors[t] == pytest.approx(oracle.log_prior_density(data_set.X, PRIOR, known))
        log_likelihood = np.log(oracle.likelihood(data_set, known, LEAF.concentration))
        assert posterior.log_likelihoods[t] == pytest.approx(log_likelihood)


def test_the_trace_tells_what_happened(digits):
    posterior = run(digits, n_particles=50, n_islands=3, ess_threshold=0.3)
    assert len(posterior.trace) == 3
    for trace, log_evidence in zip(posterior.trace, posterior.log_evidences, strict=True):
        assert ((trace["ess"] >= 1 - 1e-9) & (trace["ess"] <= 50 + 1e-9)).all()
        low = trace["ess"] < 0.3 * 50
        np.testing.assert_array_equal(trace["resampled"][:-1], low[:-1])
        assert not trace["resampled"][-1]  # nothing is left to decide: it could only add noise
        assert (trace["n_blocks"] >= 1).all()
        assert trace["log_evidence"][-1] == pytest.approx(log_evidence)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_priority_decides_which_block_comes_first(flip, proposal):
    """After two stages the root and one child have been split: the oldest, or the one of the lowest marginal.

    A prior that always splits and a feature with one gap at the root make the first split certain; the labels are
    mixed on one side (a low marginal) and pure on the other.
    """
    mixed, pure = [0, 1, 0, 1, 0, 1, 0, 1], [1, 1, 1, 1]
    labels = np.array(pure + mixed if flip else mixed + pure)
    side = np.array([0.0] * (4 if flip else 8) + [100.0] * (8 if flip else 4))
    within = np.concatenate([np.arange(4.0) if flip else np.arange(8.0), np.arange(8.0) if flip else np.arange(4.0)])
    data = make_training_data(side[:, None] + within[:, None] / 1e9, labels, 2)
    split_children = {}
    for priority in ("oldest", "likelihood"):
        sampler = SMC.paper(
            n_particles=200, n_islands=1, proposal=proposal, priority=priority, max_stages=2, ess_threshold=0
        )
        with pytest.warns(TruncatedTreesWarning):
            posterior = sampler.run(data, TreePrior(alpha=0.999999, beta=0.0), LEAF, seed=np.random.SeedSequence(0))
        trees = [tree for tree in posterior.trees if tree.n_leaves == 3 and 1 < tree.threshold[0] < 99]
        assert len(trees) > 0
        split_children[priority] = {"left" if tree.feature[1] >= 0 else "right" for tree in trees}
    assert split_children == {"oldest": {"left"}, "likelihood": {"right" if flip else "left"}}


@pytest.mark.parametrize(("threshold", "expected"), [(0.0, False), (1.0, True)])
def test_thresholds_0_and_1_never_and_always_resample(digits, threshold, expected):
    trace = run(digits, n_particles=30, n_islands=1, ess_threshold=threshold).trace[0]
    uneven = trace["ess"] < 30 - 1e-9
    assert (trace["resampled"][:-1][uneven[:-1]] == expected).all()


def test_layers_take_as_many_stages_as_the_deepest_tree_has_levels(digits):
    posterior = run(digits, n_particles=30, n_islands=1, expansion="layer")
    assert posterior.trace[0].size <= posterior.depths.max() + 1
    nodes = run(digits, n_particles=30, n_islands=1).trace[0].size
    assert nodes > 3 * posterior.trace[0].size


def test_reference_and_kernel_estimate_the_same_evidence():
    data_set = oracle.THREE_CLASSES
    data = make_training_data(data_set.X, data_set.y, 3)
    kernel = np.exp(run(data, n_particles=10, n_islands=2000, ess_threshold=0.5).log_evidences)
    problem, rng = Problem(data_set.X, np.eye(3)[data_set.y], PRIOR, LEAF), np.random.default_rng(0)
    reference = np.exp(
        [particle_filter(problem, n_particles=10, ess_threshold=0.5, rng=rng).log_evidence for _ in range(300)]
    )
    error = np.hypot(kernel.std() / np.sqrt(kernel.size), reference.std() / np.sqrt(reference.size))
    z = (kernel.mean() - reference.mean()) / error
    assert abs(z) < 4, f"kernel {kernel.mean():.3g}, reference {reference.mean():.3g}, standard error {error:.2g}"


@pytest.mark.skipif(peak_bytes() is None, reason="the system does not tell how much memory was used")
@not_under_asan
def test_no_memory_is_lost_over_200_fits(digits):
    def peak_after(n_fits):
        for seed in range(n_fits):
            run(digits, seed=seed, n_particles=50, n_islands=1, proposal=_kernel.PROPOSALS[seed % 4])
        return peak_bytes()

    before = peak_after(50)
    assert peak_after(200) - before < 8 * 2**20


LONG_FIT = """
    import signal
    import numpy as np
    from particletree import MCMC, SMC, BayesianTreeClassifier

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in a shell's background would ignore Ctrl-C
    rng = np.random.default_rng(0)
    X = rng.normal(size=({n_rows}, 20))
    y = (X[:, :3] > 0) @ [1, 2, 4]
    model = BayesianTreeClassifier(sampler={sampler}, n_jobs={n_jobs}, verbose=1)
    print("ready", flush=True)
    try:
        model.fit(X, y)
        print("finished", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=5, n_islands=2), n_jobs={n_jobs}).fit(X[:100], y[:100])
    print("went on", len(model.posterior_.trees) > 0, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "sampler",
    [
        "SMC.paper(n_particles=500, n_islands=100)",
        "SMC.paper(n_particles=500, n_islands=100, proposal='optimal')",
        "MCMC(n_iterations=10**8, n_chains=4)",
    ],
)
def test_ctrl_c_stops_a_long_fit_and_the_process_goes_on(n_jobs, sampler):
    interrupt(LONG_FIT.format(n_jobs=n_jobs, sampler=sampler, n_rows=200_000), after=1.0)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("after", [0.3, 1.0])
def test_ctrl_c_stops_while_a_large_table_is_ranked(after):
    """2 million rows of 20 features are ranked in some 3 seconds."""
    interrupt(LONG_FIT.format(n_jobs=1, sampler="SMC.paper(n_particles=500)", n_rows=2_000_000), after)


def interrupt(program, after):
    """Start a program, press Ctrl-C and check that it stops within a second, goes on and ends in silence."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "interrupted\n", process.stderr.read()
        seconds = time.perf_counter() - start
        assert process.stdout.readline() == "went on True\n"
        assert process.wait(timeout=30) == 0
        assert "leaked" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    assert seconds < 1.0


class TestProgress:
    class Monitor:
        def step(self, run):
            return [7, 3, 0][run]

        def value(self, run):
            return 12.34

        def is_done(self, run):
            return run == 0

    def test_line(self):
        line = progress_line(self.Monitor(), 3, 1.26, SMC.words)
        assert line == "particletree [######--------------] 1/3 islands, stage 3, ESS 12.3, 1.3 s"

    def test_verbose_shows_it_on_standard_error(self, digits, capfd):
        SMC.paper(n_particles=5, n_islands=2).run(digits, PRIOR, LEAF, seed=np.random.SeedSequence(0), verbose=1)
        captured = capfd.readouterr()
        assert "2/2 islands" in captured.err
        assert captured.out == ""

    def test_the_rounds_of_a_time_budget_share_one_line_of_a_terminal(self, digits, monkeypatch):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        sampler = SMC.paper(n_particles=5, time_budget=0.5)
        posterior = sampler.run(digits, PRIOR, LEAF, seed=np.random.SeedSequence(0), verbose=1)
        shown = terminal.getvalue()
        assert posterior.n_islands > 1
        assert f"] {posterior.n_islands} islands, " in shown
        assert " of 0.5 s" in shown
        assert shown.count("\n") == 1
        assert shown.endswith("\n")

    def test_silent_by_default(self, digits, capfd):
        run(digits, n_particles=5, n_islands=2)
        assert capfd.readouterr().err == ""

    def test_the_bar_ends_when_the_work_fails(self, capfd):
        with pytest.raises(RuntimeError, match="work"), progress_bar(self.Monitor(), 3, SMC.words, show=True):
            raise RuntimeError("work")
        assert "1/3 islands" in capfd.readouterr().err


def test_a_cancelled_monitor_stops_an_island(digits):
    monitor = _kernel.Monitor(1)
    monitor.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        _run_island(SMC.paper(n_islands=1), Task.prepare(digits, PRIOR, LEAF), np.random.SeedSequence(0), monitor, 0)


def test_the_same_seed_object_gives_the_same_result_twice(digits):
    seed = np.random.SeedSequence(5)
    first, second = (SMC.paper(n_particles=5, n_islands=2).run(digits, PRIOR, LEAF, seed=seed) for _ in range(2))
    np.testing.assert_array_equal(first.log_evidences, second.log_evidences)


def test_parameters_that_were_made_wrong_later_are_found(digits):
    prior = TreePrior.paper()
    prior.alpha = 1.5
    with pytest.raises(ValueError, match=r"TreePrior\.alpha"):
        SMC.paper().run(digits, prior, LEAF, seed=np.random.SeedSequence(0))


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_gaps_whose_share_underflows_keep_the_evidence_finite(proposal):
    data = make_training_data([[0.0], [5e-324], [1e308]], [0, 1, 1], 2)
    posterior = run(data, n_particles=1, n_islands=20, proposal=proposal)
    assert np.isfinite(posterior.log_evidences).all()


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_tiny_weights_beside_large_ones_are_not_lost(proposal):
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(40) % 2, 1.0, 1e-18)
    data = make_training_data(rng.normal(size=(40, 2)), np.arange(40) % 2, 2, weights)
    posterior = run(data, n_particles=20, n_islands=2, proposal=proposal)
    assert (posterior.forest.statistics.sum(axis=1) > 0).all()
    posterior.check()


@pytest.mark.parametrize("concentration", [1e-100, 1e-8, 1e8])
@pytest.mark.parametrize("weight", [1.0, 1.5])
def test_extreme_concentrations(concentration, weight):
    data = make_training_data([[0.0], [1.0], [2.0], [5.0]], [0, 0, 1, 1], 2, np.full(4, weight))
    posterior = SMC.paper(n_islands=2).run(data, PRIOR, Categorical(concentration), seed=np.random.SeedSequence(0))
    assert np.isfinite(posterior.log_evidence)
    if concentration == 1e8:  # the labels of every leaf are fair coins
        assert posterior.log_evidence == pytest.approx(4 * weight * np.log(0.5), abs=1e-5)


class TestUnsoundInput:
    """What reaches the kernel from elsewhere than `data` is checked: no index may leave its array."""

    def problem(self, **changes):
        arguments = {
            "ranks": np.array([[0, 1, 2], [0, 0, 1]], dtype=np.uint16),
            "values": np.array([0.0, 1.0, 2.0, 5.0, 6.0]),
            "offsets": np.array([0, 3, 5]),
            "n_levels": np.empty(0, dtype=np.uint32),
            "target": np.array([0, 0, 1], dtype=np.int32),
            "weights": np.empty(0),
            "leaf": "categorical",
            "leaf_parameters": np.array([2.0, 5.0]),
            "prior": "chipman",
            "prior_parameters": np.array([0.95, 0.5, np.inf, 2.0]),
            "feature_weights": np.empty(0),
        }
        return _kernel.Problem(**arguments | changes)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"ranks": np.array([[0, 1, 3], [0, 0, 1]], dtype=np.uint16)}, "a rank is out of range"),
            ({"ranks": np.array([[0, 1, 2], [0, 0, 1]], dtype=np.int64)}, "8, 16 or 32 bits"),
            ({"ranks": np.empty((2, 0), dtype=np.uint16)}, "there must be a row"),
            ({"offsets": np.array([0, 3, 6])}, "offsets must go from 0 to the number of values"),
            ({"offsets": np.array([0, 5, 5])}, "every feature must have a value"),
            ({"offsets": np.array([0, 5])}, "one entry more"),
            ({"target": np.array([0, 0, 2], dtype=np.int32)}, "a label is out of range"),
            ({"target": np.array([-1, 0, 0], dtype=np.int32)}, "a label is out of range"),
            ({"target": np.array([0, 1, 0], dtype=np.int32)}, "in the order of their labels"),
            ({"target": np.array([0, 1], dtype=np.int32)}, "one entry per row"),
            ({"weights": np.ones(2)}, "one entry per row"),
            ({"target": np.zeros((3, 1))}, "must be labels"),
            ({"target": np.zeros(3)}, "rows x targets"),
            ({"target": np.zeros((3, 1), dtype=np.int32)}, "labels must be a vector"),
            ({"row_columns": {"exposure": np.ones(2)}}, "the row column exposure must have one entry per row"),
            ({"row_columns": {"exposure": np.ones(3)}}, "no use for the row column exposure"),
            ({"target": np.zeros(3, dtype=np.int64)}, "integers of 32 bits or floats of 64"),
            ({"leaf": "cubic"}, "unknown leaf model: cubic"),
            ({"leaf_parameters": np.array([2.0])}, "the number of classes and the concentration"),
            ({"leaf_parameters": np.array([0.0, 5.0])}, "there must be a class"),
            ({"leaf_parameters": np.array([2.0, np.nan])}, "the concentration must be positive"),
        ],
    )
    def test_problem(self, changes, message):
        self.problem()
        with pytest.raises(ValueError, match=message):
            self.problem(**changes)

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint32])
    def test_ranks_may_have_any_width_and_order(self, dtype):
        other = np.asfortranarray(np.array([[0, 1, 2], [0, 0, 1]], dtype=dtype))
        settings = {"n_particles": 5, "proposal": "prior", "expansion": "node", "priority": "oldest"}
        settings |= {"resampling": "multinomial", "ess_threshold": 0.1, "max_stages": 100}
        results = [
            _kernel.run_island(problem, **settings, generator=np.random.PCG64(0), monitor=_kernel.Monitor(1), island=0)
            for problem in (self.problem(), self.problem(ranks=other))
        ]
        assert results[0]["log_evidence"] == results[1]["log_evidence"]

    def test_monitor(self):
        with pytest.raises(IndexError, match="does not know this island"):
            _kernel.Monitor(2).step(2)
