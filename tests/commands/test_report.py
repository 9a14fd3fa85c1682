"""`particletree report`, as somebody with files meets it."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from particletree import BayesianTreeRegressor, Poisson
from particletree._commands.held_out import choose_held_out
from particletree._commands.main import main


def data_of(page):
    text = page.read_text("utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["size,colour,kind,price"]
    for i in range(150):
        size = "" if i % 9 == 0 else f"{rng.normal() + 2 * (i % 2):.3f}"
        lines.append(f"{size},{('red', 'blue', '')[i % 3]},{('apple', 'pear')[i % 2]},{i % 2 + rng.normal():.3f}")
    path = tmp_path / "fruit.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def fit(table, *others, target="kind"):
    model = table.with_name("model.npz")
    assert main(["fit", str(table), "--target", target, "-o", str(model), *others]) == 0
    return str(model)


def report(model, table, *others):
    page = table.with_name("report.html")
    assert main(["report", model, "-o", str(page), *others]) == 0
    return data_of(page)


def test_without_data(table, capsys):
    data = report(fit(table), table)
    assert data["scores"] is None
    assert capsys.readouterr().out.endswith("report.html: open it in a browser.\n")


def test_the_target_is_found_by_its_classes(table, capsys):
    data = report(fit(table, "--drop", "price"), table, "--data", str(table))
    assert data["title"] == "Predicting kind"
    assert (data["scores"]["origin"], data["scores"]["rows"]) == ("training", 150)
    assert "not used: 'price'" in capsys.readouterr().err


def test_the_rows_held_out_are_scored(table, capsys):
    model = fit(table, "--test-size", "0.2", "--seed", "3")
    data = report(model, table, "--data", str(table), "--test-size", "0.2", "--seed", "3", "--title", "Fruit <b>")
    assert (data["scores"]["origin"], data["scores"]["rows"]) == ("held out", 30)
    assert data["title"] == "Fruit <b>"
    page = str(table.with_name("other.html"))
    assert main(["report", model, "-o", page, "--data", str(table), "--test-size", "0.2", "--seed", "4"]) == 1
    assert "are not those of the fit" in capsys.readouterr().err


def test_numbers_find_their_target_by_name(table):
    data = report(fit(table, "--regression", target="price"), table, "--data", str(table))
    assert data["title"] == "Predicting price"
    assert data["scores"]["rows"] == 150


def test_rows_without_a_target_are_not_scored(table, capsys):
    model = fit(table)
    rows = table.with_name("rows.csv")
    lines = [",".join(line.split(",")[i] for i in (0, 1, 3)) for line in table.read_text("utf-8").split()]
    rows.write_text("\n".join(lines), encoding="utf-8")
    data = report(model, table, "--data", str(rows))
    assert data["scores"] is None
    assert data["dependence"]["averaged"]
    assert "give --target COL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (["--data", "nothing.csv"], "nothing.csv: No such file or directory"),
        (["--data", "fruit.csv", "--target", "knid"], "did you mean 'kind'?"),
        (["--data", "fruit.csv", "--target", "colour"], "No row has a value of 'colour' that the fit knows"),
    ],
)
def test_errors_are_one_line(table, capsys, monkeypatch, others, message):
    model = fit(table)
    monkeypatch.chdir(table.parent)
    capsys.readouterr()
    assert main(["report", model, "-o", "page.html", *others]) == 1
    error = capsys.readouterr().err
    assert message in error.splitlines()[-1]
    assert not table.with_name("page.html").exists()


def test_the_page_is_not_written_over_the_model(table, capsys):
    model = fit(table)
    assert main(["report", model, "-o", model]) == 1
    assert "is what is read" in capsys.readouterr().err


class TestExposure:
    """Posteriors of counts are made in Python, and reported from the command line."""

    COLUMNS = ("age", "size", "years", "claims")

    def make(self, tmp_path, test_size=None, named=True):
        """Return a saved posterior of the rows that are not held out, and the file of all rows."""
        rng = np.random.default_rng(0)
        age, size, years = rng.uniform(18, 80, 300).round(2), rng.normal(size=300).round(2), rng.uniform(1, 20, 300)
        claims = rng.poisson(years * np.where(age < 30, 2.0, 0.5)).astype(float)
        table = tmp_path / "claims.csv"
        rows = np.column_stack([age, size, years, claims])
        np.savetxt(table, rows, delimiter=",", header=",".join(self.COLUMNS), comments="", fmt="%.17g")
        X = pd.DataFrame(rows[:, :2], columns=self.COLUMNS[:2]) if named else rows[:, :2]
        fitted = np.ones(300, dtype=bool) if test_size is None else ~choose_held_out(claims, test_size, 0, True)
        model = BayesianTreeRegressor(leaf=Poisson(), random_state=0)
        model.fit(X[fitted], claims[fitted], exposure=years[fitted])
        model.posterior_.save(tmp_path / "claims.npz")
        return str(tmp_path / "claims.npz"), table, model, (X, claims, years, ~fitted)

    @pytest.mark.parametrize("named", [True, False])
    def test_counts_are_scored_over_it(self, tmp_path, capsys, named):
        saved, table, model, (X, claims, years, _) = self.make(tmp_path, named=named)
        data = report(saved, table, "--data", str(table), "--target", "claims", "--exposure", "years")
        assert (data["scores"]["origin"], data["scores"]["rows"]) == ("training", 300)
        density = model.predict_log_density(X, claims, years).mean()
        assert data["scores"]["scores"][1]["value"] == pytest.approx(density, rel=1e-5)
        assert data["target"]["mean"]["noun"] == "rate"
        assert capsys.readouterr().err == ""

    def test_held_out_counts_too(self, tmp_path):
        saved, table, model, (X, claims, years, held_out) = self.make(tmp_path, test_size=0.2)
        options = ("--data", str(table), "--target", "claims", "--test-size", "0.2")
        data = report(saved, table, *options, "--exposure", "years")
        assert (data["scores"]["origin"], data["scores"]["rows"]) == ("held out", 60)
        density = model.predict_log_density(X[held_out], claims[held_out], years[held_out]).mean()
        assert data["scores"]["scores"][1]["value"] == pytest.approx(density, rel=1e-5)

    def test_without_it_they_are_not_scored(self, tmp_path, capsys):
        saved, table, *_ = self.make(tmp_path)
        data = report(saved, table, "--data", str(table), "--target", "claims")
        assert data["scores"] is None
        assert "--exposure COL" in data["unscored"]
        assert "not scored, because the posterior was fitted with exposure; give --exposure" in capsys.readouterr().err

    def test_rows_without_it_are_left_out(self, tmp_path, capsys):
        saved, table, *_ = self.make(tmp_path)
        lines = table.read_text("utf-8").splitlines()
        parts = lines[1].split(",")
        lines[1] = ",".join([*parts[:2], "", parts[3]])
        table.write_text("\n".join(lines), encoding="utf-8")
        data = report(saved, table, "--data", str(table), "--target", "claims", "--exposure", "years")
        assert data["scores"]["rows"] == 299
        assert "1 row without a value of 'years' is left out" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("others", "message"),
        [
            (["--exposure", "years"], "give these too, by --data DATA"),
            (["--data", "claims.csv", "--target", "claims", "--exposure", "yeas"], "did you mean 'years'?"),
            (["--data", "claims.csv", "--target", "claims", "--test-size", "0.2"], "--test-size needs --exposure COL"),
            (["--data", "claims.csv", "--target", "claims", "--exposure", "size"], "Exposure that is not positive"),
            (["--data", "claims.csv", "--target", "age", "--exposure", "age"], "two different columns"),
        ],
    )
    def test_errors_are_one_line(self, tmp_path, capsys, monkeypatch, others, message):
        saved, table, *_ = self.make(tmp_path)
        monkeypatch.chdir(table.parent)
        assert main(["report", saved, "-o", "page.html", *others]) == 1
        assert message in capsys.readouterr().err.splitlines()[-1]
        assert not table.with_name("page.html").exists()

    def test_a_wrong_value_is_named_by_its_row_in_the_file(self, tmp_path, capsys):
        saved, table, *_ = self.make(tmp_path)
        lines = [line.split(",") for line in table.read_text("utf-8").splitlines()]
        lines[1][3], lines[2][2], lines[6][2] = "", "", "-1"  # no target, no exposure, a wrong one
        table.write_text("\n".join(map(",".join, lines)), encoding="utf-8")
        page = str(tmp_path / "page.html")
        columns = ("--target", "claims", "--exposure", "years")
        assert main(["report", saved, "-o", page, "--data", str(table), *columns]) == 1
        assert "Exposure that is not positive in row 5 (counted from 0)" in capsys.readouterr().err

    def test_other_posteriors_refuse_it(self, table, capsys):
        model = fit(table, "--regression", target="price")
        page = str(table.with_name("page.html"))
        assert main(["report", model, "-o", page, "--data", str(table), "--exposure", "size"]) == 1
        assert "Gaussian has no use for exposure; leave it out, or fit with leaf=Poisson()" in capsys.readouterr().err
