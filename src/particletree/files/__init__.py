"""Tables in files: CSV by the standard library alone, Parquet where pandas with pyarrow, or polars, is installed.

A file has the names and the kinds of its columns (``kinds.py``), and returns its rows as :class:`Frame`, all at once or
one batch at a time. The caller chooses which columns are read, and as which kind: a fit uses the kinds of the file, a
prediction those of the fit.
"""

from particletree.files.frame import Frame, TableFile, nearest_names
from particletree.files.kinds import Kind
from particletree.files.opening import open_table

__all__ = ["Frame", "Kind", "TableFile", "nearest_names", "open_table"]
