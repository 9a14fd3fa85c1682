"""`particletree report`, as somebody with files meets it."""

import json
import re

import numpy as np
import pytest

from particletree.cli import main


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
