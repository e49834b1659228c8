"""Neighbours counted in places, for tables in which many rows are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal.graphs.equal_rows import EqualRows, sets_of_equal_rows
from vicinal.graphs.graph import Graph
from vicinal.graphs.neighborhoods import knn


def knn_of_places(points: np.ndarray, k: int, **options: Any) -> Graph:
    """Graph of nearest neighbours in which copies do not crowd out all other points.

    It is that of `knn` unless some row has nothing but copies of itself among its neighbours: such rows
    would be pieces of their own. Then the k nearest places count instead. Each row is connected with one
    row at every such place, equal rows with different ones in turn, and with k of the rows that equal it:
    twice the edges, and between places in proportion to the rows that are there.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
    k : int
        Number of neighbours.
    **options
        Those of `knn`, for an undirected graph.
    """
    graph = knn(points, k, **options)
    if graph.directed or options.get("metric") == "precomputed" or not _has_blind_rows(graph):
        return graph
    rows = sets_of_equal_rows(points)
    n_places = len(rows.first)
    if n_places == 1:
        return graph
    between = knn(points[rows.first], min(k, n_places - 1), **options)
    edges, lengths = _for_all_rows(between, rows, max(1, k // 2))
    return Graph.from_edges(len(points), edges, lengths, points=points, metric=graph.metric)


def _has_blind_rows(graph: Graph) -> bool:
    """Whether all neighbours of some row are at the distance 0."""
    connected = graph.degrees > 0
    longest = np.maximum.reduceat(graph.lengths, graph.indptr[:-1][connected])
    return bool((longest == 0).any())


def _for_all_rows(between: Graph, equal: EqualRows, n_copies: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges of rows from those of their places.

    Equal rows form a ring, each connected with the ``n_copies`` rows that follow.
    """
    group, turn = equal.group, equal.place()
    n, counts = len(group), np.bincount(group)
    members = np.argsort(group, kind="stable")
    start = np.cumsum(counts) - counts
    degrees = between.degrees[group]
    rows = np.repeat(np.arange(n), degrees)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    entries = np.repeat(between.indptr[:-1][group], degrees) + within
    places = between.indices[entries]
    others = members[start[places] + turn[rows] % counts[places]]
    ring = np.tile(np.arange(n), n_copies)
    step = np.repeat(np.arange(1, n_copies + 1), n)
    following = members[start[group[ring]] + (turn[ring] + step) % counts[group[ring]]]
    copies = ring != following
    edges = np.concatenate([np.stack([rows, others], 1), np.stack([ring, following], 1)[copies]])
    return edges, np.concatenate([between.lengths[entries], np.zeros(int(copies.sum()))])
