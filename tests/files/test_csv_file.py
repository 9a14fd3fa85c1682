"""Tables in CSV files: names, kinds, delimiters, lines."""

from pathlib import Path

import numpy as np
import pytest

from particletree.files import Kind, open_table
from particletree.files.frame import read_all
from particletree.files.kinds import MISSING, join_kinds, kind_of


def write(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "3e4", "inf"], Kind.NUMBER),
        (["0", "1"], Kind.NUMBER),
        (["True", "FALSE", "?"], Kind.BOOLEAN),
        (["true", "1"], Kind.TEXT),
        (["1_000"], Kind.TEXT),
        (["None", "1"], Kind.TEXT),
        (["2026-11-18"], Kind.TEXT),
        (sorted(MISSING), None),
        ([], None),
    ],
)
def test_kinds_of_cells(cells, kind):
    assert kind_of(cells) is kind


def test_kinds_are_joined_alike_whatever_the_order():
    kinds = [None, *Kind]
    for first in kinds:
        for second in kinds:
            assert join_kinds(first, second) is join_kinds(second, first)
    assert join_kinds(Kind.NUMBER, Kind.BOOLEAN) is Kind.TEXT


def test_the_kind_of_a_column_does_not_depend_on_the_batches(tmp_path, monkeypatch):
    path = write(tmp_path, "a,b,c\n" + "".join(f"{i},{'' if i < 50 else 'true'},{i}\n" for i in range(60)) + "1,,x\n")
    expected = {"a": Kind.NUMBER, "b": Kind.BOOLEAN, "c": Kind.TEXT}
    for n_rows in (3, 1000):
        monkeypatch.setattr("particletree.files.csv_file.ROWS_PER_BATCH", n_rows)
        file = open_table(path)
        assert file.kinds() == expected
        frame = read_all(file, expected)
        assert frame.n_rows == 61
        assert frame.columns["c"][0] == "0"  # as it stands in the file, though what comes before the text are numbers
        assert frame.columns["b"].tolist() == [None] * 50 + [True] * 10 + [None]


def test_spaces_around_cells_and_empty_lines(tmp_path):
    file = open_table(write(tmp_path, '\n a , "b, c" \n\n 1 , x \n\n NA ,"y z"\n'))
    assert file.names == ("a", "b, c")
    frame = read_all(file, file.kinds())
    np.testing.assert_array_equal(frame.columns["a"], [1.0, np.nan])
    assert frame.columns["b, c"].tolist() == ["x", "y z"]


def test_one_column_of_text_with_commas_inside_quotes(tmp_path):
    assert open_table(write(tmp_path, '"a, b; c"\n1\n')).names == ("a, b; c",)


def test_matrices_are_numbers_where_all_columns_are(tmp_path):
    file = open_table(write(tmp_path, "a,b,c\n1,2,x\n3,,y\n"))
    frame = read_all(file, file.kinds())
    assert frame.matrix(["b", "a"]).dtype == np.float64
    assert frame.matrix(["c", "a"]).tolist() == [["x", 1.0], ["y", 3.0]]


def test_a_folder_and_a_broken_archive(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        open_table(tmp_path)
    path = tmp_path / "table.csv.gz"
    path.write_bytes(b"no archive")
    with pytest.raises(OSError, match="gzip"):
        open_table(path)
