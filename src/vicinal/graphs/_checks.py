"""What a `Graph` demands of the arrays it is built from."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array, real_array
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._entries import Entries, first_asymmetric, index_dtype


def check_structure(indptr: Any, indices: Any) -> tuple[np.ndarray, np.ndarray]:
    indptr = _as_integers(indptr, "indptr")
    indices = _as_integers(indices, "indices")
    if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
        raise InvalidValueError(
            f"indptr has shape {indptr.shape} and indices {indices.shape}, but CSR needs flat "
            "arrays with n_nodes + 1 row pointers; Graph.from_edges takes pairs."
        )
    n = len(indptr) - 1
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise InvalidValueError(
            f"indptr runs from {indptr[0]} to {indptr[-1]}, but row pointers must rise from 0 to "
            f"the number of entries, {len(indices)}."
        )
    check_range(indices, n, "indices")
    dtype = index_dtype(n, len(indices))
    return indptr.astype(dtype), indices.astype(dtype)


def check_pairs(edges: Any, n_nodes: int) -> np.ndarray:
    pairs = read_array(edges, "edges")
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    pairs = _as_integers(pairs, "edges")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidValueError(
            f"edges has shape {pairs.shape}, but pairs of nodes (m, 2) are needed."
        )
    check_range(pairs, n_nodes, "edges")
    return pairs


def _as_integers(values: Any, name: str) -> np.ndarray:
    array = read_array(values, name)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"{name} has dtype {array.dtype}, but node numbers must be integers."
        )
    return array


def check_range(nodes: np.ndarray, n_nodes: int, name: str, low: int = 0) -> None:
    """Refuse numbers that are no nodes."""
    if nodes.size and (nodes.min() < low or nodes.max() >= n_nodes):
        bad = nodes.min() if nodes.min() < low else nodes.max()
        raise InvalidValueError(
            f"{name} names node {bad}, but the {n_nodes} nodes are numbered from 0 on."
        )


def check_values(lengths: Any, strengths: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    checked_lengths = _check_numbers(lengths, size, "lengths", np.inf)
    if strengths is None:
        return checked_lengths, np.ones(size)
    return checked_lengths, _check_numbers(strengths, size, "strengths", 1.0)


def _check_numbers(values: Any, size: int, name: str, high: float) -> np.ndarray:
    array = np.array(real_array(values, name), dtype=np.float64)
    if array.shape != (size,):
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but one value for each of {size} entries is needed."
        )
    # Written so that NaN fails too.
    good = (array >= 0) & (array <= high) & (array < np.inf)
    if not good.all():
        where = int(np.argmin(good))
        wanted, remedy = (
            ("finite and >= 0", "drop edges of unknown length")
            if name == "lengths"
            else ("in [0, 1]", "divide by the largest, or give similarities as lengths")
        )
        raise InvalidValueError(
            f"{name}[{where}] = {array[where]:g}, but {name} must be {wanted}; {remedy}."
        )
    return array


def refuse_loops(source: np.ndarray, target: np.ndarray) -> None:
    loops = source == target
    if loops.any():
        node = source[np.argmax(loops)]
        raise InvalidValueError(
            f"node {node} has an edge to itself, but self-loops are not kept; leave them out."
        )


def check_symmetric(entries: Entries) -> None:
    asymmetric = first_asymmetric(entries)
    if asymmetric is not None:
        i, j = asymmetric
        raise InvalidValueError(
            f"the edge ({i}, {j}) differs from ({j}, {i}) or has no counterpart, but an undirected "
            "graph is symmetric; pass directed=True, then call symmetrize('union') on the result."
        )


def check_origin(points: Any, n_nodes: int) -> Any:
    """Read-only view of the points or distances the graph was built on."""
    if points is None:
        return None
    if not sparse.issparse(points):
        points = real_array(points, "points")
    if points.ndim == 0:
        raise InvalidTypeError(
            f"points={points.item()!r}, but the table of points, or of distances, is needed that the graph "
            f"was built on: one row for each of {n_nodes} nodes."
        )
    if points.shape[0] != n_nodes:
        raise InvalidValueError(
            f"points has {points.shape[0]} rows, but the graph has {n_nodes} nodes."
        )
    if not sparse.issparse(points):
        return read_only(points)
    return checked_csr(points, "points")


def read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def check_graph(graph: Any, name: str = "graph") -> Any:
    """`graph` if it is a `Graph`."""
    from vicinal.graphs.graph import Graph

    if isinstance(graph, Graph):
        return graph
    raise InvalidTypeError(
        f"{name} is a {type(graph).__name__}, but a vicinal.Graph is needed; builders such as "
        "vicinal.graphs.knn(X) return one and Graph.from_scipy makes one of a matrix."
    )
