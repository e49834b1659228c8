"""The shortest links that make one piece of a graph in several."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal.graphs.spanning import spanning_links
from vicinal.neighbors.search import NeighborSearch


def shortest_links(
    points: np.ndarray,
    metric: Any,
    components: np.ndarray,
    n_links: int = 1,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Links that join all components: a minimum spanning tree of the components.

    Parameters
    ----------
    points : ndarray
        Checked points, or distances with ``metric="precomputed"``.
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
    links, lengths = spanning_links(points, metric, components, n_jobs)
    if n_links == 1:
        return links, lengths
    parts = [
        _links_between(points, metric, components, pair, n_links, n_jobs)
        for pair in np.unique(np.sort(components[links], axis=1), axis=0)
    ]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _links_between(
    points: np.ndarray,
    metric: Any,
    components: np.ndarray,
    pair: np.ndarray,
    n_links: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """The shortest links of two components; each is among its end's nearest on the other side."""
    few, many = sorted((np.flatnonzero(components == label) for label in pair), key=len)
    k = min(n_links, len(many))
    if metric == "precomputed":
        table = points[np.ix_(few, many)]
        near = np.argsort(table, axis=1, kind="stable")[:, :k]
        lengths = np.take_along_axis(table, near, axis=1)
    else:
        search = NeighborSearch(points[many], metric=metric, n_jobs=n_jobs)
        near, lengths = search.nearest(k, queries=points[few])
    links = np.sort(np.stack([np.repeat(few, k), many[near].ravel()], axis=1), axis=1)
    order = np.lexsort((links[:, 1], links[:, 0], lengths.ravel()))[:n_links]
    return links[order], lengths.ravel()[order]
