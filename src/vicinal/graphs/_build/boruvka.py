"""Exact minimum spanning trees by Borůvka's algorithm.

In each round, every component finds its cheapest edge to another component and merges along it. Most of
these edges are in short neighbour lists; `vicinal.graphs._build.nearest_foreign` searches for the rest. A
component may skip a round as long as another one merges: the tree is the same.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from vicinal._core.large import filled, forget, large
from vicinal._core.parallel import blocks, map_threads, progress_bar
from vicinal.graphs._build._boruvka_kernels import ExcludedEdges, Forest, advance, choose, join

NO_EXCLUSIONS = ExcludedEdges(np.zeros(0, np.int64), np.zeros(0, np.int64))


class ForeignSearch(Protocol):
    """Search for the nearest points of other components; points are numbered as it likes.

    Attributes
    ----------
    order : ndarray (n,)
        Row of each point.
    lists, costs : ndarray (n, k)
        Nearest points of each point, sorted by (cost, row); k may be 0.
    """

    order: np.ndarray
    lists: np.ndarray
    costs: np.ndarray

    def max_component_size_to_search(self, sizes: np.ndarray) -> int:
        """Largest size of a component that searches."""

    def find(self, forest: Forest, excluded: ExcludedEdges, limit: int) -> None:
        """Find the nearest foreign point wherever a component's best edge may depend on it."""


class SpanningEdges(NamedTuple):
    """Edges (m, 2) as pairs of rows, smaller row first, and their costs; unordered."""

    edges: np.ndarray
    costs: np.ndarray


def spanning_edges(
    search: ForeignSearch,
    *,
    labels: np.ndarray | None = None,
    excluded: ExcludedEdges = NO_EXCLUSIONS,
    title: str = "spanning tree",
) -> SpanningEdges:
    """Cheapest edges that connect all components, without the excluded ones.

    Parameters
    ----------
    search : ForeignSearch
        Search for the nearest point of another component.
    labels : ndarray (n,), optional
        Initial component of each row; by default every point is a component.
    excluded : ExcludedEdges
        Pairs that may not be used, in the numbering of the search.
    title : str, default="spanning tree"
        Title of the progress bar.

    Returns
    -------
    SpanningEdges
        ``n_components - 1`` edges; fewer if the allowed edges do not connect the components.
    """
    n = len(search.order)
    forest = new_forest(n, None if labels is None else labels[search.order])
    index = forest.component.dtype
    roots = np.flatnonzero(forest.size).astype(index)
    n_edges = len(roots) - 1
    sources, targets = large(n_edges, index), large(n_edges, index)
    costs = large(n_edges, np.float64)
    spans = blocks(n, max(8192, n // 16))
    done = 0

    def follow_lists(span: tuple[int, int]) -> None:
        advance(forest, search.lists, search.costs, excluded, *span)
        forget(search.lists[slice(*span)], search.costs[slice(*span)])

    with progress_bar(n_edges, title) as bar:
        while done < n_edges:
            map_threads(follow_lists, spans)
            choose(forest, search.order, False)
            search.find(forest, excluded, search.max_component_size_to_search(forest.size[roots]))
            choose(forest, search.order, True)
            before = done
            n_left, done = join(forest, roots, sources, targets, costs, done)
            roots = roots[:n_left]
            if done == before:
                break
            bar.update(done - before)
    sources, targets = search.order[sources[:done]], search.order[targets[:done]]
    edges = large((done, 2), sources.dtype)
    np.minimum(sources, targets, out=edges[:, 0])
    np.maximum(sources, targets, out=edges[:, 1])
    return SpanningEdges(edges, costs[:done])


def new_forest(n: int, labels: np.ndarray | None) -> Forest:
    """Forest of n points without edges between components, by default the single points."""
    index = np.int32 if n < 2**31 else np.int64
    component = np.arange(n)
    if labels is not None:
        _, first, group = np.unique(labels, return_index=True, return_inverse=True)
        component = first[group]
    return Forest(
        component=filled(n, component, index),
        nearest=filled(n, -1, index),
        lower_bound=filled(n, -np.inf, np.float64),
        cursor=filled(n, 0, index),
        searched=filled(n, False, np.bool_),
        best=filled(n, np.inf, np.float64),
        best_point=filled(n, -1, index),
        deferred=filled(n, False, np.bool_),
        size=filled(n, np.bincount(component, minlength=n), index),
        parent=filled(n, np.arange(n, dtype=index), index),
    )
