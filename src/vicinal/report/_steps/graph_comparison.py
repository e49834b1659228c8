"""Graphs of the same rows, compared: what connects them, what looks wrong, what survives a little noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vicinal import graphs
from vicinal.graphs._build.jitter import jittered_copies
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import EUCLIDEAN
from vicinal.report._shared_inputs import NEIGHBORS, SharedInputs, disjoint_trees

N_COPIES = 3
# Noise in the plane in units of the mean distance to five neighbours, r in [3]; see `jitter_of`.
NOISE, LOCAL = 0.2, 5
PERTURBED_TREES, TREE_NOISE = 10, 0.4
# An edge this much longer than what is usual around either of its ends looks like a shortcut.
LONG = 2.0
LISTED = 5


class GraphComparison(NamedTuple):
    """Six graphs of the sampled rows.

    Attributes
    ----------
    table : list of dict
        A row a graph: ``edges`` (directed ones for the contextual digraph), ``components``,
        ``isolates``, ``median_length``, ``longest``, ``shortcuts`` (edges more than twice as long as
        the mean distance to five neighbours at both ends), ``between_clusters`` (share of edges that
        join different clusters, noise left out) and ``stability`` (share of edges that are there
        again after a jitter of the rows).
    shortcuts : list of dict
        The longest of these edges in each graph, as rows ``source`` and ``target``, with how many
        times longer than usual they are.
    n_rows : int
        Number of rows that were looked at.
    """

    table: list[dict[str, Any]]
    shortcuts: list[dict[str, Any]]
    n_rows: int


def builders(seed: int, n_jobs: int | None) -> dict[str, Callable[[np.ndarray], Graph]]:
    """The graphs that are compared."""
    return {
        "k nearest neighbours": lambda X: graphs.knn(X, _k(X), n_jobs=n_jobs),
        "mutual neighbours": lambda X: graphs.knn(X, _k(X), mutual=True, n_jobs=n_jobs),
        "spanning tree (MST)": lambda X: graphs.mst(X, n_jobs=n_jobs),
        "disjoint trees (DMST)": lambda X: disjoint_trees(X, n_jobs),
        "perturbed trees (PMST)": lambda X: graphs.perturbed_mst(
            X,
            PERTURBED_TREES,
            noise=jitter_of(TREE_NOISE, X),
            n_neighbors=min(LOCAL, len(X) - 1),
            random_state=seed,
            n_jobs=n_jobs,
        ),
        "contextual digraph": lambda X: graphs.contextual(X, _k(X), n_jobs=n_jobs),
    }


def compare_graphs(scene: SharedInputs, labels: np.ndarray) -> GraphComparison:
    """Build every graph on the sampled rows and on jittered copies of them."""
    X = scene.sample_points
    moved = jittered(X, N_COPIES, NOISE, scene)
    local = graphs.knn(X, min(LOCAL, len(X) - 1), directed=True, n_jobs=scene.n_jobs)
    usual = local.lengths.reshape(len(X), -1).mean(axis=1)
    clusters = labels[scene.sample]
    table, shortcuts = [], []
    for name, build in builders(scene.seed, scene.n_jobs).items():
        graph = build(X)
        edges = graph.edges()
        lengths = EUCLIDEAN.pair_distances(X, edges)
        around = np.maximum(*usual[edges.T])
        times = np.divide(lengths, around, out=np.zeros_like(lengths), where=around > 0)
        long = np.flatnonzero(times > LONG)
        table.append(
            {
                "graph": name,
                "edges": graph.n_edges,
                "components": graph.n_components,
                "isolates": graph.n_isolates,
                "median_length": float(np.median(lengths)) if len(edges) else 0.0,
                "longest": float(lengths.max(initial=0.0)),
                "shortcuts": len(long),
                "between_clusters": _share_between(clusters[edges]),
                "stability": edge_stability(graph, [build(copy) for copy in moved]),
            }
        )
        for e in long[np.argsort(-times[long], kind="stable")][:LISTED]:
            source, target = scene.sample[edges[e]]
            shortcuts.append(
                {
                    "graph": name,
                    "source": int(source),
                    "target": int(target),
                    "times_usual": float(times[e]),
                }
            )
    return GraphComparison(table, shortcuts, len(X))


def jittered(X: np.ndarray, n_copies: int, noise: float, scene: SharedInputs) -> list[np.ndarray]:
    """Copies of points that are moved by a part of the distance to their neighbours."""
    copies = jittered_copies(
        X,
        "euclidean",
        n_copies,
        jitter_of(noise, X),
        min(LOCAL, len(X) - 1),
        scene.seed,
        scene.n_jobs,
    )
    return [copies.make(i) for i in range(n_copies)]


def jitter_of(noise: float, X: np.ndarray) -> float:
    """Noise along each axis that moves points as far as in the plane, however many columns there are.

    With the same noise along each of D axes, points move by sqrt(D) times as much, soon by more than
    the distance to their neighbours.
    """
    return noise * float(np.sqrt(2.0 / max(X.shape[1], 2)))


def edge_stability(graph: Graph, others: list[Graph]) -> float:
    """Mean share of a graph's edges, by strength, that others of the same nodes have too."""
    n = graph.n_nodes
    keys = _keys(graph)
    strengths = graph.strengths / max(graph.strengths.sum(), np.finfo(float).tiny)
    kept = [strengths[np.isin(keys, _keys(other))].sum() for other in others]
    return float(np.mean(kept)) if n and len(keys) else 0.0


def _keys(graph: Graph) -> np.ndarray:
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    return rows * graph.n_nodes + graph.indices


def _share_between(ends: np.ndarray) -> float:
    known = (ends >= 0).all(axis=1)
    if not known.any():
        return 0.0
    return float(np.mean(ends[known, 0] != ends[known, 1]))


def _k(X: np.ndarray) -> int:
    return min(NEIGHBORS, len(X) - 1)
