"""`graph_score`: how well a kind of graph represents points, without labels.

A graph with affinities w is read as a Gaussian prior: given all others, the values at a node of degree d_i
have the mean sum_j w_ij x_j / (d_i + e) and the precision s (d_i + e). The score is the mean log density of a
point given the others, at the best s and e. A graph of the same points would be judged by edges that are
short by chance, so graphs are built from perturbed points and judged by the original ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar

from vicinal._core.array_checks import check_points
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.jitter import perturbed_replicates
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy import sparse

    from vicinal._core.types import ArrayLike, RandomStateLike

# Points move by twice the mean distance to this many neighbours, in the root mean square (`axis_fraction`).
# If they move less, graphs with few edges win, because these are short by chance.
NOISE, N_NEIGHBORS = np.sqrt(2.0), 5
# Range of e, in median degrees.
RIDGES = (1e-6, 10.0)


@entry
def graph_score(
    build: Callable[[np.ndarray], Graph],
    X: ArrayLike,
    *,
    n_replicates: int = 5,
    random_state: RandomStateLike = None,
) -> float:
    """Score how well a kind of graph represents points, without labels; higher is better.

    The graph is built on perturbed copies of the points, and must predict each original point from its
    neighbours. Graphs with shortcuts predict badly, and so do those with too few edges. Compare graphs of the
    same points: see :doc:`/open-questions` for how often the score agrees with known clusters and geodesics.

    Parameters
    ----------
    build : callable
        Function of points that returns a graph of them, such as ``vicinal.graphs.disjoint_mst`` or
        ``functools.partial(vicinal.graphs.knn, n_neighbors=5)``.
    X : array-like of shape (n, n_features)
        Points, at least 3 of which differ.
    n_replicates : int, default=5
        Number of perturbed copies.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the perturbations.

    Returns
    -------
    float
        Mean log density of a coordinate given the neighbours, beyond that of independent normal coordinates.
        It does not depend on the unit of X.

    Examples
    --------
    >>> from functools import partial
    >>> from vicinal import graphs
    >>> from vicinal.datasets import make_swiss_roll
    >>> from vicinal.metrics import graph_score
    >>> X, _ = make_swiss_roll(300, noise=0.2, random_state=0)
    >>> kinds = {
    ...     "5 neighbours": partial(graphs.knn, n_neighbors=5),
    ...     "100 neighbours": partial(graphs.knn, n_neighbors=100),
    ...     "4 disjoint trees": graphs.disjoint_mst,
    ... }
    >>> scores = {name: graph_score(build, X, random_state=0) for name, build in kinds.items()}
    >>> min(scores, key=scores.get)
    '100 neighbours'
    """
    if not callable(build):
        raise InvalidTypeError(
            f"build={build!r}, but a function of points is needed, such as vicinal.graphs.knn."
        )
    points = check_points(X)
    n_replicates = check_count(n_replicates, "n_replicates")
    n_distinct = len(np.unique(points, axis=0))
    if n_distinct < 3:
        raise InvalidValueError(
            f"X has {n_distinct} distinct row(s), but a score needs at least 3."
        )
    k = min(N_NEIGHBORS, len(points) - 1)
    replicates = perturbed_replicates(points, "euclidean", n_replicates, NOISE, k, random_state)
    values = points - points.mean(axis=0)
    values /= np.abs(values).max()
    values /= np.sqrt(np.square(values).mean())
    scores = [
        _density_gain(_affinity(build, replicates.make(i)), values) for i in range(n_replicates)
    ]
    return float(np.mean(scores))


def _affinity(build: Callable[[np.ndarray], Graph], points: np.ndarray) -> sparse.csr_array:
    graph = build(points)
    if not isinstance(graph, Graph):
        raise InvalidTypeError(
            f"build returned {type(graph).__name__}, but a vicinal Graph is needed."
        )
    if graph.n_nodes != len(points):
        raise InvalidValueError(
            f"build returned a graph of {graph.n_nodes} node(s) for {len(points)} points."
        )
    return (graph.symmetrize() if graph.directed else graph).affinity(scale=np.inf)


def _density_gain(affinity: sparse.csr_array, values: np.ndarray) -> float:
    """Mean log density of values given their neighbours, beyond that of standard normal values."""
    degrees = affinity.sum(axis=1)
    sums = affinity @ values
    typical = float(np.median(degrees[degrees > 0])) if (degrees > 0).any() else 1.0

    def loss(log_ridge: float) -> float:
        totals = degrees + typical * np.exp(log_ridge)
        residuals = np.square(values - sums / totals[:, None]).mean(axis=1)
        precision = 1.0 / (totals * residuals).mean()  # s, by maximum likelihood
        return -0.5 * float(np.log(precision * totals).mean())

    best = minimize_scalar(loss, bounds=np.log(RIDGES), method="bounded")
    return -float(best.fun)
