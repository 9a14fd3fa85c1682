"""Tables in Parquet files: what cannot be read is said in one line."""

import numpy as np
import pytest

from particletree._files import open_table, read_all

polars = pytest.importorskip("polars")


def test_what_is_no_parquet_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"a,y\n1,2\n")
    with pytest.raises(ValueError, match=r"table\.parquet cannot be read as Parquet"):
        open_table(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        open_table(tmp_path / "table.parquet")
    assert caught.value.filename == str(tmp_path / "table.parquet")


def test_infinite_numbers_are_refused_with_their_place(tmp_path):
    path = tmp_path / "table.parquet"
    polars.DataFrame({"a": [1.0, np.inf]}).write_parquet(path)
    file = open_table(path)
    with pytest.raises(ValueError, match=r"row 2, column 'a': inf is infinite; write a finite number"):
        read_all(file, file.kinds())
