"""Dask arrays whose chunks are read from a file by the tasks that need them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.foreign_files import reading
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Chunks take about this many bytes by default.
CHUNK_BYTES = 2**24


def read_npy(path: str | os.PathLike[str], chunk_rows: int | None = None) -> Any:
    """Open an .npy file as a dask array, without reading its values.

    Each chunk is read by the task that needs it, wherever that runs; all workers of a cluster must see the
    file under this name. In contrast, recent versions of ``dask.array.from_array`` copy an array that is
    mapped from a file into memory, and send all of it to every worker.

    Parameters
    ----------
    path : str or Path
        An .npy file with one row per point.
    chunk_rows : int, optional
        Number of rows per chunk; by default, chunks take about 16 MB.

    Returns
    -------
    dask.array.Array
        The rows, in chunks of whole rows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from vicinal import graphs, scale
    >>> path = tempfile.mkdtemp() + "/points.npy"
    >>> np.save(path, np.random.default_rng(0).normal(size=(1000, 3)))
    >>> X = scale.read_npy(path, chunk_rows=300)
    >>> X.chunks
    ((300, 300, 300, 100), (3,))
    >>> graphs.knn(X) == graphs.knn(np.load(path))
    True
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidTypeError(f"path={path!r}, but the name of an .npy file is needed.")
    size = None if chunk_rows is None else check_count(chunk_rows, "chunk_rows")
    file = Path(os.path.abspath(path))
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "does not exist"
        raise FileNotFoundError(f"path={str(path)!r} {what}; pass the name of an .npy file.")
    with reading(path, advice="create a truncated file again"):
        known = np.load(file, mmap_mode="r", allow_pickle=False)
    if not isinstance(known, np.ndarray) or known.ndim < 1:
        raise InvalidValueError(
            f"cannot read {path}: it does not contain an array with one row per point."
        )
    return rows_of_file(_load_npy, file, known.shape, known.dtype, chunk_rows=size)


def rows_of_file(
    load: Callable[..., np.ndarray],
    path: Path,
    shape: tuple[int, ...],
    dtype: np.dtype,
    *where: Any,
    chunk_rows: int | None = None,
) -> Any:
    """Dask array whose chunks are ``load(path, *where, first, last)``."""
    import dask.array as da
    from dask import delayed

    n = shape[0]
    row_bytes = max(1, int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize)
    size = max(1, CHUNK_BYTES // row_bytes) if chunk_rows is None else chunk_rows
    parts = [
        da.from_delayed(
            delayed(_load_rows)(load, path, *where, a, min(a + size, n)),
            (min(a + size, n) - a, *shape[1:]),
            dtype=dtype,
        )
        for a in range(0, n, size)
    ]
    return da.concatenate(parts) if parts else da.empty(shape, dtype=dtype)


def _load_rows(load: Callable[..., np.ndarray], path: Path, *where: Any) -> np.ndarray:
    with reading(path):
        return load(path, *where)


def _load_npy(path: Path, first: int, last: int) -> np.ndarray:
    return np.array(np.load(path, mmap_mode="r")[first:last])
