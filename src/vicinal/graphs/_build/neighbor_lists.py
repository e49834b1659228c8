"""Graphs from neighbour lists: the union, the mutual pairs or the directed lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal._core.large import forget, large
from vicinal._core.options import entry
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._checks import check_range
from vicinal.graphs._entries import Entries, index_dtype, unit_strengths

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, MetricLike, NJobs
    from vicinal.graphs.graph import Graph

ROWS_PER_TASK = 1 << 15
# Lists are reversed for a part of the rows at a time, and all lists are read for each part: fewer parts are
# faster, more parts take less memory.
ROWS_PER_PART, MIN_PARTS, MAX_PARTS = 1 << 20, 4, 16


class SortedLists(NamedTuple):
    """Neighbours (n, k) of each node, sorted by index, their lengths, and how many each node has."""

    neighbors: np.ndarray
    lengths: np.ndarray
    counts: np.ndarray


@entry
def from_kneighbors(
    cls: type[Graph],
    indices: ArrayLike,
    distances: ArrayLike,
    n_neighbors: int | None = None,
    *,
    mutual: bool = False,
    directed: bool = False,
    points: MatrixLike | None = None,
    metric: MetricLike = "euclidean",
    n_jobs: NJobs = -1,
) -> Graph:
    """Build a graph from precomputed neighbour lists.

    Parameters
    ----------
    indices : array of int of shape (n, m)
        Neighbours of each node, nearest first. The node itself may be among them; -1 marks a missing
        neighbour.
    distances : array of float of shape (n, m)
        Distances to them. scikit-learn's ``kneighbors`` returns distances first.
    n_neighbors : int, optional
        Use only this many neighbours of each node, not counting itself; all of them by default.
    mutual : bool, default=False
        Connect two nodes only if each is a neighbour of the other; by default one direction is enough.
    directed : bool, default=False
        Return a directed graph, with edges from each node to its neighbours.
    points : array, optional
        Points, or distances if ``metric="precomputed"``, that the graph is built on.
    metric : str or callable, default="euclidean"
        Metric of ``points``.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    Graph
        Lengths are the distances; strengths are 1.

    Examples
    --------
    >>> from vicinal import Graph
    >>> Graph.from_kneighbors([[1], [0], [1]], [[1.0], [1.0], [2.0]]).edges()
    array([[0, 1],
           [1, 2]])
    """
    check_not_mutual_and_directed(mutual, directed)
    indices, distances = check_lists(indices, distances)
    width = indices.shape[1]
    if n_neighbors is not None:
        n_neighbors = check_count(
            n_neighbors,
            "n_neighbors",
            high=width,
            remedy=f"The lists hold {width} neighbours; search for more.",
        )
    lists = sorted_lists(indices, distances, n_neighbors or width)
    if n_neighbors is not None:
        _check_list_sizes(indices, lists[2], n_neighbors)
    entries = entries_of_lists(lists, mutual, directed)
    return cls._of_entries(entries, directed, points, metric)


def check_lists(indices: ArrayLike, distances: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Validated neighbour lists as (n, m) arrays of int64 and float64."""
    indices, distances = read_array(indices, "indices"), read_array(distances, "distances")
    if indices.dtype.kind not in "iu":
        swapped = indices.dtype.kind == "f" and distances.dtype.kind in "iu"
        remedy = "pass the indices first, then the distances" if swapped else "cast them to int"
        raise InvalidTypeError(
            f"indices has dtype {indices.dtype}, but integers are needed; {remedy}."
        )
    if indices.ndim != 2 or indices.size == 0 or indices.shape != distances.shape:
        raise InvalidValueError(
            f"indices has shape {indices.shape} and distances {distances.shape}, but both must be "
            "(n_points, n_neighbors)."
        )
    if distances.dtype.kind not in "iuf":
        raise InvalidTypeError(
            f"distances has dtype {distances.dtype}, but real numbers are needed."
        )
    indices = np.ascontiguousarray(indices, dtype=np.int64)
    check_range(indices, len(indices), "indices", low=-1)
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    # Written so that NaN fails too; the distance of a missing neighbour is ignored.
    valid = (distances >= 0) & (distances < np.inf) | (indices < 0)
    if not valid.all():
        i, c = np.argwhere(~valid)[0]
        raise InvalidValueError(
            f"distances[{i}, {c}] = {distances[i, c]:g}, but distances must be finite and >= 0; "
            "mark a missing neighbour by the index -1."
        )
    return indices, distances


def _check_list_sizes(indices: np.ndarray, counts: np.ndarray, n_neighbors: int) -> None:
    too_few = np.flatnonzero(counts < n_neighbors)
    too_few = too_few[(indices[too_few] >= 0).all(axis=1)]
    if len(too_few):
        i = too_few[0]
        raise InvalidValueError(
            f"n_neighbors={n_neighbors}, but row {i} of indices holds only {counts[i]} neighbours "
            f"besides node {i} itself; search for more neighbours or lower n_neighbors."
        )


def check_not_mutual_and_directed(mutual: bool, directed: bool) -> None:
    """Reject two options that contradict each other."""
    if mutual and directed:
        raise InvalidValueError(
            "mutual=True and directed=True contradict each other: mutual edges have no direction. "
            "Set only one of them."
        )


def entries_of_lists(lists: SortedLists, mutual: bool, directed: bool) -> Entries:
    """Entries of the graph of sorted neighbour lists."""
    return _directed_entries(*lists) if directed else _merged_entries(*lists, mutual)


def sorted_lists(
    indices: np.ndarray,
    distances: np.ndarray,
    k: int,
) -> SortedLists:
    """The first k neighbours of each row, sorted by index, without the node itself."""
    from vicinal._core._selection_kernels import MAX_COUNTED
    from vicinal.graphs._build._knn_kernels import sort_lists

    n = len(indices)
    neighbors = np.empty((n, k), dtype=index_dtype(n, n))
    lengths = np.empty((n, k))
    counts = np.empty(n, dtype=np.int64)

    def sort(rows: tuple[int, int]) -> None:
        ids, ranks = np.empty((2, MAX_COUNTED), np.int64)
        memory = ids, np.empty(MAX_COUNTED), ranks
        sort_lists(indices, distances, *rows, neighbors, lengths, counts, *memory)

    map_threads(sort, blocks(n, ROWS_PER_TASK))
    return SortedLists(neighbors, lengths, counts)


def _directed_entries(neighbors: np.ndarray, lengths: np.ndarray, counts: np.ndarray) -> Entries:
    indptr = _pointers(counts)
    if indptr[-1] < neighbors.size:
        stored = np.arange(neighbors.shape[1]) < counts[:, None]
        neighbors, lengths = neighbors[stored], lengths[stored]
    return Entries(indptr, neighbors.ravel(), lengths.ravel(), unit_strengths(neighbors.size))


def _merged_entries(
    neighbors: np.ndarray,
    lengths: np.ndarray,
    counts: np.ndarray,
    only_mutual: bool,
) -> Entries:
    from vicinal.graphs._build import _knn_kernels as kernels

    n = len(neighbors)
    starts = np.zeros(n + 1, dtype=np.int64)
    for a, b in blocks(n, ROWS_PER_TASK):
        kernels.count_reverse(neighbors[a:b], counts[a:b], starts[1:])
        forget(neighbors[a:b])
    np.cumsum(starts, out=starts)

    def reversed_rows(first: int, last: int) -> tuple[Any, ...]:
        ends, n_entries = starts[first:last] - starts[first], starts[last] - starts[first]
        sources, reverse_lengths = np.empty(n_entries, neighbors.dtype), np.empty(n_entries)
        for a, b in blocks(n, ROWS_PER_TASK):
            kernels.reverse_lists(
                neighbors, lengths, counts, a, b, first, ends, sources, reverse_lengths
            )
            forget(neighbors[a:b], lengths[a:b])
        return ends, sources, reverse_lengths

    # Made twice instead of being kept.
    n_parts = min(max(n // ROWS_PER_PART, MIN_PARTS), MAX_PARTS)
    parts = blocks(n, max(ROWS_PER_TASK, -(-n // n_parts)))
    sizes = np.empty(n, dtype=np.int64)

    def merge(indptr: np.ndarray, indices: np.ndarray, merged: np.ndarray) -> None:
        lists, rows_to_fill = (neighbors, lengths, counts), (sizes, indptr, indices, merged)

        def merge_part(rows: tuple[int, int]) -> None:
            first, (ends, *reverse) = rows[0], reversed_rows(*rows)
            for a, b in blocks(len(ends), ROWS_PER_TASK):
                start = ends[a - 1] if a else 0
                some = (array[start : ends[b - 1]] for array in reverse)
                kernels.merge_lists(
                    *lists, first + a, ends[a:b] - start, *some, bool(only_mutual), *rows_to_fill
                )
                forget(neighbors[first + a : first + b], lengths[first + a : first + b])
                if len(indptr):
                    filled = slice(indptr[first + a], indptr[first + b])
                    forget(indices[filled], merged[filled])

        map_threads(merge_part, parts)

    merge(sizes[:0], neighbors[:0, 0], lengths[:0, 0])
    indptr = _pointers(sizes)
    indices = large(indptr[-1], index_dtype(n, indptr[-1]))
    merged = large(indptr[-1], np.float64)
    merge(indptr, indices, merged)
    return Entries(indptr, indices, merged, unit_strengths(len(merged)))


def _pointers(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])
