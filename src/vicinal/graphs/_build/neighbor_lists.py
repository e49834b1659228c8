"""From lists of neighbours to a graph: the union, the mutual pairs or the lists themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.options import checked
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.validation import check_count, read_array
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._checks import check_range
from vicinal.graphs._entries import Entries, index_dtype

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike
    from vicinal.graphs.graph import Graph

ROWS_PER_TASK = 1 << 15


@checked
def from_kneighbors(
    cls: type[Graph],
    indices: Any,
    distances: Any,
    n_neighbors: int | None = None,
    *,
    mutual: bool = False,
    directed: bool = False,
    points: Any = None,
    metric: MetricLike = "euclidean",
    n_jobs: int | None = -1,
) -> Graph:
    """Graph of ready neighbour lists, from whatever search.

    Parameters
    ----------
    indices : array of int of shape (n, m)
        Neighbours of each node, nearest first. The node itself may be among them, or not; -1
        marks a neighbour that was not found.
    distances : array of float of shape (n, m)
        Distances to them. scikit-learn's ``kneighbors`` returns the two the other way round.
    n_neighbors : int, optional
        Use only this many neighbours of each node, itself not counted; all of them by default.
    mutual : bool, default=False
        Connect two nodes only if each is a neighbour of the other; by default one way is enough.
    directed : bool, default=False
        Keep an edge from each node to its neighbours instead.
    points, metric :
        As for `Graph`.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Examples
    --------
    >>> from vicinal import Graph
    >>> Graph.from_kneighbors([[1], [0], [1]], [[1.0], [1.0], [2.0]]).edges()
    array([[0, 1],
           [1, 2]])
    """
    refuse_mutual_directed(mutual, directed)
    indices, distances = check_lists(indices, distances)
    width = indices.shape[1]
    if n_neighbors is not None:
        n_neighbors = check_count(
            n_neighbors,
            "n_neighbors",
            high=width,
            remedy=f"The lists hold {width} neighbours; search for more.",
        )
    lists = _sorted_lists(indices, distances, n_neighbors or width, n_jobs)
    if n_neighbors is not None:
        _check_enough(indices, lists[2], n_neighbors)
    entries = _own_entries(*lists) if directed else _merged_entries(*lists, mutual, n_jobs)
    return cls._trusted(entries, directed, points, metric)


def check_lists(indices: Any, distances: Any) -> tuple[np.ndarray, np.ndarray]:
    """Neighbour lists as (n, m) arrays of int64 and float64, refused if they cannot be lists."""
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
    # Written so that NaN fails too; where nothing was found, the distance means nothing.
    good = (distances >= 0) & (distances < np.inf) | (indices < 0)
    if not good.all():
        i, c = np.argwhere(~good)[0]
        raise InvalidValueError(
            f"distances[{i}, {c}] = {distances[i, c]:g}, but distances must be finite and >= 0; "
            "mark a missing neighbour by the index -1."
        )
    return indices, distances


def _check_enough(indices: np.ndarray, counts: np.ndarray, n_neighbors: int) -> None:
    short = np.flatnonzero(counts < n_neighbors)
    short = short[(indices[short] >= 0).all(axis=1)]
    if len(short):
        i = short[0]
        raise InvalidValueError(
            f"n_neighbors={n_neighbors}, but row {i} of indices holds only {counts[i]} neighbours "
            f"besides node {i} itself; search for more neighbours or lower n_neighbors."
        )


def refuse_mutual_directed(mutual: bool, directed: bool) -> None:
    """Refuse two options that contradict each other."""
    if mutual and directed:
        raise InvalidValueError(
            "mutual=True and directed=True contradict each other: mutual edges have no direction. "
            "Set one of them."
        )


def _sorted_lists(
    indices: np.ndarray, distances: np.ndarray, k: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from vicinal.graphs._build._knn_kernels import sort_lists

    n = len(indices)
    neighbors = np.empty((n, k), dtype=index_dtype(n, n))
    lengths = np.empty((n, k))
    counts = np.empty(n, dtype=np.int64)
    map_threads(
        lambda rows: sort_lists(indices, distances, *rows, neighbors, lengths, counts),
        blocks(n, ROWS_PER_TASK),
        n_jobs,
    )
    return neighbors, lengths, counts


def _own_entries(neighbors: np.ndarray, lengths: np.ndarray, counts: np.ndarray) -> Entries:
    indptr = _pointers(counts)
    if indptr[-1] < neighbors.size:
        stored = np.arange(neighbors.shape[1]) < counts[:, None]
        neighbors, lengths = neighbors[stored], lengths[stored]
    return Entries(indptr, neighbors.ravel(), lengths.ravel(), np.ones(neighbors.size))


def _merged_entries(
    neighbors: np.ndarray,
    lengths: np.ndarray,
    counts: np.ndarray,
    only_mutual: bool,
    n_jobs: int | None,
) -> Entries:
    from vicinal.graphs._build._knn_kernels import count_mutual, merge_lists, reverse_lists

    n = len(neighbors)
    starts = np.zeros(n + 2, dtype=np.int64)
    positions = np.empty(int(counts.sum()), dtype=index_dtype(n, neighbors.size))
    reverse_lists(neighbors, counts, starts, positions)

    tasks = blocks(n, ROWS_PER_TASK)
    mutual = np.empty(n, dtype=np.int64)
    map_threads(
        lambda rows: count_mutual(neighbors, counts, starts, positions, *rows, mutual),
        tasks,
        n_jobs,
    )
    indptr = _pointers(mutual if only_mutual else counts + np.diff(starts[:-1]) - mutual)
    indices = np.empty(indptr[-1], dtype=index_dtype(n, indptr[-1]))
    merged = np.empty(indptr[-1])
    lists = (neighbors, lengths, counts, starts, positions, bool(only_mutual))
    map_threads(lambda rows: merge_lists(*lists, *rows, indptr, indices, merged), tasks, n_jobs)
    return Entries(indptr, indices, merged, np.ones(len(merged)))


def _pointers(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])
