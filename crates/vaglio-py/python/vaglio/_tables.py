"""Tables of the extension, from arrays and frames."""

import numpy as np

from vaglio import _vaglio

#: Types of arrays that are read as they are; others become doubles first.
_READ = (np.dtype("f8"), np.dtype("f4"), np.dtype("u1"))


def is_frame(X):
    """Whether X is a frame that Arrow's PyCapsule interface reads: of polars, pandas from 2.2, pyarrow, duckdb."""
    return hasattr(X, "__arrow_c_stream__") and not isinstance(X, np.ndarray)


def has_text(X):
    """Whether a frame has columns that NumPy holds as objects: text, dates, classes, or numbers with gaps."""
    columns = getattr(X, "dtypes", None)
    if columns is None:
        return True
    return not all(_is_plain(dtype) for dtype in list(columns))


def _is_plain(dtype):
    numeric = getattr(dtype, "is_numeric", None)
    return numeric() if numeric else isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def column_names(X):
    """The names of the columns of a frame, as text; ``None`` where they are numbers."""
    names = list(getattr(X, "column_names", None) or X.columns)
    return [str(name) for name in names]


def of_array(X, names, places=None):
    """The columns at `places` of an array, named; each is copied once."""
    X = np.asarray(X)
    if X.dtype not in _READ:
        X = X.astype("f8")
    if not (X.flags.c_contiguous or X.flags.f_contiguous):
        X = np.asfortranarray(X)
    return _vaglio.Table.from_array(X, list(names), places)


def doubles(data, rows):
    """An array of doubles from the bytes of the extension: outputs × rows there, rows × outputs here."""
    return np.frombuffer(data, dtype="f8").reshape(-1, rows).T.copy()
