"""`Graph`: which nodes are connected, how long each edge is and how strong.

The contract
------------
- **Missing entry**: no edge. Nothing else means "no edge".
- **Explicit zero**: an edge. Length 0 connects duplicates; strength 0 is an edge without weight.
- **Asymmetry**: an undirected graph stores each edge in both directions with the same length and
  strength, bit for bit. Anything else raises an error; pass ``directed=True``, then `Graph.symmetrize`.
- **Duplicates**: repeated entries of a pair of nodes become one edge, with the shortest length and
  the largest strength.
- **Self-loops**: rejected by the constructors; conversions from other formats drop the diagonal.
- **Values**: lengths are finite and >= 0, strengths are in [0, 1]; both are float64, unless lengths are given
  as float32, which takes half the memory. Strengths that are all 1 take none: they are a view of one number,
  of stride 0.
- **Indices**: int32 if nodes and entries fit, otherwise int64; sorted within a row.
- **Immutability**: every array is read-only, every operation returns a new graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal._core.options import entry
from vicinal._core.pickles import stamped, unstamped
from vicinal._core.scalar_checks import check_count
from vicinal.graphs import _anndata, _display, affinities
from vicinal.graphs import _conversion as conversion
from vicinal.graphs import _set_operations as algebra
from vicinal.graphs._build import neighbor_lists
from vicinal.graphs._checks import (
    check_graph_points,
    check_no_self_loops,
    check_pairs,
    check_structure,
    check_symmetric,
    check_values,
    read_only,
)
from vicinal.graphs._entries import Entries, index_dtype, lean_strengths, merge, rows_of
from vicinal.neighbors._cached_search import CachedSearch

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, MetricLike


class Graph:
    """Nodes 0 to n - 1 and weighted edges between them, in compressed rows.

    Parameters
    ----------
    indptr : array of int of shape (n_nodes + 1,)
        Row pointers (CSR).
    indices : array of int of shape (n_entries,)
        Neighbours (CSR). An undirected graph stores each edge twice.
    lengths : array of float of shape (n_entries,)
        Length of each entry, finite and >= 0. Arrays of float32 stay in single precision.
    strengths : array of float of shape (n_entries,), optional
        Strength of each entry, in [0, 1]; 1 everywhere by default.
    directed : bool, default=False
        Whether edges have a direction.
    points : array, optional
        The points, or with ``metric="precomputed"`` the distances, that the graph was built on.
        `connect` computes lengths from them. They are referenced, not copied.
    metric : str or callable, default="euclidean"
        Metric of ``points``.

    Attributes
    ----------
    n_nodes : int
        Number of nodes.
    n_edges : int
        Number of edges; an undirected edge counts once.
    indptr : ndarray of int
        Row pointers; like all arrays read-only.
    indices : ndarray of int
        Neighbours of each node, ascending.
    lengths : ndarray
        Length of each entry.
    strengths : ndarray
        Strength of each entry.
    directed : bool
        Whether edges have a direction.
    points : ndarray, csr_array or None
        The points or distances, as given.
    metric : str or callable
        The metric, as given.
    degrees : ndarray of int
        Number of neighbours of each node (successors, in a directed graph).
    components : ndarray of int
        Component of each node (weakly connected, in a directed graph), numbered by their first nodes.
    n_components : int
        Number of components.
    n_isolates : int
        Number of nodes without edges.
    strengths_are_affinities : bool
        Whether the strengths already are affinities, so that lengths do not reduce them further.
    metadata : mapping
        Read-only values set by the builder: ``"sigma"`` by `contextual`, ``"codes"`` by `l1` and
        `structure_aware_l1`.

    Examples
    --------
    >>> from vicinal import Graph
    >>> path = Graph.from_edges(4, [[0, 1], [1, 2]], lengths=[1.0, 2.0])
    >>> path
    Graph(4 nodes, 2 edges, undirected, 2 components, 1 isolate)
    >>> path.edges()
    array([[0, 1],
           [1, 2]])
    >>> path.to_scipy("lengths").toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 2., 0.],
           [0., 2., 0., 0.],
           [0., 0., 0., 0.]])
    """

    __slots__ = (
        "__weakref__",
        "_components",
        "_search",
        "directed",
        "indices",
        "indptr",
        "lengths",
        "metadata",
        "metric",
        "points",
        "strengths",
        "strengths_are_affinities",
    )

    indptr: np.ndarray
    indices: np.ndarray
    lengths: np.ndarray
    strengths: np.ndarray
    directed: bool
    points: np.ndarray | sparse.csr_array | None
    metric: MetricLike
    strengths_are_affinities: bool
    metadata: Mapping[str, Any]
    _components: np.ndarray | None
    _search: CachedSearch

    @entry
    def __init__(
        self,
        indptr: ArrayLike,
        indices: ArrayLike,
        lengths: ArrayLike,
        strengths: ArrayLike | None = None,
        *,
        directed: bool = False,
        points: MatrixLike | None = None,
        metric: MetricLike = "euclidean",
    ) -> None:
        indptr, indices = check_structure(indptr, indices)
        entries = Entries(indptr, indices, *check_values(lengths, strengths, len(indices)))
        rows = rows_of(indptr, indices.dtype.type)
        check_no_self_loops(rows, indices)
        if np.any((indices[1:] <= indices[:-1]) & (rows[1:] == rows[:-1])):
            entries, _ = merge(rows, *entries[1:], len(indptr) - 1)
        if not directed:
            check_symmetric(entries)
        self._fill(entries, directed, points, metric)

    @classmethod
    @entry
    def from_edges(
        cls,
        n_nodes: int,
        edges: ArrayLike,
        lengths: ArrayLike,
        strengths: ArrayLike | None = None,
        *,
        directed: bool = False,
        points: MatrixLike | None = None,
        metric: MetricLike = "euclidean",
    ) -> Graph:
        """Build a graph from a list of edges.

        Parameters
        ----------
        n_nodes : int
            Number of nodes.
        edges : array of int of shape (m, 2)
            Pairs of nodes. An undirected edge may be given in either direction, or in both.
        lengths : array of float of shape (m,)
            Length of each edge, finite and >= 0.
        strengths : array of float of shape (m,), optional
            Strength of each edge, in [0, 1]; 1 everywhere by default.
        directed : bool, default=False
            Whether edges have a direction.
        points : array, optional
            Points, or distances if ``metric="precomputed"``, that the graph is built on.
        metric : str or callable, default="euclidean"
            Metric of ``points``.

        Returns
        -------
        Graph
            Repeated edges are merged.

        Examples
        --------
        >>> from vicinal import Graph
        >>> Graph.from_edges(3, [[2, 0], [0, 2]], lengths=[5.0, 4.0]).lengths
        array([4., 4.])
        """
        n = check_count(n_nodes, "n_nodes", low=0)
        pairs = check_pairs(edges, n)
        lengths, strengths = check_values(lengths, strengths, len(pairs))
        dtype = index_dtype(n, 2 * len(pairs))
        source, target = pairs[:, 0].astype(dtype), pairs[:, 1].astype(dtype)
        check_no_self_loops(source, target)
        if not directed:
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
            lengths, strengths = np.tile(lengths, 2), np.tile(strengths, 2)
        entries, _ = merge(source, target, lengths, strengths, n)
        return cls._of_entries(entries, directed, points, metric)

    @classmethod
    def _of_entries(
        cls,
        entries: Entries,
        directed: bool,
        points: MatrixLike | None = None,
        metric: MetricLike = "euclidean",
        metadata: Mapping[str, Any] | None = None,
        strengths_are_affinities: bool = False,
    ) -> Graph:
        """Graph of entries that are known to be valid; takes ownership of the arrays."""
        graph = object.__new__(cls)
        graph._fill(entries, directed, points, metric, metadata, strengths_are_affinities)
        return graph

    def _fill(
        self,
        entries: Entries,
        directed: bool,
        points: MatrixLike | None,
        metric: MetricLike,
        metadata: Mapping[str, Any] | None = None,
        strengths_are_affinities: bool = False,
    ) -> None:
        n, m = len(entries.indptr) - 1, len(entries.indices)
        dtype = index_dtype(n, m)
        values = {
            "indptr": read_only(entries.indptr.astype(dtype, copy=False)),
            "indices": read_only(entries.indices.astype(dtype, copy=False)),
            "lengths": read_only(entries.lengths),
            "strengths": read_only(lean_strengths(entries.strengths)),
            "directed": bool(directed),
            "points": check_graph_points(points, n),
            "metric": metric,
            "metadata": MappingProxyType(dict(metadata or {})),
            "strengths_are_affinities": strengths_are_affinities,
            "_components": None,
            "_search": CachedSearch(points, metric),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Graph is immutable, so {name!r} cannot be set; build a new one.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Graph is immutable, so {name!r} cannot be deleted.")

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    def __getstate__(self) -> dict[str, Any]:
        options = self.points, self.metric, dict(self.metadata), self.strengths_are_affinities
        # A tuple: the fewer classes a pickle names, the fewer can be missing when it is loaded.
        return stamped("Graph", {"entries": tuple(self._csr), "others": (self.directed, *options)})

    def __setstate__(self, state: dict[str, Any]) -> None:
        known = unstamped("Graph", state)
        self._fill(Entries(*known["entries"]), *known["others"])

    @property
    def _csr(self) -> Entries:
        return Entries(self.indptr, self.indices, self.lengths, self.strengths)

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        return len(self.indices) if self.directed else len(self.indices) // 2

    @property
    def degrees(self) -> np.ndarray:
        return np.diff(self.indptr)

    @property
    def components(self) -> np.ndarray:
        labels = self._components
        if labels is None:
            # csgraph interprets stored zeros as missing edges, so it does not get the lengths.
            ones = np.ones(len(self.indices))
            pattern = sparse.csr_array((ones, self.indices, self.indptr), shape=(self.n_nodes,) * 2)
            labels = read_only(connected_components(pattern, connection="weak")[1])
            object.__setattr__(self, "_components", labels)
        return labels

    @property
    def n_components(self) -> int:
        return int(self.components.max()) + 1 if self.n_nodes else 0

    @property
    def n_isolates(self) -> int:
        has_edge = self.degrees > 0
        if self.directed:
            has_edge[self.indices] = True
        return self.n_nodes - int(np.count_nonzero(has_edge))

    def edges(self) -> np.ndarray:
        """List the edges in lexicographic order.

        Returns
        -------
        ndarray of int of shape (n_edges, 2)
            Pairs (i, j), with i < j in an undirected graph.
        """
        rows = rows_of(self.indptr, self.indices.dtype.type)
        pairs = np.column_stack([rows, self.indices]).astype(np.int64, copy=False)
        return pairs if self.directed else pairs[pairs[:, 0] < pairs[:, 1]]

    # Defined in modules named after their purpose.
    __or__ = algebra.union
    __and__ = algebra.intersection
    __le__ = algebra.is_within
    __lt__ = algebra.is_strictly_within
    symmetrize = algebra.symmetrize
    subgraph = algebra.subgraph
    connect = algebra.connect  # type: ignore[has-type]
    affinity = affinities.affinity
    astype = conversion.astype
    to_scipy = conversion.to_scipy
    to_networkx = conversion.to_networkx
    to_igraph = conversion.to_igraph
    to_anndata = _anndata.to_anndata
    from_scipy = classmethod(conversion.from_scipy)
    from_networkx = classmethod(conversion.from_networkx)
    from_anndata = classmethod(_anndata.from_anndata)
    from_kneighbors = classmethod(neighbor_lists.from_kneighbors)

    __repr__ = _display.as_text
    _repr_html_ = _display.as_html

    def __eq__(self, other: object) -> bool:
        """Same nodes, edges, lengths, strengths and direction; points and metric do not matter."""
        if not isinstance(other, Graph):
            return NotImplemented
        return self.directed == other.directed and all(map(np.array_equal, self._csr, other._csr))

    def __hash__(self) -> int:
        longest = float(self.lengths.max(initial=0.0))
        return hash((self.n_nodes, self.directed, len(self.indices), longest))
