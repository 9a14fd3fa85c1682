"""Every case end to end on tiny data, and what is computed from the measurements."""

import csv
import json
import shutil
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

from benchmarks import chain, document, growth, instructions, plots, probe, reach, samplers, shapes, study, suite
from benchmarks.settings import Settings
from benchmarks.targets import targets

TINY = Settings("tiny")
QUICK_TO_RUN = [name for name in suite.CASES if name != "instructions"]


@pytest.fixture
def in_this_process(monkeypatch):
    """Fits run in the test's own process: starting one takes longer than the fit."""
    for module in ("growth", "islands", "shapes"):
        monkeypatch.setattr(f"benchmarks.{module}.run_in_new_process", probe.run)


def tiny_record(names=QUICK_TO_RUN):
    record = suite.Record("python -m benchmarks", {"cores": "2"})
    suite.run(TINY, [suite.CASES[name] for name in names], record)
    return record


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
def test_every_case_measures_and_writes(tmp_path):
    pytest.importorskip("matplotlib")
    record = tiny_record()
    assert record.failures == {}
    assert list(record.results) == QUICK_TO_RUN
    assert all(len(results) > 0 for results in record.results.values())
    document.write_folder(record, tmp_path, pytest.fail)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    for name in QUICK_TO_RUN:
        assert f"## {suite.CASES[name].title}" in page
    for name in plots.DRAWINGS:
        assert f"]({name}.png)" in page
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".md", ".png"}
    for name, results in record.results.items():
        with (tmp_path / f"{name}.csv").open(encoding="utf-8") as file:
            assert len(list(csv.DictReader(file))) == len(results)
        assert f"]({name}.csv)" in page
    figures = document.to_json(record)
    assert figures["cases"].keys() == record.results.keys()
    assert figures["is_complete"]
    assert {row["method"]: row["ratio"] for row in figures["cases"]["fit"]}["CART, gini"] == 1.0
    assert page.count("not measured") == 9  # pen-digits and MAGIC, and 10,000 particles


@pytest.mark.skipif(shutil.which("callgrind_control") is None, reason="valgrind is not installed")
@pytest.mark.slow
def test_instructions_are_counted():
    first, again = ([r.instructions for r in instructions.measure(TINY)] for _ in range(2))
    assert len(first) == 4
    assert min(first) > 100_000
    assert np.allclose(first, again, rtol=0.05)


def test_without_valgrind_it_says_so(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    results = list(instructions.measure(TINY))
    assert instructions.to_markdown(results) == "No counts: valgrind is not installed."


def test_a_profile_is_read(tmp_path):
    (tmp_path / "profile.1").write_text("events: Ir\n1 2\ntotals: 12345\n")
    assert instructions.read_total(tmp_path / "profile.1") == 12345
    (tmp_path / "profile.2").write_text("events: Ir\n")
    with pytest.raises(ValueError, match="no line that starts with 'totals:'"):
        instructions.read_total(tmp_path / "profile.2")


def test_a_case_that_fails_lets_the_others_run():
    def fail(_):
        yield from ()
        raise RuntimeError("out of luck")

    broken = replace(suite.CASES["chain"], measure=fail)
    record, said = suite.Record("python -m benchmarks", {}), []
    suite.run(Settings("tiny", say=said.append), [broken, suite.CASES["fit"]], record)
    assert record.failures == {"chain": "RuntimeError: out of luck"}
    assert len(record.results["fit"]) == 7
    assert any("out of luck" in line for line in said)
    assert "**The case failed:** RuntimeError: out of luck" in document.to_markdown(record)


def test_an_interrupted_case_keeps_what_it_has():
    def interrupt(settings):
        yield from suite.CASES["fit"].measure(settings)
        raise KeyboardInterrupt

    record = suite.Record("python -m benchmarks", {})
    with pytest.raises(KeyboardInterrupt):
        suite.run(TINY, [replace(suite.CASES["fit"], measure=interrupt)], record)
    assert len(record.results["fit"]) == 7
    assert not record.is_complete
    assert "This run was interrupted" in document.to_markdown(record)


def test_without_matplotlib_the_page_is_written(monkeypatch, tmp_path):
    said = []
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # an import of it fails
    document.write_folder(tiny_record(["fit"]), tmp_path, said.append)
    assert said == ['Plots need matplotlib: pip install ".[bench]"']
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "fit.csv"]


def test_a_case_that_is_not_there():
    with pytest.raises(ValueError, match=r"There is no case 'dance'; choose from fit, regression, additive, columns, "):
        suite.choose_cases("fit,dance")


def test_chains_that_do_not_get_there_give_a_lower_bound():
    curves = [np.array([[1.0, 10.0], [-2.0, -1.0]])]
    filters = [(0.1, -0.5), (0.1, -0.7), (0.5, -0.6)]
    below = samplers.compare("iris", 1, filters, curves)
    assert (below.reached, below.chain_seconds, round(below.ratio, 6)) == (False, 10.0, 100.0)
    assert "| not within 10.0 s | more than 100 |" in samplers.to_markdown([below])
    above = samplers.compare("iris", 1, [(0.1, -1.5)], curves)
    assert above.reached
    assert above.chain_seconds == pytest.approx(10**0.5)


def test_the_mean_over_the_later_half_follows_from_two_means():
    draws = np.arange(8.0)
    means = {k: draws[:k].mean() for k in (2, 4, 8)}
    assert samplers.later_half(means, 8) == pytest.approx(draws[4:].mean())
    assert samplers.later_half(means, 2) == means[2]


def test_the_quickest_rung_answers():
    rungs = [
        reach.Rung("iris", reach.CART, 1.0, 1.0, 0.9, -0.4),
        reach.Rung("iris", "prior, 1 x 30", 0.2, 0.2, 0.85, -0.3),
        reach.Rung("iris", "prior, 5 x 30", 0.6, 0.6, 0.95, -0.2),
        reach.Rung("iris", "prior, 1 x 300", 0.4, 0.4, 0.92, -0.5),
        reach.Rung("iris", "optimal, 1 x 1", 0.1, 0.1, 0.5, -0.9),
    ]
    prior, optimal = reach.answers(rungs)
    assert prior.by_accuracy.method == "prior, 1 x 300"
    assert prior.by_log_probability.method == "prior, 1 x 30"
    assert (optimal.by_accuracy, optimal.by_log_probability) == (None, None)
    assert "| iris | optimal | none of the ladder | none of the ladder | - | - |" in reach.to_markdown(rungs)


def point(value, seconds, peak, method="prior, 1 x 2000", axis="rows"):
    return growth.Point(axis, value, method, "made up", seconds, 0.1, None, peak, 100)


def test_growth_is_told_against_its_law():
    points = [point(10**4, 1.0, 200), point(10**6, 75.0, 250)]
    assert growth.growth_of_time(points, points[1]) == 75.0
    assert growth.relative_growth(points, points[1]) == pytest.approx(0.5)
    assert growth.exponent(points, "prior, 1 x 2000") == pytest.approx(np.log10(75) / 2)
    assert "| prior, 1 x 2000 | 10,000 to 1,000,000 |" in growth.to_markdown(points)
    assert growth.to_markdown(points).endswith("| 0.94 |")


def test_targets_are_met_by_the_worst_figure():
    results = {
        "rows": [point(10**4, 1.0, 200), point(10**6, 75.0, 301)],
        "particles": [point(100, 1.0, 1, "prior", "particles"), point(10_000, 29.0, 1, "prior", "particles")],
    }
    verdicts = {target.work: target.met for target in targets(results)}
    assert verdicts["time with rows (10,000 to 1,000,000)"] is True
    assert verdicts["peak memory at 2,000 particles (10,000 to 1,000,000)"] is False
    assert verdicts["time from 100 to 10,000 particles"] is True
    assert verdicts["predict_proba"] is None
    assert [target.met for target in targets({})] == [None] * 13


def test_data_have_one_row_per_result_and_one_column_per_field():
    cost = chain.Cost("iris", 1e5, 2.0, 30.0, (0.25, 0.5, 0.125, 0.0625))
    estimate = study.Estimate(1 / 3, 0.1)
    text = document.to_csv([cost, estimate])
    first, second = csv.DictReader(text.splitlines())
    assert (first["data"], first["acceptance"]) == ("iris", "0.25 0.5 0.125 0.0625")
    assert (second["value"], second["data"]) == ("0.333333", "")


def test_targets_that_a_choice_of_cases_did_not_measure_are_left_out():
    record = suite.Record(
        "python -m benchmarks --only shapes", {}, {"shapes": [shapes.Result("a", "b", 1, 1, 4, 4, 4, 1)]}
    )
    assert "## Targets" not in document.to_markdown(record)
    record.command = "python -m benchmarks"
    assert document.to_markdown(record).count("not measured") == 13


def test_results_are_plain_data():
    assert json.loads(json.dumps(asdict(point(1, 1.0, None))))["peak_bytes"] is None
