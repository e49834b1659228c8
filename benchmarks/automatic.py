"""What the automatic number of clusters, layers and noise cost, compared with a given number of clusters."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.report import write_results

N_POINTS, N_QUICK, N_COLUMNS, N_CLUSTERS = 100_000, 20_000, 16, 12
NOISE = 0.05
MAX_RATIO = 2.0


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, fewer points and no files."""
    warnings.simplefilter("ignore")
    # Kernels are compiled or loaded before the first measurement.
    for automatic in (False, True):
        for name in ("SpectralClustering", "PerceptualClustering"):
            _model(name, automatic).fit(_points(3_000, NOISE)[0])
    records: dict[str, dict[str, Any]] = {}
    for case, fraction, dimension in (
        ("clean", 0.0, N_COLUMNS),
        ("5 % noise", NOISE, N_COLUMNS),
        ("5 % noise, clusters in 3 dimensions", NOISE, 3),
    ):
        points, truth = _points(N_QUICK if quick else N_POINTS, fraction, dimension)
        for name in ("SpectralClustering", "PerceptualClustering"):
            if not only or only in f"{name}, {case}":
                records[f"{name}, {case}"] = _measure(name, points, truth)
                print(name, case, records[f"{name}, {case}"], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("automatic", records, page)


def _points(n: int, noise: float, dimension: int = N_COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    """Blobs of a dimension in a random subspace, and uniform noise in the box around them."""
    rng = np.random.default_rng(0)
    n_noise = round(noise * n)
    blobs, labels, *_ = make_blobs(n - n_noise, dimension, centers=N_CLUSTERS, random_state=1)
    axes = np.linalg.qr(rng.normal(size=(N_COLUMNS, dimension)))[0]
    members = blobs @ axes.T
    uniform = rng.uniform(members.min(axis=0), members.max(axis=0), (n_noise, N_COLUMNS))
    return np.vstack([members, uniform]), np.append(labels, np.full(n_noise, -1))


def _model(name: str, automatic: bool) -> Any:
    import vicinal

    number = "auto" if automatic else N_CLUSTERS
    noise = {"noise": 0} if name == "PerceptualClustering" and not automatic else {}
    return getattr(vicinal, name)(number, random_state=0, n_jobs=1, **noise)


def _measure(name: str, points: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """CPU seconds with and without the number, their ratio, and the score of the automatic clusters."""
    record: dict[str, Any] = {}
    for label in ("given", "automatic"):
        model = _model(name, label == "automatic")
        start = time.process_time()
        model.fit(points)
        record[label] = time.process_time() - start
    members = truth >= 0
    record["ratio"] = record["automatic"] / record["given"]
    record["n_clusters"] = model.n_clusters_
    record["ari"] = float(adjusted_rand_score(truth[members], model.labels_[members]))
    record["noise"] = float(model.cluster_evidence_.noise.is_noise.mean())
    return record


def markdown(records: dict[str, dict[str, Any]]) -> str:
    """One row per case and method."""
    lines = [
        "# Benchmark: automatic",
        "",
        f"Measured by `python -m benchmarks automatic`: CPU seconds on one thread for {N_POINTS:,} points in "
        f"{N_COLUMNS} columns ({N_CLUSTERS} blobs), with the number of clusters given (noise not sought), "
        f"and with number, layers and noise automatic. The goal is a ratio of at most {MAX_RATIO:g}.",
        "",
        "| method and case | given | automatic | ratio | clusters found | ARI | noise found |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, r in records.items():
        lines.append(
            f"| {name} | {r['given']:.1f} | {r['automatic']:.1f} | {r['ratio']:.2f} "
            f"| {r['n_clusters']} | {r['ari']:.3f} | {r['noise']:.3f} |"
        )
    return "\n".join([*lines, ""])
