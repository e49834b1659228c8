"""Graphs from edge lists that are known to be valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.chunked import ChunkedRows
from vicinal._core.large import forget, large
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
    m = 2 * len(edges)
    index = index_dtype(n, m)
    indptr, indices = np.empty(n + 1, index), large(m, index)
    row_lengths, row_strengths = large(m, np.float64), unit_strengths(m)
    memory = large(m, index), large(m, np.float64)
    adjacency(edges, lengths, indptr, indices, row_lengths, *memory)
    if strengths is not None:
        row_strengths = large(m, np.float64)
        adjacency(edges, strengths, indptr, indices, row_strengths, *memory)
    forget(indices, row_lengths, row_strengths)
    entries = Entries(indptr, indices, row_lengths, row_strengths)
    return Graph._of_entries(entries, False, points, metric)
