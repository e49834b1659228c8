"""Clustering without a given number of clusters: shapes, real, generated and structureless sets.

The score is the adjusted Rand index on the points that are not noise in the truth, the best over the
true labellings of a set.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import labeled_sets
from benchmarks.labeled_sets import LabeledSet
from benchmarks.report import write_results

Method = Callable[[np.ndarray], np.ndarray]
GROUPS: dict[str, Callable[[], Iterator[LabeledSet]]] = {
    "shapes": labeled_sets.shapes,
    "real": labeled_sets.real,
    "generated": labeled_sets.clusters,
    "structureless": labeled_sets.structureless,
}
N_COMPONENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, only small sets and no files."""
    warnings.simplefilter("ignore")
    records: list[dict[str, Any]] = []
    for group, sets in GROUPS.items():
        if only and only not in group:
            continue
        for item in sets():
            if quick and len(item.points) > 500:
                continue
            record = {
                "group": group,
                "set": item.name,
                "half": "development" if item.development else "report",
                "true": [len(np.unique(t[t >= 0])) for t in item.truths],
                "methods": {name: _score(method, item) for name, method in METHODS.items()},
            }
            records.append(record)
            print(group, item.name, record["true"], record["methods"], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("clusters", records, page)


def _score(method: Method, item: LabeledSet) -> dict[str, float]:
    start = time.process_time()
    labels = method(item.points)
    seconds = time.process_time() - start
    scores = [adjusted_rand_score(t[t >= 0], labels[t >= 0]) for t in item.truths]
    n_clusters = len(np.unique(labels[labels >= 0]))
    return {"n_clusters": n_clusters, "ari": float(max(scores)), "seconds": seconds}


def _evidence(X: np.ndarray) -> np.ndarray:
    from vicinal.cluster import estimate_clusters

    return estimate_clusters(X).labels


def _spectral(X: np.ndarray) -> np.ndarray:
    from vicinal import SpectralClustering

    return SpectralClustering(graph="disjoint_mst", random_state=0).fit_predict(X)


def _perceptual(X: np.ndarray) -> np.ndarray:
    from vicinal import PerceptualClustering

    return PerceptualClustering(random_state=0).fit_predict(X)


def _perceive(X: np.ndarray) -> np.ndarray:
    from vicinal import perceive

    return perceive(X, scaling="none", sample=50).clusters.labels


def _hdbscan(X: np.ndarray) -> np.ndarray:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=max(5, len(X) // 100), copy=True).fit_predict(X)


def _plscan(X: np.ndarray) -> np.ndarray:
    from fast_plscan import PLSCAN

    return PLSCAN().fit(X).labels_


def _leiden(X: np.ndarray) -> np.ndarray:
    import igraph
    import leidenalg

    from vicinal.graphs import knn

    edges = knn(X, min(15, len(X) - 1)).edges()
    graph = igraph.Graph(n=len(X), edges=edges.tolist())
    kind = leidenalg.ModularityVertexPartition
    return np.array(leidenalg.find_partition(graph, kind, seed=0).membership)


def _mixture(X: np.ndarray) -> np.ndarray:
    """The Gaussian mixture with the best BIC, on at most 20 principal components."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    if X.shape[1] > 20:
        X = PCA(20, random_state=0).fit_transform(X)
    models = (
        GaussianMixture(n_components, random_state=0, max_iter=50).fit(X)
        for n_components in N_COMPONENTS
        if n_components <= len(X) // 5
    )
    return min(models, key=lambda model: model.bic(X)).predict(X)


def _installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


METHODS: dict[str, Method] = {
    "vicinal estimate_clusters": _evidence,
    "vicinal SpectralClustering on disjoint trees": _spectral,
    "vicinal PerceptualClustering": _perceptual,
    "vicinal perceive": _perceive,
    "scikit-learn HDBSCAN (1 %)": _hdbscan,
    **({"PLSCAN": _plscan} if _installed("fast_plscan") else {}),
    **({"Leiden, 15 neighbours": _leiden} if _installed("leidenalg") else {}),
    "Gaussian mixture, BIC": _mixture,
}


def markdown(records: list[dict[str, Any]]) -> str:
    """Means per group and half."""
    lines = [
        "# Benchmark: clusters",
        "",
        "Measured by `python -m benchmarks clusters`: the number of clusters is not given, and all methods "
        "use defaults. Mean adjusted Rand index, fraction of sets with the correct number of clusters, and "
        "fraction of sets with more than one cluster. Rules were chosen on the development half (sets "
        "whose name has an even CRC-32); judge them by the report half.",
        "",
        "| group | half | sets | method | ARI | correct number | above 1 | seconds |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for group in dict.fromkeys(r["group"] for r in records):
        for half in ("development", "report"):
            selected = [r for r in records if r["group"] == group and r["half"] == half]
            for name in selected[0]["methods"] if selected else []:
                results = [(r["methods"][name], r["true"]) for r in selected]
                ari = np.mean([m["ari"] for m, _ in results])
                correct = np.mean([m["n_clusters"] in true for m, true in results])
                above = np.mean([m["n_clusters"] > 1 for m, _ in results])
                seconds = np.mean([m["seconds"] for m, _ in results])
                lines.append(
                    f"| {group} | {half} | {len(selected)} | {name} | {ari:.3f} | {correct:.2f} "
                    f"| {above:.2f} | {seconds:.2f} |"
                )
    return "\n".join([*lines, ""])
