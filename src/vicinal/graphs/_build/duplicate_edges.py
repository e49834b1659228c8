"""Graph of all rows from the graph of the distinct rows, with one of two treatments of duplicates.

- `keep`: every row is a point. Duplicates are connected to each other at length 0, and if two groups of
  duplicates are connected, so are all their rows. This follows the definition of ball and empty-region
  graphs; the number of edges grows with the number of pairs of duplicates.
- `merge`: a group of equal rows is one point. Its rows form a ring, and each is connected to one row of every
  neighbouring group. This is a subgraph of `keep` with the same components and the same shortest paths; each
  row has as many edges as its distinct point, plus those of the ring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads
from vicinal.graphs._build.duplicates import Duplicates
from vicinal.graphs._entries import Entries, index_dtype, unit_strengths
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from vicinal._core.types import DuplicateMode, MatrixLike

DUPLICATE_MODES = ("keep", "merge")
GROUPS_PER_TASK = 256
# Index, length and strength of an entry.
BYTES_PER_ENTRY = 20.0


def with_duplicates(
    distinct: Graph, rows: Duplicates, points: MatrixLike, duplicates: DuplicateMode
) -> Graph:
    """Graph of all rows, from the graph of the distinct rows."""
    if len(rows.representative) == len(rows.group):
        return Graph._of_entries(distinct._csr, False, points, distinct.metric)
    if duplicates == "merge":
        return merge_duplicates(distinct, rows, points)
    return _keep_duplicates(distinct, rows, points)


def merge_duplicates(
    distinct: Graph, rows: Duplicates, points: MatrixLike, n_links: int = 1
) -> Graph:
    """Connect each row to one row of every neighbouring group and to the next ``n_links`` of its own group.

    Equal rows take the rows of another group in turn, so that degrees are balanced.
    """
    group, rank, counts = rows.group, rows.rank_within_group(), rows.counts
    members, start = rows.members()
    n = len(group)
    degrees = distinct.degrees[group].astype(np.int64)
    source = np.repeat(np.arange(n), degrees)
    within = np.arange(len(source)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    entries = np.repeat(distinct.indptr[:-1][group].astype(np.int64), degrees) + within
    target_group = distinct.indices[entries]
    target = members[start[target_group] + rank[source] % counts[target_group]]
    ring = np.tile(np.arange(n), n_links)
    step = np.repeat(np.arange(1, n_links + 1), n)
    next_in_ring = members[start[group[ring]] + (rank[ring] + step) % counts[group[ring]]]
    is_other = ring != next_in_ring
    edges = np.concatenate(
        [np.stack([source, target], 1), np.stack([ring, next_in_ring], 1)[is_other]]
    )
    lengths = np.concatenate([distinct.lengths[entries], np.zeros(int(is_other.sum()))])
    return Graph.from_edges(n, edges, lengths, points=points, metric=distinct.metric)


def _keep_duplicates(distinct: Graph, rows: Duplicates, points: MatrixLike) -> Graph:
    from vicinal.graphs._build._duplicate_kernels import fill_rows, row_sizes

    counts, n = rows.counts, len(rows.group)
    members, start = rows.members()
    sizes = np.empty(len(counts), np.int64)
    row_sizes(distinct.indptr, distinct.indices, counts, sizes)
    n_entries = int((sizes * counts).sum())
    require_memory(
        BYTES_PER_ENTRY * n_entries,
        f"The graph of {n:,} rows, {len(counts):,} of them distinct, with {n_entries // 2:,} edges",
        "All duplicates are connected to each other and to all their neighbours: pass "
        "duplicates='merge' for sparse connections, or drop duplicates first.",
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

    map_threads(fill, blocks(len(counts), GROUPS_PER_TASK))
    entries = Entries(indptr, indices, lengths, unit_strengths(n_entries))
    return Graph._of_entries(entries, False, points, distinct.metric)
