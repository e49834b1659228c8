"""`path_similarity`: two points are as similar as the worst step of the best path between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal._core.options import checked
from vicinal._core.rescale import safe_factor
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.connect import shortest_bridges
from vicinal.graphs.graph import Graph
from vicinal.graphs.trees import mst
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors.metric import as_metric
from vicinal.similarity.paths._auto_sigma import SigmaCurve, choose_sigma
from vicinal.similarity.paths._merge_tree import MergeTree
from vicinal.similarity.paths._neighbor_weights import log_neighbor_weights
from vicinal.similarity.paths.matrix import Origin, PathSimilarity

METRICS = ("euclidean", "precomputed")
# From here on the width is chosen by steps to neighbours.
MANY = 5_000


@checked
def path_similarity(
    X: Any,
    sigma: float | str = "auto",
    *,
    robust: bool = True,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> PathSimilarity:
    """Robust path-based similarity of all pairs: large if a dense path leads from one to the other.

    A path is as good as its worst step, and two points are as similar as the best path between them:
    s_ij = max over paths of the min over steps of a_p a_q exp(-d_pq^2 / (2 sigma^2)). The weights a
    are large where neighbours are near, so outliers are poor stepping stones.

    Parameters
    ----------
    X : array (n, D), distance matrix (n, n), or Graph
        Points; with ``metric="precomputed"`` a dense matrix of distances; or a graph, of which only
        edges are steps (a step is multiplied by its strength). Nodes that no path joins have
        similarity 0.
    sigma : float > 0 or "auto", default="auto"
        Width of the kernel. "auto" follows the units of the data, see `vicinal.similarity.paths._auto_sigma`.
    robust : bool, default=True
        Weigh points, as formula (4) of the reference; without it all weights are 1, formula (2).
    n_neighbors : int, default=10
        Number of nearest neighbours that weigh a point; all others if there are fewer. In a graph
        they are its nearest adjacent nodes.
    metric : {"euclidean", "precomputed"}, default="euclidean"
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Above 0, long work shows a progress bar.

    Returns
    -------
    PathSimilarity
        Keeps a tree of n - 1 merges instead of n^2 numbers.

    References
    ----------
    [4] Zhan and Yin, "Cluster preserving embedding", ICPR 2010, formulas (1) to (5).
    Chang and Yeung, "Robust path-based spectral clustering", Pattern Recognition 2008.

    Examples
    --------
    A chain of short steps, and a point far off:

    >>> from vicinal import path_similarity
    >>> S = path_similarity([[0.0], [1.0], [2.0], [3.0], [6.0]], sigma=1.0, robust=False)
    >>> S.toarray().round(3)
    array([[0.607, 0.607, 0.607, 0.607, 0.011],
           [0.607, 0.607, 0.607, 0.607, 0.011],
           [0.607, 0.607, 0.607, 0.607, 0.011],
           [0.607, 0.607, 0.607, 0.607, 0.011],
           [0.011, 0.011, 0.011, 0.011, 0.607]])
    >>> S.path(0, 4)
    array([0, 1, 2, 3, 4])
    """
    if isinstance(sigma, str):
        check_choice(sigma, "sigma", ("auto",))
    else:
        check_real(sigma, "sigma", low=0.0, open_low=True, remedy="'auto' reads it off the data.")
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    check_choice(metric, "metric", METRICS)
    steps = _steps_of(X, metric, n_jobs, verbose)
    neighbors, squares = steps.nearest(n_neighbors) if robust else (None, None)
    curve = None
    if isinstance(sigma, str):
        width, curve = choose_sigma(_wide_tree(steps, neighbors, squares))
    else:
        width = float(sigma) / steps.unit
    points = (
        steps.points if steps.unit == 1 or steps.graph is not None else steps.points * steps.unit
    )
    origin = Origin(points, steps.metric, bool(robust), n_neighbors)
    return _at_width(steps, squares, width, curve, origin)


class _Steps(NamedTuple):
    """Where steps lead: any pair of points, or the edges of a graph; all lengths are in ``unit``."""

    points: Any
    metric: Any
    graph: Graph | None
    unit: float
    n_jobs: int | None
    verbose: int

    @property
    def n(self) -> int:
        return len(self.points) if self.graph is None else self.graph.n_nodes

    def nearest(self, k: int) -> tuple[np.ndarray | None, np.ndarray]:
        """Nearest neighbours of points, and squared distances, infinite where a node has fewer."""
        k = min(k, self.n - 1)
        if k < 1:
            return None, np.zeros((self.n, 1))
        if self.graph is not None:
            return None, _edge_squares(self.graph, k, self.unit)
        search = NeighborSearch(
            self.points, metric=self.metric, n_jobs=self.n_jobs, verbose=self.verbose
        )
        indices, distances = search.nearest(k)
        return indices[:, 1:], np.square(distances[:, 1:])

    def candidates(self, offsets: np.ndarray | None) -> Candidates:
        """Edges that hold all best paths where a step costs d^2 + b_i + b_j."""
        if self.graph is not None:
            edges, lengths, strengths = _edges_once(self.graph)
            kept = strengths > 0
            return Candidates(edges[kept], lengths[kept] / self.unit, -np.log(strengths[kept]))
        tree = mst(
            self.points,
            metric=self.metric,
            offsets=offsets,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        edges, lengths, _ = _edges_once(tree)
        return Candidates(edges, lengths, np.zeros(len(edges)))


class Candidates(NamedTuple):
    """Edges (m, 2), their lengths and -log of their strengths."""

    edges: np.ndarray
    lengths: np.ndarray
    resistance: np.ndarray


def _edges_once(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges (m, 2) of an undirected graph with i < j, their lengths and strengths."""
    once = np.repeat(np.arange(graph.n_nodes), graph.degrees) < graph.indices
    return graph.edges(), graph.lengths[once], graph.strengths[once]


def _steps_of(X: Any, metric: str, n_jobs: int | None, verbose: int) -> _Steps:
    if isinstance(X, Graph):
        if X.directed:
            raise InvalidValueError(
                "X is a directed graph, but similarities along paths need an undirected one; "
                "X.symmetrize('union'), 'mean' or 'intersection' makes it so."
            )
        if X.n_nodes == 0:
            raise InvalidValueError("X is a graph without nodes, but at least one is needed.")
        return _Steps(X.points, X.metric, X, 1 / safe_factor(X.lengths), n_jobs, verbose)
    points = as_metric(metric).validate(X)
    if not isinstance(points, np.ndarray):
        raise InvalidTypeError(
            "X is a sparse matrix of distances; Graph.from_scipy(X) makes it a graph, whose edges are "
            "then the only steps."
        )
    unit = 1 / safe_factor(points)
    return _Steps(points if unit == 1 else points / unit, metric, None, unit, n_jobs, verbose)


def _edge_squares(graph: Graph, k: int, unit: float) -> np.ndarray:
    squares = np.full((graph.n_nodes, k), np.inf)
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    order = np.lexsort((graph.lengths, rows))
    place = np.arange(len(rows)) - np.repeat(graph.indptr[:-1], graph.degrees)
    near = place < k
    squares[rows[near], place[near]] = np.square(graph.lengths[order][near] / unit)
    squares[graph.degrees == 0] = 0.0  # no step leads there, so any weight will do
    return squares


def _wide_tree(
    steps: _Steps, neighbors: np.ndarray | None, squares: np.ndarray | None
) -> MergeTree:
    """Merges by -2 sigma^2 log s as sigma goes to infinity: d^2 plus the means of neighbours' squares."""
    if squares is None:
        edges, lengths, _ = steps.candidates(None)
        return MergeTree(steps.n, edges, np.square(lengths))
    known = np.isfinite(squares)
    offsets = np.where(known, squares, 0.0).sum(axis=1) / known.sum(axis=1)
    offsets -= offsets.min()
    if neighbors is not None and steps.n > MANY:
        return _tree_along_neighbors(steps, neighbors, squares, offsets)
    edges, lengths, _ = steps.candidates(offsets)
    return MergeTree(steps.n, edges, np.square(lengths) + offsets[edges].sum(axis=1))


def _tree_along_neighbors(
    steps: _Steps, neighbors: np.ndarray, squares: np.ndarray, offsets: np.ndarray
) -> MergeTree:
    """The same for steps to neighbours, and shortest links between what they do not join.

    Nearly all steps of best paths are of these kinds. They serve to choose a width, for which a second
    spanning tree of all pairs would take longer than all else.
    """
    n, k = neighbors.shape
    edges = np.column_stack([np.repeat(np.arange(n), k), neighbors.ravel()])
    costs = (squares + offsets[:, None] + offsets[neighbors]).ravel()
    tree = MergeTree(n, edges, costs)
    if len(tree.used) == n - 1:
        return tree
    edges, costs = edges[tree.used], costs[tree.used]
    pieces = tree.clusters(np.finfo(np.float64).max)
    links, lengths = shortest_bridges(steps.points, steps.metric, pieces, 1, steps.n_jobs)
    link_costs = np.square(lengths) + offsets[links].sum(axis=1)
    return MergeTree(n, np.concatenate([edges, links]), np.concatenate([costs, link_costs]))


def _at_width(
    steps: _Steps,
    squares: np.ndarray | None,
    sigma: float,
    curve: SigmaCurve | None,
    origin: Origin,
) -> PathSimilarity:
    log_weights, offsets = np.zeros(steps.n), None
    with np.errstate(over="ignore", invalid="ignore"):
        if squares is not None:
            log_weights = log_neighbor_weights(squares, sigma)
        log_unit = float(log_weights.max())
        log_weights -= log_unit  # formula (4) divides by the largest weight
        if squares is not None and np.isfinite(log_weights).all():
            offsets = -2.0 * log_weights * sigma * sigma
        edges, lengths, resistance = steps.candidates(offsets)
        heights = np.square(lengths / sigma) / 2 + resistance
        heights -= log_weights[edges].sum(axis=1)
    if not np.isfinite(heights).all():
        raise InvalidValueError(
            f"sigma={sigma * steps.unit:g} is so small that the logarithms of similarities overflow: the "
            f"longest step is {lengths.max() * steps.unit:g}. Take a larger one; 'auto' reads it off "
            "the data."
        )
    if curve is not None:
        with np.errstate(over="ignore"):  # widths beyond the longest length
            curve = curve._replace(sigmas=curve.sigmas * steps.unit)
    return PathSimilarity(
        MergeTree(steps.n, edges, heights),
        edges,
        sigma * steps.unit,
        log_weights,
        log_unit,
        curve,
        origin,
    )
