"""Exact minimum spanning trees by Borůvka's algorithm.

In each round, every component finds its cheapest edge to another component and merges along it. Most of
these edges are in short neighbour lists; `vicinal.graphs._build.nearest_foreign` searches for the rest. A
component may skip a round as long as another one merges: the tree is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, progress_bar
from vicinal.graphs._build._boruvka_kernels import ExcludedEdges, Forest, advance, choose, join
from vicinal.graphs._build.nearest_foreign import ForeignNeighborTree, OutsideInRows

NO_EXCLUSIONS = ExcludedEdges(np.zeros(0, np.int64), np.zeros(0, np.int64))


class SpanningEdges(NamedTuple):
    """Edges (m, 2) by row number, the smaller one first, and their costs, in no particular order."""

    edges: np.ndarray
    costs: np.ndarray


def spanning_edges(
    search: ForeignNeighborTree | OutsideInRows,
    *,
    labels: np.ndarray | None = None,
    forbidden: ExcludedEdges = NO_EXCLUSIONS,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> SpanningEdges:
    """The cheapest edges that join all components, without the forbidden ones.

    Parameters
    ----------
    search : OutsideInTree or OutsideInRows
        Where nearest outside points are found.
    labels : ndarray (n,), optional
        Components to start from, by row number; by default every point is one.
    forbidden : Forbidden
        Pairs that may not be used, in the numbers of the search.
    n_jobs : int, optional
        Number of threads.
    progress : str, optional
        Title of a progress bar.

    Returns
    -------
    SpanningEdges
        One edge less than there are components; fewer when the allowed edges do not connect them.
    """
    n = len(search.order)
    forest = _new_forest(n, None if labels is None else labels[search.order])
    roots = np.flatnonzero(forest.size)
    n_joins = len(roots) - 1
    index = forest.component.dtype
    sources, targets = np.empty(n_joins, index), np.empty(n_joins, index)
    costs = np.empty(n_joins)
    spans = blocks(n, max(8192, n // 16))
    done = 0
    with progress_bar(n_joins, progress) as bar:
        while done < n_joins:
            map_threads(
                lambda span: advance(forest, search.lists, search.costs, forbidden, *span),
                spans,
                n_jobs,
            )
            choose(forest, search.order, False)
            search.find(forest, forbidden, search.max_component_size_to_search(forest.size[roots]))
            choose(forest, search.order, True)
            before = done
            roots, done = join(forest, roots, sources, targets, costs, done)
            if done == before:
                break
            bar.update(done - before)
    sources, targets = search.order[sources[:done]], search.order[targets[:done]]
    edges = np.stack([np.minimum(sources, targets), np.maximum(sources, targets)], axis=1)
    return SpanningEdges(edges, costs[:done])


def _new_forest(n: int, labels: np.ndarray | None) -> Forest:
    index = np.int32 if n < 2**31 else np.int64
    component = np.arange(n)
    if labels is not None:
        _, first, which = np.unique(labels, return_index=True, return_inverse=True)
        component = first[which]
    return Forest(
        component=component.astype(index),
        near=np.full(n, -1, index),
        floor=np.full(n, -np.inf),
        cursor=np.zeros(n, index),
        asked=np.zeros(n, np.bool_),
        best=np.full(n, np.inf),
        pick=np.full(n, -1, index),
        waits=np.zeros(n, np.bool_),
        size=np.bincount(component, minlength=n).astype(index),
        parent=np.arange(n, dtype=index),
    )
