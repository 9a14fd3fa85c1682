"""Islands on real clusters of several processes, and on joblib's other backends: the same bits, the data sent once."""

from __future__ import annotations

import _thread
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import doomed
from particletree import (
    MCMC,
    SMC,
    BARTRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Categorical,
    Poisson,
    Posterior,
    TreePrior,
    _kernel,
)
from particletree._data import Table, TrainingData, make_training_data
from particletree._inference.parallel import Task, run_in_parallel, spawn
from particletree._inference.progress import progress_line
from particletree._inference.smc import _run_island
from particletree._version import __version__

N_WORKERS = 3
SAMPLER = SMC.paper(n_particles=50, n_islands=8)
CHAINS = MCMC(n_iterations=200, n_chains=4, initial="smc")


def rows(n_rows: int = 2000, n_features: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return X, (X[:, :2] > rng.normal(scale=0.3, size=(n_rows, 2))) @ [1, 2]


def fit(sampler: SMC | MCMC = SAMPLER, **settings: Any) -> Posterior:
    return BayesianTreeClassifier(sampler=sampler, random_state=3, **settings).fit(*rows()).posterior_


@pytest.fixture(scope="module")
def fitted_here() -> Posterior:
    return fit()


def assert_same_bits(ours: Posterior, theirs: Posterior) -> None:
    for name, column in vars(ours.forest).items():
        assert column.tobytes() == getattr(theirs.forest, name).tobytes(), name
    assert ours.island_weights.toarray().tobytes() == theirs.island_weights.toarray().tobytes()
    for name in ("island_shares", "log_likelihoods", "log_priors", "weights"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes(), name
    assert ours.fingerprint is not None
    assert ours.fingerprint == theirs.fingerprint
    for mine, yours in zip(ours.trace, theirs.trace, strict=True):
        for name in set(mine.dtype.names) - {"seconds"}:
            assert mine[name].tobytes() == yours[name].tobytes()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'particletree[dask]'")
    cluster = distributed.LocalCluster(
        n_workers=N_WORKERS, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client
        processes = client.run(os.getpid).values()
    assert not [pid for pid in processes if _is_alive(pid)]


@pytest.fixture
def on_workers(client: Any) -> Iterator[Any]:
    """Run something in every worker, and undo it in the end."""
    yield client.run
    client.run(doomed.restore)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    yield ray
    ray.shutdown()


class TestDask:
    def test_the_same_bits_as_here(self, client: Any, fitted_here: Posterior) -> None:
        with joblib.parallel_config(backend="dask"):
            assert_same_bits(fit(), fitted_here)

    def test_chains_that_start_from_a_filter(self, client: Any) -> None:
        with joblib.parallel_config(backend="dask"):
            there = fit(CHAINS)
        assert_same_bits(there, fit(CHAINS))

    def test_counts_with_exposure_and_weights(self, client: Any) -> None:
        X, y = rows(500)
        exposure, weights = 1.0 + np.arange(500) % 3, 0.5 + np.arange(500) % 2
        model = BayesianTreeRegressor(leaf=Poisson(), sampler=SMC.paper(n_particles=20, n_islands=4), random_state=3)
        with joblib.parallel_config(backend="dask"):
            there = model.fit(X, y, weights, exposure).posterior_
        assert_same_bits(there, model.fit(X, y, weights, exposure).posterior_)

    def test_the_data_are_sent_once_to_a_worker_at_most(self, client: Any, on_workers: Any, tmp_path: Path) -> None:
        on_workers(doomed.count_unpickled_data, tmp_path)
        with joblib.parallel_config(backend="dask"):
            fit(SMC.paper(n_particles=50, n_islands=20))
        on_workers(doomed.stop_counting)
        receivers = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
        assert 1 <= len(receivers) <= N_WORKERS
        assert len(set(receivers)) == len(receivers)

    def test_workers_of_another_version_cause_one_warning(self, client: Any, on_workers: Any) -> None:
        on_workers(doomed.pretend_to_be, "0.0.1")
        with joblib.parallel_config(backend="dask"), pytest.warns(UserWarning, match="0.0.1") as caught:
            fit()
        (warning,) = [str(each.message) for each in caught if "0.0.1" in str(each.message)]
        assert warning == (
            f"Workers of the cluster have particletree 0.0.1, but this process has {__version__}: the result may "
            f"differ from that of either version. Install {__version__} on every worker, and fit again."
        )

    def test_nothing_stays_behind(self, client: Any) -> None:
        with joblib.parallel_config(backend="dask"):
            fit()
        doomed.wait_until(lambda: client.run_on_scheduler(_n_tasks) == 0)

    def test_large_data_bring_no_warning(self, client: Any) -> None:
        X, y = rows(300_000)
        with joblib.parallel_config(backend="dask"):
            model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=1, n_islands=1), random_state=0).fit(X, y)
        assert model.posterior_.n_islands == 1

    def test_the_bar_counts_what_has_come_back(self, client: Any, capfd: pytest.CaptureFixture[str]) -> None:
        with joblib.parallel_config(backend="dask"):
            fit(verbose=1)
        lines = capfd.readouterr().err.splitlines()
        assert "8/8 islands" in lines[-1]
        assert not [line for line in lines if "stage" in line]

    def test_a_grid_search_whose_fits_run_on_the_cluster(self, client: Any) -> None:
        model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=10, n_islands=2), random_state=0)
        search = GridSearchCV(model, {"sampler__n_particles": [5, 20]}, cv=2)
        with joblib.parallel_config(backend="dask"):
            there = search.fit(*rows(200)).cv_results_["mean_test_score"]
        assert there.tolist() == search.fit(*rows(200)).cv_results_["mean_test_score"].tolist()

    @pytest.fixture
    def heeds_ctrl_c(self) -> Iterator[None]:
        """The process heeds Ctrl-C, even one that a shell has started in the background."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)

    @pytest.mark.usefixtures("heeds_ctrl_c")
    def test_ctrl_c_cancels_the_islands_that_wait(self, client: Any, on_workers: Any, tmp_path: Path) -> None:
        on_workers(doomed.wait_at_the_gate, tmp_path)

        def interrupt() -> None:
            doomed.wait_until(lambda: len(list(tmp_path.iterdir())) == N_WORKERS)
            _thread.interrupt_main()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt), joblib.parallel_config(backend="dask"):
            fit()
        thread.join()
        doomed.wait_until(lambda: client.run_on_scheduler(_n_tasks) == 0)
        (tmp_path / "gate").touch()
        doomed.wait_until(lambda: not any(client.run(doomed.n_at_work).values()))
        assert len(list(tmp_path.glob("started-*"))) == N_WORKERS

    def test_an_error_on_a_worker_is_raised_here(self, client: Any) -> None:
        task, settings = Task.prepare(small_data(), TreePrior.paper(), Categorical.paper()), SMC.paper()
        settings.proposal = "wrong"
        with joblib.parallel_config(backend="dask"), pytest.raises(ValueError, match="wrong"):
            run_in_parallel(_run_island, settings, task, spawn(np.random.SeedSequence(0), 2), **QUIET)

    @pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
    @pytest.mark.parametrize("n_deaths", [1, pytest.param(N_WORKERS, marks=pytest.mark.slow)])
    def test_islands_of_killed_workers_are_run_again(
        self, client: Any, fitted_here: Posterior, tmp_path: Path, n_deaths: int
    ) -> None:
        """Comes last: a new worker takes seconds to be of use, most of all where the machine is busy."""
        before = set(client.run(os.getpid).values())
        client.run(doomed.kill_this_worker_during_an_island, tmp_path, n_deaths)
        with joblib.parallel_config(backend="dask"):
            there = fit()
        client.wait_for_workers(N_WORKERS)
        assert len(list(tmp_path.iterdir())) == n_deaths
        assert len(before - set(client.run(os.getpid).values())) == n_deaths
        assert_same_bits(there, fitted_here)


@pytest.fixture
def client_of_one_core() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'particletree[dask]'")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


class TestDaskWithOneCore:
    """joblib then runs the islands in this process, where Dask does not replace the placeholder of the data."""

    def test_the_same_trees_as_here(self, client_of_one_core: Any, fitted_here: Posterior) -> None:
        with joblib.parallel_config(backend="dask"):
            assert_same_bits(fit(), fitted_here)

    def test_the_same_sums_as_here(self, client_of_one_core: Any) -> None:
        X, y = rows(200)
        model = BARTRegressor(n_trees=5, n_iterations=20, n_chains=2, random_state=3)
        with joblib.parallel_config(backend="dask"):
            there = model.fit(X, y).predict(X)
        np.testing.assert_array_equal(there, model.fit(X, y).predict(X))


class TestRay:
    @pytest.mark.parametrize("sampler", [SAMPLER, CHAINS], ids=["islands", "chains"])
    def test_the_same_bits_as_here(self, ray: Any, sampler: SMC | MCMC) -> None:
        with joblib.parallel_config(backend="ray", n_jobs=-1):
            there = fit(sampler)
        assert_same_bits(there, fit(sampler))

    def test_the_data_are_put_into_the_object_store_once(self, ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        puts, put = [], ray.put
        monkeypatch.setattr(ray, "put", lambda value: puts.append(type(value)) or put(value))
        with joblib.parallel_config(backend="ray", n_jobs=-1):
            fit()
        assert puts == [Task]


QUIET: dict[str, Any] = {"n_jobs": None, "show_progress": False, "words": SMC.words}


def small_data() -> TrainingData:
    return make_training_data(*rows(100), 4)


def test_processes_map_large_arrays_into_memory() -> None:
    data = make_training_data(*rows(100_000, 2), 4)
    assert data.table.values.nbytes > 2**20  # what joblib does not pickle
    sampler = SMC.paper(n_particles=5, n_islands=3)
    model, seed = (TreePrior.paper(), Categorical.paper()), np.random.SeedSequence(0)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = sampler.run(data, *model, seed=seed)
    assert_same_bits(there, sampler.run(data, *model, seed=seed))


def test_the_bar_knows_of_islands_elsewhere_only_that_they_came_back() -> None:
    line = progress_line(_kernel.Monitor(4), 4, 1.26, SMC.words, n_returned=3)
    assert line == "particletree [###############-----] 3/4 islands, 1.3 s"


def test_runs_come_back_as_flat_arrays() -> None:
    task = Task.prepare(small_data(), TreePrior.paper(), Categorical.paper())
    (arrays,) = run_in_parallel(_run_island, SMC.paper(), task, spawn(np.random.SeedSequence(0), 1), **QUIET)
    assert {type(value) for value in arrays.values()} == {np.ndarray, float, bool}
    assert all(value.dtype != object for value in arrays.values() if isinstance(value, np.ndarray))


def test_arrays_that_arrive_between_two_words_are_aligned() -> None:
    """The buffers of a message lie one after the other, so that numbers may start at an odd address."""
    data, seed = small_data(), np.random.SeedSequence(0)
    table = Table(*(_misaligned(array) for array in (data.table.ranks, data.table.values, data.table.offsets)))
    moved = replace(
        data, table=table, observations=replace(data.observations, values=_misaligned(data.observations.values))
    )
    task, expected = (Task.prepare(one, TreePrior.paper(), Categorical.paper()) for one in (moved, data))
    assert not task.data.table.values.flags.aligned
    runs = [_run_island(SMC.paper(), one, seed, _kernel.Monitor(1), 0) for one in (task, expected)]
    assert runs[0]["log_evidence"] == runs[1]["log_evidence"]
    assert runs[0]["nodes"].tobytes() == runs[1]["nodes"].tobytes()


def _misaligned(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"-" + array.tobytes(), dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)


def test_the_size_of_a_task_is_that_of_its_arrays() -> None:
    task = Task.prepare(small_data(), TreePrior.paper(), Categorical.paper())
    table = task.data.table
    assert task.__sizeof__() > table.ranks.nbytes + table.values.nbytes + task.data.observations.values.nbytes


def _n_tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
