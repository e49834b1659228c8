"""Clustering with the true number of clusters: shapes, real and generated sets.

The score is the normalised clustering accuracy of M. Gagolewski (`genieclust`, 2024) on the points that are
not noise in the truth, the best over the true labellings of a set.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from benchmarks import labeled_sets
from benchmarks.labeled_sets import LabeledSet
from benchmarks.report import RESULTS, write_results

Method = Callable[[np.ndarray, int], np.ndarray]
GROUPS: dict[str, Callable[[], Iterator[LabeledSet]]] = {
    "shapes": labeled_sets.shapes,
    "real": labeled_sets.real,
    "varied": labeled_sets.varied_clusters,
}
OURS = "vicinal SpectralClustering on disjoint trees"


def run(only: str | None, quick: bool) -> None:
    """Measure and print; write Markdown and JSON after each group, with ``quick`` small sets and no files."""
    warnings.simplefilter("ignore")
    path = RESULTS / "given.json"
    records: list[dict[str, Any]] = []
    for group, sets in GROUPS.items():
        if only and only != group:
            continue
        measured = [_measure(group, s) for s in sets() if not quick or len(s.points) <= 500]
        if quick:
            records += measured
            continue
        earlier = json.loads(path.read_text()) if path.exists() else []
        records = [r for r in earlier if r["group"] != group] + measured
        records.sort(key=lambda r: list(GROUPS).index(r["group"]))
        write_results("given", records, markdown(records))
    print(markdown(records))


def _measure(group: str, item: LabeledSet) -> dict[str, Any]:
    record = {
        "group": group,
        "set": item.name,
        "half": "development" if item.development else "report",
        "methods": {name: _score(method, item) for name, method in METHODS.items()},
    }
    print(group, item.name, record["methods"], flush=True)
    return record


def _score(method: Method, item: LabeledSet) -> dict[str, float]:
    start = time.process_time()
    scores = []
    for truth in item.truths:
        known = truth >= 0
        labels = method(item.points, len(np.unique(truth[known])))
        scores.append(normalized_accuracy(truth[known], labels[known]))
    seconds = (time.process_time() - start) / len(item.truths)
    return {"accuracy": max(scores), "seconds": seconds}


def normalized_accuracy(truth: np.ndarray, labels: np.ndarray) -> float:
    """Mean fraction of each class in its matched cluster, rescaled so that one cluster has 0."""
    counts = contingency_matrix(truth, labels)
    fractions = counts / counts.sum(axis=1, keepdims=True)
    rows, columns = linear_sum_assignment(fractions, maximize=True)
    n_classes = len(counts)
    if n_classes == 1:
        return float(counts.shape[1] == 1)
    return float((fractions[rows, columns].sum() - 1.0) / (n_classes - 1.0))


def _spectral(graph: str) -> Method:
    def cluster(X: np.ndarray, n_clusters: int) -> np.ndarray:
        from vicinal import SpectralClustering

        return SpectralClustering(n_clusters, graph=graph, random_state=0).fit_predict(X)

    return cluster


def _perceptual(X: np.ndarray, n_clusters: int) -> np.ndarray:
    from vicinal import PerceptualClustering

    return PerceptualClustering(n_clusters, random_state=0).fit_predict(X)


def _genie(X: np.ndarray, n_clusters: int) -> np.ndarray:
    from genieclust import Genie

    return Genie(n_clusters).fit_predict(X)


def _lumbermark(X: np.ndarray, n_clusters: int) -> np.ndarray:
    from lumbermark import Lumbermark

    return Lumbermark(n_clusters).fit_predict(X)


def _kmeans(X: np.ndarray, n_clusters: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(X)


def _ward(X: np.ndarray, n_clusters: int) -> np.ndarray:
    from sklearn.cluster import AgglomerativeClustering

    return AgglomerativeClustering(n_clusters).fit_predict(X)


def _mixture(X: np.ndarray, n_clusters: int) -> np.ndarray:
    """On at most 20 principal components, because covariance matrices need many points."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    if X.shape[1] > 20:
        X = PCA(20, random_state=0).fit_transform(X)
    return GaussianMixture(n_clusters, random_state=0).fit_predict(X)


def _sklearn_spectral(X: np.ndarray, n_clusters: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=0)
    return model.fit_predict(X)


METHODS: dict[str, Method] = {
    OURS: _spectral("disjoint_mst"),
    "vicinal SpectralClustering": _spectral("knn"),
    "vicinal PerceptualClustering": _perceptual,
    **({"Genie": _genie} if find_spec("genieclust") else {}),
    **({"Lumbermark": _lumbermark} if find_spec("lumbermark") else {}),
    "scikit-learn SpectralClustering knn": _sklearn_spectral,
    "scikit-learn GaussianMixture": _mixture,
    "scikit-learn Ward": _ward,
    "scikit-learn KMeans": _kmeans,
}


def markdown(records: list[dict[str, Any]]) -> str:
    """The goal, means per group, and every set."""
    lines = [
        "# Benchmark: given",
        "",
        "Measured by `python -m benchmarks given`: normalised accuracy with the true number of clusters and "
        "default parameters otherwise; noise is excluded from the score. CPU seconds are medians over "
        "the sets.",
        "",
    ]
    shapes2d = [
        r["methods"][OURS]["accuracy"]
        for r in records
        if r["group"] == "shapes" and r["set"] not in labeled_sets.NOISY_SHAPES
    ]
    if shapes2d:
        value = f"{np.mean(shapes2d):.3f}"
        lines += [f"Shapes without background noise: {value} (goal: at least 0.90).", ""]
    lines += [
        "| group | sets | method | accuracy | seconds |",
        "| --- | ---: | --- | ---: | ---: |",
    ]
    for group in dict.fromkeys(r["group"] for r in records):
        rows = [r["methods"] for r in records if r["group"] == group]
        for name in rows[0]:
            accuracy = np.mean([row[name]["accuracy"] for row in rows])
            seconds = np.median([row[name]["seconds"] for row in rows])
            lines.append(f"| {group} | {len(rows)} | {name} | {accuracy:.3f} | {seconds:.3f} |")
    names = list(records[0]["methods"]) if records else []
    lines += ["", f"| set | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    for record in records:
        cells = [f"{record['methods'][name]['accuracy']:.3f}" for name in names]
        lines.append(f"| {record['set']} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
