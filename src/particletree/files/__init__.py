"""Tables in files: CSV by the standard library alone, Parquet where pandas with pyarrow, or polars, is installed.

A file tells the names of its columns and their kinds (``kinds.py``), and gives its rows as :class:`Frame`, all of them
or a batch at a time. Which columns are read, and as what, the caller says: a fit reads them as the kinds that the file
has, a prediction as the kinds that the fit had.
"""

from particletree.files.frame import Frame, TableFile, nearest_names
from particletree.files.kinds import Kind
from particletree.files.opening import open_table

__all__ = ["Frame", "Kind", "TableFile", "nearest_names", "open_table"]
