"""Sparse matrices of distances to neighbours, as scikit-learn's `KNeighborsTransformer` returns them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal._core.symmetry import rounding_of
from vicinal._core.validation import check_distances
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch


def graph_from_distances(distances: sparse.sparray | sparse.spmatrix) -> Graph:
    """Undirected graph of neighbours: two points are connected if either is in the other's row.

    Explicit zeros are distances of duplicates; the diagonal is ignored. A pair that is stored twice needs
    the same distance both times, up to rounding, of which the shorter one is taken.

    Parameters
    ----------
    distances : sparse matrix of shape (n, n)
        Missing entries are not neighbours.
    """
    listed = Graph.from_scipy(check_distances(distances), directed=True)
    graph = listed.symmetrize("union")
    excess = listed.lengths - graph.lengths[np.searchsorted(_keys(graph), _keys(listed))]
    # Differences of squares, from which distances are often computed, keep half of the digits.
    slack = np.sqrt(rounding_of(distances.dtype)) * listed.lengths.max(initial=0.0)
    if (excess > slack).any():
        at = int(np.argmax(excess))
        i, j = listed.edges()[at]
        raise InvalidValueError(
            f"X[{i}, {j}] = {listed.lengths[at]:g} but X[{j}, {i}] = {listed.lengths[at] - excess[at]:g}, "
            "and a distance must be the same in both directions; average them as (X + X.T) / 2, or "
            "leave one of the two out."
        )
    return graph


def neighbors_from_rows(rows: sparse.sparray | sparse.spmatrix) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the neighbours in each row, the nearest first.

    Rows with fewer neighbours than the longest one end in neighbour 0 at an infinite distance.
    """
    csr = sparse.csr_array(rows, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()  # the arrays may be the caller's
        csr.sum_duplicates()
    counts = np.diff(csr.indptr)
    if (counts == 0).any():
        raise InvalidValueError(
            f"row {int(np.argmin(counts))} of X has no distance to any training point; take more neighbours "
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
    """The points in the ball around each query, or the nearest one, in the form of `neighbors_from_rows`."""
    indptr, indices, distances = search.within(radius, queries)
    counts = np.diff(indptr)
    alone = np.flatnonzero(counts == 0)
    if len(alone):
        nearest, gaps = search.nearest(1, queries[alone])
        at = indptr[alone]
        indices, distances = (
            np.insert(indices, at, nearest[:, 0]),
            np.insert(distances, at, gaps[:, 0]),
        )
        indptr = np.concatenate([[0], np.cumsum(np.maximum(counts, 1))])
    shape = len(counts), search.n_points
    return neighbors_from_rows(sparse.csr_array((distances, indices, indptr), shape=shape))


def _keys(graph: Graph) -> np.ndarray:
    """A number for each stored pair, ascending."""
    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), graph.degrees)
    return rows * graph.n_nodes + graph.indices
