"""Six graphs of the same rows, compared: connectivity, suspicious edges, stability under noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vicinal import graphs
from vicinal.graphs._build.jitter import perturbed_replicates
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import EUCLIDEAN
from vicinal.report._shared_inputs import N_NEIGHBORS, SharedInputs, disjoint_trees

N_REPLICATES = 3
# Noise in units of the mean distance to five neighbours.
NOISE, N_LOCAL_NEIGHBORS = 0.2, 5
N_PERTURBED_TREES, TREE_NOISE = 10, 0.4
# An edge longer than this many times the local scale at both ends looks like a shortcut.
MIN_SHORTCUT_RATIO = 2.0
N_LISTED = 5


class GraphComparison(NamedTuple):
    """Six graphs of the sampled rows.

    Attributes
    ----------
    table : list of dict
        One row per graph: ``edges`` (directed for the contextual digraph), ``components``,
        ``isolates``, ``median_length``, ``max_length``, ``shortcuts`` (edges more than twice as long as
        the mean distance to five neighbours at both ends), ``between_clusters`` (fraction of edges
        between different clusters, ignoring noise) and ``stability`` (fraction of edges that are also
        in the graph of perturbed rows).
    shortcuts : list of dict
        The most suspicious of these edges in each graph: rows ``source`` and ``target``, and the
        ``length_ratio`` to the local scale.
    n_rows : int
        Number of rows in the graphs.
    """

    table: list[dict[str, Any]]
    shortcuts: list[dict[str, Any]]
    n_rows: int


def builders(seed: int, n_jobs: int | None) -> dict[str, Callable[[np.ndarray], Graph]]:
    """Functions that build the graphs, by name."""
    return {
        "k nearest neighbours": lambda X: graphs.knn(X, _k(X), n_jobs=n_jobs),
        "mutual neighbours": lambda X: graphs.knn(X, _k(X), mutual=True, n_jobs=n_jobs),
        "spanning tree (MST)": lambda X: graphs.mst(X, n_jobs=n_jobs),
        "disjoint trees (DMST)": lambda X: disjoint_trees(X, n_jobs),
        "perturbed trees (PMST)": lambda X: graphs.perturbed_mst(
            X,
            N_PERTURBED_TREES,
            noise=TREE_NOISE,
            n_neighbors=min(N_LOCAL_NEIGHBORS, len(X) - 1),
            random_state=seed,
            n_jobs=n_jobs,
        ),
        "contextual digraph": lambda X: graphs.contextual(X, _k(X), n_jobs=n_jobs),
    }


def compare_graphs(inputs: SharedInputs, labels: np.ndarray) -> GraphComparison:
    """Build every graph on the sampled rows and on perturbed rows."""
    X = inputs.sample_points
    perturbed = jittered(X, N_REPLICATES, NOISE, inputs)
    local = graphs.knn(X, min(N_LOCAL_NEIGHBORS, len(X) - 1), directed=True, n_jobs=inputs.n_jobs)
    local_scale = local.lengths.reshape(len(X), -1).mean(axis=1)
    clusters = labels[inputs.sample]
    table, shortcuts = [], []
    for name, build in builders(inputs.seed, inputs.n_jobs).items():
        graph = build(X)
        edges = graph.edges()
        lengths = EUCLIDEAN.pair_distances(X, edges)
        scale = np.maximum(*local_scale[edges.T])
        ratios = np.divide(lengths, scale, out=np.zeros_like(lengths), where=scale > 0)
        shortcut = np.flatnonzero(ratios > MIN_SHORTCUT_RATIO)
        table.append(
            {
                "graph": name,
                "edges": graph.n_edges,
                "components": graph.n_components,
                "isolates": graph.n_isolates,
                "median_length": float(np.median(lengths)) if len(edges) else 0.0,
                "max_length": float(lengths.max(initial=0.0)),
                "shortcuts": len(shortcut),
                "between_clusters": _fraction_between(clusters[edges]),
                "stability": edge_stability(graph, [build(points) for points in perturbed]),
            }
        )
        for e in shortcut[np.argsort(-ratios[shortcut], kind="stable")][:N_LISTED]:
            source, target = inputs.sample[edges[e]]
            shortcuts.append(
                {
                    "graph": name,
                    "source": int(source),
                    "target": int(target),
                    "length_ratio": float(ratios[e]),
                }
            )
    return GraphComparison(table, shortcuts, len(X))


def jittered(
    X: np.ndarray, n_replicates: int, noise: float, inputs: SharedInputs
) -> list[np.ndarray]:
    """Points perturbed by a fraction of the distance to their neighbours."""
    replicates = perturbed_replicates(
        X,
        "euclidean",
        n_replicates,
        noise,
        min(N_LOCAL_NEIGHBORS, len(X) - 1),
        inputs.seed,
        inputs.n_jobs,
    )
    return [replicates.make(i) for i in range(n_replicates)]


def edge_stability(graph: Graph, others: list[Graph]) -> float:
    """Mean fraction of the edges of a graph, weighted by strength, that other graphs also have."""
    n = graph.n_nodes
    keys = _keys(graph)
    strengths = graph.strengths / max(graph.strengths.sum(), np.finfo(float).tiny)
    common = [strengths[np.isin(keys, _keys(other))].sum() for other in others]
    return float(np.mean(common)) if n and len(keys) else 0.0


def _keys(graph: Graph) -> np.ndarray:
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    return rows * graph.n_nodes + graph.indices


def _fraction_between(ends: np.ndarray) -> float:
    known = (ends >= 0).all(axis=1)
    if not known.any():
        return 0.0
    return float(np.mean(ends[known, 0] != ends[known, 1]))


def _k(X: np.ndarray) -> int:
    return min(N_NEIGHBORS, len(X) - 1)
