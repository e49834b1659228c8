"""Graphs to and from other libraries: each function is a method of `Graph`.

Node i is row i of a matrix, the i-th node of a networkx graph or the i-th observation of an AnnData
object. Diagonal entries (self-loops) are dropped on the way in, so scikit-learn's graphs with
``include_self=True`` are welcome.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import real_array
from vicinal._core.scalar_checks import check_choice
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidTypeError, InvalidValueError, MissingDependencyError
from vicinal.graphs._checks import check_symmetric, check_values
from vicinal.graphs._entries import Entries, first_asymmetric, keep_entries, merge, rows_of

if TYPE_CHECKING:
    from vicinal.graphs.graph import Graph


def to_scipy(graph: Graph, what: str = "lengths") -> sparse.csr_array:
    """Sparse matrix of the lengths or the strengths.

    Parameters
    ----------
    what : {"lengths", "strengths"}, default="lengths"
        Which values the entries have. Lengths of 0 stay as explicit zeros; scipy's csgraph takes
        them for missing edges.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        With arrays of its own, so that it can be changed.
    """
    check_choice(what, "what", ("lengths", "strengths"))
    arrays = (getattr(graph, what), graph.indices, graph.indptr)
    return sparse.csr_array(arrays, shape=(graph.n_nodes,) * 2, copy=True)


def from_scipy(
    cls: type[Graph], matrix: Any, what: str = "lengths", directed: bool | None = None
) -> Graph:
    """Graph of a sparse matrix, such as scikit-learn's ``kneighbors_graph`` returns.

    Parameters
    ----------
    matrix : sparse array or matrix of shape (n, n)
        Stored entries are edges, zeros among them too. Entries that are stored twice are summed, as
        scipy does; the diagonal is dropped. The matrix is not changed.
    what : {"lengths", "strengths"}, default="lengths"
        What the entries say. With "lengths" every strength is 1, with "strengths" every length
        is 1; ``affinity(kernel="binary")`` then gives the strengths back.
    directed : bool, optional
        By default the graph is undirected if the matrix is symmetric, and directed otherwise.

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
    return _graph_of(cls, Entries(indptr, indices, lengths, strengths), directed)


def to_networkx(graph: Graph, weight: str | None = "strength") -> Any:
    """`networkx.Graph` or `networkx.DiGraph` with "length", "strength" and "weight" on each edge.

    Parameters
    ----------
    weight : {"strength", "length"} or None, default="strength"
        What "weight" holds, the attribute that functions of networkx read by default. Strength is
        what communities, PageRank and Laplacians need, length what shortest paths and spanning trees
        need. None leaves it out.
    """
    if weight is not None:
        check_choice(weight, "weight", ("strength", "length"))
    nx = _imported("networkx", "to_networkx", "pip install networkx")
    other = nx.DiGraph() if graph.directed else nx.Graph()
    other.add_nodes_from(range(graph.n_nodes))
    pairs, lengths, strengths = _edge_list(graph)
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
    weight: str | None = "strength",
) -> Graph:
    """Graph of a networkx graph.

    Parameters
    ----------
    other : networkx graph
        Nodes are numbered in the order of ``other.nodes``. Parallel edges of a multigraph become
        one, with the shortest length and the largest strength; self-loops are dropped.
    length, strength : str
        Names of the edge attributes. An edge without one has length 1 or strength 1.
    weight : {"strength", "length"} or None, default="strength"
        What the attribute "weight" of networkx means on an edge that does not have the one named
        above. Weights are strengths in communities, PageRank and Laplacians of networkx, and lengths
        in its shortest paths. Strengths end at 1, so weights are divided by the largest one if that
        is above 1. None ignores them.

    Examples
    --------
    >>> import networkx
    >>> from vicinal import Graph
    >>> Graph.from_networkx(networkx.path_graph(4))
    Graph(4 nodes, 3 edges, undirected, 1 component, 0 isolates)
    >>> club = Graph.from_networkx(networkx.karate_club_graph())  # weights from 1 to 7
    >>> (club.strengths.min() * 7, club.strengths.max() * 7)
    (np.float64(1.0), np.float64(7.0))
    """
    if not all(hasattr(other, name) for name in ("nodes", "edges", "is_directed")):
        raise InvalidTypeError(
            f"other is a {type(other).__name__}, but a networkx graph is needed; Graph.from_scipy takes "
            "a sparse matrix, Graph.from_edges pairs of nodes."
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
    """One value per edge: the attribute with that name, or else its weight, or else 1."""
    values = real_array([data.get(name, 1.0) for data in attributes], f"{name!r} of the edges")
    use = [at for at, data in enumerate(attributes) if name not in data and "weight" in data]
    if weighted and use:
        weights = real_array([attributes[at]["weight"] for at in use], "'weight' of the edges")
        values = values.astype(np.float64)
        largest = weights.max()
        values[use] = weights / largest if largest > high else weights
    return values


def to_igraph(graph: Graph) -> Any:
    """`igraph.Graph` with edge attributes "length" and "strength"."""
    igraph = _imported("igraph", "to_igraph", "pip install igraph (its licence is the GPL)")
    pairs, lengths, strengths = _edge_list(graph)
    return igraph.Graph(
        n=graph.n_nodes,
        edges=pairs.tolist(),
        directed=graph.directed,
        edge_attrs={"length": lengths.tolist(), "strength": strengths.tolist()},
    )


def to_anndata(graph: Graph, adata: Any, key: str = "vicinal") -> None:
    """Write the graph into an AnnData object, laid out as scanpy lays out its neighbours.

    ``adata.obsp[f"{key}_distances"]`` gets the lengths, ``adata.obsp[f"{key}_connectivities"]`` the
    strengths and ``adata.uns[key]`` the names of both, so that scanpy's tools find the graph by
    ``neighbors_key=key``. Put `affinity` in place of the strengths to weigh edges by length.

    Parameters
    ----------
    adata : anndata.AnnData
        Object with one observation a node; this is what is changed.
    key : str, default="vicinal"
        Name to write under.
    """
    if adata.n_obs != graph.n_nodes:
        raise InvalidValueError(f"adata has {adata.n_obs} observations for {graph.n_nodes} nodes.")
    names = {"distances_key": f"{key}_distances", "connectivities_key": f"{key}_connectivities"}
    # scanpy and older versions of anndata do not know sparse arrays.
    adata.obsp[names["distances_key"]] = sparse.csr_matrix(to_scipy(graph, "lengths"))
    adata.obsp[names["connectivities_key"]] = sparse.csr_matrix(to_scipy(graph, "strengths"))
    params = {"method": "vicinal", "metric": str(graph.metric), "directed": graph.directed}
    adata.uns[key] = {**names, "params": params}


def from_anndata(cls: type[Graph], adata: Any, key: str = "vicinal") -> Graph:
    """Graph that `to_anndata` or scanpy wrote into an AnnData object.

    Parameters
    ----------
    adata : anndata.AnnData
        Object to read.
    key : str, default="vicinal"
        Name in ``adata.uns``; "neighbors" is where ``scanpy.pp.neighbors`` writes. scanpy measures
        an edge in one direction, weighs it in both and may leave zeros out. So, where weights are
        symmetric, the shorter of two lengths holds for both directions; a weight without a length
        has length 0 (duplicates), and a length without a weight has strength 0.
    """
    if key not in adata.uns:
        raise KeyError(
            f"key={key!r} is not in adata.uns, which has {sorted(adata.uns)}; write a graph by "
            "to_anndata, or pass key='neighbors' for scanpy's."
        )
    layout = adata.uns[key]
    distances = adata.obsp[layout.get("distances_key", f"{key}_distances")]
    connectivities = adata.obsp[layout.get("connectivities_key", f"{key}_connectivities")]
    measured = from_scipy(cls, distances, "lengths", directed=True)
    weighed = from_scipy(cls, connectivities, "strengths", directed=True)
    directed = layout.get("params", {}).get("directed")
    if directed is None:
        directed = first_asymmetric(weighed._csr) is not None
    if not directed:
        measured, weighed = measured.symmetrize("union"), weighed.symmetrize("union")
    rows = rows_of(measured.indptr, np.int64), rows_of(weighed.indptr, np.int64)
    # Infinity and 0 give way to any known length and strength.
    entries, _ = merge(
        np.concatenate(rows),
        np.concatenate([measured.indices, weighed.indices]),
        np.concatenate([measured.lengths, np.full(len(weighed.lengths), np.inf)]),
        np.concatenate([np.zeros(len(measured.lengths)), weighed.strengths]),
        measured.n_nodes,
    )
    entries.lengths[np.isinf(entries.lengths)] = 0.0
    return cls._trusted(entries, bool(directed))


def _off_diagonal(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays of a square sparse matrix, sorted, summed and without its diagonal."""
    if not sparse.issparse(matrix):
        raise InvalidTypeError(
            f"matrix is a {type(matrix).__name__}, but a sparse matrix is needed; for a table of "
            "all distances use graphs.complete(X, metric='precomputed')."
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidValueError(f"matrix has shape {matrix.shape}, but a square one is needed.")
    if matrix.dtype.kind not in "buif":
        raise InvalidTypeError(f"matrix has dtype {matrix.dtype}, but real numbers are needed.")
    csr = checked_csr(matrix, "matrix")
    if not csr.has_canonical_format:
        csr = csr.copy()  # the arrays may be the caller's
        csr.sum_duplicates()
    entries = Entries(csr.indptr, csr.indices, csr.data, csr.data)
    keep = rows_of(csr.indptr, csr.indices.dtype.type) != csr.indices
    return keep_entries(entries, keep)[:3]


def _graph_of(cls: type[Graph], entries: Entries, directed: bool | None) -> Graph:
    if directed is None:
        directed = first_asymmetric(entries) is not None
    elif not directed:
        check_symmetric(entries)
    return cls._trusted(entries, directed)


def _edge_list(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    keep = np.ones(len(graph.indices), dtype=bool)
    if not graph.directed:
        keep = rows_of(graph.indptr, graph.indices.dtype.type) < graph.indices
    return graph.edges(), graph.lengths[keep], graph.strengths[keep]


def _imported(module: str, method: str, remedy: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{method} needs {module}, which is not installed: {remedy}."
        ) from error
