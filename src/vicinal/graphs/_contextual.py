"""The contextual digraph: each point towards its neighbours, by how alike they matter to its context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vicinal._core.options import checked, random_generator
from vicinal._core.rescale import power_of_two
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.graphs._contextual_distance import contextual_distance
from vicinal.graphs._entries import Entries, index_dtype
from vicinal.graphs.graph import Graph


@checked
def contextual(
    X: Any,
    n_neighbors: int = 10,
    *,
    descriptor: str | Callable[..., Any] = "coding_length",
    sigma: float | None = None,
    n_contexts: int | None = None,
    random_state: Any = None,
    epsilon: float | None = None,
    neighbors: Any = None,
    metric: str = "euclidean",
    n_features: int | None = None,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> Graph:
    """Digraph of contextual distances: i -> j if j is one of the k nearest neighbours of i.

    Lengths are the contextual distances p(i -> j), strengths the weights exp(-(p / sigma)^2) of
    formula (3).

    Parameters
    ----------
    X, n_neighbors, descriptor, epsilon, neighbors, metric, n_features, n_jobs, verbose :
        As for `vicinal.contextual_distance`.
    sigma : float, optional
        Scale of the weights; by default the mean plus three standard deviations of the contextual
        distances, those of points to themselves (0) included.
    n_contexts : int, optional
        Number r of contexts that sigma is read from, drawn at random; all by default.
    random_state : int, Generator or None
        Seed of that draw.

    Returns
    -------
    Graph
        Directed; ``sigma`` is stored on it.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    >>> from vicinal.graphs import contextual
    >>> from vicinal.datasets import make_two_moons
    >>> X, _ = make_two_moons(100, random_state=0)
    >>> contextual(X, n_neighbors=5)
    Graph(100 nodes, 500 edges, directed, 1 component, 0 isolates)
    """
    if sigma is not None:
        sigma = check_real(sigma, "sigma", low=0.0, open_low=True)
    indices, distances = contextual_distance(
        X,
        n_neighbors,
        descriptor=descriptor,
        epsilon=epsilon,
        neighbors=neighbors,
        metric=metric,
        n_features=n_features,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    n, size = indices.shape
    if sigma is None:
        sigma = _spread(distances, n_contexts, random_state)
    order = np.argsort(indices[:, 1:], axis=1)
    lengths = np.take_along_axis(distances[:, 1:], order, axis=1).ravel()
    targets = np.take_along_axis(indices[:, 1:], order, axis=1).ravel()
    with np.errstate(over="ignore", under="ignore"):
        strengths = np.exp(-np.square(lengths / sigma))
    dtype = index_dtype(n, len(targets))
    indptr = np.arange(n + 1, dtype=dtype) * (size - 1)
    entries = Entries(indptr, targets.astype(dtype), lengths, strengths)
    points = None if metric == "gram" else X
    return Graph._trusted(entries, True, points, metric, {"sigma": sigma})


def _spread(distances: np.ndarray, n_contexts: int | None, random_state: Any) -> float:
    """Mean plus three standard deviations of the distances in all, or in some, contexts."""
    if n_contexts is not None:
        n_contexts = check_count(n_contexts, "n_contexts", high=len(distances))
        chosen = random_generator(random_state).choice(len(distances), n_contexts, replace=False)
        distances = distances[chosen]
    # All distances are 0 where all contexts look alike to each member: then every weight is 1.
    if not distances.any():
        return 1.0
    # In a unit, a power of two, in which squares neither overflow nor vanish.
    unit = power_of_two(distances.max())
    distances = distances / unit
    return unit * float(distances.mean() + 3.0 * distances.std())
