"""Graphs from edge lists that are known to be valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.chunked import ChunkedRows
from vicinal.graphs._build._edge_kernels import adjacency
from vicinal.graphs._entries import Entries, index_dtype, unit_strengths
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike


def graph_from_edges_trusted(
    n: int,
    edges: np.ndarray,
    lengths: np.ndarray,
    points: np.ndarray | ChunkedRows,
    metric: MetricLike,
    strengths: np.ndarray | None = None,
) -> Graph:
    """Undirected graph of distinct edges, each given once; strengths are 1 by default."""
    index = index_dtype(n, 2 * len(edges))
    indptr, indices = np.empty(n + 1, index), np.empty(2 * len(edges), index)
    row_lengths, row_strengths = np.empty(2 * len(edges)), unit_strengths(2 * len(edges))
    adjacency(edges, lengths, indptr, indices, row_lengths)
    if strengths is not None:
        row_strengths = np.empty(2 * len(edges))
        adjacency(edges, strengths, indptr, indices, row_strengths)
    entries = Entries(indptr, indices, row_lengths, row_strengths)
    return Graph._trusted(entries, False, points, metric)
