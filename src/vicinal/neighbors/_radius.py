"""All points within a radius, as lists in compressed rows, sorted by index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal.neighbors._brute import (
    STRIP_COLUMNS,
    STRIP_ROWS,
    find_frame,
    place,
)
from vicinal.neighbors._kdtree import kernel_kind
from vicinal.neighbors._kdtree_kernels import KDTree
from vicinal.neighbors._radius_kernels import count_below, key_limits, measure_below, walk_within

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
REMEDY = "Take a smaller radius, fewer points, or the k nearest neighbours instead."
# Index and distance, and the strength that a graph adds; blocks are held until all are put together.
BYTES_PER_PAIR, BYTES_PER_PAIR_IN_BLOCKS = 20.0, 32.0
# Places at which some rows are counted first, to foresee the memory of all.
N_SAMPLED, SAMPLED_ROWS = 64, 4


def within_tree(
    tree: KDTree,
    queries: np.ndarray,
    radius: float,
    *,
    p: int,
    exclude_self: bool,
    n_jobs: int | None,
) -> Rows:
    """Lists by the k-d tree: one walk to count, one to fill."""
    n = len(queries)
    kind = kernel_kind(tree, p)
    # In tree order, one walk finds in the cache what the last one loaded.
    rows = tree.order if exclude_self else np.arange(n)
    indptr = np.zeros(n + 1, np.int64)
    nothing = np.empty(0, np.int64), np.empty(0)

    def walk(output: tuple[np.ndarray, np.ndarray]) -> None:
        map_threads(
            lambda span: walk_within(
                tree, kind, queries, rows[span[0] : span[1]], exclude_self, radius, indptr, *output
            ),
            blocks(n, 2048),
            n_jobs,
        )

    if n > 16 * N_SAMPLED:
        # Evenly spaced in the tree, they cover all regions of the data.
        sample = rows[np.linspace(0, n - 1, N_SAMPLED).astype(np.int64)]
        walk_within(tree, kind, queries, sample, exclude_self, radius, indptr, *nothing)
        counts = indptr[sample + 1]
        # What is certain, three standard errors below the estimate: all rows are counted next.
        least = counts.mean() - 3 * counts.std() / np.sqrt(N_SAMPLED)
        require_lists(max(0, int(least * n)), BYTES_PER_PAIR)
    walk(nothing)
    np.cumsum(indptr, out=indptr)
    require_lists(int(indptr[-1]), BYTES_PER_PAIR)
    output = np.empty(indptr[-1], np.int64), np.empty(indptr[-1])
    if indptr[-1]:
        walk(output)
    return _sorted_rows(indptr, *output, n_points=len(tree.points))


def within_products(
    X: np.ndarray,
    queries: np.ndarray,
    radius: float,
    *,
    exclude_self: bool,
    n_jobs: int | None,
    progress: str | None = None,
) -> Rows:
    """Lists by blocked products: single precision rules out, the exact sum decides."""
    frame = find_frame(X, None if exclude_self else queries)
    points = place(X, frame)
    asked = points if exclude_self else place(queries, frame)
    exact, n_features = np.float32 in frame.exact, X.shape[1]
    # Far beyond all points a radius may be of any size, but its square must stay a number.
    reach = min(radius * (1 + 2.0**-50) * frame.scale, 1e150) ** 2
    wanted = key_limits(reach, asked.half, n_features, 2.0**-24, exact)

    def search(span: tuple[int, int]) -> Rows:
        a, b = span
        parts = []
        for c, d in blocks(len(X), STRIP_COLUMNS):
            products = asked.points[a:b] @ points.points[c:d].T
            half = points.half[c:d].astype(np.float32)
            room = count_below(products, half, wanted[a:b])
            if not room:
                continue
            rows, ids, lengths = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
            kept = measure_below(
                products,
                half,
                wanted[a:b],
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
            parts.append((rows[:kept], ids[:kept], lengths[:kept]))
        return _by_row(parts, b - a)

    with one_blas_thread():
        return in_blocks(search, len(queries), STRIP_ROWS, n_jobs, progress)


def in_blocks(
    search: Callable[[tuple[int, int]], Rows],
    n: int,
    size: int,
    n_jobs: int | None,
    progress: str | None,
) -> Rows:
    """Lists of all rows from one search per block; a sample of rows foresees the memory of all."""
    if n > 16 * N_SAMPLED:
        starts = np.linspace(0, n - SAMPLED_ROWS, N_SAMPLED).astype(np.int64).tolist()
        # One row at each place is enough where the lists are far too long.
        for width in (1, SAMPLED_ROWS):
            counts = np.array([len(search((row, row + width))[1]) for row in starts])
            slack = 3 * counts.std() / np.sqrt(N_SAMPLED) if width == 1 else 0.0
            n_entries = max(0, int((counts.mean() - slack) * n / width))
            require_lists(n_entries, BYTES_PER_PAIR_IN_BLOCKS)
    parts = map_threads(search, blocks(n, size), n_jobs, progress=progress)
    # The blocks are there; half of the estimate is what putting them together adds.
    require_lists(sum(len(part[1]) for part in parts), BYTES_PER_PAIR_IN_BLOCKS / 2)
    counts = np.concatenate([np.diff(part[0]) for part in parts])
    return (
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )


def require_lists(n_entries: int, bytes_per_pair: float) -> None:
    """Refuse lists that do not fit into memory."""
    require_memory(
        bytes_per_pair * n_entries,
        f"The list of {n_entries:,} pairs within the radius",
        REMEDY,
    )


def rows_of(distances: np.ndarray, radius: float, exclude_self: np.ndarray) -> Rows:
    """Lists from rows of distances; entry ``exclude_self[row]`` is left out."""
    near = distances <= radius
    mine = np.flatnonzero(exclude_self >= 0)
    near[mine, exclude_self[mine]] = False
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
