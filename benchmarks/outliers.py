"""Outliers in tables: area under the ROC curve with defaults, columns scaled to [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.labeled_sets import outlier_tables
from benchmarks.report import write_results

# From points and a seed to outlier scores.
Method = Callable[[np.ndarray, int], np.ndarray]
# Scores of randomised methods are averaged over this many seeds.
N_SEEDS = 3


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, small tables, one seed, no files."""
    table: dict[str, dict[str, float]] = {name: {} for name in METHODS if not only or only in name}
    halves = {}
    for item in outlier_tables():
        if quick and len(item.points) > 1000:
            continue
        halves[item.name] = "development" if item.development else "report"
        outlier = item.truths[0] < 0
        for name, scores in table.items():
            aucs = [
                roc_auc_score(outlier, METHODS[name](item.points, seed))
                for seed in range(1 if quick else N_SEEDS)
            ]
            scores[item.name] = float(np.mean(aucs))
    page = markdown(table, halves)
    print(page)
    if not quick and not only:
        write_results("outliers", table, page)


def _detector(X: np.ndarray, seed: int) -> np.ndarray:
    from vicinal import OutlierDetector

    return -OutlierDetector(random_state=seed).fit(X).score_samples(X)


def _noise_score(X: np.ndarray, seed: int) -> np.ndarray:
    from vicinal import PerceptualClustering

    return PerceptualClustering(random_state=seed).fit(X).noise_score_


def _forest(X: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    return -IsolationForest(random_state=seed).fit(X).score_samples(X)


def _neighbor(X: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=5).fit(X).kneighbors()[0][:, -1]


def _local_factor(X: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.neighbors import LocalOutlierFactor

    return -LocalOutlierFactor().fit(X).negative_outlier_factor_


def _ecod(X: np.ndarray, seed: int) -> np.ndarray:
    from pyod.models.ecod import ECOD

    return ECOD().fit(X).decision_scores_


METHODS: dict[str, Method] = {
    "vicinal OutlierDetector": _detector,
    "vicinal PerceptualClustering, noise_score_": _noise_score,
    "scikit-learn IsolationForest": _forest,
    "distance to the 5th neighbour": _neighbor,
    "scikit-learn LocalOutlierFactor": _local_factor,
}
if find_spec("pyod"):
    METHODS["PyOD ECOD"] = _ecod


def markdown(table: dict[str, dict[str, float]], halves: dict[str, str]) -> str:
    """Tables as columns, with means over both halves."""
    lines = [
        "# Benchmark: outliers",
        "",
        "Measured by `python -m benchmarks outliers`: area under the ROC curve; all methods use defaults; "
        f"columns scaled to [0, 1]; mean of {N_SEEDS} seeds. The sample size was chosen on the development "
        "half.",
        "",
        f"| | {' | '.join(halves)} | mean | development | report |",
        f"| --- |{' ---: |' * (len(halves) + 3)}",
    ]
    for name, scores in table.items():
        cells = [f"{scores[s]:.3f}" for s in halves]
        for half in (None, "development", "report"):
            selected = [scores[s] for s in halves if half is None or halves[s] == half]
            cells.append(f"{np.mean(selected):.3f}" if selected else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
