"""`path_similarity`: the similarity of two points is that of the worst step of their best path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.neighbors._directions import as_directions
from vicinal.neighbors.metric import EUCLIDEAN
from vicinal.similarity.paths._auto_sigma import SigmaCurve, choose_sigma
from vicinal.similarity.paths._merge_tree import MergeTree
from vicinal.similarity.paths._neighbor_weights import log_neighbor_weights
from vicinal.similarity.paths._steps import GraphSteps, PointSteps, make_steps
from vicinal.similarity.paths.matrix import Origin, PathSimilarity

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

METRICS = ("euclidean", "cosine", "precomputed")
# Above this size, the kernel width is chosen from steps to neighbours only.
ALL_STEPS_MAX_POINTS = 5_000


@entry(blas_threads=1)
def path_similarity(
    X: ArrayLike | Graph,
    sigma: float | Literal["auto"] = "auto",
    *,
    robust: bool = True,
    n_neighbors: int = 10,
    metric: Literal["euclidean", "cosine", "precomputed"] = "euclidean",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> PathSimilarity:
    """Robust path-based similarity of all pairs: large if a dense path connects two points.

    A path is as good as its worst step, and the similarity of two points is that of their best path:
    s_ij = max over paths of the min over steps of a_p a_q exp(-d_pq^2 / (2 sigma^2)). The weights a
    are large in dense regions, so paths through outliers are poor.

    Parameters
    ----------
    X : array (n, n_features), distance matrix (n, n), or Graph
        Points; a dense distance matrix with ``metric="precomputed"``; or a graph, whose edges are then the
        only steps (each multiplied by its strength). Nodes without a connecting path have similarity 0.
    sigma : float or "auto", default="auto"
        Kernel width, > 0. "auto" chooses it from the data such that an average pair has 0.9 of the
        largest similarity.
    robust : bool, default=True
        Whether to weight points by the density around them, formula (4) of the reference. Otherwise all
        weights are 1, formula (2).
    n_neighbors : int, default=10
        Number of nearest neighbours that determine the weight of a point; all other points if there are
        fewer. In a graph, they are the nearest adjacent nodes.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        With "cosine", points are scaled to length 1, and ``sigma`` refers to their Euclidean distances.
        "precomputed" if X holds distances. Ignored for a graph.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Returns
    -------
    PathSimilarity
        Stores a tree of n - 1 merges instead of n^2 numbers.

    References
    ----------
    [4] Zhan and Yin, "Cluster preserving embedding", ICPR 2010, formulas (1) to (5).
    Chang and Yeung, "Robust path-based spectral clustering", Pattern Recognition 2008.

    Examples
    --------
    A chain of short steps, and a distant point:

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
        check_real(sigma, "sigma", low=0.0, open_low=True, remedy="Use 'auto' to choose it.")
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    check_choice(metric, "metric", METRICS)
    directions = metric == "cosine" and not isinstance(X, Graph)
    if directions:
        X, metric = as_directions(EUCLIDEAN.validate(X)), "euclidean"
    steps = make_steps(X, metric)
    neighbors, squares = steps.nearest(n_neighbors) if robust else (None, None)
    curve = None
    if isinstance(sigma, str):
        width, curve = choose_sigma(_wide_tree(steps, neighbors, squares))
    else:
        width = float(sigma) / steps.unit
    origin = Origin(steps.original_points, steps.metric.name, bool(robust), n_neighbors, directions)
    return _at_width(steps, squares, width, curve, origin)


def _wide_tree(
    steps: PointSteps | GraphSteps, neighbors: np.ndarray | None, squares: np.ndarray | None
) -> MergeTree:
    """Merges by -2 sigma^2 log s in the limit of large sigma.

    A step then costs d^2 plus, for each end, the mean squared distance to its neighbours.
    """
    if squares is None:
        edges, lengths, _ = steps.candidates(None)
        return MergeTree(steps.n, edges, np.square(lengths))
    known = np.isfinite(squares)
    offsets = np.where(known, squares, 0.0).sum(axis=1) / known.sum(axis=1)
    offsets -= offsets.min()
    if isinstance(steps, PointSteps) and neighbors is not None and steps.n > ALL_STEPS_MAX_POINTS:
        return _tree_along_neighbors(steps, neighbors, squares, offsets)
    edges, lengths, _ = steps.candidates(offsets)
    return MergeTree(steps.n, edges, np.square(lengths) + offsets[edges].sum(axis=1))


def _tree_along_neighbors(
    steps: PointSteps, neighbors: np.ndarray, squares: np.ndarray, offsets: np.ndarray
) -> MergeTree:
    """`_wide_tree` of steps to neighbours and the shortest edges between the components they leave.

    Nearly all steps of best paths are of these kinds. That suffices to choose a width; a second spanning
    tree of all pairs would take longer than everything else.
    """
    n, k = neighbors.shape
    edges = np.column_stack([np.repeat(np.arange(n), k), neighbors.ravel()])
    costs = (squares + offsets[:, None] + offsets[neighbors]).ravel()
    tree = MergeTree(n, edges, costs)
    if len(tree.used) == n - 1:
        return tree
    edges, costs = edges[tree.used], costs[tree.used]
    bridges, lengths = steps.bridges(tree.clusters(np.finfo(np.float64).max))
    bridge_costs = np.square(lengths) + offsets[bridges].sum(axis=1)
    return MergeTree(n, np.concatenate([edges, bridges]), np.concatenate([costs, bridge_costs]))


def _at_width(
    steps: PointSteps | GraphSteps,
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
            if isinstance(steps, PointSteps) and not np.isfinite(offsets).all():
                raise InvalidValueError(
                    "sigma is so large, relative to the distances in X, that its square overflows; use "
                    "a smaller sigma, or 'auto' to choose it."
                )
        edges, lengths, resistance = steps.candidates(offsets)
        heights = np.square(lengths / sigma) / 2 + resistance
        heights -= log_weights[edges].sum(axis=1)
    if not np.isfinite(heights).all():
        raise InvalidValueError(
            f"sigma={sigma * steps.unit:g} is so small that the logarithms of similarities overflow: the "
            f"longest step is {lengths.max() * steps.unit:g}. Use a larger sigma, or 'auto' to choose it."
        )
    if curve is not None:
        with np.errstate(over="ignore"):  # widths above the largest float
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
