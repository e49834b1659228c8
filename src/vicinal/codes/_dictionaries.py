"""Dictionaries of sparse codes: the points that may represent a point.

In manifold ranking, scores are the columns of F = (I - alpha S)^-1, S = D^-1/2 W D^-1/2 with Gaussian
affinities W and their degrees D. For alpha near 1 all columns approach the same vector, the square root of
the degrees, so every point would be represented by the same hubs. Divided by it, scores reflect proximity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from vicinal._core.chunked import ChunkedRows, in_memory
from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads
from vicinal.codes._krylov_ranking import krylov_atoms
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.neighborhoods import knn
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors.metric import EUCLIDEAN
from vicinal.operators._conjugate_gradients import solve_positive_definite
from vicinal.operators.laplacians import degrees, normalized_affinity
from vicinal.similarity.smoothing.kernel import gaussian

# With alpha = 0 scores do not diffuse; the limit of small alpha ranks by affinity.
MIN_ALPHA = 1e-6
# Up to this size, scores of all pairs are computed.
DENSE_MAX_POINTS = 4000
DEFAULT_NEIGHBORS = 10
SCALE_NEIGHBOR = 7
# Atoms are searched in a ball of this many times the dictionary size, larger if too many are missed.
BALL_FACTOR = 3
MIN_RECALL, RECALL_SAMPLE = 0.97, 24
ROWS_PER_TASK = 64


class Dictionaries(NamedTuple):
    """Atoms of each point, and the fraction of the true ones found in a sample."""

    atoms: np.ndarray
    recall: float


class Ranking(NamedTuple):
    """How atoms are chosen: parameters of `structure_aware_l1`, checked, with the number of atoms."""

    name: str
    n_atoms: int
    alpha: float
    corrected: bool
    n_neighbors: int | None
    exact: bool

    def atoms(self, points: np.ndarray | ChunkedRows) -> Dictionaries:
        """The best atoms of each point."""
        if self.name == "euclidean":
            return euclidean_atoms(points, self.n_atoms)
        if self.name == "perceptual":
            return perceptual_atoms(points, self.n_atoms, self.alpha, self.n_neighbors)
        return manifold_atoms(
            points,
            self.n_atoms,
            alpha=self.alpha,
            corrected=self.corrected,
            n_neighbors=self.n_neighbors,
            exact=self.exact,
        )


def manifold_scores(affinity: np.ndarray, alpha: float, corrected: bool) -> np.ndarray:
    """Ranking scores of all pairs, formula (2): row i holds the scores of the atoms of point i.

    Parameters
    ----------
    affinity : ndarray of shape (n, n)
        Symmetric, with a zero diagonal. It is overwritten.
    alpha : float
        How far scores diffuse, in [0, 1).
    corrected : bool
        Divide scores by the square root of the degree of the atom.
    """
    roots = np.sqrt(affinity.sum(axis=1))
    roots[roots == 0] = 1.0
    spans = blocks(len(roots), ROWS_PER_TASK)

    def scale(span: tuple[int, int]) -> None:
        rows = affinity[slice(*span)]
        rows *= -alpha / roots[slice(*span), None]
        rows /= roots

    map_threads(scale, spans)
    np.fill_diagonal(affinity, 1.0)
    # LAPACK gets the transpose, in Fortran order, and fills its lower triangle: the upper one here.
    factor, _ = lapack.dpotrf(affinity.T, lower=1, clean=0, overwrite_a=1)
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    scores: np.ndarray = inverse.T

    def mirror(span: tuple[int, int]) -> None:
        a, b = span
        scores[a:b, :a] = scores[:a, a:b].T
        corner = scores[a:b, a:b]
        scores[a:b, a:b] = np.triu(corner) + np.triu(corner, 1).T

    map_threads(mirror, spans)
    if corrected:
        scores /= roots
    return scores


def heat_affinity(points: np.ndarray) -> np.ndarray:
    """Heat kernel exp(-d^2 / 4 s^2) of all distances, with s the median distance to the 7th neighbour."""
    n = len(points)
    distance_rows = EUCLIDEAN.distance_rows(points)
    distances = np.empty((n, n))
    scales = np.empty(n)
    k = min(SCALE_NEIGHBOR, n - 1)

    def fill(span: tuple[int, int]) -> None:
        distances[slice(*span)] = distance_rows(*span)
        # The point itself comes first.
        scales[slice(*span)] = np.partition(distances[slice(*span)], k, axis=1)[:, k]

    map_threads(fill, blocks(n, ROWS_PER_TASK))
    scales = scales[scales > 0]
    scale = np.median(scales) if len(scales) else 1.0

    def apply_kernel(span: tuple[int, int]) -> None:
        distances[slice(*span)] = gaussian(distances[slice(*span)], np.asarray(scale), 4.0)

    map_threads(apply_kernel, blocks(n, ROWS_PER_TASK))
    np.fill_diagonal(distances, 0.0)
    return distances


def manifold_atoms(
    points: np.ndarray | ChunkedRows,
    n_atoms: int,
    *,
    alpha: float,
    corrected: bool,
    n_neighbors: int | None,
    exact: bool,
) -> Dictionaries:
    """Best atoms by manifold ranking, on the complete graph or on a neighbour graph."""
    n, alpha = len(points), max(alpha, MIN_ALPHA)
    if exact or (n_neighbors is None and n <= DENSE_MAX_POINTS):
        remedy = "Omit exact_ranking, or pass n_neighbors=10."
        loaded = in_memory(points, "Ranking of all pairs of points", remedy).astype(np.float64)
        ranked = None
        if corrected and not exact:
            ranked = krylov_atoms(loaded, n_atoms, alpha, SCALE_NEIGHBOR)
        if ranked is not None:
            return Dictionaries(*ranked)
        require_memory(32.0 * n**2, f"Ranking of {n:,} points by an inverse", remedy)
        scores = manifold_scores(heat_affinity(loaded), alpha, corrected)
        return Dictionaries(best_rows(scores, n_atoms), 1.0)
    k = DEFAULT_NEIGHBORS if n_neighbors is None else n_neighbors
    graph = knn(points, k).connect()
    return local_atoms(graph.affinity(), n_atoms, alpha, corrected)


def local_atoms(
    affinity: sparse.csr_array,
    n_atoms: int,
    alpha: float,
    corrected: bool,
) -> Dictionaries:
    """Best ranked atoms on a sparse connected graph, from the system restricted to a ball per point.

    Diffusion through nodes outside the ball is ignored. A sample of points, ranked on the whole graph,
    shows how many atoms are missed; the ball grows until these are few.
    """
    from vicinal.codes._ball_kernels import best_in_balls

    n = affinity.shape[0]
    masses = degrees(affinity)
    theta = normalized_affinity(affinity, masses)
    graph = theta.indptr, theta.indices, theta.data
    weights = 1 / np.sqrt(np.where(masses > 0, masses, 1.0)) if corrected else np.ones(n)

    def rank_in_balls(nodes: np.ndarray, size: int) -> np.ndarray:
        best = np.empty((len(nodes), n_atoms), dtype=np.int64)

        def rank(span: tuple[int, int]) -> None:
            rows = slice(*span)
            best_in_balls(graph, alpha, weights, nodes[rows], size, best[rows])

        map_threads(rank, blocks(len(nodes), ROWS_PER_TASK), title="ranking")
        return best

    sample = np.unique(np.linspace(0, n - 1, min(n, RECALL_SAMPLE)).astype(np.int64))
    starts = np.zeros((n, len(sample)))
    starts[sample, np.arange(len(sample))] = 1.0
    system = sparse.csr_array(sparse.eye_array(n) - alpha * theta)
    scores = solve_positive_definite(system, starts).values.T * weights
    true = best_rows(scores, n_atoms, excluded=sample)
    size = min(n, BALL_FACTOR * (n_atoms + 1))
    while True:
        atoms = rank_in_balls(sample, size)
        recall = np.mean([np.isin(*pair).mean() for pair in zip(true, atoms, strict=True)])
        if recall >= MIN_RECALL or size == n:
            break
        size = min(n, 2 * size)
    return Dictionaries(rank_in_balls(np.arange(n), size), float(recall))


def euclidean_atoms(points: Any, n_atoms: int) -> Dictionaries:
    """The nearest points."""
    indices, _ = NeighborSearch(points, method="exact").nearest(n_atoms)
    return Dictionaries(np.ascontiguousarray(indices[:, 1:], dtype=np.int64), 1.0)


def perceptual_atoms(
    points: Any,
    n_atoms: int,
    alpha: float,
    n_neighbors: int | None,
) -> Dictionaries:
    """Best atoms by a random walk along contextual distances."""
    # Imported here because only this ranking needs it.
    from vicinal.rank import PerceptualRanking

    n = len(points)
    if n < 3:
        raise InvalidValueError(
            f"ranking='perceptual', but X has {n} points; contexts need 3. Use another ranking."
        )
    k = DEFAULT_NEIGHBORS if n_neighbors is None else n_neighbors
    ranking = PerceptualRanking(min(k, n - 1), alpha=alpha)
    return Dictionaries(ranking.fit(points).rank(np.arange(n), n_atoms)[0], 1.0)


def best_rows(scores: np.ndarray, n_atoms: int, excluded: np.ndarray | None = None) -> np.ndarray:
    """Indices of the largest scores in each row, except the point itself; ties go to smaller indices."""
    skipped = np.arange(len(scores)) if excluded is None else excluded
    best = np.empty((len(scores), n_atoms), dtype=np.int64)

    def select(span: tuple[int, int]) -> None:
        rows = slice(*span)
        costs = -scores[rows]
        costs[np.arange(len(costs)), skipped[rows]] = np.inf
        last = np.partition(costs, n_atoms - 1, axis=1)[:, n_atoms - 1, None]
        chosen = costs <= last
        for row in np.flatnonzero(chosen.sum(axis=1) > n_atoms):
            tied = np.flatnonzero(costs[row] == last[row])
            chosen[row, tied[n_atoms - chosen[row].sum() :]] = False
        best[rows] = np.nonzero(chosen)[1].reshape(-1, n_atoms)

    map_threads(select, blocks(len(scores), ROWS_PER_TASK))
    return best
