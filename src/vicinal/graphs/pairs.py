"""Distances of chosen pairs of points, in the metric of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal.graphs._edge_kernels import squared_lengths
from vicinal.neighbors.points import Points


def pair_lengths(X: np.ndarray, metric: Any, edges: np.ndarray) -> np.ndarray:
    """Distance of each pair of rows of checked points, or its entry in a matrix of distances."""
    if metric == "precomputed":
        return X[edges[:, 0], edges[:, 1]]
    if metric in ("euclidean", "cosine"):
        points = Points(X, metric, None)
        squares = np.empty(len(edges))
        squared_lengths(points.X, edges, squares)
        return points.in_metric(np.sqrt(squares))
    if metric == "manhattan":
        return np.abs(X[edges[:, 0]] - X[edges[:, 1]]).sum(axis=1)
    from sklearn.metrics.pairwise import paired_distances

    return paired_distances(X[edges[:, 0]], X[edges[:, 1]], metric=metric)
