"""New points in a path-based similarity: the best step attaches each one to the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidValueError
from vicinal.neighbors._directions import as_directions
from vicinal.neighbors._exact import nearest_to_new
from vicinal.similarity.paths._link_kernels import cheapest_steps, walk_steps
from vicinal.similarity.paths._neighbor_weights import log_neighbor_weights

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike
    from vicinal.similarity.paths.matrix import PathSimilarity

# Height -log s whose similarity s is still representable.
MAX_HEIGHT = 700.0


class Links(NamedTuple):
    """Best step of each new point: the point it leads to and its height -log s.

    ``same`` is the first point at the same position, or -1.
    """

    points: np.ndarray
    heights: np.ndarray
    same: np.ndarray


def best_links(similarity: PathSimilarity, X: ArrayLike) -> Links:
    """Cheapest step from each new point to a point of the similarity.

    No weight exceeds 1, so a step of length d costs at least d^2 / (2 sigma^2): the search stops when the
    next neighbour cannot be better.

    Parameters
    ----------
    similarity : PathSimilarity
        Similarity of the known points.
    X : array (m, n_features)
        New points; their distances (m, n) if the similarity was computed from distances.
    """
    robust, n_neighbors = similarity.origin.robust, similarity.origin.n_neighbors
    if similarity.origin.points is None:
        raise InvalidValueError(
            "the similarity was computed from a graph without points, so it cannot be extended to new "
            "points; compute it from points, or set the points of the Graph."
        )
    search = similarity.search()
    n, sigma = similarity.shape[0], similarity.sigma
    points = np.asarray(X)
    if similarity.origin.directions:
        points = as_directions(points)
    k = min(n, max(n_neighbors, 2))
    indices, distances = nearest_to_new(search, points, k)
    new_log_weights = np.zeros(len(points))
    if robust:
        near = np.square(distances[:, :n_neighbors] / sigma)
        new_log_weights = np.minimum(log_neighbor_weights(near, 1.0) - similarity.log_unit, 0.0)
    ends, same = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    costs = np.empty(len(points))
    rows, log_weights = np.arange(len(points)), similarity.log_weights
    while True:
        n_open = cheapest_steps(rows, indices, distances, sigma, log_weights, ends, costs, same)
        rows = rows[:n_open]
        if k == n or not n_open:
            return Links(ends, costs - new_log_weights, same)
        k = min(n, 2 * k)
        indices, distances = nearest_to_new(search, points[rows], k)


def extend_walk_vectors(
    similarity: PathSimilarity,
    X: ArrayLike,
    vectors: np.ndarray,
    eigenvalues: np.ndarray,
) -> np.ndarray:
    """Extend eigenvectors of the random walk to new points: one step over the eigenvalue (Nystrom).

    Parameters
    ----------
    similarity : PathSimilarity
        Similarity of the known points.
    X : array (m, n_features)
        New points; known points keep their entries.
    vectors : ndarray (n, q)
        Solutions of S y = eigenvalue D y.
    eigenvalues : ndarray (q,)
        Where an eigenvalue is 0, so is the result.
    """
    links = best_links(similarity, X)
    kernel = similarity.relative
    # Nothing is more similar than the most similar pair.
    heights = np.maximum(links.heights - kernel.lowest, 0.0)
    attached = kernel.attached_to(vectors)
    rows = attached.products(links.points, heights)
    extended = np.empty((len(rows), vectors.shape[1]))
    if walk_steps(rows, eigenvalues, links.same, vectors, extended):
        # If all similarities of a point vanish, it is equally far from all points.
        far = rows[:, -1] == 0
        rows[far] = attached.products(links.points[far], np.full(far.sum(), MAX_HEIGHT))
        walk_steps(rows, eigenvalues, links.same, vectors, extended)
    return extended
