"""Delaunay triangulation as a graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal._core.memory import require_memory
from vicinal._core.rescale import normalize_magnitude, safe_factor
from vicinal._core.scalar_checks import check_choice
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.duplicate_edges import DUPLICATE_MODES, with_duplicates
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, Coplanar, DuplicateMode

# Points whose relative extent along some direction is smaller count as coplanar.
COPLANAR_TOLERANCE = 1e-13


def delaunay(
    X: ArrayLike, *, coplanar: Coplanar = "raise", duplicates: DuplicateMode = "keep"
) -> Graph:
    """Delaunay graph: the edges of all simplices whose circumscribed sphere contains no other point.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points in Euclidean space; distances alone do not determine a triangulation. Its size grows
        very fast with the dimension; above about 8 use `gabriel`, which is a subgraph.
    coplanar : {"raise", "joggle"}, default="raise"
        Treatment of points that do not span their space, such as points on a line in the plane,
        which have no triangulation: "raise" an error, or "joggle" all points by a tiny random amount
        until they have one. Lengths are those of the given points. If the triangulation is only
        ambiguous (more than D + 1 points on an empty sphere), one of the possible ones is returned.
    duplicates : {"keep", "merge"}, default="keep"
        "keep" connects equal rows to each other at length 0 and to all their neighbours; "merge"
        connects them sparsely. See `gabriel`, which is a subgraph in both cases.

    Returns
    -------
    Graph
        Lengths are Euclidean distances. Up to D + 1 points in general position form a complete graph.

    Raises
    ------
    ValueError
        If the points lie in an affine subspace of lower dimension and ``coplanar="raise"``.

    Examples
    --------
    >>> from vicinal.graphs import delaunay
    >>> delaunay([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [3.0, 3.0]]).edges()
    array([[0, 1],
           [0, 2],
           [1, 2],
           [1, 3],
           [2, 3]])
    """
    points = check_points(X)
    check_choice(coplanar, "coplanar", ("raise", "joggle"))
    check_choice(duplicates, "duplicates", DUPLICATE_MODES)
    rows = find_duplicates(points)
    distinct = points[rows.representative]
    edges = _edges(_normalized(distinct), coplanar == "joggle")
    graph = Graph.from_edges(len(distinct), edges, _lengths(distinct, edges), points=distinct)
    return with_duplicates(graph, rows, points, duplicates)


def _edges(points: np.ndarray, joggle: bool) -> np.ndarray:
    """Edges of the triangulation of distinct points."""
    n, d = points.shape
    if d == 1:
        order = np.argsort(points[:, 0])
        return np.stack([order[:-1], order[1:]], axis=1)
    if n > d + 1:
        return _simplex_edges(_simplices(points, joggle))
    # At most one simplex: nothing to triangulate, but its corners must span it.
    if not joggle and np.linalg.matrix_rank(points - points[0], tol=COPLANAR_TOLERANCE) < n - 1:
        raise _coplanar_error(points)
    return np.stack(np.triu_indices(n, 1), axis=1)


def _simplices(points: np.ndarray, joggle: bool) -> np.ndarray:
    from scipy.spatial import Delaunay, QhullError

    n, d = points.shape
    require_memory(
        # About d! simplices per inner point, never more than the upper bound theorem allows.
        min(float(n) * math.factorial(min(d, 20)), float(n) ** min((d + 1) // 2, 30))
        * (400 + 20 * d),
        f"The Delaunay triangulation of {n:,} points in {d} dimensions",
        "Reduce the dimension, or use gabriel(X), a subgraph that needs no simplices.",
    )
    try:
        triangulation = Delaunay(points, qhull_options="QJ" if joggle else None)
    except QhullError as error:
        raise _coplanar_error(points) from error
    if len(triangulation.coplanar):
        i, _, j = triangulation.coplanar[0]
        raise InvalidValueError(
            f"{len(triangulation.coplanar)} point(s) of X cannot be distinguished from others in a "
            "triangulation in double precision (the first is at a distance of "
            f"{np.linalg.norm(points[i] - points[j]):.1g} times the extent of X); pass "
            "coplanar='joggle', or merge near-duplicates."
        )
    return triangulation.simplices


def _coplanar_error(points: np.ndarray) -> ValueError:
    n, d = points.shape
    return InvalidValueError(
        f"X has no Delaunay triangulation: its {n} distinct points lie in, or too close to, an affine "
        f"subspace of fewer than {min(d, n - 1)} dimensions. Pass coplanar='joggle' to move them by a "
        "tiny random amount, drop the dependent columns (e.g. with sklearn.decomposition.PCA), or use "
        "gabriel(X)."
    )


def _simplex_edges(simplices: np.ndarray) -> np.ndarray:
    """Every edge of every simplex, once."""
    n = int(simplices.max()) + 1
    keys = np.empty(0, np.int64)
    for a, b in zip(*np.triu_indices(simplices.shape[1], 1), strict=True):
        i, j = simplices[:, a].astype(np.int64), simplices[:, b]
        # Merged corner pair by corner pair, so that memory stays close to that of the edges.
        keys = np.union1d(keys, np.minimum(i, j) * n + np.maximum(i, j))
    return np.stack(np.divmod(keys, n), axis=1)


def _normalized(points: np.ndarray) -> np.ndarray:
    """Centred points of unit size: Qhull's tolerances are relative to the largest coordinate."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    centred = points - (lower / 2 + upper / 2)
    return normalize_magnitude(centred)[0]


def _lengths(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    factor = safe_factor(points)
    squares = np.zeros(len(edges))
    for column in points.T:
        gap = column[edges[:, 0]] * factor - column[edges[:, 1]] * factor
        squares += gap * gap
    return np.sqrt(squares) / factor
