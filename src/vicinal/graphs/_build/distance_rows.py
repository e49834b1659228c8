"""Sparse matrices of distances to neighbours, as scikit-learn's `KNeighborsTransformer` returns them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal._core.matrix_checks import check_distances
from vicinal._core.symmetry import rounding_tolerance
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch


def graph_from_distances(distances: sparse.sparray | sparse.spmatrix) -> Graph:
    """Undirected graph of neighbours: two points are connected if either is in the other's row.

    Explicit zeros are distances of duplicates; the diagonal is ignored. A pair that is stored in both
    directions needs the same distance up to rounding; the shorter one is used.

    Parameters
    ----------
    distances : sparse matrix of shape (n, n)
        Missing entries mean that two points are not neighbours.
    """
    directed = Graph.from_scipy(check_distances(distances), directed=True)
    graph = directed.symmetrize("union")
    excess = directed.lengths - graph.lengths[np.searchsorted(_keys(graph), _keys(directed))]
    # Distances are often computed from differences of squares, which keep half of the digits.
    tolerance = np.sqrt(rounding_tolerance(distances.dtype)) * directed.lengths.max(initial=0.0)
    if (excess > tolerance).any():
        at = int(np.argmax(excess))
        i, j = directed.edges()[at]
        mirrored = directed.lengths[at] - excess[at]
        raise InvalidValueError(
            f"X[{i}, {j}] = {directed.lengths[at]:g} but X[{j}, {i}] = {mirrored:g}, "
            "and a distance must be the same in both directions; average them as (X + X.T) / 2, or "
            "leave one of the two out."
        )
    return graph


def neighbors_from_rows(rows: sparse.sparray | sparse.spmatrix) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the neighbours in each row, nearest first.

    Shorter rows are padded with neighbour 0 at an infinite distance.
    """
    csr = sparse.csr_array(rows, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()  # the arrays may be the caller's
        csr.sum_duplicates()
    counts = np.diff(csr.indptr)
    if (counts == 0).any():
        raise InvalidValueError(
            f"row {int(np.argmin(counts))} of X has no distance to any training point; use more neighbours "
            "or a larger radius."
        )
    if not (csr.data >= 0).all():
        raise InvalidValueError("X holds negative or undefined distances, but they must be >= 0.")
    row = np.repeat(np.arange(csr.shape[0]), counts)
    order = np.lexsort((csr.indices, csr.data, row))
    column = np.arange(len(row)) - np.repeat(csr.indptr[:-1], counts)
    indices = np.zeros((csr.shape[0], int(counts.max())), dtype=np.int64)
    distances = np.full(indices.shape, np.inf)
    indices[row, column], distances[row, column] = csr.indices[order], csr.data[order]
    return indices, distances


def neighbors_within(
    search: NeighborSearch, queries: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Points within the radius of each query, or the nearest one, as `neighbors_from_rows` returns them."""
    indptr, indices, distances = search.within(radius, queries)
    counts = np.diff(indptr)
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        nearest, nearest_distances = search.nearest(1, queries[empty])
        at = indptr[empty]
        indices, distances = (
            np.insert(indices, at, nearest[:, 0]),
            np.insert(distances, at, nearest_distances[:, 0]),
        )
        indptr = np.concatenate([[0], np.cumsum(np.maximum(counts, 1))])
    shape = len(counts), search.n_points
    return neighbors_from_rows(sparse.csr_array((distances, indices, indptr), shape=shape))


def _keys(graph: Graph) -> np.ndarray:
    """An integer key for each stored pair, ascending."""
    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), graph.degrees)
    return rows * graph.n_nodes + graph.indices
