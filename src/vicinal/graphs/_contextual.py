"""The contextual digraph: edges from each point to its neighbours, weighted by contextual distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.memory import require_memory
from vicinal._core.options import entry, random_generator
from vicinal._core.rescale import power_of_two
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.graphs._contextual_distance import contextual_distance, directions_of
from vicinal.graphs._entries import Entries, index_dtype
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import as_metric

if TYPE_CHECKING:
    from vicinal._core.types import (
        ArrayLike,
        ContextMetric,
        DescriptorLike,
        MatrixLike,
        NeighborArrays,
        NJobs,
        RandomStateLike,
    )

# Contexts and distances, before and after sorting, and an entry of the graph.
BYTES_PER_NEIGHBOR = 72.0


@entry
def contextual(
    X: MatrixLike,
    n_neighbors: int = 10,
    *,
    descriptor: DescriptorLike = "coding_length",
    sigma: float | None = None,
    n_contexts: int | None = None,
    random_state: RandomStateLike = None,
    epsilon: float | None = None,
    neighbors: ArrayLike | NeighborArrays | None = None,
    metric: ContextMetric = "euclidean",
    n_features: int | None = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Digraph of contextual distances: i -> j if j is one of the k nearest neighbours of i.

    Lengths are the contextual distances p(i -> j); strengths are the weights exp(-(p / sigma)^2) of
    formula (3).

    Parameters
    ----------
    X : array of shape (n, n_features) or (n, n)
        Points (may be sparse, or a dask array), or a dense matrix of distances or inner products, depending
        on ``metric``.
    n_neighbors : int, default=10
        Number of neighbours k in a context; ignored if ``neighbors`` are given.
    descriptor : {"coding_length", "centroid", "trivial"} or callable, default="coding_length"
        Description of a context, see `vicinal.contextual_distance`.
    sigma : float, optional
        Scale of the weights; by default the mean plus three standard deviations of the contextual
        distances, including those of points to themselves (0).
    n_contexts : int, optional
        Number r of randomly sampled contexts that determine sigma; all by default.
    random_state : int, Generator, RandomState or None, default=None
        Seed of that sample.
    epsilon : float, optional
        Allowed distortion of the coding; sqrt(10 n_features / k) by default.
    neighbors : array of int of shape (n, k) or (n, k + 1), or pair (indices, distances), optional
        Neighbours to use instead of the nearest ones; the point itself may come first.
    metric : {"euclidean", "cosine", "precomputed", "gram"}, default="euclidean"
        Content of X, see `vicinal.contextual_distance`. With "cosine", the points of the graph are scaled to
        length 1.
    n_features : int, optional
        Dimension of the space; required for coding lengths from distances or inner products.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Directed, with sigma in ``metadata["sigma"]``.

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
    if as_metric(metric).is_cosine:
        X, metric = directions_of(X), "euclidean"
    if is_chunked(X) and as_metric(metric).is_euclidean:
        X = chunked_counterpart("store_points")(X, metric)
        require_memory(
            BYTES_PER_NEIGHBOR * len(X) * n_neighbors,
            f"The contextual digraph of {len(X):,} points",
            "Use fewer neighbours, or contextual_distance, which returns dask arrays.",
        )
    indices, distances = contextual_distance(
        X,
        n_neighbors,
        descriptor=descriptor,
        epsilon=epsilon,
        neighbors=neighbors,
        metric=metric,
        n_features=n_features,
    )
    if isinstance(X, ChunkedRows):
        indices, distances = X.load(indices), X.load(distances)
    n, size = indices.shape
    if sigma is None:
        sigma = _default_sigma(distances, n_contexts, random_state)
    order = np.argsort(indices[:, 1:], axis=1)
    lengths = np.take_along_axis(distances[:, 1:], order, axis=1).ravel()
    targets = np.take_along_axis(indices[:, 1:], order, axis=1).ravel()
    with np.errstate(over="ignore", under="ignore"):
        strengths = np.exp(-np.square(lengths / sigma))
    dtype = index_dtype(n, len(targets))
    indptr = np.arange(n + 1, dtype=dtype) * (size - 1)
    entries = Entries(indptr, targets.astype(dtype), lengths, strengths)
    points = None if as_metric(metric).is_gram else X
    return Graph._of_entries(entries, True, points, metric, {"sigma": sigma})


def _default_sigma(
    distances: np.ndarray, n_contexts: int | None, random_state: RandomStateLike
) -> float:
    """Mean plus three standard deviations of the distances in all or in sampled contexts."""
    if n_contexts is not None:
        n_contexts = check_count(n_contexts, "n_contexts", high=len(distances))
        sample = random_generator(random_state).choice(len(distances), n_contexts, replace=False)
        distances = distances[sample]
    # If all distances are 0, every weight is 1.
    if not distances.any():
        return 1.0
    # Scaled by a power of two, so that squares neither overflow nor underflow.
    unit = power_of_two(distances.max())
    distances = distances / unit
    return unit * float(distances.mean() + 3.0 * distances.std())
