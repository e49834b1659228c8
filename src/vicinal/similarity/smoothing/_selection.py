"""The largest entries of each row of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread


def best_of_rows(
    get_rows: Any, n: int, n_neighbors: int, n_jobs: int | None, progress: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Largest off-diagonal entries of each row, in descending order, ties by index.

    Parameters
    ----------
    get_rows : callable
        Function (start, stop) that returns these rows, which may be overwritten.
    n : int
        Number of rows.
    n_neighbors : int
        Number of entries per row.
    n_jobs : int or None
        Number of threads.
    progress : str or None
        Title of the progress bar; None for none.

    Returns
    -------
    values, indices : ndarray (n, n_neighbors)
        The entries and their columns.
    """
    values, indices = np.empty((n, n_neighbors)), np.empty((n, n_neighbors), np.int64)

    def task(span: tuple[int, int]) -> None:
        rows = get_rows(*span)
        rows[np.arange(len(rows)), np.arange(*span)] = -np.inf
        indices[span[0] : span[1]] = largest_in_rows(rows, n_neighbors)
        values[span[0] : span[1]] = np.take_along_axis(rows, indices[span[0] : span[1]], axis=1)

    with one_blas_thread():
        map_threads(task, blocks(n, max(1, (1 << 22) // n)), n_jobs, title=progress)
    return values, indices


def largest_in_rows(rows: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest entries of each row, in descending order, ties by index."""
    n = rows.shape[1]
    if k > n // 4:
        return np.argsort(-rows, axis=1, kind="stable")[:, :k]
    from vicinal.similarity.smoothing._selection_kernels import largest_columns

    columns = np.empty((len(rows), k), np.int64)
    largest_columns(np.ascontiguousarray(rows, dtype=np.float64), columns)
    order = np.argsort(-np.take_along_axis(rows, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)
