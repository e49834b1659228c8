"""Affinities of a graph: strength times a kernel of the length, at a scale chosen from the data."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import as_float, check_choice
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._checks import check_graph

if TYPE_CHECKING:
    from vicinal._core.types import KernelName, ScaleLike
    from vicinal.graphs.graph import Graph

ROWS_PER_TASK = 1 << 15
# The default of `knn`, so that a denser graph of the same points gets about the same scale.
EDGES_PER_NODE = 10
# If the scale of a node exceeds the typical one by more than this factor, its lengths are compared with its
# own scale divided by the factor: its nearest edges weigh exp(-4.5), so that outliers stay connected to the
# rest instead of forming separate clusters.
MAX_SCALE_RATIO = 3.0
# Twice this is still finite.
MAX_SUMMABLE = 1e300


def affinity(
    graph: Graph, scale: ScaleLike = "auto", *, kernel: KernelName = "gaussian"
) -> sparse.csr_array:
    """Affinity w_ij = strength * kernel(length) of each edge.

    Parameters
    ----------
    graph : Graph
        Edges with lengths and strengths.
    scale : float, "auto" or "local", default="auto"
        Length at which the affinity drops, see `edge_scale`. With infinity every kernel is 1.
    kernel : {"gaussian", "binary", "inverse"}, default="gaussian"
        "gaussian" is exp(-(d / s)^2 / 2), "inverse" is 1 / (1 + d / s), "binary" is 1.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        One entry per edge, even if it underflows to 0. Symmetric if the graph is undirected; the
        diagonal is empty.

    Examples
    --------
    >>> from vicinal import Graph
    >>> graph = Graph.from_edges(3, [[0, 1], [1, 2]], lengths=[0.0, 2.0])
    >>> graph.affinity(scale=2.0).toarray().round(3)
    array([[0.   , 1.   , 0.   ],
           [1.   , 0.   , 0.607],
           [0.   , 0.607, 0.   ]])
    """
    check_graph(graph)
    check_choice(kernel, "kernel", ("gaussian", "binary", "inverse"))
    check_scale(scale)
    if kernel == "binary":
        return _with_values(graph, graph.strengths.copy())
    return affinity_and_scale(graph, scale, kernel)[0]


def affinity_and_scale(
    graph: Graph, scale: ScaleLike, kernel: KernelName = "gaussian"
) -> tuple[sparse.csr_array, float | np.ndarray]:
    """`affinity` and the `edge_scale` that it uses; node scales are computed once for both."""
    base, node_scales = _resolve_scale(graph, check_scale(scale))
    scales = _scales_of_edges(graph, base, node_scales if scale == "auto" else None)
    # A length far above its scale may overflow to infinity, where all kernels are 0.
    with np.errstate(over="ignore", under="ignore"):
        out = scales if isinstance(scales, np.ndarray) else None
        values = _kernel(np.divide(graph.lengths, scales, out=out, dtype=np.float64), kernel)
    values *= graph.strengths
    return _with_values(graph, values), base


def _with_values(graph: Graph, values: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(
        (values, graph.indices.copy(), graph.indptr.copy()), shape=(graph.n_nodes,) * 2
    )


def edge_scale(graph: Graph, scale: ScaleLike = "auto") -> float | np.ndarray:
    """Length scale of a graph's edges, for the whole graph or per node.

    The scale of a node is the mean length of its shortest edges, at most ten. Edges between
    duplicates (length 0) are ignored.

    Parameters
    ----------
    graph : Graph
        Edges with lengths.
    scale : float, "auto" or "local", default="auto"
        "auto" is the median of the node scales: it follows the units of the data and is robust to a
        minority of outliers, to long edges and to the density of the graph.
        Affinities use a third of a node's own scale for its edges where that is larger: in Gaussian
        tails, or at an outlier, all lengths are far above the typical one, and a few points close to
        each other there would otherwise look like a cluster.
        It is 1 if no edge has a length above 0, and infinite if the strengths are coefficients of
        sparse codes (`vicinal.graphs.l1`), which already are affinities.
        "local" compares the edge (i, j) with the geometric mean of the scales of its two nodes, so
        that clusters of different density look alike; a node without a scale uses that of "auto".
        A number > 0, or infinity, is used as it is.

    Returns
    -------
    float or ndarray of shape (n_nodes,)
        One scale, or with "local" one per node.

    References
    ----------
    Zelnik-Manor and Perona, "Self-tuning spectral clustering", NIPS 2004, for the local form.

    Examples
    --------
    >>> from vicinal import Graph
    >>> from vicinal.graphs import edge_scale
    >>> graph = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], lengths=[1.0, 1.0, 9.0])
    >>> edge_scale(graph)
    3.0
    >>> edge_scale(graph, "local")
    array([1., 1., 5., 9.])
    """
    check_graph(graph)
    return _resolve_scale(graph, check_scale(scale))[0]


def _resolve_scale(
    graph: Graph, scale: float | str
) -> tuple[float | np.ndarray, np.ndarray | None]:
    """The edge scale, and the node scales it was derived from, if any."""
    if isinstance(scale, float):
        return scale, None
    if scale == "auto" and graph.strengths_are_affinities:
        return np.inf, None
    node_scales = _node_scales(graph)
    known = node_scales > 0
    typical = _median(node_scales[known]) if known.any() else 1.0
    return typical if scale == "auto" else np.where(known, node_scales, typical), node_scales


def _median(values: np.ndarray) -> float:
    """Median, even if the sum of the middle two overflows."""
    factor = 0.5 if values.max() > MAX_SUMMABLE else 1.0
    middle = (len(values) - 1) // 2, len(values) // 2
    # `numpy.median` takes several times as long for a thousand values.
    low, high = np.partition(values * factor, middle)[list(middle)].tolist()
    return (low + high) / 2 / factor


def check_scale(scale: object) -> float | str:
    """`scale` as a float > 0, or "auto", or "local"."""
    if isinstance(scale, numbers.Real) and not isinstance(scale, bool):
        if as_float(scale) > 0:
            return as_float(scale)
        raise InvalidValueError(
            f"scale={scale!r}, but a number > 0 is needed; 'auto' chooses one from the data."
        )
    if isinstance(scale, str) and scale in ("auto", "local"):
        return scale
    error = InvalidValueError if isinstance(scale, str) else InvalidTypeError
    raise error(f"scale={scale!r}, but a number > 0, 'auto' or 'local' is needed.")


def _kernel(values: np.ndarray, kernel: str) -> np.ndarray:
    """Kernel of lengths divided by their scales; overwrites its input."""
    if kernel == "inverse":
        values += 1.0
        return np.reciprocal(values, out=values)
    np.square(values, out=values)
    values *= -0.5
    return np.exp(values, out=values)


def _scales_of_edges(
    graph: Graph, base: float | np.ndarray, node_scales: np.ndarray | None
) -> float | np.ndarray:
    """Divisor of the length of each edge; an array is a new one and may be overwritten.

    With ``node_scales``, nodes far above the scale ``base`` use their own, larger scale.
    """
    if isinstance(base, np.ndarray):
        # Roots first: the product of two scales may overflow or underflow.
        roots = np.sqrt(base)
        return _combine_ends(np.multiply, roots, graph)
    if node_scales is None:
        return base
    scales = np.maximum(node_scales / MAX_SCALE_RATIO, base)
    if scales.max(initial=base) == base:
        return base
    return _combine_ends(np.maximum, scales, graph)


def _combine_ends(combine: np.ufunc, values: np.ndarray, graph: Graph) -> np.ndarray:
    """Combined value of the two ends of each edge."""
    result = np.repeat(values, graph.degrees)
    return combine(result, values[graph.indices], out=result)


def _node_scales(graph: Graph) -> np.ndarray:
    """Mean of the shortest positive lengths at each node, 0 if there is none."""
    from vicinal._core._selection_kernels import MAX_COUNTED
    from vicinal.graphs._scale_kernels import mean_shortest

    scales = np.empty(graph.n_nodes)
    size = max(EDGES_PER_NODE, MAX_COUNTED)

    def fill(rows: tuple[int, int]) -> None:
        memory = np.empty(size), np.empty(size), np.empty(size, np.int64)
        mean_shortest(graph.indptr, graph.lengths, EDGES_PER_NODE, *rows, scales, *memory)

    map_threads(fill, blocks(graph.n_nodes, ROWS_PER_TASK))
    return scales
