"""Clusters as linear subspaces through the origin."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal._core.options import random_generator
from vicinal._core.rescale import normalize_magnitude
from vicinal._core.scalar_checks import check_count

STARTS = 10
MAX_STEPS = 100


def k_subspaces(
    rows: Any, n_clusters: int, *, dimension: int = 1, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray, float]:
    """Group rows by the nearest of ``n_clusters`` linear subspaces, which are fitted to their rows.

    Alternates between the subspace that holds most of each row and the subspace that holds most of each
    cluster (its leading right singular vectors), from several starts; keeps the result that holds most.

    Parameters
    ----------
    rows : array of shape (n, q)
        Points; their directions count, up to sign.
    n_clusters : int
        Number of clusters.
    dimension : int, default=1
        Dimension of each subspace, at most q; 1 is lines.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the starts.

    Returns
    -------
    labels : ndarray of int of shape (n,)
        Cluster of each row.
    bases : ndarray (n_clusters, dimension, q)
        Orthonormal rows that span each subspace.
    share : float
        Mean share of a row's square that its subspace holds, 1 at best.

    References
    ----------
    Tseng, "Nearest q-flat to m points", 2000; Vidal, Ma and Sastry, "Generalized principal component
    analysis", PAMI 2005, for the problem.
    """
    rows = check_points(rows, name="rows")
    n_clusters = check_count(n_clusters, "n_clusters", high=len(rows))
    dimension = check_count(dimension, "dimension", high=rows.shape[1])
    rng = random_generator(random_state)
    # A power of two changes no digit, and squares of huge or tiny values become ordinary numbers.
    rows, _ = normalize_magnitude(rows, axis=1)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    found = [
        _alternate(directions, _spread_bases(directions, n_clusters, dimension, rng))
        for _ in range(STARTS)
    ]
    labels, bases, held = max(found, key=lambda result: result[2])
    return labels, bases, held / max(len(rows), 1)


def nearest_subspace(rows: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """The subspace that holds most of each row, the first at a tie."""
    return np.argmax(_held(rows, bases), axis=1)


def _held(rows: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """Squared length of each row's projection onto each subspace."""
    shares = np.empty((len(rows), len(bases)))
    for c, basis in enumerate(bases):
        shares[:, c] = np.square(rows @ basis.T).sum(axis=1)
    return shares


def _alternate(directions: np.ndarray, bases: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    held = -np.inf
    for _ in range(MAX_STEPS):
        shares = _held(directions, bases)
        labels = np.argmax(shares, axis=1)
        total = float(shares[np.arange(len(labels)), labels].sum())
        if total <= held * (1 + 1e-10):
            break
        held = total
        for c in range(len(bases)):
            members = directions[labels == c]
            # A subspace that lost all its rows stays, and may win some back.
            if len(members):
                bases[c] = _leading(members, len(bases[c]))
    return labels, bases, held


def _spread_bases(
    directions: np.ndarray, n_clusters: int, dimension: int, rng: np.random.Generator
) -> np.ndarray:
    """Subspaces around rows that the subspaces before them hold least of."""
    bases = np.empty((n_clusters, dimension, directions.shape[1]))
    covered = rng.random(len(directions)) * 1e-3
    around = max(min(4 * dimension, len(directions) // n_clusters), 1)
    for c in range(n_clusters):
        seed = int(rng.integers(len(directions))) if c == 0 else int(np.argmin(covered))
        nearest = np.argsort(-np.abs(directions @ directions[seed]), kind="stable")
        bases[c] = _leading(directions[nearest[:around]], dimension)
        covered = np.maximum(covered, _held(directions, bases[c : c + 1])[:, 0])
    return bases


def _leading(members: np.ndarray, dimension: int) -> np.ndarray:
    """Orthonormal directions that hold most of the members, from their second moments."""
    n_members, n_columns = members.shape
    if n_members >= n_columns:
        return np.linalg.eigh(members.T @ members)[1][:, ::-1][:, :dimension].T
    # Few members in many columns: never a matrix of all pairs of columns. They span no more directions
    # than there are members; the others stay 0 and hold nothing.
    basis = np.zeros((dimension, n_columns))
    found = np.linalg.svd(members, full_matrices=False)[2][:dimension]
    basis[: len(found)] = found
    return basis
