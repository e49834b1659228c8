"""Edges of all rows from the graph of the distinct ones, in one of two ways.

- `keep`: every row is a point. Duplicates are connected with each other at length 0, and rows of two sets
  are all connected if the sets are. That is the definition of graphs of balls and of empty regions, and has
  as many edges as there are pairs of duplicates.
- `merge`: a set of equal rows is one point. Its rows form a ring, and each of them is connected with one row
  of every neighbouring set. That is a part of what `keep` gives, with the same components and the same
  shortest paths, and no more edges per row than a distinct point has, and those of the ring.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal._core.validation import require_memory
from vicinal.graphs._build.duplicates import Duplicates
from vicinal.graphs._entries import Entries, index_dtype
from vicinal.graphs.graph import Graph

TREATMENTS = ("keep", "merge")
SETS_PER_TASK = 256
# Index, length and strength of an entry.
BYTES_PER_ENTRY = 20.0


def with_duplicates(distinct: Graph, rows: Duplicates, points: Any, duplicates: str) -> Graph:
    """The graph of all rows, from that of the distinct ones."""
    if len(rows.representative) == len(rows.group):
        return Graph._trusted(distinct._csr, False, points, distinct.metric)
    if duplicates == "merge":
        return merge_duplicates(distinct, rows, points)
    return _keep_duplicates(distinct, rows, points)


def merge_duplicates(distinct: Graph, rows: Duplicates, points: Any, n_links: int = 1) -> Graph:
    """Each row with one row of every neighbouring set, and with the ``n_links`` next ones of its own.

    Equal rows take the rows of another set in turn, so that these have about the same degrees.
    """
    group, turn, counts = rows.group, rows.rank_within_group(), rows.counts
    members, start = rows.members()
    n = len(group)
    degrees = distinct.degrees[group].astype(np.int64)
    source = np.repeat(np.arange(n), degrees)
    within = np.arange(len(source)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    entries = np.repeat(distinct.indptr[:-1][group].astype(np.int64), degrees) + within
    sets = distinct.indices[entries]
    target = members[start[sets] + turn[source] % counts[sets]]
    ring = np.tile(np.arange(n), n_links)
    step = np.repeat(np.arange(1, n_links + 1), n)
    following = members[start[group[ring]] + (turn[ring] + step) % counts[group[ring]]]
    other = ring != following
    edges = np.concatenate([np.stack([source, target], 1), np.stack([ring, following], 1)[other]])
    lengths = np.concatenate([distinct.lengths[entries], np.zeros(int(other.sum()))])
    return Graph.from_edges(n, edges, lengths, points=points, metric=distinct.metric)


def _keep_duplicates(distinct: Graph, rows: Duplicates, points: Any) -> Graph:
    from vicinal.graphs._build._duplicate_kernels import fill_rows, row_sizes

    counts, n = rows.counts, len(rows.group)
    members, start = rows.members()
    sizes = np.empty(len(counts), np.int64)
    row_sizes(distinct.indptr, distinct.indices, counts, sizes)
    n_entries = int((sizes * counts).sum())
    require_memory(
        BYTES_PER_ENTRY * n_entries,
        f"The graph of {n:,} rows, {len(counts):,} of them distinct, with {n_entries // 2:,} edges",
        "All duplicates are connected with each other and with all neighbours of each: give "
        "duplicates='merge', which connects them sparsely, or drop duplicates first.",
    )
    dtype = index_dtype(n, n_entries)
    indptr = np.concatenate([[0], np.cumsum(sizes[rows.group])])
    indices, lengths = np.empty(n_entries, dtype), np.empty(n_entries)

    def fill(span: tuple[int, int]) -> None:
        fill_rows(
            distinct.indptr,
            distinct.indices,
            distinct.lengths,
            members,
            start,
            counts,
            *span,
            indptr,
            indices,
            lengths,
        )

    map_threads(fill, blocks(len(counts), SETS_PER_TASK))
    entries = Entries(indptr, indices, lengths, np.ones(n_entries))
    return Graph._trusted(entries, False, points, distinct.metric)
