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
# Initialisations are continued together while their projections have at most this many entries, so that they
# stay in the cache: with few rows, a call takes longer than its arithmetic.
ENTRIES_AT_ONCE = 2**16


class Subspaces(NamedTuple):
    """Labels of rows, orthonormal bases of the subspaces, and the mean explained fraction of the rows."""

    labels: np.ndarray
    bases: np.ndarray
    explained: float


class _Starts(NamedTuple):
    """Initialisations after some iterations, stacked; ``explained`` is the sum over the rows."""

    labels: np.ndarray
    bases: np.ndarray
    explained: np.ndarray
    converged: np.ndarray

    def take(self, which: np.ndarray | slice) -> _Starts:
        """Some of the initialisations."""
        return _Starts(*(stack[which] for stack in self))


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
    starts = _unlabeled(_spread_bases(sample, n_clusters, dimension, ROUNDS[0][0], rng), sample)
    for n_best, n_iter in ROUNDS:
        starts = starts.take(np.argsort(-starts.explained, kind="stable")[:n_best])
        starts = _alternate(sample, starts, n_iter)
    best = int(np.argmax(starts.explained))
    if sample is not directions:
        start = _unlabeled(starts.bases[[best]], directions)
        starts = _alternate(directions, start, sum(n_iter for _, n_iter in ROUNDS))
        best = 0
    explained = float(starts.explained[best]) / len(rows)
    return Subspaces(starts.labels[best], starts.bases[best], explained)


def nearest_subspace(rows: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """Index of the subspace that explains most of each row; ties go to the first."""
    labels = np.empty(len(rows), np.int64)
    nearest_subspaces(np.ascontiguousarray(rows, dtype=np.float64), bases, labels)
    return labels


def _unlabeled(bases: np.ndarray, directions: np.ndarray) -> _Starts:
    n_starts = len(bases)
    labels = np.empty((n_starts, len(directions)), np.int64)
    return _Starts(labels, bases, np.full(n_starts, -np.inf), np.zeros(n_starts, bool))


def _squared_projections(rows: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """Squared length of each row's projection onto each subspace, for each start."""
    n_starts, n_clusters, dimension, _ = bases.shape
    # Stacked products are computed one by one, with the same bits as alone.
    if dimension == 1:
        return np.square(rows @ bases[:, :, 0].transpose(0, 2, 1))
    squares = np.empty((n_starts, len(rows), n_clusters))
    for c in range(n_clusters):
        squares[:, :, c] = np.square(rows @ bases[:, c].transpose(0, 2, 1)).sum(axis=2)
    return squares


def _alternate(directions: np.ndarray, starts: _Starts, n_iter: int) -> _Starts:
    """Alternate between labels and bases; each start ends as it would alone."""
    at_once = max(ENTRIES_AT_ONCE // (len(directions) * starts.bases.shape[1]), 1)
    parts = [
        _alternate_together(directions, starts.take(slice(first, first + at_once)), n_iter)
        for first in range(0, len(starts.bases), at_once)
    ]
    return _Starts(*map(np.concatenate, zip(*parts, strict=True)))


def _alternate_together(directions: np.ndarray, starts: _Starts, n_iter: int) -> _Starts:
    labels, bases, explained, converged = (stack.copy() for stack in starts)
    for _ in range(n_iter):
        active = np.flatnonzero(~converged)
        if not len(active):
            break
        squares = _squared_projections(directions, bases[active])
        labels[active] = nearest = np.argmax(squares, axis=2)
        totals = np.take_along_axis(squares, nearest[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        improved = totals > explained[active] * (1 + 1e-10)
        converged[active[~improved]] = True
        active = active[improved]
        explained[active] = totals[improved]
        if len(active):
            bases[active] = _fitted(directions, labels[active], bases[active])
    return _Starts(labels, bases, explained, converged)


def _fitted(directions: np.ndarray, labels: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """Subspaces fitted to the rows of each cluster; an empty one keeps its own, and may gain rows later."""
    n_clusters, dimension, n_columns = bases.shape[1:]
    clusters, products = [], []
    for s, start_labels in enumerate(labels):
        # numpy sorts small integers fastest.
        small = start_labels.astype(np.min_scalar_type(n_clusters))
        ordered = directions[np.argsort(small, kind="stable")]
        stops = np.bincount(start_labels, minlength=n_clusters).cumsum().tolist()
        for c, (start, stop) in enumerate(zip([0, *stops], stops, strict=False)):
            members = ordered[start:stop]
            if len(members) >= n_columns:
                clusters.append((s, c))
                products.append(members.T @ members)
            elif len(members):
                bases[s, c] = _leading(members[None], dimension)[0]
    if clusters:
        # All at once: a call takes longer than the decomposition of one small matrix.
        vectors = np.linalg.eigh(np.stack(products))[1][:, :, ::-1]
        bases[tuple(np.transpose(clusters))] = vectors[:, :, :dimension].transpose(0, 2, 1)
    return bases


def _spread_bases(
    directions: np.ndarray, n_clusters: int, dimension: int, n_starts: int, rng: np.random.Generator
) -> np.ndarray:
    """Initial subspaces, each fitted around the row that the previous ones explain least."""
    n, n_columns = directions.shape
    bases = np.empty((n_starts, n_clusters, dimension, n_columns))
    around = max(min(4 * dimension, n // n_clusters), 1)
    covered, seeds = np.empty((n_starts, n)), np.empty(n_starts, np.int64)
    for s in range(n_starts):
        covered[s] = rng.random(n) * 1e-3
        seeds[s] = rng.integers(n)
    for c in range(n_clusters):
        if c > 0:
            seeds = np.argmin(covered, axis=1)
        similarities = np.abs(directions @ directions[seeds][:, :, None])[:, :, 0]
        nearest = np.argpartition(-similarities, around - 1, axis=1)[:, :around]
        bases[:, c] = _leading(directions[np.sort(nearest, axis=1)], dimension)
        covered = np.maximum(covered, _squared_projections(directions, bases[:, [c]])[:, :, 0])
    return bases


def _leading(members: np.ndarray, dimension: int) -> np.ndarray:
    """Orthonormal directions that explain most of the members, for each of several sets of them."""
    n_sets, n_members, n_columns = members.shape
    if n_members >= n_columns:
        vectors = np.linalg.eigh(members.transpose(0, 2, 1) @ members)[1]
        return vectors[:, :, ::-1][:, :, :dimension].transpose(0, 2, 1)
    # Few members with many columns: avoid the matrix of all pairs of columns. The members span at most
    # n_members directions; the remaining rows of the basis stay 0.
    bases = np.zeros((n_sets, dimension, n_columns))
    directions = np.linalg.svd(members, full_matrices=False)[2][:, :dimension]
    bases[:, : directions.shape[1]] = directions
    return bases
