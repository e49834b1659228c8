"""Pairs of points as edges: their distances, and the graph that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal.graphs._build._edge_kernels import adjacency, squared_lengths
from vicinal.graphs._entries import Entries, index_dtype
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points


def pair_lengths(X: np.ndarray, metric: Any, edges: np.ndarray) -> np.ndarray:
    """Distance of each pair of rows of checked points, or its entry in a matrix of distances.

    The metric is "precomputed", or one that coordinates tell: "euclidean", "cosine", "manhattan".
    """
    if metric == "precomputed":
        return X[edges[:, 0], edges[:, 1]]
    if metric in ("euclidean", "cosine"):
        points = Points(X, metric, None)
        squares = np.empty(len(edges))
        squared_lengths(points.X, edges, squares)
        return points.in_metric(np.sqrt(squares))
    return np.abs(X[edges[:, 0]] - X[edges[:, 1]]).sum(axis=1)


def graph_from_edges_trusted(
    n: int,
    edges: np.ndarray,
    lengths: np.ndarray,
    points: np.ndarray,
    metric: Any,
    strengths: np.ndarray | None = None,
) -> Graph:
    """Graph of distinct edges, each given once; of strength 1 by default."""
    index = index_dtype(n, 2 * len(edges))
    indptr, indices = np.empty(n + 1, index), np.empty(2 * len(edges), index)
    row_lengths, row_strengths = np.empty(2 * len(edges)), np.ones(2 * len(edges))
    adjacency(edges, lengths, indptr, indices, row_lengths)
    if strengths is not None:
        adjacency(edges, strengths, indptr, indices, row_strengths)
    entries = Entries(indptr, indices, row_lengths, row_strengths)
    return Graph._trusted(entries, False, points, metric)
