"""Tables in CSV files: names, kinds, delimiters, lines."""

import gzip
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from particletree._files import Kind, open_table, read_all
from particletree._files.csv_file import MISSING, join_kinds, kind_of


def write(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8", newline="")
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
        monkeypatch.setattr("particletree._files.csv_file.ROWS_PER_BATCH", n_rows)
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
    with pytest.raises(ValueError, match=r"table\.csv\.gz cannot be read as CSV: Not a gzipped file"):
        open_table(path)


def test_names_with_line_breaks_and_delimiters(tmp_path):
    text = 'a,"two\nlines","say ""hi"", b;c;d;e"\n1,2,3\n4,"5",6\n'
    file = open_table(write(tmp_path, text))
    assert file.names == ("a", "two\nlines", 'say "hi", b;c;d;e')
    assert read_all(file, file.kinds()).matrix(file.names).tolist() == [[1, 2, 3], [4, 5, 6]]
    write(tmp_path, text + "x,7,8\n")
    with pytest.raises(ValueError, match="line 5, column 'a': 'x' is not a number"):
        read_all(file, dict.fromkeys(file.names, Kind.NUMBER))


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_quotation_that_is_never_closed(tmp_path, end):
    file = open_table(write(tmp_path, f'a,y\n1,x\n2,"z\n3,z\n4,z{end}'))
    with pytest.raises(ValueError, match="the quotation mark in line 3 is never closed"):
        file.kinds()
    with pytest.raises(ValueError, match="the quotation mark in line 1 is never closed"):
        open_table(write(tmp_path, '"a,y\n1,x\n'))


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_the_last_line_may_end_in_a_quotation(tmp_path, end):
    file = open_table(write(tmp_path, f'a,y\n1,"x"\n2,"two\nlines"{end}'))
    assert read_all(file, file.kinds()).columns["y"].tolist() == ["x", "two\nlines"]


def test_infinite_numbers_are_refused_with_their_place(tmp_path):
    for cell in ("inf", "-Infinity", "1e400"):
        file = open_table(write(tmp_path, f"a,b\n1,2\n{cell},3\n"))
        with pytest.raises(ValueError, match=f"line 3, column 'a': '{cell}' is infinite; write a finite number"):
            read_all(file, file.kinds())


def test_decimal_commas_are_read_where_they_are_allowed(tmp_path):
    path = write(tmp_path, "a;b;c\n1,5;1,5 mm;x\n-2,25;3;\n1e3;;1,0\n")
    file = open_table(path, has_decimal_commas=True)
    assert file.kinds() == {"a": Kind.NUMBER, "b": Kind.TEXT, "c": Kind.TEXT}
    columns = read_all(file, file.kinds()).columns
    assert columns["a"].tolist() == [1.5, -2.25, 1000.0]
    assert columns["b"].tolist() == ["1,5 mm", "3", None]
    with pytest.raises(ValueError, match=r"'1,5' is not a number, which the column is read as\. Add --decimal-comma"):
        read_all(open_table(path), {"a": Kind.NUMBER})


def test_the_time_is_proportional_to_the_columns(tmp_path):
    n_columns = 20_000
    names = ",".join(f"c{i}" for i in range(n_columns))
    path = write(tmp_path, f"{names}\n" + f"{','.join('1' * n_columns)}\n" * 2)
    start = time.process_time()
    file = open_table(path)
    assert len(read_all(file, file.kinds()).columns) == n_columns
    assert time.process_time() - start < 5  # ten times what it takes; a minute if every column looks at all names


def test_a_column_without_a_name_has_the_name_that_pandas_gives_it(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = write(tmp_path, ",a,,b\n0,1,2,3\n")
    file = open_table(path)
    assert list(file.names) == pandas.read_csv(path).columns.tolist() == ["Unnamed: 0", "a", "Unnamed: 2", "b"]
    assert [note.partition(";")[0] for note in file.notes] == [
        f"column {i + 1} has no name and is called 'Unnamed: {i}', as pandas calls it" for i in (0, 2)
    ]


@contextmanager
def pipe_with(folder: Path, content: bytes) -> Iterator[Path]:
    """A pipe into which the content is written once, as a shell does for <(...)."""
    path = folder / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(content,))
    writer.start()
    yield path
    writer.join(timeout=10)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_pipe_is_read_as_the_file_that_goes_through_it(tmp_path, compress):
    text = "a;b\n" + "".join(f"{i};{'x' if i % 2 else 'y'}\n" for i in range(50_000)) + "1,5;z\n"
    with pipe_with(tmp_path, compress(text.encode())) as path:
        file = open_table(path, has_decimal_commas=True)
        frame = read_all(file, file.kinds())
        assert file.kinds() == {"a": Kind.NUMBER, "b": Kind.TEXT}
        assert frame.columns["a"].tolist() == [*range(50_000), 1.5]
        assert frame.columns["b"][-1] == "z"
        with pytest.raises(ValueError, match="pipe, line 2, column 'b': 'y' is not a number"):
            read_all(file, dict.fromkeys(file.names, Kind.NUMBER))
