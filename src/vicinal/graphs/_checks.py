"""Checks of the arrays that a `Graph` is built from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array, real_array
from vicinal._core.chunked import ChunkedRows
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._entries import Entries, first_asymmetric, index_dtype, unit_strengths

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike
    from vicinal.graphs.graph import Graph


def check_has_nodes(graph: Graph, name: str) -> None:
    """Reject a `Graph` without nodes."""
    if graph.n_nodes == 0:
        raise InvalidValueError(f"{name} is a Graph without nodes, but at least one is needed.")


def check_structure(row_pointers: ArrayLike, columns: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    indptr = _as_integers(row_pointers, "indptr")
    indices = _as_integers(columns, "indices")
    if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
        raise InvalidValueError(
            f"indptr has shape {indptr.shape} and indices {indices.shape}, but CSR needs 1-D "
            "arrays with n_nodes + 1 row pointers; use Graph.from_edges for pairs of nodes."
        )
    n = len(indptr) - 1
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise InvalidValueError(
            f"indptr runs from {indptr[0]} to {indptr[-1]}, but row pointers must increase from 0 to "
            f"the number of entries, {len(indices)}."
        )
    check_range(indices, n, "indices")
    dtype = index_dtype(n, len(indices))
    return indptr.astype(dtype), indices.astype(dtype)


def check_pairs(edges: ArrayLike, n_nodes: int) -> np.ndarray:
    pairs = read_array(edges, "edges")
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    pairs = _as_integers(pairs, "edges")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidValueError(
            f"edges has shape {pairs.shape}, but pairs of nodes of shape (m, 2) are needed."
        )
    check_range(pairs, n_nodes, "edges")
    return pairs


def _as_integers(values: ArrayLike, name: str) -> np.ndarray:
    array = read_array(values, name)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"{name} has dtype {array.dtype}, but node numbers must be integers."
        )
    return array


def check_range(nodes: np.ndarray, n_nodes: int, name: str, low: int = 0) -> None:
    """Reject numbers that are not nodes."""
    if nodes.size and (nodes.min() < low or nodes.max() >= n_nodes):
        invalid = nodes.min() if nodes.min() < low else nodes.max()
        raise InvalidValueError(
            f"{name} contains node {invalid}, but the {n_nodes} nodes are numbered from 0."
        )


def check_values(
    lengths: ArrayLike, strengths: ArrayLike | None, size: int
) -> tuple[np.ndarray, np.ndarray]:
    checked_lengths = _check_numbers(lengths, size, "lengths", np.inf)
    if strengths is None:
        return checked_lengths, unit_strengths(size)
    return checked_lengths, _check_numbers(strengths, size, "strengths", 1.0)


def _check_numbers(values: ArrayLike, size: int, name: str, high: float) -> np.ndarray:
    given = real_array(values, name)
    # Lengths may take half the memory; strengths that are not 1 are rare.
    single = name == "lengths" and given.dtype == np.float32
    array: np.ndarray = np.array(given, dtype=np.float32 if single else np.float64)
    if array.shape != (size,):
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but one value for each of {size} entries is needed."
        )
    # Written so that NaN fails too.
    valid = (array >= 0) & (array <= high) & (array < np.inf)
    if not valid.all():
        i = int(np.argmin(valid))
        requirement, remedy = (
            ("finite and >= 0", "drop edges of unknown length")
            if name == "lengths"
            else ("in [0, 1]", "divide by the largest strength")
        )
        raise InvalidValueError(
            f"{name}[{i}] = {array[i]:g}, but {name} must be {requirement}; {remedy}."
        )
    return array


def check_no_self_loops(source: np.ndarray, target: np.ndarray) -> None:
    loops = source == target
    if loops.any():
        node = source[np.argmax(loops)]
        raise InvalidValueError(
            f"node {node} has an edge to itself, but self-loops are not allowed; remove them."
        )


def check_symmetric(entries: Entries) -> None:
    asymmetric = first_asymmetric(entries)
    if asymmetric is not None:
        i, j = asymmetric
        raise InvalidValueError(
            f"the edge ({i}, {j}) differs from ({j}, {i}) or has no counterpart, but an undirected "
            "graph must be symmetric; pass directed=True and call symmetrize('union') on the result."
        )


def check_graph_points(
    points: MatrixLike | ChunkedRows | None, n_nodes: int
) -> np.ndarray | sparse.csr_array | ChunkedRows | None:
    """Read-only view of the points or distances that the graph was built on."""
    if points is None:
        return None
    array: np.ndarray | sparse.csr_array | ChunkedRows = (
        points
        if sparse.issparse(points) or isinstance(points, ChunkedRows)
        else real_array(points, "points")
    )
    if array.ndim == 0:
        raise InvalidTypeError(
            f"points={points!r}, but an array of the points or distances that the graph was built on "
            f"is needed, with one row for each of {n_nodes} nodes."
        )
    if array.shape[0] != n_nodes:
        raise InvalidValueError(
            f"points has {array.shape[0]} rows, but the graph has {n_nodes} nodes."
        )
    if sparse.issparse(array):
        return checked_csr(array, "points")
    return array if isinstance(array, ChunkedRows) else read_only(array)


def read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def check_graph(graph: object, name: str = "graph") -> Graph:
    """`graph`, if it is a `Graph`."""
    from vicinal.graphs.graph import Graph

    if isinstance(graph, Graph):
        return graph
    raise InvalidTypeError(
        f"{name} is a {type(graph).__name__}, but a vicinal.Graph is needed; builders such as "
        "vicinal.graphs.knn(X) return one, and Graph.from_scipy converts a sparse matrix."
    )
