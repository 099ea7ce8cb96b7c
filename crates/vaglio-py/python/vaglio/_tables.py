"""Builds tables of the extension from arrays and frames."""

import numpy as np
from scipy.sparse import issparse

from vaglio import _vaglio

#: Array types that are read directly; others are converted to doubles first.
READ = [np.dtype("f8"), np.dtype("f4"), np.dtype("u1")]


def is_frame(X):
    """Whether X is read through Arrow's PyCapsule interface: frames of polars, pyarrow and duckdb, and pandas frames
    with object columns. Numeric pandas frames are read as arrays."""
    if isinstance(X, np.ndarray) or not hasattr(X, "__arrow_c_stream__"):
        return False
    return not hasattr(X, "iloc") or not all(_is_plain(dtype) for dtype in X.dtypes)


def _is_plain(dtype):
    return isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def of_frame(X, names):
    """Table of a frame, with columns renamed."""
    return X.set_axis(names, axis=1) if hasattr(X, "set_axis") and list(X.columns) != names else X


def chosen(X, places, kind):
    """Columns of a frame, as a pandas or polars frame."""
    if hasattr(X, "iloc"):
        X = X.iloc[:, places]
    else:
        names = getattr(X, "column_names", None) or X.columns
        X = X.select([names[place] for place in places])
    if kind == "pandas":
        return X.to_pandas() if hasattr(X, "to_pandas") else X
    import polars

    return X if isinstance(X, polars.DataFrame) else polars.DataFrame(X)


def of_array(X, names, places=None):
    """Named columns at `places` of an array or a sparse matrix. Doubles in Fortran order are not copied, others
    once."""
    if issparse(X):
        return _of_sparse(X.tocsc(), list(names), places)
    X = np.asarray(X)
    if X.dtype not in READ:
        X = X.astype("f8", order="F")
    if not (X.flags.c_contiguous or X.flags.f_contiguous):
        X = np.asfortranarray(X)
    return _vaglio.Table.from_array(X, list(names), places)


def _of_sparse(X, names, places):
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    places = list(range(len(names))) if places is None else places
    data = X.data.astype("f8", copy=False)
    return _vaglio.Table.from_csc(data, X.indices, X.indptr.tolist(), X.shape[0], names, places)


def class_places(values):
    """Class index of each row from coded targets, rows × outputs; two classes by the sign, the larger positive."""
    return (values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)


def doubles(data, rows):
    """An array of doubles from the bytes of the extension: outputs × rows there, rows × outputs here."""
    return np.frombuffer(data, dtype="f8").reshape(-1, rows).T.copy()
