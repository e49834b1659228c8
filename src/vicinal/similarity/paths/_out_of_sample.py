"""New points in a path-based similarity: each is tied to the tree by its best step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidValueError
from vicinal.similarity.paths._neighbor_weights import log_neighbor_weights

if TYPE_CHECKING:
    from vicinal.similarity.paths.matrix import PathSimilarity

# Height of a similarity that is just not 0.
BARELY = 700.0


class Links(NamedTuple):
    """Best steps of new points: to which point, and at which height (-log s); and who they coincide with.

    ``same`` is the first point at the same place, or -1.
    """

    points: np.ndarray
    heights: np.ndarray
    same: np.ndarray


def best_links(similarity: PathSimilarity, X: Any, n_jobs: int | None = -1) -> Links:
    """The step from each new point that costs least, over all points of the similarity.

    No weight exceeds 1, so a point at distance d costs at least d^2 / (2 sigma^2): neighbours are asked
    for until the nearest one left out could not be better.

    Parameters
    ----------
    similarity : PathSimilarity
    X : array (m, n_features)
        New points; if distances were given, those to the points of the similarity (m, n).
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
    """
    robust, n_neighbors = similarity.origin.robust, similarity.origin.n_neighbors
    if similarity.origin.points is None:
        raise InvalidValueError(
            "the similarity was made of a graph that does not know its points, so new points have no "
            "steps to them; start from points, or give the Graph its points."
        )
    search = similarity.search(n_jobs)
    n, sigma = similarity.shape[0], similarity.sigma
    X = np.asarray(X)
    k = min(n, max(n_neighbors, 2))
    indices, distances = search.nearest(k, queries=X)
    same = np.where(distances[:, 0] == 0, indices[:, 0], -1)
    own = np.zeros(len(X))
    if robust:
        near = np.square(distances[:, :n_neighbors] / sigma)
        own = np.minimum(log_neighbor_weights(near, 1.0) - similarity.log_unit, 0.0)
    ends, heights, rows = np.empty(len(X), np.int64), np.empty(len(X)), np.arange(len(X))
    while True:
        with np.errstate(over="ignore"):
            least_costs = np.square(distances / sigma) / 2
        costs = least_costs - similarity.log_weights[indices]
        best = np.argmin(costs, axis=1)[:, None]
        ends[rows] = np.take_along_axis(indices, best, axis=1)[:, 0]
        found = np.take_along_axis(costs, best, axis=1)[:, 0]
        heights[rows] = found - own[rows]
        rows = rows[least_costs[:, -1] < found]
        if k == n or not len(rows):
            return Links(ends, heights, same)
        k = min(n, 2 * k)
        indices, distances = search.nearest(k, queries=X[rows])


def extend_walk_vectors(
    similarity: PathSimilarity, X: Any, vectors: np.ndarray, values: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """Eigenvectors of the random walk at new points: a step of the walk over the eigenvalue (Nystrom).

    Parameters
    ----------
    similarity : PathSimilarity
    X : array (m, n_features)
        New points; those of the similarity keep their entries.
    vectors : ndarray (n, q)
        Solutions of S y = value D y.
    values : ndarray (q,)
        Where a value is 0 the result is, too.
    """
    links = best_links(similarity, X, n_jobs)
    kernel = similarity.relative
    # Nothing is more similar than the most similar pair.
    heights = np.maximum(links.heights - kernel.lowest, 0.0)
    columns = np.column_stack([vectors, np.ones(len(vectors))])
    rows = kernel.attached(columns, links.points, heights)
    # A point so far that nothing is similar to it is far from all points alike.
    far = rows[:, -1] == 0
    if far.any():
        rows[far] = kernel.attached(columns, links.points[far], np.full(far.sum(), BARELY))
    steps = rows[:, :-1] / rows[:, -1:]
    extended = np.divide(steps, values, out=np.zeros_like(steps), where=values > 0)
    return np.where((links.same >= 0)[:, None], vectors[links.same], extended)
