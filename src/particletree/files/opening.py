"""The choice of the reader by the file's extension."""

from __future__ import annotations

from pathlib import Path

from particletree.files.csv_file import CsvFile
from particletree.files.frame import TableFile
from particletree.files.parquet_file import ParquetFile
from particletree.files.source import Source


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
