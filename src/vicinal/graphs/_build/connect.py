"""Shortest edges that connect the components of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._core.chunked import ChunkedRows
from vicinal._core.lazy import chunked_counterpart
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.kruskal import spanning_subset
from vicinal.graphs._build.spanning_trees import spanning_links
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import Metric, as_metric
from vicinal.neighbors.search import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike


def shortest_bridges(
    points: np.ndarray | sparse.csr_array | ChunkedRows,
    metric: MetricLike | Metric,
    components: np.ndarray,
    n_links: int = 1,
    prepared: Points | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Edges that connect all components: a minimum spanning tree of the components.

    Parameters
    ----------
    points : ndarray, csr_array or ChunkedRows
        Checked points, or distances with ``metric="precomputed"``. With a sparse matrix of distances,
        only stored entries can become edges. Chunked rows need ``n_links=1``.
    metric : str or callable
        Metric of the points.
    components : ndarray (n,)
        Component of each point.
    n_links : int
        Number of edges, the shortest ones, between two components that the tree connects.
    prepared : Points, optional
        The same points, with a k-d tree that can be shared.

    Returns
    -------
    links : ndarray (m, 2)
        Pairs of points.
    lengths : ndarray (m,)
        Their distances.
    """
    metric = as_metric(metric)
    if isinstance(points, ChunkedRows):
        stored = chunked_counterpart("store_points")(points, metric.name)
        return chunked_counterpart("spanning_links")(stored, components)
    if sparse.issparse(points) and metric.is_precomputed:
        return _stored_links(points, components, n_links)
    links, lengths = spanning_links(points, metric, components, prepared)
    if n_links == 1:
        return links, lengths
    parts = [
        _links_between(points, metric, components, pair, n_links)
        for pair in np.unique(np.sort(components[links], axis=1), axis=0)
    ]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _links_between(
    points: np.ndarray,
    metric: Metric,
    components: np.ndarray,
    pair: np.ndarray,
    n_links: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Shortest edges between two components, from the nearest neighbours in the other component."""
    smaller, larger = sorted((np.flatnonzero(components == label) for label in pair), key=len)
    k = min(n_links, len(larger))
    if metric.is_precomputed:
        distances = points[np.ix_(smaller, larger)]
        near = np.argsort(distances, axis=1, kind="stable")[:, :k]
        lengths = np.take_along_axis(distances, near, axis=1)
    else:
        search = NeighborSearch(points[larger], metric=metric.name)
        near, lengths = search.nearest(k, queries=points[smaller])
    links = np.sort(np.stack([np.repeat(smaller, k), larger[near].ravel()], axis=1), axis=1)
    order = np.lexsort((links[:, 1], links[:, 0], lengths.ravel()))[:n_links]
    return links[order], lengths.ravel()[order]


def _stored_links(
    distances: sparse.csr_array, components: np.ndarray, n_links: int
) -> tuple[np.ndarray, np.ndarray]:
    """`shortest_bridges` from the stored entries of a sparse matrix; the shorter of two for one pair."""
    entries = distances.tocoo()
    across = components[entries.row] != components[entries.col]
    links = np.stack([entries.row[across], entries.col[across]], axis=1).astype(np.int64)
    links, lengths = np.sort(links, axis=1), entries.data[across]
    order = np.lexsort((links[:, 1], links[:, 0], lengths))
    _, first = np.unique(links[order] @ [len(components), 1], return_index=True)
    order = order[np.sort(first)]
    links, lengths = links[order], lengths[order]
    ends = np.sort(components[links], axis=1)
    n_components = int(components.max()) + 1
    needed, joined = spanning_subset(ends, n_components)
    if joined.any():
        i, j = (int(np.flatnonzero(joined[components] == label)[0]) for label in (0, 1))
        raise InvalidValueError(
            f"the stored distances merge the {n_components} components only into {joined.max() + 1}: "
            f"none leads from the component of row {i} to that of row {j}. Pass a dense matrix of all "
            "distances, or build the graph from the points."
        )
    if n_links > 1:
        pairs = ends @ [n_components, 1]
        by_pair = np.argsort(pairs, kind="stable")
        rank = np.arange(len(pairs)) - np.searchsorted(pairs[by_pair], pairs[by_pair])
        needed = by_pair[(rank < n_links) & np.isin(pairs[by_pair], pairs[needed])]
    return links[needed], lengths[needed]
