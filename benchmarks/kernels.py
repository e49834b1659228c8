"""Kernel k-means on smoothed similarities, the number of clusters given, by how long they are smoothed."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import labeled_sets
from benchmarks.report import write_results

# Rows of larger sets are sampled: a projection takes n^3.
MAX_ROWS = 800
METHODS = ("t for retrieval", "t for clusters", "SpectralClustering, disjoint trees")


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` at most 300 rows, nothing written."""
    warnings.simplefilter("ignore")
    records: list[dict[str, Any]] = []
    for item in itertools.chain(labeled_sets.real(), labeled_sets.shapes()):
        if only and only not in item.name:
            continue
        rng = np.random.default_rng(0)
        rows = np.sort(rng.permutation(len(item.points))[: 300 if quick else MAX_ROWS])
        truths = [truth[rows] for truth in item.truths]
        n_clusters = len(np.unique(truths[0][truths[0] >= 0]))
        scores = {
            name: max(adjusted_rand_score(t[t >= 0], labels[t >= 0]) for t in truths)
            for name, labels in zip(METHODS, _labels(item.points[rows], n_clusters), strict=True)
        }
        half = "development" if item.development else "report"
        records.append({"set": item.name, "half": half, "clusters": n_clusters, "ari": scores})
        print(records[-1], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("kernels", records, page)


def _labels(X: np.ndarray, n_clusters: int) -> tuple[np.ndarray, ...]:
    from vicinal import KernelKMeans, SelfSmoothing, SpectralClustering

    kernel = KernelKMeans(n_clusters, kernel="precomputed", psd="project", random_state=0)
    trees = SpectralClustering(n_clusters, graph="disjoint_mst", random_state=0)
    return (
        kernel.fit_predict(SelfSmoothing(random_state=0).fit(X).similarity_),
        kernel.fit_predict(SelfSmoothing(n_clusters=n_clusters, random_state=0).fit(X).similarity_),
        trees.fit_predict(X),
    )


def markdown(records: list[dict[str, Any]]) -> str:
    """Sets as rows, with the means of both halves."""
    lines = [
        "# Benchmark: kernels",
        "",
        "Made by `python -m benchmarks kernels`: adjusted Rand index of `KernelKMeans` on the similarity of "
        "`SelfSmoothing()` and of `SelfSmoothing(n_clusters=k)`, and of spectral clustering; at most "
        f"{MAX_ROWS} rows of a set. The rule was the best of a dozen on the development half; the "
        "report half was seen too.",
        "",
        f"| set | half | clusters | {' | '.join(METHODS)} |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for r in records:
        cells = " | ".join(f"{r['ari'][name]:.3f}" for name in METHODS)
        lines.append(f"| {r['set']} | {r['half']} | {r['clusters']} | {cells} |")
    for half in ("development", "report"):
        some = [r for r in records if r["half"] == half]
        if some:
            cells = " | ".join(f"{np.mean([r['ari'][n] for r in some]):.3f}" for n in METHODS)
            lines.append(f"| mean of {len(some)} | {half} | | {cells} |")
    return "\n".join([*lines, ""])
