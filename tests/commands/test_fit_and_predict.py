"""`particletree fit` and `particletree predict`, as somebody with files meets them."""

import csv
import gzip
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from particletree import BayesianTreeClassifier, Posterior
from particletree._commands.main import main


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "particletree", *map(str, arguments)]
    env = os.environ | {"PYTHONUTF8": "1"}  # on Windows the console's letters are others
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, cwd=cwd, env=env)


def make_lines(n_rows=120, delimiter=","):
    """Return a table with text, holes, quotes, booleans, weights (some of them 0), a class and a number."""
    generator = np.random.default_rng(0)
    lines = [delimiter.join(("colour", "size", "ripe", '"sweet, or not"', "weight", "price"))]
    for i in range(n_rows):
        colour = ("red", '"dark ""green"""', "", "blue")[i % 4]
        size = "NA" if i % 7 == 0 else f"{generator.normal() + 3 * (i % 2):.3f}"
        sweet = '"yes, very"' if i % 2 else "no"
        weight = str(i % 3)
        price = f"{10 * (i % 2) + generator.normal():.2f}"
        lines.append(delimiter.join((colour, size, ("true", "FALSE")[i // 2 % 2], sweet, weight, price)))
    return lines


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "fruit.csv"
    path.write_text("\n".join(make_lines()) + "\n", encoding="utf-8")
    return path


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def fit(table, *others, target="sweet, or not"):
    model = table.with_name("model.npz")
    assert main(["fit", str(table), "--target", target, "-o", str(model), *others]) == 0
    return model


def test_fit_tells_about_the_data_and_keeps_the_posterior(table, capsys):
    model = fit(table, "--drop", "price", "weight")
    output = capsys.readouterr()
    assert "120 rows" in output.out
    assert "3: 1 of numbers, 1 of text, 1 of true/false" in output.out
    assert "missing   48 values in 2 columns (13.33% of all cells)" in output.out
    assert "2 classes, no (60), yes, very (60)" in output.out
    assert "Posterior over trees" in output.out
    assert "The consensus tree explains" in output.out
    assert output.err == ""
    posterior = Posterior.load(model)
    assert posterior.feature_names == ["colour", "size", "ripe"]
    assert posterior.columns.levels == {0: ("blue", 'dark "green"', "red"), 2: (False, True)}
    assert posterior.target.classes.tolist() == ["no", "yes, very"]


@pytest.mark.parametrize(
    "where",
    [
        "_posterior.posterior.measure_agreement",
        "_posterior.summary.agreement.prediction_distances",
        "_commands.fit.describe_posterior",
    ],
)
def test_an_interrupted_description_loses_no_fit(table, where, monkeypatch, capsys):
    module, name = where.rsplit(".", 1)
    real, calls = getattr(import_module(f"particletree.{module}"), name), []

    def interrupted_once(posterior):
        calls.append(posterior)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(posterior)

    monkeypatch.setattr(f"particletree.{where}", interrupted_once)
    model = table.with_name("model.npz")
    assert main(["fit", str(table), "--target", "sweet, or not", "-o", str(model)]) == 130
    assert capsys.readouterr().err.splitlines() == [
        f"particletree: note: the posterior is in {model}; only its description was interrupted",
        "particletree: interrupted",
    ]
    assert "predictions" in str(Posterior.load(model).summary())


def test_the_posterior_is_the_estimators(table, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(table).drop(columns=["price", "weight"])
    y = frame.pop("sweet, or not")
    expected = BayesianTreeClassifier(random_state=3).fit(frame, y).posterior_
    posterior = Posterior.load(fit(table, "--drop", "price", "weight", "--seed", "3"))
    np.testing.assert_array_equal(posterior.predictive(frame), expected.predictive(frame))


def test_held_out_rows_are_scored_beside_cart(table, capsys):
    fit(table, "--test-size", "0.25", "--drop", "price")
    output = capsys.readouterr().out
    assert "Fitted to 90 rows" in output
    assert "On the 30 rows held out" in output
    for text in ("CART", "particletree", "accuracy", "log-prob."):
        assert text in output


def test_the_scores_name_the_columns_that_cart_does_without(tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text("name,a,y\n" + "".join(f"n{i},{i % 9},{'xz'[i % 9 > 4]}\n" for i in range(90)), encoding="utf-8")
    fit(path, "--test-size", "0.3", target="y")
    output = capsys.readouterr().out
    assert "CART is fitted without the column 'name', where most rows have a text of their own.\n" in output
    fit(path, "--test-size", "0.3", "--drop", "name", target="y")
    assert "CART is fitted without" not in capsys.readouterr().out


def test_regression_scores_and_predictions(table, capsys):
    model = fit(table, "--regression", "--test-size", "0.25", "--weights", "weight", target="price")
    output = capsys.readouterr()
    for text in ("RMSE", "log density", "in 90% interval", "numbers from"):
        assert text in output.out
    assert "40 rows of weight zero left out" in output.err
    predictions = table.with_name("predictions.csv")
    assert main(["predict", str(model), str(table), "-o", str(predictions)]) == 0
    names, *rows = read(predictions)
    assert names == ["mean", "sd", "5%", "95%"]
    numbers = np.array(rows, dtype=float)
    assert len(numbers) == 120
    assert (numbers[:, 2] < numbers[:, 0]).all()
    assert (numbers[:, 0] < numbers[:, 3]).all()


def test_predictions_are_the_posteriors(table):
    model = fit(table, "--drop", "price", "weight")
    predictions = table.with_name("predictions.csv")
    assert main(["predict", str(model), str(table), "-o", str(predictions)]) == 0
    names, *rows = read(predictions)
    assert names == ["predicted", "p_no", "p_yes, very", "p_predicted_5%", "p_predicted_95%"]
    rows_as_given = [
        [colour or None, float("nan" if size == "NA" else size), ripe.lower() == "true"]
        for colour, size, ripe, *_ in read(table)[1:]
    ]
    X = np.array(rows_as_given, dtype=object)
    posterior = Posterior.load(model)
    probabilities = posterior.predictive(X)
    best = probabilities.argmax(axis=1)
    interval = posterior.predictive_interval(X, 0.9)[np.arange(len(X)), best]
    assert [row[0] for row in rows] == posterior.target.classes[best].tolist()
    np.testing.assert_allclose(
        np.array([row[1:] for row in rows], dtype=float), np.hstack((probabilities, interval)), rtol=1e-6
    )


def test_classes_that_are_formulas(tmp_path, capsys):
    path, output = tmp_path / "table.csv", tmp_path / "p.csv"
    classes = ["=cmd|'/C calc'!A1", "-1", "@sum", "plain"]
    path.write_text("a,y\n" + "".join(f'{i % 4},"{classes[i % 4]}"\n' for i in range(200)), encoding="utf-8")
    command = ["predict", str(fit(path, target="y")), str(path), "-o", str(output)]
    capsys.readouterr()
    assert main(command) == 0
    assert {row[0] for row in read(output)[1:]} == set(classes)
    assert "spreadsheets take \"=cmd|'/C calc'!A1\" for a formula; --safe-text" in capsys.readouterr().err
    assert main([*command, "--safe-text"]) == 0
    assert "formula" not in capsys.readouterr().err
    names, *rows = read(output)
    assert {row[0] for row in rows} == {"'=cmd|'/C calc'!A1", "-1", "'@sum", "plain"}
    assert names[1:5] == [f"p_{label}" for label in sorted(classes)]  # no formulas, for the letter in front


def test_predictions_in_small_batches_are_the_same(table, monkeypatch, capsys):
    model = fit(table, "--drop", "price", "weight")
    capsys.readouterr()
    assert main(["predict", str(model), str(table), "-o", "-"]) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr("particletree._files.csv_file.ROWS_PER_BATCH", 7)
    assert main(["predict", str(model), str(table), "-o", "-"]) == 0
    assert capsys.readouterr().out == whole
    assert len(whole.splitlines()) == 121


def test_columns_are_found_by_name_and_unseen_levels_are_taken(table, capsys):
    model = fit(table, "--drop", "price", "weight")
    capsys.readouterr()
    new = table.with_name("new.csv")
    new.write_text("ripe,extra,size,colour\ntrue,1,0.5,violet\nfalse,2,,red\n", encoding="utf-8")
    assert main(["predict", str(model), str(new), "-o", "-"]) == 0
    output = capsys.readouterr()
    assert len(output.out.splitlines()) == 3
    assert output.err.splitlines() == [
        "particletree: note: not used: 'extra'",
        "particletree: note: column 'colour' has levels that the fit has not seen: 'violet'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour,sice,ripe\nred,1,true\n", "lacks the column 'size'; did you mean 'sice'?"),
        ("a,b\n1,2\n", "lacks the columns 'colour', 'size', 'ripe'; the columns are 'a', 'b'"),
        ("colour,size,ripe\nred,1,true\nred,big,true\n", "line 3, column 'size': 'big' is not a number"),
        ('colour,size,ripe\n\n"two\nlines",1,true\nred,big,true\n', "line 5, column 'size': 'big' is not a number"),
        ("colour,size,ripe\nred,1_0,true\n", "line 2, column 'size': '1_0' is not a number"),
        ("colour,size,ripe\nred,1,perhaps\n", "line 2, column 'ripe': 'perhaps' is not true or false"),
        ("colour,size,ripe\nred,1\n", "line 2: 2 cells, where the first line has 3"),
        ("colour,size,ripe\nred,inf,true\n", "line 2, column 'size': 'inf' is infinite"),
        ("colour,size,ripe\n", "has no rows"),
        ("", "is empty"),
    ],
)
def test_rows_that_cannot_be_predicted_leave_no_file(table, text, message, capsys):
    model = fit(table, "--drop", "price", "weight")
    capsys.readouterr()
    new, output = table.with_name("new.csv"), table.with_name("out.csv")
    new.write_text(text, encoding="utf-8")
    assert main(["predict", str(model), str(new), "-o", str(output)]) == 1
    complaint = capsys.readouterr().err
    assert message in complaint
    assert complaint.count("\n") == 1
    assert sorted(path.name for path in table.parent.iterdir()) == ["fruit.csv", "model.npz", "new.csv"]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_and_a_byte_order_mark(tmp_path, delimiter):
    path = tmp_path / "fruit.csv"
    path.write_text("\n".join(make_lines(delimiter=delimiter)), encoding="utf-8-sig", newline="\r\n")
    assert Posterior.load(fit(path)).feature_names == ["colour", "size", "ripe", "weight", "price"]


def test_compressed_without_a_header(tmp_path, capsys):
    path = tmp_path / "plain.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("".join(f"{i},{i % 5},{'ab'[i >= 20]}\n" for i in range(40)))
    model = tmp_path / "model.npz"
    assert main(["fit", str(path), "--no-header", "--target", "x3", "-o", str(model)]) == 0
    assert Posterior.load(model).feature_names == ["x1", "x2"]
    capsys.readouterr()
    assert main(["fit", str(path), "--target", "x3", "-o", str(model)]) == 1
    assert "add --no-header" in capsys.readouterr().err


def test_parquet(table):
    polars = pytest.importorskip("polars")
    parquet = table.with_name("fruit.parquet")
    polars.read_csv(table, null_values=["NA"]).write_parquet(parquet)
    others = ("--drop", "price", "weight")
    first = fit(table, *others).read_bytes()
    assert fit(parquet, *others).read_bytes() == first
    model, predictions = table.with_name("model.npz"), table.with_name("predictions.csv")
    for source in (table, parquet):
        assert main(["predict", str(model), str(source), "-o", str(predictions)]) == 0
        first = read(predictions) if source is table else first
    assert read(predictions) == first


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", [], "is empty"),
        ("a,y\n", [], "has no rows"),
        ("a,Y1\n1,2\n", ["--target", "y1"], "has no column 'y1'; did you mean 'Y1'?"),
        ("a,y\n1,2\n3,3\n", ["--drop", "b"], "has no column 'b'; the columns are 'a', 'y'"),
        ("y\n1\n2\n", [], "has no column beside the target"),
        ("a,y\n1,x\n2,x\n", [], "one value only, 'x'"),
        ("a,y\n1,\n2,\n", [], "No row has a value of the target 'y'"),
        ("a,y\n1,0.5\n2,1.5\n", [], "2 distinct numbers with fractions, which are not classes; add --regression"),
        ("a,y\n1,x\n2,z\n", ["--regression"], "holds 'x', which is not a number; omit --regression"),
        ("a,a,y\n1,2,x\n", [], "several columns called 'a'"),
        ("a;y\n1,5;x\n2,5;z\n", [], "line 2, column 'a': '1,5' has a decimal comma"),
        ('a,y\n1,x\n2,"z\n', [], "the quotation mark in line 3 is never closed"),
        ("a,y\n1,x\n1e999,z\n", [], "line 3, column 'a': '1e999' is infinite"),
        ("a,y\n1,x\n2\n", [], "line 3: 1 cell, where the first line has 2"),
        ("a,w,y\n1,0,x\n2,0,z\n", ["--weights", "w"], "Every weight in column 'w' is zero"),
        (
            "a,w,y\n1,-1,\n2,0,z\n2,-1,z\n",
            ["--weights", "w"],
            "Negative weight in column 'w' in row 2 (count",
        ),
        ("a,w,y\n1,1,\n2,0,z\n2,,z\n", ["--weights", "w"], "No weight in column 'w' in row 2 (counted from 0)"),
        ("a,w,y\n1,two,x\n2,0,z\n", ["--weights", "w"], "line 2, column 'w': 'two' is not a number"),
        ("a,y\n1,x\n2,z\n", ["--test-size", "0.3"], "2 rows are too few to hold out"),
    ],
)
def test_what_cannot_be_fitted_is_explained_in_one_line(tmp_path, text, arguments, message, capsys):
    path, model = tmp_path / "data.csv", tmp_path / "model.npz"
    path.write_text(text, encoding="utf-8")
    chosen = arguments if "--target" in arguments else ["--target", "y", *arguments]
    assert main(["fit", str(path), *chosen, "-o", str(model)]) == 1
    complaint = capsys.readouterr().err
    assert message in complaint.splitlines()[-1]
    assert complaint.splitlines()[-1].startswith("particletree: ")
    assert not model.exists()


def test_paths_are_checked_before_the_fit(table, tmp_path, capsys):
    arguments = ["fit", str(table), "--target", "price", "--regression", "-o"]
    for place, message in (
        (tmp_path / "nowhere" / "model.npz", "There is no folder"),
        (tmp_path, "is a folder"),
        (table, "is what is read; name another file"),
    ):
        assert main([*arguments, str(place)]) == 1
        assert message in capsys.readouterr().err
    assert main(["fit", str(tmp_path / "absent.csv"), "--target", "y", "-o", "model.npz"]) == 1
    assert capsys.readouterr().err.endswith("absent.csv: No such file or directory\n")


def test_decimal_commas(tmp_path, capsys):
    path, predictions = tmp_path / "table.csv", tmp_path / "predictions.csv"
    path.write_text("a;y\n" + "".join(f"{i},5;{i},25\n" for i in range(30)), encoding="utf-8")
    model = fit(path, "--regression", "--decimal-comma", target="y")
    assert "numbers from 0.25 to 29.25" in capsys.readouterr().out
    assert main(["predict", str(model), str(path), "-o", str(predictions)]) == 1
    assert "line 2, column 'a': '0,5' is not a number, which the column is read as." in capsys.readouterr().err
    assert main(["predict", str(model), str(path), "-o", str(predictions), "--decimal-comma"]) == 0
    assert len(read(predictions)) == 31


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
def test_a_pipe_gets_the_predictions_and_stays(table):
    model, pipe = fit(table, "--drop", "price", "weight"), table.with_name("pipe")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert main(["predict", str(model), str(table), "-o", str(pipe)]) == 0
        assert reader.communicate(timeout=60)[0].count(b"\n") == 121
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="standard input has no path")
def test_the_table_may_come_through_standard_input(table):
    command = [sys.executable, "-m", "particletree"]
    options = ["--target", "ripe", "-o", table.with_name("m.npz")]
    with table.open("rb") as file:
        for how in ({"input": table.read_bytes()}, {"stdin": file}):
            result = subprocess.run([*command, "fit", "-", *options], capture_output=True, timeout=120, **how)
            assert result.returncode == 0, result.stderr
            assert b"/dev/stdin: 120 rows" in result.stdout


def test_a_posterior_does_not_go_to_standard_output(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["fit", str(table), "--target", "ripe", "-o", "-"]) == 1
    assert "name a file to write" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == [table]


def test_a_model_that_is_none(table, capsys):
    assert main(["predict", str(table), str(table), "-o", "-"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1


def test_text_that_is_not_utf8(tmp_path, capsys):
    path = tmp_path / "latin.csv"
    path.write_bytes("näme,y\nä,x\nb,z\n".encode("latin-1"))
    assert main(["fit", str(path), "--target", "y", "-o", str(tmp_path / "m.npz")]) == 1
    assert "is not text in UTF-8" in capsys.readouterr().err


def test_notes_about_doubtful_columns(tmp_path, capsys):
    path = tmp_path / "data.csv"
    rows = "".join(f"{i},name {i},{i % 60},{'' if i == 5 else i % 50}\n" for i in range(90))
    path.write_text(",name,a,y\n" + rows, encoding="utf-8")
    fit(path, target="y")
    complaint = capsys.readouterr().err
    assert "column 1 has no name and is called 'Unnamed: 0'" in complaint
    assert "column 'Unnamed: 0' has an increasing whole number in each row; if it numbers them, --drop" in complaint
    assert "'a' has an increasing" not in complaint
    assert "column 'name' has 90 different texts in 90 rows" in complaint
    assert "1 row without a value of 'y' left out" in complaint
    assert "the target 'y' has 50 distinct numbers, each a class now; --regression predicts a number" in complaint


def test_texts_among_numbers_are_told(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n" + "".join(f"{i or 'none'},{i or '?'},{i % 2}\n" for i in range(20)), encoding="utf-8")
    fit(path, target="y")
    output = capsys.readouterr()
    assert "1 of numbers, 1 of text" in output.out
    assert "column 'a' has 19 different numbers and 'none', and is taken as categories" in output.err
    assert "column 'b'" not in output.err


def test_time_budget_and_jobs(table):
    model = fit(table, "--time-budget", "0.05", "--jobs", "2", "--regression", target="price")
    assert Posterior.load(model).n_islands >= 1


def test_more_threads_than_cores(table, tmp_path):
    model = fit(table, "--time-budget", "0.05", "--jobs", "100000", "--regression", target="price")
    assert Posterior.load(model).n_islands < 1000
    assert main(["predict", str(model), str(table), "-o", str(tmp_path / "p.csv"), "--jobs", "100000"]) == 0


def test_rows_can_be_left_out_of_the_file(table):
    kept = Posterior.load(fit(table))
    assert kept.kept_rows.shape == (120, kept.n_features)
    assert Posterior.load(fit(table, "--no-rows")).kept_rows is None


@pytest.mark.parametrize("others", [(), ("--test-size", "0.3")])
def test_neighbours_are_called_by_their_row_in_the_file(tmp_path, others):
    """Some rows have no target, some the weight 0, and some may be held out."""
    lines = [f"{i * i},{i % 3},{'' if i % 4 == 0 else 'xz'[i > 30]}" for i in range(60)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,w,y", *lines]) + "\n", encoding="utf-8")
    posterior = Posterior.load(fit(path, "--weights", "w", *others, target="y"))
    assert all(row % 4 and row % 3 for row in posterior.kept_row_numbers)
    neighbours = posterior.explain([35.0**2], n_neighbours=9).neighbours
    assert neighbours
    assert all(neighbour.values == (float(neighbour.row) ** 2,) for neighbour in neighbours)


@pytest.mark.parametrize("kind", [("--regression",), ()])
def test_islands(table, kind):
    model = fit(table, "--islands", "9", *kind, target="price" if kind else "sweet, or not")
    posterior = Posterior.load(model)
    assert posterior.n_islands == 9
    assert posterior.provenance.settings["proposal"] == "lookahead"  # the default's, not SMC's own


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit",), "the following arguments are required: DATA, --target, -o/--output"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--test-size", "2"), "must lie strictly between 0 and 1, got 2"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--test-size", "x"), "invalid share value: 'x'"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--seed", "-1"), "must be a whole number from 0"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--jobs", "0"), "or -1 for all cores, got 0"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--time-budget", "0"), "must be a number of seconds above 0"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--islands", "0"), "must be a whole number of at least 1, got 0"),
        (("fit", "a", "--target", "y", "-o", "m", "--islands", "2", "--time-budget", "1"), "not allowed with argument"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--islands", "x"), "must be a whole number of at least 1, got x"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--islands", "2.5"), "whole number of at least 1, got 2.5"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--jobs", "all"), "or -1 for all cores, got all"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--time-budget", "1m"), "a number of seconds above 0, got 1m"),
        (("fit", "a.csv", "--target", "y", "-o", "m", "--seed", "1e3"), "must be a whole number from 0"),
        (("predict", "m.npz"), "the following arguments are required: DATA, -o/--output"),
    ],
)
def test_wrong_arguments_have_status_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_from_outside(table, tmp_path):
    result = run("fit", table.name, "--target", "price", "--regression", "-o", "model.npz", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""  # no progress where nobody looks
    result = run("predict", "model.npz", table.name, "-o", "-", cwd=tmp_path)
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 121
    result = run("fit", "absent.csv", "--target", "y", "-o", "m.npz", "--debug", cwd=tmp_path)
    assert result.returncode == 1
    assert "Traceback" in result.stderr


def test_standard_output_is_written_like_a_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,y\n" + "1,grün\n2,красный\n" * 20, encoding="utf-8")
    command = [sys.executable, "-m", "particletree", "predict", fit(path, target="y"), path, "-o"]
    subprocess.run([*command, path.with_name("predicted.csv")], check=True, capture_output=True, timeout=120)
    env = os.environ | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    printed = subprocess.run([*command, "-"], check=True, capture_output=True, timeout=120, env=env).stdout
    assert "красный" in printed.decode()
    assert printed == path.with_name("predicted.csv").read_bytes()


def test_memory_and_interrupts(table, monkeypatch, capsys):
    for error, status, message in (
        (MemoryError("Unable to allocate 8 TiB"), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ):

        def fail(self, X, y, sample_weight=None, error=error):
            raise error

        monkeypatch.setattr(BayesianTreeClassifier, "fit", fail)
        assert main(["fit", str(table), "--target", "ripe", "-o", str(table.with_name("m.npz"))]) == status
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_help_has_examples_and_imports_nothing_heavy(command):
    code = f"""
import sys
from particletree._commands.main import main
try:
    main([{command!r}, "--help"])
except SystemExit:
    pass
print(sorted({{"numpy", "scipy", "sklearn", "joblib", "pandas", "polars"}} & sys.modules.keys()))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "examples:" in result.stdout
    assert result.stdout.endswith("[]\n")


def test_labels_that_float64_cannot_tell_apart_are_refused(tmp_path, capsys):
    table = tmp_path / "table.csv"
    rows = [f"{i},{2**53 + i % 2}" for i in range(40)]
    table.write_text("\n".join(["x,label", *rows]), encoding="utf-8")
    assert main(["fit", str(table), "--target", "label", "-o", str(tmp_path / "model.npz")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("particletree: The target 'label' has whole numbers of 2**53")
    assert error.count("\n") == 1
    assert "as text" in error


def test_the_posterior_is_written_if_nobody_reads_what_is_printed(tmp_path):
    """As in `particletree fit ... | head -1`."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(40)))
    command = [sys.executable, "-u", "-m", "particletree", "fit", "t.csv", "--target", "y", "-o", "p.npz"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"t.csv: 40 rows"
        process.stdout.close()
        assert process.wait(60) == 0
    assert Posterior.load(tmp_path / "p.npz").n_features == 1
