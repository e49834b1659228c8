"""Graphs to and from other libraries: each function is a method of `Graph`.

Node i is row i of a matrix or the i-th node of a networkx graph. Diagonal entries (self-loops) are dropped on
input, so scikit-learn's graphs with ``include_self=True`` are accepted.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import real_array
from vicinal._core.scalar_checks import check_choice
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidTypeError, InvalidValueError, MissingDependencyError
from vicinal.graphs._checks import check_symmetric, check_values
from vicinal.graphs._entries import Entries, first_asymmetric, keep_entries, rows_of

if TYPE_CHECKING:
    from vicinal._core.types import EdgeValues, SparseMatrix
    from vicinal.graphs.graph import Graph

EdgeWeight = Literal["strength", "length"]


def to_scipy(self: Graph, what: EdgeValues = "lengths") -> sparse.csr_array:
    """Convert to a sparse matrix of the lengths or the strengths.

    Parameters
    ----------
    what : {"lengths", "strengths"}, default="lengths"
        Values of the entries. Lengths of 0 stay as explicit zeros; scipy's csgraph interprets them as
        missing edges.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        A copy, so that it can be modified.
    """
    check_choice(what, "what", ("lengths", "strengths"))
    arrays = (getattr(self, what), self.indices, self.indptr)
    return sparse.csr_array(arrays, shape=(self.n_nodes,) * 2, copy=True)


def astype(self: Graph, dtype: Any) -> Graph:
    """Store the lengths in single or double precision.

    In single precision an entry takes 8 bytes instead of 12. Affinities, paths and everything else that is
    computed from the lengths are in double precision all the same.

    Parameters
    ----------
    dtype : {"float32", "float64"} or dtype
        Type of the lengths.

    Returns
    -------
    Graph
        The same edges; the same graph if its lengths have this type.

    Examples
    --------
    >>> from vicinal.graphs import knn
    >>> graph = knn([[0.0], [1.0], [3.0]], n_neighbors=1).astype("float32")
    >>> graph.lengths
    array([1., 1., 2., 2.], dtype=float32)
    """
    kind = np.dtype(object)
    if isinstance(dtype, str | type | np.dtype):
        with suppress(TypeError):
            kind = np.dtype(dtype)
    if kind not in (np.float32, np.float64):
        raise InvalidValueError(f"dtype={dtype!r}, but 'float32' or 'float64' is needed.")
    if self.lengths.dtype == kind:
        return self
    with np.errstate(over="ignore", under="ignore"):
        lengths = self.lengths.astype(kind)
    # A length of 0 has a meaning, and an infinite one has none.
    changed = ~np.isfinite(lengths) | ((lengths == 0) & (self.lengths > 0))
    if changed.any():
        raise InvalidValueError(
            f"the length {self.lengths[np.argmax(changed)]:g} is out of the range of {kind}; divide the "
            "points by a typical length first."
        )
    return type(self)._of_entries(
        self._csr._replace(lengths=lengths),
        self.directed,
        self.points,
        self.metric,
        self.metadata,
        self.strengths_are_affinities,
    )


def from_scipy(
    cls: type[Graph],
    matrix: SparseMatrix,
    what: EdgeValues = "lengths",
    directed: bool | None = None,
) -> Graph:
    """Build a graph from a sparse matrix, such as the result of scikit-learn's ``kneighbors_graph``.

    Parameters
    ----------
    matrix : sparse array or matrix of shape (n, n)
        Stored entries are edges, including explicit zeros. Repeated entries are summed, as in scipy;
        the diagonal is dropped. The matrix is not modified.
    what : {"lengths", "strengths"}, default="lengths"
        Meaning of the entries. With "lengths" every strength is 1; with "strengths" every length
        is 1, and ``affinity(kernel="binary")`` returns the strengths.
    directed : bool, optional
        By default the graph is undirected if the matrix is symmetric, and directed otherwise.

    Returns
    -------
    Graph
        One node per row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from vicinal import Graph
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Graph.from_scipy(kneighbors_graph(X, 1, mode="distance"))
    Graph(3 nodes, 3 edges, directed, 1 component, 0 isolates)
    """
    check_choice(what, "what", ("lengths", "strengths"))
    indptr, indices, values = _off_diagonal(matrix)
    if what == "lengths":
        lengths, strengths = check_values(values, None, len(values))
    else:
        lengths, strengths = check_values(np.ones(len(values)), values, len(values))
    return _graph_from_entries(cls, Entries(indptr, indices, lengths, strengths), directed)


def to_networkx(self: Graph, weight: EdgeWeight | None = "strength") -> Any:
    """Convert to a networkx graph with "length", "strength" and "weight" on each edge.

    Parameters
    ----------
    weight : {"strength", "length"} or None, default="strength"
        Content of "weight", the attribute that networkx functions read by default. Communities,
        PageRank and Laplacians need strengths; shortest paths and spanning trees need lengths. None
        omits it.

    Returns
    -------
    networkx.Graph or networkx.DiGraph
        Directed if this graph is.
    """
    if weight is not None:
        check_choice(weight, "weight", ("strength", "length"))
    nx = _import_optional("networkx", "to_networkx", "pip install networkx")
    other = nx.DiGraph() if self.directed else nx.Graph()
    other.add_nodes_from(range(self.n_nodes))
    pairs, lengths, strengths = _edge_list(self)
    columns = {"length": lengths.tolist(), "strength": strengths.tolist()}
    if weight is not None:
        columns["weight"] = columns[weight]
    edges = zip(pairs.tolist(), zip(*columns.values(), strict=True), strict=True)
    other.add_edges_from((i, j, dict(zip(columns, row, strict=True))) for (i, j), row in edges)
    return other


def from_networkx(
    cls: type[Graph],
    other: Any,
    length: str = "length",
    strength: str = "strength",
    weight: EdgeWeight | None = "strength",
) -> Graph:
    """Build a graph from a networkx graph.

    Parameters
    ----------
    other : networkx graph
        Nodes are numbered in the order of ``other.nodes``. Parallel edges of a multigraph become
        one, with the shortest length and the largest strength; self-loops are dropped.
    length : str, default="length"
        Edge attribute that holds the length; 1 for edges without it.
    strength : str, default="strength"
        Edge attribute that holds the strength; 1 for edges without it.
    weight : {"strength", "length"} or None, default="strength"
        Meaning of the networkx attribute "weight" on edges without the attribute named above.
        Weights are strengths in networkx communities, PageRank and Laplacians, and lengths in its
        shortest paths. Strengths are at most 1, so weights are divided by the largest one if it
        exceeds 1. None ignores weights.

    Returns
    -------
    Graph
        Directed if the networkx graph is.

    Examples
    --------
    >>> import networkx
    >>> from vicinal import Graph
    >>> Graph.from_networkx(networkx.path_graph(4))
    Graph(4 nodes, 3 edges, undirected, 1 component, 0 isolates)
    >>> club = Graph.from_networkx(networkx.karate_club_graph())  # weights from 1 to 7
    >>> print(club.strengths.min() * 7, club.strengths.max() * 7)
    1.0 7.0
    """
    if not all(hasattr(other, name) for name in ("nodes", "edges", "is_directed")):
        raise InvalidTypeError(
            f"other is a {type(other).__name__}, but a networkx graph is needed; Graph.from_scipy "
            "accepts a sparse matrix, Graph.from_edges pairs of nodes."
        )
    if weight is not None:
        check_choice(weight, "weight", ("strength", "length"))
    number = {node: i for i, node in enumerate(other.nodes)}
    edges = [edge for edge in other.edges(data=True) if edge[0] != edge[1]]
    attributes = [edge[2] for edge in edges]
    lengths = _edge_values(attributes, length, weight == "length", np.inf)
    strengths = _edge_values(attributes, strength, weight == "strength", 1.0)
    pairs = [(number[u], number[v]) for u, v, _ in edges]
    return cls.from_edges(len(number), pairs, lengths, strengths, directed=other.is_directed())


def _edge_values(
    attributes: list[dict[str, Any]], name: str, weighted: bool, high: float
) -> np.ndarray:
    """One value per edge: the named attribute, otherwise its weight, otherwise 1."""
    values = real_array([data.get(name, 1.0) for data in attributes], f"{name!r} of the edges")
    fallback = [e for e, data in enumerate(attributes) if name not in data and "weight" in data]
    if weighted and fallback:
        weights = real_array([attributes[e]["weight"] for e in fallback], "'weight' of the edges")
        values = values.astype(np.float64)
        largest = weights.max()
        values[fallback] = weights / largest if largest > high else weights
    return values


def to_igraph(self: Graph) -> Any:
    """Convert to an igraph graph with edge attributes "length" and "strength".

    Returns
    -------
    igraph.Graph
        Directed if this graph is.
    """
    igraph = _import_optional("igraph", "to_igraph", "pip install igraph (its licence is the GPL)")
    pairs, lengths, strengths = _edge_list(self)
    return igraph.Graph(
        n=self.n_nodes,
        edges=pairs.tolist(),
        directed=self.directed,
        edge_attrs={"length": lengths.tolist(), "strength": strengths.tolist()},
    )


def _off_diagonal(matrix: SparseMatrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays of a square sparse matrix, sorted, summed and without its diagonal."""
    if not sparse.issparse(matrix):
        raise InvalidTypeError(
            f"matrix is a {type(matrix).__name__}, but a sparse matrix is needed; for a dense "
            "distance matrix use graphs.complete(X, metric='precomputed')."
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidValueError(f"matrix has shape {matrix.shape}, but a square matrix is needed.")
    if matrix.dtype.kind not in "buif":
        raise InvalidTypeError(f"matrix has dtype {matrix.dtype}, but real numbers are needed.")
    csr = checked_csr(matrix, "matrix")
    if not csr.has_canonical_format:
        csr = csr.copy()  # the arrays may be the caller's
        csr.sum_duplicates()
    entries = Entries(csr.indptr, csr.indices, csr.data, csr.data)
    keep = rows_of(csr.indptr, csr.indices.dtype.type) != csr.indices
    return keep_entries(entries, keep)[:3]


def _graph_from_entries(cls: type[Graph], entries: Entries, directed: bool | None) -> Graph:
    if directed is None:
        directed = first_asymmetric(entries) is not None
    elif not directed:
        check_symmetric(entries)
    return cls._of_entries(entries, directed)


def _edge_list(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    keep = np.ones(len(graph.indices), dtype=bool)
    if not graph.directed:
        keep = rows_of(graph.indptr, graph.indices.dtype.type) < graph.indices
    return graph.edges(), graph.lengths[keep], graph.strengths[keep]


def _import_optional(module: str, method: str, remedy: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{method} needs {module}, which is not installed: {remedy}."
        ) from error
