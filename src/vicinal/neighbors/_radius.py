"""All points within a radius, as lists in compressed rows, sorted by index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal._core.warn import LongWork
from vicinal.neighbors._brute import (
    QUERIES_PER_TASK,
    STRIP_COLUMNS,
    PreparedPoints,
    for_queries,
    rescale,
)
from vicinal.neighbors._kdtree import kernel_kind
from vicinal.neighbors._kdtree_kernels import KDTree
from vicinal.neighbors._radius_kernels import count_below, key_limits, measure_below, walk_within

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
REMEDY = "Use a smaller radius, fewer points, or the k nearest neighbours instead."
SLOW_SEARCH = LongWork(
    "the search within a radius", "pass fewer points, or use the k nearest neighbours"
)
# The first pass counts, the second one fills the lists.
SLOW_TREE_SEARCH = SLOW_SEARCH._replace(n_passes=2)
# Index and distance, and the strength that a graph adds; blocks stay in memory until all are concatenated.
BYTES_PER_PAIR, BYTES_PER_PAIR_IN_BLOCKS = 20.0, 32.0
# Number of positions at which rows are counted first, to estimate the memory, and rows at each of them.
N_SAMPLED, SAMPLED_ROWS = 64, 4


def within_tree(
    tree: KDTree,
    queries: np.ndarray,
    radius: float,
    *,
    p: int,
    exclude_self: bool,
) -> Rows:
    """Search with the k-d tree: a first traversal counts, a second one fills the lists."""
    n = len(queries)
    kind = kernel_kind(tree, p)
    # In tree order, consecutive queries visit the same nodes, which are in the cache.
    rows = tree.order if exclude_self else np.arange(n)
    indptr = np.zeros(n + 1, np.int64)
    no_output = np.empty(0, np.int64), np.empty(0)

    def traverse(output: tuple[np.ndarray, np.ndarray]) -> None:
        map_threads(
            lambda span: walk_within(
                tree, kind, queries, rows[span[0] : span[1]], exclude_self, radius, indptr, *output
            ),
            blocks(n, 2048),
            long_work=SLOW_TREE_SEARCH if output is no_output else None,
        )

    if n > 16 * N_SAMPLED:
        # Evenly spaced in tree order, the sample covers all regions of the data.
        sample = rows[np.linspace(0, n - 1, N_SAMPLED).astype(np.int64)]
        walk_within(tree, kind, queries, sample, exclude_self, radius, indptr, *no_output)
        counts = indptr[sample + 1]
        # A lower bound, three standard errors below the estimate, since all rows are counted next.
        lower_bound = counts.mean() - 3 * counts.std() / np.sqrt(N_SAMPLED)
        require_lists(max(0, int(lower_bound * n)), BYTES_PER_PAIR)
    traverse(no_output)
    np.cumsum(indptr, out=indptr)
    require_lists(int(indptr[-1]), BYTES_PER_PAIR)
    output = np.empty(indptr[-1], np.int64), np.empty(indptr[-1])
    if indptr[-1]:
        traverse(output)
    return _sorted_rows(indptr, *output, n_points=len(tree.points))


def within_products(
    X: np.ndarray,
    queries: np.ndarray,
    radius: float,
    *,
    exclude_self: bool,
    prepared: PreparedPoints | None = None,
) -> Rows:
    """Search with blocked products: single precision is a filter, the exact sum decides."""
    rescaling, points = for_queries(X, queries, prepared)
    targets = points if exclude_self else rescale(queries, rescaling)
    exact, n_features = np.float32 in rescaling.exact, X.shape[1]
    # The radius may be arbitrarily large, but its square must be finite.
    reach = min(radius * (1 + 2.0**-50) * rescaling.scale, 1e150) ** 2
    max_keys = key_limits(reach, targets.half_norms, n_features, 2.0**-24, exact)

    def search(span: tuple[int, int]) -> Rows:
        a, b = span
        parts = []
        for c, d in blocks(len(X), STRIP_COLUMNS):
            products = targets.points[a:b] @ points.points[c:d].T
            half = points.half_norms[c:d].astype(np.float32)
            n_candidates = count_below(products, half, max_keys[a:b])
            if not n_candidates:
                continue
            rows, ids, lengths = (
                np.empty(n_candidates, np.int64),
                np.empty(n_candidates, np.int64),
                np.empty(n_candidates),
            )
            n_within = measure_below(
                products,
                half,
                max_keys[a:b],
                queries,
                X,
                radius,
                a,
                c,
                exclude_self,
                rows,
                ids,
                lengths,
            )
            parts.append((rows[:n_within], ids[:n_within], lengths[:n_within]))
        return _by_row(parts, b - a)

    with one_blas_thread():
        return in_blocks(search, len(queries), QUERIES_PER_TASK)


def in_blocks(
    search: Callable[[tuple[int, int]], Rows],
    n: int,
    size: int,
) -> Rows:
    """Search block by block; a sample of rows is used to estimate the memory first."""
    if n > 16 * N_SAMPLED:
        starts = np.linspace(0, n - SAMPLED_ROWS, N_SAMPLED).astype(np.int64).tolist()
        # One row at each position is enough if the lists are far too long.
        for width in (1, SAMPLED_ROWS):
            counts = np.array([len(search((row, row + width))[1]) for row in starts])
            margin = 3 * counts.std() / np.sqrt(N_SAMPLED) if width == 1 else 0.0
            n_entries = max(0, int((counts.mean() - margin) * n / width))
            require_lists(n_entries, BYTES_PER_PAIR_IN_BLOCKS)
    parts = map_threads(search, blocks(n, size), title="neighbours", long_work=SLOW_SEARCH)
    # The blocks are in memory already; concatenating them needs the other half of the estimate.
    require_lists(sum(len(part[1]) for part in parts), BYTES_PER_PAIR_IN_BLOCKS / 2)
    counts = np.concatenate([np.diff(part[0]) for part in parts])
    return (
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )


def require_lists(n_entries: int, bytes_per_pair: float) -> None:
    """Raise an error if lists of this size do not fit into memory."""
    require_memory(
        bytes_per_pair * n_entries,
        f"The list of {n_entries:,} pairs within the radius",
        REMEDY,
    )


def rows_of(distances: np.ndarray, radius: float, exclude_self: np.ndarray) -> Rows:
    """Lists from rows of distances, without entry ``exclude_self[row]`` of each row; -1 excludes none."""
    near = distances <= radius
    excluded = np.flatnonzero(exclude_self >= 0)
    near[excluded, exclude_self[excluded]] = False
    rows, ids = np.nonzero(near)
    return np.searchsorted(rows, np.arange(len(distances) + 1)), ids, distances[rows, ids]


def _by_row(parts: list[Rows], n_rows: int) -> Rows:
    if not parts:
        return np.zeros(n_rows + 1, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, ids, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
    # Parts come by ascending columns, so a stable sort by row leaves the ids of a row ascending.
    order = np.argsort(rows, kind="stable")
    indptr = np.searchsorted(rows[order], np.arange(n_rows + 1))
    return indptr, ids[order], lengths[order]


def _sorted_rows(
    indptr: np.ndarray, indices: np.ndarray, distances: np.ndarray, n_points: int
) -> Rows:
    lists = sparse.csr_array((distances, indices, indptr), shape=(len(indptr) - 1, n_points))
    lists.sort_indices()
    return (
        lists.indptr.astype(np.int64, copy=False),
        lists.indices.astype(np.int64, copy=False),
        lists.data,
    )
