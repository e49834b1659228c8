"""Spanning trees of checked points or distances, for every kind of search and with duplicates."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal.graphs._build import prim
from vicinal.graphs._build._boruvka_kernels import ExcludedEdges
from vicinal.graphs._build.boruvka import (
    NO_EXCLUSIONS,
    ForeignSearch,
    SpanningEdges,
    spanning_edges,
)
from vicinal.graphs._build.duplicates import Duplicates, many_duplicates
from vicinal.graphs._build.nearest_foreign import (
    foreign_neighbor_search,
    in_common_unit,
    lengths_of_costs,
    offset_search,
)
from vicinal.graphs._build.tree_duplicates import Edges, join_components, join_duplicates
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import Metric


def spanning_tree(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    k: int,
) -> Edges:
    """Edges (n - 1, 2) of the minimum spanning tree and their lengths; starts from lists of k neighbours."""
    rows = _duplicates(X, metric)
    if rows is not None:
        X, k = X[rows.representative], min(k, len(rows.representative) - 1)
    search, to_lengths = foreign_neighbor_search(X, metric, k)
    edges, costs = spanning_edges(search)
    if rows is not None:
        edges, costs = join_duplicates(edges, costs, rows, np.zeros(len(rows.representative)))
    return edges, to_lengths(costs)


def offset_tree(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    scale: float,
    offsets: np.ndarray,
    k: int,
    prepared: Points | None = None,
) -> np.ndarray:
    """Edges of the spanning tree with the smallest sum of ``scale * d^2 + b_i + b_j``.

    ``prepared`` holds the same points, whose k-d tree is then shared.
    """
    scale, offsets = in_common_unit(X, scale, offsets)
    rows = _duplicates(X, metric, offsets)
    if rows is not None:
        first, prepared = rows.representative, None
        X, offsets, k = X[first], offsets[first], min(k, len(first) - 1)
    search = offset_search(X, metric, scale, offsets, k, prepared)
    edges, costs = spanning_edges(search)
    return edges if rows is None else join_duplicates(edges, costs, rows, 2 * offsets)[0]


def spanning_links(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    components: np.ndarray,
    prepared: Points | None = None,
) -> Edges:
    """Shortest edges that connect all components, and their lengths.

    ``prepared`` holds the same points, whose k-d tree is then shared.
    """
    rows = _duplicates(X, metric)
    if rows is None or _any_underflows(X[rows.representative], metric):
        return _links_of_distinct(X, metric, components, prepared)
    zero_edges, components = join_components(rows, components)
    first = rows.representative
    edges, lengths = _links_of_distinct(X[first], metric, components[first])
    lengths = np.concatenate([np.zeros(len(zero_edges)), lengths])
    return np.concatenate([zero_edges, first[edges]]), lengths


def _links_of_distinct(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    components: np.ndarray,
    prepared: Points | None = None,
) -> Edges:
    is_dense = metric.is_compiled and isinstance(X, np.ndarray)
    if is_dense and prim.is_fastest(components):
        points = prepared or Points(X, metric)
        edges, costs = prim.connecting_edges(points.X, points.p, components)
        return edges, lengths_of_costs(points, costs)
    search, to_lengths = foreign_neighbor_search(
        X, metric, 0, few_components=True, prepared=prepared
    )
    edges, costs = spanning_edges(search, labels=components)
    return edges, to_lengths(costs)


def disjoint_trees(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    n_trees: int,
    k: int,
    lists: np.ndarray | None = None,
) -> Edges:
    """Edges and lengths of disjoint trees, one after the other; fewer trees if there are no more.

    ``lists`` are at least k nearest neighbours of every point, if they are known.
    """
    rows = _duplicates(X, metric)
    if rows is None or _any_underflows(X[rows.representative], metric):
        return _trees_of_distinct(X, metric, n_trees, k, lists)
    # Each tree attaches duplicates to the first of their group that no earlier tree used as a hub. Between
    # two groups, the first t - 1 trees use at most (t - 1)^2 pairs, and the next one used is the first free
    # pair. So this many duplicates per group are enough to find all edges between groups.
    is_core = rows.rank_within_group() <= n_trees * (n_trees - 1)
    core, rest = np.flatnonzero(is_core), np.flatnonzero(~is_core)
    edges, lengths = _trees_of_distinct(X[core], metric, n_trees, k)
    n_built = n_trees if len(core) == 1 else len(edges) // (len(core) - 1)
    members = np.argsort(rows.group, kind="stable")
    start = np.searchsorted(rows.group[members], rows.group[rest])
    hubs = members[start + np.arange(n_built)[:, None]]
    zero_edges = np.stack([hubs.ravel(), np.tile(rest, n_built)], axis=1)
    lengths = np.concatenate([lengths, np.zeros(len(zero_edges))])
    return np.concatenate([core[edges], zero_edges]), lengths


def _trees_of_distinct(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    n_trees: int,
    k: int,
    lists: np.ndarray | None = None,
) -> Edges:
    search, to_lengths = foreign_neighbor_search(
        X, metric, min(k, X.shape[0] - 1), many_trees=True, lists=lists
    )
    edges, costs = successive_trees(search, n_trees)
    return edges, to_lengths(costs)


def successive_trees(search: ForeignSearch, n_trees: int) -> SpanningEdges:
    """Edges of disjoint trees, each the cheapest without the earlier ones; fewer if no more exist."""
    n = len(search.order)
    edges, costs = np.empty((0, 2), np.int64), np.empty(0)
    excluded, position = NO_EXCLUSIONS, np.argsort(search.order)
    for tree in range(n_trees):
        title = f"tree {tree + 1} of {n_trees}"
        new = spanning_edges(search, excluded=excluded, title=title)
        if len(new.edges) < n - 1:
            break
        edges, costs = np.concatenate([edges, new.edges]), np.concatenate([costs, new.costs])
        excluded = exclude(position[edges], n)
    return SpanningEdges(edges, costs)


def exclude(edges: np.ndarray, n: int) -> ExcludedEdges:
    sources, targets = edges.ravel(), edges[:, ::-1].ravel()
    indptr = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=n))])
    return ExcludedEdges(indptr, targets[np.argsort(sources, kind="stable")])


def _duplicates(
    X: np.ndarray | sparse.csr_array, metric: Metric, *columns: np.ndarray
) -> Duplicates | None:
    """Groups of equal points if there are many duplicates; None if the search visits every pair anyway."""
    if sparse.issparse(X) or not metric.is_compiled:
        return None
    return many_duplicates(Points(X, metric).X if metric.is_cosine else X, *columns)


def _any_underflows(X: np.ndarray, metric: Metric) -> bool:
    """Whether the squared distance of some distinct rows underflows to 0."""
    search, _ = foreign_neighbor_search(X, metric, 0)
    return not spanning_edges(search).costs.all()
