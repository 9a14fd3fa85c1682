"""The hypercube data, and the experiment end to end on the smallest ones."""

import numpy as np
import pytest

from papers.pgbart2015 import __main__ as command
from papers.pgbart2015 import hypercube


def test_a_corner_has_ten_rows_and_one_value():
    X, y = hypercube.hypercube(4, seed=3)
    corners, row_of = np.unique(X > 0, axis=0, return_inverse=True)
    assert len(corners) == 16
    assert np.all(np.bincount(row_of.ravel()) == 10)
    assert all(len(np.unique(y[row_of.ravel() == corner])) == 1 for corner in range(16))
    assert np.std(X - np.sign(X)) == pytest.approx(0.1, rel=0.1)


def test_every_sampler_finds_the_corners_of_a_square():
    results = list(hypercube.measure((2,), n_iterations=200))
    assert [r.method for r in results] == list(hypercube.METHODS)
    assert all(r.found == 1.0 and r.ess > 20 and r.seconds > 0 for r in results)


def test_chains_in_different_places_count_for_little():
    short = hypercube.run(5, "grow, prune", n_iterations=50)
    assert short.rhat > 1.1
    assert short.ess < short.ess_apart


def test_the_command_prints_the_table(capsys, monkeypatch):
    monkeypatch.setattr(command, "N_ITERATIONS", 20)
    assert command.main(["--dimensions", "2", "--seed", "1", "--data-sets", "2"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("| D | sampler | ESS per second | times that of Chipman's moves |")
    assert command.main(["--dimensions", "2", "--seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("| D | sampler | CPU | ESS | ESS per second |")
    assert out.count("\n| 2 |") == err.count("D = 2, ") == len(hypercube.METHODS)


def test_samplers_are_compared_on_the_same_data_sets():
    def result(method, ess):
        return hypercube.Result(2, method, 2.0, ess, ess, 1.0, 1.0)

    names = list(hypercube.METHODS)
    results = [result(name, ess * (4 if name == names[-1] else 1)) for ess in (10, 1_000) for name in names]
    comparisons = {c.method: c for c in hypercube.compare(results)}
    assert comparisons[names[-1]].log_ratio == pytest.approx(np.log(4))
    assert comparisons[names[-1]].standard_error == pytest.approx(0)
    assert comparisons[names[0]].ess_per_second == pytest.approx(50)
    assert comparisons[names[-1]].describe_ratio() == "4 (4 to 4)"
    assert hypercube.comparisons_to_markdown(list(comparisons.values())).count("\n| 2 |") == len(names)
