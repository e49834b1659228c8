"""Maps in the plane: trustworthiness, and accuracy of the neighbours on the map.

Trustworthiness is scikit-learn's, with 10 neighbours; the accuracy is that of the majority of the 5
nearest rows on the map. Every method runs with its defaults and seed 0. "New rows" is the accuracy for the
second half of the rows, placed on a map of the first half. The last table is the time for 100,000 rows of
50 columns on all cores, one run each.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.labeled_sets import real
from benchmarks.report import RESULTS, write_results
from vicinal import ClusterPreservingEmbedding, Isomap, LaplacianEigenmaps, NeighborMap

N_NEIGHBORS, N_VOTERS = 10, 5
N_LARGE = 100_000


def _umap(**options: Any) -> Any:
    import umap

    return umap.UMAP(**options)


def _open_tsne(**options: Any) -> Any:
    from openTSNE.sklearn import TSNE

    return TSNE(**options)


# Peers that can place new rows.
METHODS: dict[str, Callable[..., Any]] = {
    "NeighborMap": NeighborMap,
    "UMAP": _umap,
    "openTSNE": _open_tsne,
}
# Other embeddings of this package; only the map of all rows is scored.
OWN: dict[str, Callable[..., Any]] = {
    "LaplacianEigenmaps": LaplacianEigenmaps,
    "Isomap": Isomap,
    "ClusterPreservingEmbedding": ClusterPreservingEmbedding,
}


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, small sets only and no files.

    ``only="time"`` measures only the time for many rows, and ``only="scores"`` everything else; the other
    part of the results stays as it is.
    """
    warnings.simplefilter("ignore")
    path = RESULTS / "map.json"
    results = json.loads(path.read_text()) if path.exists() else {"scores": {}, "seconds": {}}
    if only != "time":
        results["scores"] = _all_scores(None if only == "scores" else only, quick)
    if only in (None, "time") and not quick:
        results["seconds"] = large_times()
    page = markdown(results["scores"], results["seconds"])
    print(page)
    if not quick and only in (None, "scores", "time"):
        write_results("map", results, page)


def _all_scores(only: str | None, quick: bool) -> dict[str, dict[str, dict[str, float]]]:
    records: dict[str, dict[str, dict[str, float]]] = {}
    for item in real():
        if (only and only not in item.name) or (quick and len(item.points) > 500):
            continue
        X, y = item.points, item.truths[0]
        records[item.name] = {}
        for name, method in {**METHODS, **OWN}.items():
            scores = _scores(method, X, y, name in METHODS)
            records[item.name][name] = scores
            print(item.name, name, {key: round(v, 4) for key, v in scores.items()}, flush=True)
    return records


def large_times() -> dict[str, float]:
    """Seconds for many rows; UMAP without a seed, because a seed would limit it to one core."""
    X, _ = make_blobs(N_LARGE, n_features=50, centers=30, cluster_std=6.0, random_state=0)
    small = X[:2000]
    seconds = {}
    for name in ("NeighborMap", "UMAP"):
        method = METHODS[name]
        method().fit(small)  # compiles
        start = time.perf_counter()
        method().fit(X)
        seconds[name] = time.perf_counter() - start
        print(f"{N_LARGE:,} rows: {name} {seconds[name]:.1f} s", flush=True)
    return seconds


def markdown(records: dict[str, dict[str, dict[str, float]]], seconds: dict[str, float]) -> str:
    """One row per method and score, one column per set, and the mean."""
    lines = ["# Maps in the plane", "", __doc__.partition(chr(10))[2].strip(), ""]
    sets = list(records)
    for key in ("trustworthiness", "accuracy", "new rows"):
        lines += [f"| {key} | {' | '.join(sets)} | mean |", f"|{' --- |' * (len(sets) + 2)}"]
        for method in records[sets[0]] if sets else []:
            values = [records[name][method].get(key) for name in sets]
            known = [value for value in values if value is not None]
            if known:
                cells = [f"{value:.3f}" for value in [*known, float(np.mean(known))]]
                lines.append(f"| {method} | {' | '.join(cells)} |")
        lines.append("")
    if seconds:
        lines += [f"| {N_LARGE:,} rows | seconds |", "| --- | --- |"]
        lines += [f"| {name} | {value:.0f} |" for name, value in seconds.items()]
    return "\n".join(lines).rstrip() + "\n"


def _scores(
    method: Callable[..., Any], X: np.ndarray, y: np.ndarray, with_new_rows: bool
) -> dict[str, float]:
    start = time.perf_counter()
    layout = np.asarray(method(random_state=0).fit_transform(X))
    seconds = time.perf_counter() - start
    nearest = NearestNeighbors(n_neighbors=N_VOTERS + 1).fit(layout).kneighbors(layout)[1]
    # A row that equals others on the map need not be the first of its own list.
    others = np.array([row[row != i][:N_VOTERS] for i, row in enumerate(nearest)])
    votes = [np.bincount(classes).argmax() for classes in y[others]]
    scores = {
        "trustworthiness": float(trustworthiness(X, layout, n_neighbors=N_NEIGHBORS)),
        "accuracy": float(np.mean(votes == y)),
        "seconds": seconds,
    }
    if with_new_rows:
        order = np.random.default_rng(0).permutation(len(X))
        known, new = np.array_split(order, 2)
        model = method(random_state=0).fit(X[known])
        known_layout = np.asarray(getattr(model, "embedding_", None))
        classifier = KNeighborsClassifier(N_VOTERS).fit(known_layout, y[known])
        scores["new rows"] = float(classifier.score(np.asarray(model.transform(X[new])), y[new]))
    return scores
