"""Powers of a sparse transition matrix, pruned: neighbours under smoothing without any full row.

Row i of W* is row i of P^(t+1) over its diagonal entry. The power is built by squaring, and each row keeps
its largest entries. What is left out is known exactly: all entries are lower bounds and the rows of the
true power sum to 1, so what a row lacks to 1 is its error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._parallel import blocks, map_threads

ROWS_A_TASK = 512
# Entries this small are dropped even where there is room: the next power would only carry them along.
LEAST = 1e-7


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
    n_jobs: int | None = None,
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
    from vicinal.similarity._power_kernels import largest_of_product

    n = walk.shape[0]
    first = _from_sparse(walk, keep)
    half = _pruned_power(first, exponent // 2, n_jobs, progress)
    left = _product(half, first, n_jobs, progress) if exponent % 2 else half
    out = NearestShares(
        np.empty((n, n_neighbors), np.int64), np.empty((n, n_neighbors)), np.empty(n), np.empty(n)
    )
    map_threads(
        lambda rows: largest_of_product(*left, *half, *rows, tuple(out)),
        blocks(n, ROWS_A_TASK),
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
    first: PrunedPower, exponent: int, n_jobs: int | None, progress: str | None
) -> PrunedPower:
    if exponent == 0:
        n = len(first.counts)
        return PrunedPower(
            np.arange(n, dtype=np.int32)[:, None], np.ones((n, 1)), np.ones(n, np.int64)
        )
    power = first
    for bit in bin(exponent)[3:]:
        power = _product(power, power, n_jobs, progress)
        if bit == "1":
            power = _product(power, first, n_jobs, progress)
    return power


def _product(
    left: PrunedPower, right: PrunedPower, n_jobs: int | None, progress: str | None
) -> PrunedPower:
    from vicinal.similarity._power_kernels import pruned_product

    n = len(left.counts)
    out = _empty(*right.items.shape) if left.items.shape[1] == 1 else _empty(*left.items.shape)
    least = LEAST if out.items.shape[1] < n else 0.0
    map_threads(
        lambda rows: pruned_product(*left, *right, *rows, least, tuple(out)),
        blocks(n, ROWS_A_TASK),
        n_jobs,
        progress=progress,
    )
    return out


def _from_sparse(walk: sparse.csr_array, keep: int) -> PrunedPower:
    n = walk.shape[0]
    out = _empty(n, min(keep, n))
    for i in range(n):
        row = slice(walk.indptr[i], walk.indptr[i + 1])
        items, shares = walk.indices[row], walk.data[row]
        if len(items) > keep:
            largest = np.sort(np.argsort(-shares, kind="stable")[:keep])
            items, shares = items[largest], shares[largest]
        out.counts[i] = len(items)
        out.items[i, : len(items)], out.shares[i, : len(items)] = items, shares
    return out


def _empty(n: int, keep: int) -> PrunedPower:
    # Pages that no row reaches are never touched, so room for more costs no memory.
    return PrunedPower(np.empty((n, keep), np.int32), np.empty((n, keep)), np.empty(n, np.int64))
