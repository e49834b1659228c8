"""All points within a radius, as lists in compressed rows, sorted by index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from vicinal._parallel import blocks, map_threads, one_blas_thread
from vicinal._validation import require_memory
from vicinal.neighbors._kdtree_kernels import KDTree
from vicinal.neighbors._radius_kernels import count_below, measure_below, walk_within, wanted_keys
from vicinal.neighbors.brute import (
    STRIP_COLUMNS,
    STRIP_ROWS,
    find_frame,
    place,
)
from vicinal.neighbors.kdtree import kernel_kind

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
REMEDY = "Take a smaller radius, fewer points, or the k nearest neighbours instead."


def within_tree(
    tree: KDTree, queries: np.ndarray, radius: float, *, p: int, own: bool, n_jobs: int | None
) -> Rows:
    """Lists by the k-d tree: one walk to count, one to fill."""
    n = len(queries)
    kind = kernel_kind(tree, p)
    # In tree order, one walk finds in the cache what the last one loaded.
    rows = tree.order if own else np.arange(n)
    indptr = np.zeros(n + 1, np.int64)
    nothing = np.empty(0, np.int64), np.empty(0)

    def walk(output: tuple[np.ndarray, np.ndarray]) -> None:
        map_threads(
            lambda span: walk_within(
                tree, kind, queries, rows[span[0] : span[1]], own, radius, indptr, *output
            ),
            blocks(n, 2048),
            n_jobs,
        )

    walk(nothing)
    np.cumsum(indptr, out=indptr)
    require_lists(int(indptr[-1]), radius)
    output = np.empty(indptr[-1], np.int64), np.empty(indptr[-1])
    if indptr[-1]:
        walk(output)
    return _sorted_rows(indptr, *output, n_points=len(tree.points))


def within_products(
    X: np.ndarray,
    queries: np.ndarray,
    radius: float,
    *,
    own: bool,
    n_jobs: int | None,
    progress: str | None = None,
) -> Rows:
    """Lists by blocked products: single precision rules out, the exact sum decides."""
    frame = find_frame(X, None if own else queries)
    points = place(X, frame)
    asked = points if own else place(queries, frame)
    exact, n_features = np.float32 in frame.exact, X.shape[1]
    # Far beyond all points a radius may be of any size, but its square must stay a number.
    reach = min(radius * (1 + 2.0**-50) * frame.scale, 1e150) ** 2
    wanted = wanted_keys(reach, asked.half, n_features, 2.0**-24, exact)

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
                products, half, wanted[a:b], queries, X, radius, a, c, own, rows, ids, lengths
            )
            parts.append((rows[:kept], ids[:kept], lengths[:kept]))
        return _by_row(parts, b - a)

    with one_blas_thread():
        return in_blocks(search, len(queries), STRIP_ROWS, radius, n_jobs, progress)


def in_blocks(
    search: Callable[[tuple[int, int]], Rows],
    n: int,
    size: int,
    radius: float,
    n_jobs: int | None,
    progress: str | None,
) -> Rows:
    """Lists of all rows from a search a block; the first block foretells the memory of all."""
    spans = blocks(n, size)
    first = search(spans[0])
    require_lists(len(first[1]) * n // (spans[0][1] - spans[0][0]), radius)
    parts = [first, *map_threads(search, spans[1:], n_jobs, progress=progress)]
    counts = np.concatenate([np.diff(part[0]) for part in parts])
    return (
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )


def require_lists(n_entries: int, radius: float) -> None:
    """Refuse lists that do not fit into memory."""
    require_memory(
        32 * n_entries, f"The list of {n_entries} pairs within radius={radius:g}", REMEDY
    )


def rows_of(distances: np.ndarray, radius: float, own: np.ndarray) -> Rows:
    """Lists from rows of distances; entry ``own[row]`` is left out."""
    near = distances <= radius
    mine = np.flatnonzero(own >= 0)
    near[mine, own[mine]] = False
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
