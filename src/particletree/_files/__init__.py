"""Tables in files: CSV by the standard library alone, Parquet where pandas with pyarrow, or polars, is installed.

A file has the names and the kinds of its columns, and returns its rows as :class:`Frame`, all at once or one batch at a
time. The caller chooses which columns are read, and as which kind: a fit uses the kinds of the file, a
prediction those of the fit.
"""

from __future__ import annotations

from pathlib import Path

from particletree._files.csv_file import CsvFile
from particletree._files.frame import Frame, Kind, Source, TableFile, nearest_names, read_all
from particletree._files.parquet_file import ParquetFile

__all__ = ["Frame", "Kind", "TableFile", "nearest_names", "open_table", "read_all"]


def open_table(path: Path, has_header: bool = True, has_decimal_commas: bool = False) -> TableFile:
    """Open a file with a table: Parquet if its extension is .parquet or .pq, CSV otherwise.

    The first bytes of a pipe tell which of the two it is.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    source = Source.of(path)
    if source.is_parquet:
        return ParquetFile.open(source)
    return CsvFile.open(source, has_header, has_decimal_commas)
