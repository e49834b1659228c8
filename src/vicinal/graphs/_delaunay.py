"""Delaunay triangulation as a graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal._core.memory import require_memory
from vicinal._core.rescale import normalize_magnitude, safe_factor
from vicinal._core.scalar_checks import check_choice
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.duplicate_edges import DUPLICATE_MODES, with_duplicates
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.graphs.graph import Graph

# Below this part of its extent a set of points counts as flat.
FLAT = 1e-13


def delaunay(X: Any, *, coplanar: str = "raise", duplicates: str = "keep") -> Graph:
    """Delaunay graph: the edges of all simplices whose circumscribed sphere holds no other point.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points. The triangulation is one of Euclidean space: distances alone do not give it. Its size
        grows explosively with the dimension; above 8 or so use `gabriel`, which is inside it.
    coplanar : {"raise", "joggle"}, default="raise"
        What to do with points that do not fill their space, such as points on a line in the plane,
        which have no triangulation: explain, or move all points at random by a tiny amount until they
        have one. Lengths are those of the points as given. Where the triangulation is only ambiguous
        (more than D + 1 points on an empty sphere), one of the possible ones is returned.
    duplicates : {"keep", "merge"}, default="keep"
        As for `gabriel`, which is inside this graph with either: "keep" connects equal rows with each
        other, at length 0, and with all neighbours of each; "merge" connects them sparsely.

    Returns
    -------
    Graph
        Lengths are Euclidean distances. Up to D + 1 points in general position are all connected with
        each other.

    Raises
    ------
    ValueError
        If the points lie in a flat of lower dimension and ``coplanar="raise"``.

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
    if not joggle and np.linalg.matrix_rank(points - points[0], tol=FLAT) < n - 1:
        raise _flat(points)
    return np.stack(np.triu_indices(n, 1), axis=1)


def _simplices(points: np.ndarray, joggle: bool) -> np.ndarray:
    from scipy.spatial import Delaunay, QhullError

    n, d = points.shape
    require_memory(
        # About d! simplices a point inside the cloud, never more than the upper bound theorem allows.
        min(float(n) * math.factorial(min(d, 20)), float(n) ** min((d + 1) // 2, 30))
        * (400 + 20 * d),
        f"The Delaunay triangulation of {n:,} points in {d} dimensions",
        "Reduce the dimension, or use gabriel(X), which is inside it and needs no simplices.",
    )
    try:
        found = Delaunay(points, qhull_options="QJ" if joggle else None)
    except QhullError as error:
        raise _flat(points) from error
    if len(found.coplanar):
        i, _, j = found.coplanar[0]
        raise InvalidValueError(
            f"{len(found.coplanar)} point(s) of X cannot be told from others in a triangulation in "
            f"double precision (the first at distance {np.linalg.norm(points[i] - points[j]):.1g} of "
            "the extent of X); pass coplanar='joggle', or merge near-duplicates."
        )
    return found.simplices


def _flat(points: np.ndarray) -> ValueError:
    n, d = points.shape
    return InvalidValueError(
        f"X has no Delaunay triangulation: its {n} distinct points lie in a flat of fewer than "
        f"{min(d, n - 1)} dimensions, or too near to one. Pass coplanar='joggle' to move them by a "
        "tiny random amount, drop the dependent columns (sklearn.decomposition.PCA does), or use "
        "gabriel(X)."
    )


def _simplex_edges(simplices: np.ndarray) -> np.ndarray:
    """Every edge of every simplex, once."""
    n = int(simplices.max()) + 1
    found = np.empty(0, np.int64)
    for a, b in zip(*np.triu_indices(simplices.shape[1], 1), strict=True):
        one, two = simplices[:, a].astype(np.int64), simplices[:, b]
        # Merged pair by pair, so that memory stays near that of the edges themselves.
        found = np.union1d(found, np.minimum(one, two) * n + np.maximum(one, two))
    return np.stack(np.divmod(found, n), axis=1)


def _normalized(points: np.ndarray) -> np.ndarray:
    """Points around 0 and of size 1: Qhull's tolerances are relative to the largest coordinate."""
    lowest, highest = points.min(axis=0), points.max(axis=0)
    moved = points - (lowest / 2 + highest / 2)
    return normalize_magnitude(moved)[0]


def _lengths(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    factor = safe_factor(points)
    squares = np.zeros(len(edges))
    for column in points.T:
        gap = column[edges[:, 0]] * factor - column[edges[:, 1]] * factor
        squares += gap * gap
    return np.sqrt(squares) / factor
