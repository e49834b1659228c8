"""`spectral_labels`: clusters of an affinity by its leading eigenvectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from vicinal._base.row_assignment import assign_rows, unit_rows
from vicinal._core.options import checked, seed_from
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.operators.eigenpairs import leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import as_affinity, degrees

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike
    from vicinal.graphs.graph import Graph

METHODS = ("njw", "ncut")
ASSIGN = ("auto", "kmeans", "discretize")
# Assigning rows to clusters does not need accurate eigenvectors.
TOLERANCE = 1e-5


@checked
def spectral_labels(
    affinity: Graph | MatrixLike,
    n_clusters: int,
    *,
    method: Literal["njw", "ncut"] = "njw",
    assign: Literal["auto", "kmeans", "discretize"] = "auto",
    random_state: RandomStateLike = None,
    n_jobs: NJobs = -1,
) -> np.ndarray:
    """Cluster the nodes of an affinity by its leading eigenvectors.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Affinities, symmetric and nonnegative.
    n_clusters : int
        Number of clusters. If the graph has more components, the largest ones become clusters and the
        others join one of them; `SpectralClustering` lets you choose.
    method : {"njw", "ncut"}, default="njw"
        "njw" takes eigenvectors of D^-1/2 W D^-1/2 with rows scaled to unit length (Ng, Jordan and
        Weiss); "ncut" takes the generalised ones, W v = value D v, of the normalised cut (Shi and
        Malik).
    assign : {"auto", "kmeans", "discretize"}, default="auto"
        How rows are clustered: by k-means, or by the rotation nearest to cluster indicators (Yu
        and Shi). "auto" is k-means for "njw" and discretize for "ncut".
    random_state : int, Generator, RandomState or None, default=None
        Seed; None is the same as 0.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    ndarray of int of shape (n,)
        Cluster of each node.

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
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        seed = seed_from(random_state)
    else:
        seed = int(random_state or 0)
    pairs = leading_eigenpairs(
        weights, n_clusters, tolerance=TOLERANCE, random_state=seed, n_jobs=n_jobs
    )
    if method == "njw":
        rows = unit_rows(pairs.vectors)
    else:
        rows = random_walk_eigenvectors(pairs.vectors, degrees(weights))
    return assign_rows(rows, n_clusters, resolve_assign(method, assign), seed).labels


def resolve_assign(method: str, assign: str) -> str:
    """Replace "auto" by the default assignment of the method."""
    check_choice(assign, "assign", ASSIGN)
    if assign == "auto":
        return "kmeans" if method == "njw" else "discretize"
    return assign
