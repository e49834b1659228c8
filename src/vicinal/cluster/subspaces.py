"""Clusters as linear subspaces through the origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal._core.options import random_generator
from vicinal._core.rescale import normalize_magnitude
from vicinal._core.scalar_checks import check_count
from vicinal.cluster._perceptual_kernels import nearest_subspaces

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, RandomStateLike

# Initialisations that are continued, and the number of iterations, in each round: after a few iterations the
# best ones rarely change places.
ROUNDS = ((10, 10), (3, 20), (1, 70))
# Of more rows, the initialisations use a sample of this size.
SAMPLE_SIZE = 20_000


class Subspaces(NamedTuple):
    """Labels of rows, orthonormal bases of the subspaces, and the mean explained fraction of the rows."""

    labels: np.ndarray
    bases: np.ndarray
    explained: float


class _State(NamedTuple):
    """An initialisation after some iterations; ``explained`` is the sum over the rows."""

    labels: np.ndarray
    bases: np.ndarray
    explained: float
    converged: bool


def k_subspaces(
    rows: ArrayLike, n_clusters: int, *, dimension: int = 1, random_state: RandomStateLike = 0
) -> Subspaces:
    """Cluster rows by the nearest of ``n_clusters`` linear subspaces, which are fitted to the clusters.

    Alternates between assigning each row to the subspace that explains most of it and fitting each subspace
    to its rows (leading right singular vectors). The best of several initialisations is returned. With more
    than 20,000 rows, a sample decides which is best.

    Parameters
    ----------
    rows : array-like of shape (n, q)
        Points; only their directions matter, up to sign.
    n_clusters : int
        Number of clusters.
    dimension : int, default=1
        Dimension of each subspace, at most q.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the initialisations.

    Returns
    -------
    labels : ndarray of int of shape (n,)
        Cluster of each row.
    bases : ndarray of shape (n_clusters, dimension, q)
        Orthonormal rows that span each subspace.
    explained : float
        Mean fraction of a row's squared length that its subspace explains, at most 1.

    References
    ----------
    Tseng, "Nearest q-flat to m points", 2000; Vidal, Ma and Sastry, "Generalized principal component
    analysis", PAMI 2005, for the problem.

    Examples
    --------
    >>> from vicinal.cluster import k_subspaces
    >>> labels, bases, explained = k_subspaces([[1, 0], [0, 2], [-3, 0], [0, -1]], 2)
    >>> bool(labels[0] == labels[2] != labels[1] == labels[3])
    True
    """
    rows = check_points(rows, name="rows")
    n_clusters = check_count(n_clusters, "n_clusters", high=len(rows))
    dimension = check_count(dimension, "dimension", high=rows.shape[1])
    rng = random_generator(random_state)
    # Scaling by powers of two is exact, and prevents overflow and underflow of squares.
    rows, _ = normalize_magnitude(rows, axis=1)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    sample = directions
    if len(directions) > max(SAMPLE_SIZE, 4 * n_clusters * dimension):
        sample = directions[np.sort(rng.choice(len(directions), SAMPLE_SIZE, replace=False))]
    states = [
        _State(np.empty(0), _spread_bases(sample, n_clusters, dimension, rng), -np.inf, False)
        for _ in range(ROUNDS[0][0])
    ]
    for n_best, n_iter in ROUNDS:
        states = sorted(states, key=lambda state: -state.explained)[:n_best]
        states = [_alternate(sample, state, n_iter) for state in states]
    best = max(states, key=lambda state: state.explained)
    if sample is not directions:
        start = _State(np.empty(0), best.bases, -np.inf, False)
        best = _alternate(directions, start, sum(n_iter for _, n_iter in ROUNDS))
    return Subspaces(best.labels, best.bases, best.explained / len(rows))


def nearest_subspace(rows: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """Index of the subspace that explains most of each row; ties go to the first."""
    labels = np.empty(len(rows), np.int64)
    nearest_subspaces(np.ascontiguousarray(rows, dtype=np.float64), bases, labels)
    return labels


def _squared_projections(rows: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """Squared length of each row's projection onto each subspace."""
    if bases.shape[1] == 1:
        return np.square(rows @ bases[:, 0].T)
    squares = np.empty((len(rows), len(bases)))
    for c, basis in enumerate(bases):
        squares[:, c] = np.square(rows @ basis.T).sum(axis=1)
    return squares


def _alternate(directions: np.ndarray, state: _State, n_iter: int) -> _State:
    """Alternate between labels and bases."""
    labels, bases, explained, converged = state
    for _ in range(0 if converged else n_iter):
        squares = _squared_projections(directions, bases)
        labels = np.argmax(squares, axis=1)
        total = float(squares[np.arange(len(labels)), labels].sum())
        if total <= explained * (1 + 1e-10):
            return _State(labels, bases, explained, True)
        explained = total
        bases = _fitted(directions, labels, bases)
    return _State(labels, bases, explained, converged)


def _fitted(directions: np.ndarray, labels: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """Subspaces fitted to the rows of each cluster; an empty one keeps its own, and may gain rows later."""
    bases, (_, dimension, n_columns) = bases.copy(), bases.shape
    clusters, products = [], []
    for c in range(len(bases)):
        members = directions[labels == c]
        if len(members) >= n_columns:
            clusters.append(c)
            products.append(members.T @ members)
        elif len(members):
            bases[c] = _leading(members, dimension)
    if clusters:
        # All at once: a call takes longer than the decomposition of one small matrix.
        vectors = np.linalg.eigh(np.stack(products))[1][:, :, ::-1]
        bases[clusters] = vectors[:, :, :dimension].transpose(0, 2, 1)
    return bases


def _spread_bases(
    directions: np.ndarray, n_clusters: int, dimension: int, rng: np.random.Generator
) -> np.ndarray:
    """Initial subspaces, each fitted around the row that the previous ones explain least."""
    bases = np.empty((n_clusters, dimension, directions.shape[1]))
    covered = rng.random(len(directions)) * 1e-3
    around = max(min(4 * dimension, len(directions) // n_clusters), 1)
    for c in range(n_clusters):
        seed = int(rng.integers(len(directions))) if c == 0 else int(np.argmin(covered))
        distances = -np.abs(directions @ directions[seed])
        nearest = np.argpartition(distances, around - 1)[:around]
        bases[c] = _leading(directions[np.sort(nearest)], dimension)
        covered = np.maximum(covered, _squared_projections(directions, bases[c : c + 1])[:, 0])
    return bases


def _leading(members: np.ndarray, dimension: int) -> np.ndarray:
    """Orthonormal directions that explain most of the members."""
    n_members, n_columns = members.shape
    if n_members >= n_columns:
        return np.linalg.eigh(members.T @ members)[1][:, ::-1][:, :dimension].T
    # Few members with many columns: avoid the matrix of all pairs of columns. The members span at most
    # n_members directions; the remaining rows of the basis stay 0.
    basis = np.zeros((dimension, n_columns))
    directions = np.linalg.svd(members, full_matrices=False)[2][:dimension]
    basis[: len(directions)] = directions
    return basis
