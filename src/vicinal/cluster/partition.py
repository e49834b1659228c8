"""From an affinity to labels: eigenvectors, and two ways to read clusters off their rows."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from vicinal._core.options import checked
from vicinal._core.parallel import one_openmp_thread
from vicinal._core.validation import check_choice, check_count
from vicinal.operators.eigenpairs import leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import as_affinity, degrees

METHODS = ("njw", "ncut")
ASSIGN = ("auto", "kmeans", "discretize")
# Eigenvectors are wanted for where their rows lie, not to the last digit.
TOLERANCE = 1e-5
STARTS = 10
SAMPLE = 20_000


@checked
def spectral_labels(
    affinity: Any,
    n_clusters: int,
    *,
    method: str = "njw",
    assign: str = "auto",
    random_state: int | None = None,
    n_jobs: int | None = -1,
) -> np.ndarray:
    """Cluster the nodes of an affinity by its leading eigenvectors.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Symmetric and nonnegative.
    n_clusters : int
        Number of clusters. If the graph has more components, the largest ones get the clusters and
        the others join one of them: see `SpectralClustering` for a policy.
    method : {"njw", "ncut"}, default="njw"
        "njw" takes eigenvectors of D^-1/2 W D^-1/2 with rows scaled to unit length (Ng, Jordan and
        Weiss); "ncut" takes the generalised ones, W v = value D v, of the normalised cut (Shi and
        Malik).
    assign : {"auto", "kmeans", "discretize"}, default="auto"
        How rows become clusters: by k-means, or by the rotation that brings them nearest to
        indicators (Yu and Shi). "auto" is k-means for "njw" and discretize for "ncut".
    random_state : int, optional
        Seed.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    ndarray of int of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.cluster import spectral_labels
    >>> W = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> spectral_labels(W, 2)
    array([0, 0, 0, 1, 1, 1])
    """
    weights = as_affinity(affinity)
    n = weights.shape[0]
    n_clusters = check_count(n_clusters, "n_clusters", high=n, remedy=f"There are {n} points.")
    check_choice(method, "method", METHODS)
    pairs = leading_eigenpairs(
        weights, n_clusters, tolerance=TOLERANCE, random_state=random_state, n_jobs=n_jobs
    )
    if method == "njw":
        rows = unit_rows(pairs.vectors)
    else:
        rows = random_walk_eigenvectors(pairs.vectors, degrees(weights))
    assign = resolve_assign(method, assign)
    return assign_rows(rows, n_clusters, assign, random_state or 0).labels


def resolve_assign(method: str, assign: str) -> str:
    """The way of assignment that "auto" stands for."""
    check_choice(assign, "assign", ASSIGN)
    if assign == "auto":
        return "kmeans" if method == "njw" else "discretize"
    return assign


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1; a row of zeros stays."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


class Assigned(NamedTuple):
    """Labels of rows, and a place for each cluster: rows belong to the nearest one."""

    labels: np.ndarray
    places: np.ndarray


def assign_rows(rows: np.ndarray, n_clusters: int, assign: str, seed: int) -> Assigned:
    """Cluster rows; clusters are numbered by their first rows."""
    if assign == "discretize":
        rows = unit_rows(rows)
    found = (kmeans if assign == "kmeans" else discretize)(rows, n_clusters, seed)
    return relabel_by_first_occurrence(*found)


def relabel_by_first_occurrence(labels: np.ndarray, places: np.ndarray) -> Assigned:
    """Clusters numbered by their first rows; empty ones are left out."""
    used, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Assigned(rank[labels], places[used[order]])


def nearest_center(rows: np.ndarray, places: np.ndarray, assign: str) -> np.ndarray:
    """Clusters of new rows."""
    if assign == "discretize":
        rows = unit_rows(rows)
    # |row - place|^2 without the row's own length, which is the same for every place.
    scores = np.sum(places**2, axis=1) - 2.0 * (rows @ places.T)
    return np.argmin(scores, axis=1)


def kmeans(rows: np.ndarray, n_clusters: int, seed: int) -> Assigned:
    """k-means: the best of several starts on a sample, then all rows from there."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    sample = rows
    if len(rows) > SAMPLE:
        sample = rows[np.sort(rng.choice(len(rows), SAMPLE, replace=False))]
    with warnings.catch_warnings(), one_openmp_thread():
        # Fewer distinct rows than clusters: clusters that cannot be told apart stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = KMeans(n_clusters, n_init=STARTS, random_state=seed).fit(sample)
        if sample is not rows:
            best = KMeans(n_clusters, init=best.cluster_centers_, n_init=1).fit(rows)
    return Assigned(best.labels_, best.cluster_centers_)


def discretize(units: np.ndarray, n_clusters: int, seed: int) -> Assigned:
    """The partition whose indicators are nearest to a rotation of the unit rows.

    Alternates between the nearest indicators of rotated rows and the rotation nearest to given
    indicators (a product of singular vectors), from several starts.

    References
    ----------
    Yu and Shi, "Multiclass spectral clustering", ICCV 2003.
    """
    rng = np.random.default_rng(seed)
    best, best_score = None, -np.inf
    for _ in range(STARTS):
        found, score = _rotate(units, _spread_rows(units, n_clusters, rng))
        if best is None or score > best_score * (1 + 1e-12):
            best, best_score = found, score
    assert best is not None
    return best


def _spread_rows(units: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Rows as orthogonal to each other as possible, from a random first one: a start rotation."""
    rotation = np.empty((units.shape[1], n_clusters))
    rotation[:, 0] = units[rng.integers(len(units))]
    overlap = np.zeros(len(units))
    for c in range(1, n_clusters):
        overlap += np.abs(units @ rotation[:, c - 1])
        rotation[:, c] = units[np.argmin(overlap)]
    return rotation


def _rotate(units: np.ndarray, rotation: np.ndarray, max_steps: int = 60) -> tuple[Assigned, float]:
    score = -np.inf
    for _ in range(max_steps):
        places = rotation.T
        labels = np.argmax(units @ rotation, axis=1)
        # Indicators' times rows, without forming the indicators.
        sums = np.stack(
            [
                np.bincount(labels, weights=column, minlength=rotation.shape[1])
                for column in units.T
            ],
            axis=1,
        )
        left, singular, right = np.linalg.svd(sums, full_matrices=False)
        rotation = (left @ right).T
        if singular.sum() <= score * (1 + 1e-10):
            break
        score = float(singular.sum())
    return Assigned(labels, places), score
