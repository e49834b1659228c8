"""Powers of a sparse transition matrix, pruned: neighbours under smoothing without any full row.

Row i of W* is row i of P^(t+1) over its diagonal entry. The power is built by squaring, and each row keeps
its largest entries. What is left out is known: all entries are lower bounds and the rows of the true power
sum to 1, so what a row lacks to 1 is its error. Entries are held in single precision and summed in double.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads

ROWS_PER_TASK = 2048
# Of what has left an item, entries this small are dropped even where there is room: the next power would
# only carry them along.
LEAST = 1e-6


class PrunedPower(NamedTuple):
    """Largest entries of each row of a power: row i uses ``counts[i]`` places of ``items``, ``shares``."""

    items: np.ndarray
    shares: np.ndarray
    counts: np.ndarray


class NearestShares(NamedTuple):
    """Largest entries off the diagonal of each row of a power of P, in order.

    ``own`` is the diagonal and ``lost`` what the pruning left out of each row, whose true sum is 1.
    """

    items: np.ndarray
    shares: np.ndarray
    own: np.ndarray
    lost: np.ndarray


def nearest_in_power(
    walk: sparse.csr_array,
    exponent: int,
    n_neighbors: int,
    *,
    keep: int = 400,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> NearestShares:
    """Largest entries of each row of walk^exponent, computed from pruned powers.

    Parameters
    ----------
    walk : csr_array (n, n)
        Transition probabilities; rows sum to 1.
    exponent : int
        At least 1.
    n_neighbors : int
        Number of entries, at most n - 1.
    keep : int
        Number of entries that a row of a power keeps on the way.
    """
    from vicinal.similarity.smoothing._power_kernels import largest_of_product

    n = walk.shape[0]
    keep = min(keep, n)
    first = _from_sparse(walk, keep)
    half = _pruned_power(first, exponent // 2, keep, n_jobs, progress)
    left = _product(half, first, keep, n_jobs, progress) if exponent % 2 else half
    out = NearestShares(
        np.empty((n, n_neighbors), np.int64), np.empty((n, n_neighbors)), np.empty(n), np.empty(n)
    )
    map_threads(
        lambda rows: largest_of_product(*left, *half, *rows, tuple(out)),
        blocks(n, ROWS_PER_TASK),
        n_jobs,
        progress=progress,
    )
    order = np.lexsort((out.items, -out.shares), axis=1)
    return NearestShares(
        np.take_along_axis(out.items, order, axis=1),
        np.take_along_axis(out.shares, order, axis=1),
        out.own,
        np.maximum(0.0, 1.0 - out.lost),
    )


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


def _product(
    left: PrunedPower, right: PrunedPower, keep: int, n_jobs: int | None, progress: str | None
) -> PrunedPower:
    from vicinal.similarity.smoothing._power_kernels import pruned_product

    n = len(left.counts)
    out = _empty(n, keep)
    least = LEAST if keep < n else 0.0
    map_threads(
        lambda rows: pruned_product(*left, *right, *rows, least, tuple(out)),
        blocks(n, ROWS_PER_TASK),
        n_jobs,
        progress=progress,
    )
    return out


def _from_sparse(walk: sparse.csr_array, keep: int) -> PrunedPower:
    """A sparse matrix whose rows are cut to their largest entries, where they have more."""
    n = walk.shape[0]
    rows = np.repeat(np.arange(n), np.diff(walk.indptr))
    items, shares = walk.indices, walk.data.astype(np.float32)
    used = shares > 0  # single precision may take the smallest for 0
    if np.diff(walk.indptr).max(initial=0) > keep:
        largest = np.lexsort((items, -shares, rows))
        used[largest[np.arange(len(rows)) - walk.indptr[:-1][rows] >= keep]] = False
    rows, items, shares = rows[used], items[used], shares[used]
    counts = np.bincount(rows, minlength=n)
    out = _empty(n, max(1, int(counts.max(initial=0))))
    out.counts[:] = counts
    place = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
    out.items[rows, place], out.shares[rows, place] = items, shares
    return out


def _empty(n: int, keep: int) -> PrunedPower:
    return PrunedPower(
        np.empty((n, keep), np.uint32), np.empty((n, keep), np.float32), np.empty(n, np.int64)
    )
