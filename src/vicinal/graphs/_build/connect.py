"""Shortest edges that connect the components of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.kruskal import spanning_subset
from vicinal.graphs._build.spanning_trees import spanning_links
from vicinal.neighbors.metric import Metric, as_metric
from vicinal.neighbors.search import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike


def shortest_bridges(
    points: np.ndarray | sparse.csr_array,
    metric: MetricLike | Metric,
    components: np.ndarray,
    n_links: int = 1,
    n_jobs: int | None = -1,
) -> tuple[np.ndarray, np.ndarray]:
    """Links that join all components: a minimum spanning tree of the components.

    Parameters
    ----------
    points : ndarray or csr_array
        Checked points, or distances with ``metric="precomputed"``. In a sparse matrix of distances,
        links are among the stored ones.
    metric : str or callable
        How they are measured.
    components : ndarray (n,)
        Component of each point.
    n_links : int
        Number of links, the shortest there are, between two components that the tree joins.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    links : ndarray (m, 2)
    lengths : ndarray (m,)
    """
    metric = as_metric(metric)
    if sparse.issparse(points) and metric.is_precomputed:
        return _stored_links(points, components, n_links)
    if sparse.issparse(points):
        links, lengths = _sparse_links(points, metric, components, n_jobs)
    else:
        links, lengths = spanning_links(points, metric, components, n_jobs)
    if n_links == 1:
        return links, lengths
    parts = [
        _links_between(points, metric, components, pair, n_links, n_jobs)
        for pair in np.unique(np.sort(components[links], axis=1), axis=0)
    ]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _sparse_links(
    points: sparse.csr_array, metric: Metric, components: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Boruvka's rounds on sparse points: each component looks for the nearest point outside."""
    labels, n = components, int(components.max()) + 1
    links, lengths = np.empty((0, 2), np.int64), np.empty(0)
    while labels.max() > 0:
        for label in range(int(labels.max()) + 1):
            inside, outside = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
            search = NeighborSearch(points[outside], metric=metric.name, n_jobs=n_jobs)
            near, found = search.nearest(1, queries=points[inside])
            ends = np.sort(np.stack([inside, outside[near[:, 0]]], axis=1), axis=1)
            best = np.lexsort((ends[:, 1], ends[:, 0], found[:, 0]))[0]
            links, lengths = np.vstack([links, ends[best]]), np.append(lengths, found[best, 0])
        order = np.lexsort((links[:, 1], links[:, 0], lengths))
        needed, joined = spanning_subset(components[links[order]], n)
        links, lengths = links[order][needed], lengths[order][needed]
        labels = joined[components]
    return links, lengths


def _links_between(
    points: np.ndarray,
    metric: Metric,
    components: np.ndarray,
    pair: np.ndarray,
    n_links: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """The shortest links of two components; each is among its end's nearest on the other side."""
    few, many = sorted((np.flatnonzero(components == label) for label in pair), key=len)
    k = min(n_links, len(many))
    if metric.is_precomputed:
        table = points[np.ix_(few, many)]
        near = np.argsort(table, axis=1, kind="stable")[:, :k]
        lengths = np.take_along_axis(table, near, axis=1)
    else:
        search = NeighborSearch(points[many], metric=metric.name, n_jobs=n_jobs)
        near, lengths = search.nearest(k, queries=points[few])
    links = np.sort(np.stack([np.repeat(few, k), many[near].ravel()], axis=1), axis=1)
    order = np.lexsort((links[:, 1], links[:, 0], lengths.ravel()))[:n_links]
    return links[order], lengths.ravel()[order]


def _stored_links(
    distances: sparse.csr_array, components: np.ndarray, n_links: int
) -> tuple[np.ndarray, np.ndarray]:
    """The same from the stored entries of a sparse matrix; of two for one pair the shorter counts."""
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
        i, j = (int(np.flatnonzero(joined[components] == part)[0]) for part in (0, 1))
        raise InvalidValueError(
            f"the stored distances join the {n_components} components into {joined.max() + 1} only: "
            f"none leads from the component of row {i} to that of row {j}. Give the distances of all "
            "pairs, as a dense matrix, or build the graph on the points."
        )
    if n_links > 1:
        pairs = ends @ [n_components, 1]
        by_pair = np.argsort(pairs, kind="stable")
        place = np.arange(len(pairs)) - np.searchsorted(pairs[by_pair], pairs[by_pair])
        needed = by_pair[(place < n_links) & np.isin(pairs[by_pair], pairs[needed])]
    return links[needed], lengths[needed]
