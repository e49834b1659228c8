"""Clustering accuracy with defaults on small sets with difficult shapes.

The sets are read from ``shapes2d.npz`` in the folder VICINAL_DATA: points under ``group/name``, true
labels under ``group/name.labels0``, where 0 is noise. Noise is clustered but excluded from the score. The
number of clusters is given to all methods that accept it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.report import write_results

SETS = ("spiral", "jain", "flame", "pathbased", "aggregation", "compound", "chainlink", "atom")
GRAPHS = (
    "knn",
    "mst",
    "perturbed_mst",
    "disjoint_mst",
    "gabriel",
    "relative_neighborhood",
    "delaunay",
)
# Scores of randomised methods are averaged over this many seeds.
N_SEEDS = 5

Method = Callable[[np.ndarray, int, int], np.ndarray]


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, one seed and no files."""
    methods = {name: m for name, m in METHODS.items() if not only or only in name}
    if not methods:
        raise SystemExit(f"--only {only} matches no method; choose from {', '.join(METHODS)}")
    data = read_sets()
    table = {
        name: {
            title: _mean_accuracy(method, *data[title], 1 if quick else N_SEEDS) for title in data
        }
        for name, method in methods.items()
    }
    page = markdown(table)
    print(page)
    if not quick and not only:
        write_results("shapes", table, page)


def read_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Points and true labels by the name of the set."""
    from studies.loaders import load_plane_shapes

    try:
        return {name: load_plane_shapes(name) for name in SETS}
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None


def _mean_accuracy(method: Method, X: np.ndarray, truth: np.ndarray, n_seeds: int) -> float:
    from vicinal.metrics import clustering_accuracy

    is_clustered = truth != 0
    n_clusters = len(np.unique(truth[is_clustered]))
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns about disconnected graphs
        for seed in range(n_seeds):
            labels = method(X, n_clusters, seed)
            scores.append(clustering_accuracy(truth[is_clustered], labels[is_clustered]))
    return float(np.mean(scores))


def _vicinal(graph: str) -> Method:
    def cluster(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
        from vicinal import SpectralClustering

        return SpectralClustering(n_clusters, graph=graph, random_state=seed).fit_predict(X)

    return cluster


def _sklearn_spectral(affinity: str) -> Method:
    def cluster(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
        from sklearn.cluster import SpectralClustering

        return SpectralClustering(n_clusters, affinity=affinity, random_state=seed).fit_predict(X)

    return cluster


def _sklearn_hdbscan(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    from sklearn.cluster import HDBSCAN

    # It chooses the number of clusters; its noise (-1) counts as one cluster.
    return HDBSCAN(copy=True).fit_predict(X)


def _sklearn_kmeans(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, random_state=seed).fit_predict(X)


METHODS: dict[str, Method] = {
    **{f"vicinal {graph}": _vicinal(graph) for graph in GRAPHS},
    "scikit-learn SpectralClustering": _sklearn_spectral("rbf"),
    "scikit-learn SpectralClustering knn": _sklearn_spectral("nearest_neighbors"),
    "scikit-learn HDBSCAN": _sklearn_hdbscan,
    "scikit-learn KMeans": _sklearn_kmeans,
}


def markdown(table: dict[str, dict[str, Any]]) -> str:
    """The table with means; the best values are bold."""
    titles = [*next(iter(table.values())), "mean"]
    rows = {name: [*row.values(), float(np.mean([*row.values()]))] for name, row in table.items()}
    best = np.max([*rows.values()], axis=0)
    lines = [
        "# Benchmark: shapes",
        "",
        "Measured by `python -m benchmarks shapes`: accuracy of the best matching of clusters and classes, "
        f"with default parameters and the true number of clusters, mean of {N_SEEDS} seeds. HDBSCAN chooses "
        "the number of clusters, and its noise counts as one cluster. True noise is excluded from the score.",
        "",
        f"| | {' | '.join(titles)} |",
        f"| --- |{' ---: |' * len(titles)}",
    ]
    for name, values in rows.items():
        cells = [
            f"**{value:.3f}**" if value > top - 5e-4 else f"{value:.3f}"
            for value, top in zip(values, best, strict=True)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
