"""Which reader a file gets, by the end of its name."""

from __future__ import annotations

from pathlib import Path

from particletree.files.csv_file import CsvFile
from particletree.files.frame import TableFile
from particletree.files.parquet_file import ParquetFile


def open_table(path: Path, has_header: bool = True, has_decimal_commas: bool = False) -> TableFile:
    """Open a file with a table: Parquet if it is called .parquet or .pq, CSV otherwise."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    if path.suffix in (".parquet", ".pq"):
        return ParquetFile.open(path)
    return CsvFile.open(path, has_header, has_decimal_commas)
