"""Pruned powers of a sparse transition matrix: neighbours after smoothing without any full row.

Row i of W* is row i of P^(t+1) over its diagonal entry. The power is computed by repeated squaring, and each
row keeps its largest entries. The error is known: all entries are lower bounds and the rows of the exact
power sum to 1, so the missing mass of a row is its error. Entries are stored in single precision and summed
in double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads
from vicinal.similarity.smoothing._locality import NodeOrder, local_order, reordered

ROWS_PER_TASK = 2048
# Entries below this fraction of the off-diagonal mass of a row are dropped even if there is capacity, to save
# time in the next product.
PRUNING_TOLERANCE = 1e-6


class PrunedPower(NamedTuple):
    """Largest entries of each row of a power; row i uses the first ``counts[i]`` columns."""

    items: np.ndarray
    values: np.ndarray
    counts: np.ndarray

    def rows(self, start: int, stop: int) -> PrunedPower:
        """A range of rows, as views."""
        return PrunedPower(*(array[start:stop] for array in self))


class PowerNeighbors(NamedTuple):
    """Largest off-diagonal entries of each row of a power of P, in descending order.

    ``diagonal`` is the diagonal of the power; ``truncation_error`` is the mass of each row lost by pruning.
    """

    items: np.ndarray
    values: np.ndarray
    diagonal: np.ndarray
    truncation_error: np.ndarray


def nearest_in_power(
    walk: sparse.csr_array,
    exponent: int,
    n_neighbors: int,
    *,
    keep: int = 400,
    order: NodeOrder | None = None,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> PowerNeighbors:
    """Largest entries of each row of walk^exponent, from pruned powers.

    Parameters
    ----------
    walk : csr_array (n, n)
        Transition probabilities; rows sum to 1.
    exponent : int
        At least 1.
    n_neighbors : int
        Number of entries per row, at most n - 1.
    keep : int
        Number of entries per row of the intermediate powers.
    order : NodeOrder or None
        Order of the nodes for the products; computed by default.
    n_jobs : int or None
        Number of threads.
    progress : str or None
        Title of the progress bar; None for none.
    """
    from vicinal.similarity.smoothing._power_kernels import largest_of_product

    n = walk.shape[0]
    keep = min(keep, n)
    order = local_order(walk) if order is None else order
    first = from_sparse(reordered(walk, order), keep)
    half = _pruned_power(first, exponent // 2, keep, n_jobs, progress)
    out = PowerNeighbors(
        np.empty((n, n_neighbors), np.int64), np.empty((n, n_neighbors)), np.empty(n), np.empty(n)
    )

    def search(rows: tuple[int, int]) -> None:
        # The left factor of an odd power is only needed once, so it is not stored.
        left = _product_rows(half, first, keep, rows) if exponent % 2 else half.rows(*rows)
        largest_of_product(*left, *half, *rows, *order, tuple(out))

    map_threads(search, blocks(n, ROWS_PER_TASK), n_jobs, title=progress)
    map_threads(lambda rows: _sort_rows(out, *rows), blocks(n, ROWS_PER_TASK), n_jobs)
    # The kernel fills the last array with row sums.
    return out._replace(truncation_error=np.maximum(0.0, 1.0 - out.truncation_error))


def _sort_rows(neighbors: PowerNeighbors, start: int, stop: int) -> None:
    """Sort some rows by descending value, then by item."""
    items, values = neighbors.items[start:stop], neighbors.values[start:stop]
    order = np.lexsort((items, -values), axis=1)
    items[:] = np.take_along_axis(items, order, axis=1)
    values[:] = np.take_along_axis(values, order, axis=1)


def _pruned_power(
    first: PrunedPower, exponent: int, keep: int, n_jobs: int | None, progress: str | None
) -> PrunedPower:
    if exponent == 0:
        n = len(first.counts)
        ones = np.ones((n, 1), np.float32)
        return PrunedPower(np.arange(n, dtype=np.uint32)[:, None], ones, np.ones(n, np.int64))
    power = first
    for bit in bin(exponent)[3:]:
        power = _product(power, power, keep, n_jobs, progress)
        if bit == "1":
            power = _product(power, first, keep, n_jobs, progress)
    return power


def pruned_square(
    power: PrunedPower, keep: int, n_jobs: int | None, progress: str | None = None
) -> PrunedPower:
    """The square of a power, with at most ``keep`` entries per row."""
    return _product(power, power, keep, n_jobs, progress)


def _product(
    left: PrunedPower, right: PrunedPower, keep: int, n_jobs: int | None, progress: str | None
) -> PrunedPower:
    n = len(left.counts)
    out = _empty(n, keep)
    map_threads(
        lambda rows: _product_rows(left, right, keep, rows, out.rows(*rows)),
        blocks(n, ROWS_PER_TASK),
        n_jobs,
        title=progress,
    )
    return out


def _product_rows(
    left: PrunedPower,
    right: PrunedPower,
    keep: int,
    rows: tuple[int, int],
    out: PrunedPower | None = None,
) -> PrunedPower:
    """Some rows of a product, in ``out`` or in new arrays."""
    from vicinal.similarity.smoothing._power_kernels import pruned_product

    out = _empty(rows[1] - rows[0], keep) if out is None else out
    tolerance = PRUNING_TOLERANCE if keep < len(left.counts) else 0.0
    pruned_product(*left.rows(*rows), *right, *rows, tolerance, tuple(out))
    return out


def from_sparse(walk: sparse.csr_array, keep: int) -> PrunedPower:
    """A sparse matrix with at most ``keep`` entries per row, the largest."""
    n = walk.shape[0]
    rows = np.repeat(np.arange(n), np.diff(walk.indptr))
    items, values = walk.indices, walk.data.astype(np.float32)
    used = values > 0  # the smallest may underflow in single precision
    if np.diff(walk.indptr).max(initial=0) > keep:
        descending = np.lexsort((items, -values, rows))
        used[descending[np.arange(len(rows)) - walk.indptr[:-1][rows] >= keep]] = False
    rows, items, values = rows[used], items[used], values[used]
    counts = np.bincount(rows, minlength=n)
    out = _empty(n, max(1, int(counts.max(initial=0))))
    out.counts[:] = counts
    columns = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
    out.items[rows, columns], out.values[rows, columns] = items, values
    return out


def _empty(n: int, keep: int) -> PrunedPower:
    return PrunedPower(
        np.empty((n, keep), np.uint32), np.empty((n, keep), np.float32), np.empty(n, np.int64)
    )
