"""Outliers in tables and embeddings: ranking, new rows beside clean ones, and decisions with an error rate.

All methods use defaults, on columns scaled to [0, 1]. Randomised methods are averaged over seeds.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.board import compare
from benchmarks.labeled_sets import OutlierSet, outlier_sets
from benchmarks.report import RESULTS, write_results

N_SEEDS, N_SPLITS, N_DECISIONS = 3, 2, 20
RATE = 0.1
OURS = "vicinal OutlierDetector"
# Minimum covariance determinants need many more rows than columns: wide tables are projected.
MAX_MCD_COLUMNS = 100
PARTS = ("ranking", "novelty", "decisions")


class Method(NamedTuple):
    """From training rows, rows to score (None for the training rows) and a seed to scores."""

    scores: Callable[[np.ndarray, np.ndarray | None, int], np.ndarray]
    n_seeds: int = 1


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, small tables, one seed, no files.

    ``only`` is a part ("ranking", "novelty" or "decisions"), which is added to the results of the others,
    or the name of a method, for which nothing is written.
    """
    warnings.simplefilter("ignore")
    stored = RESULTS / "outliers.json"
    results: dict[str, Any] = json.loads(stored.read_text("utf-8")) if stored.exists() else {}
    sets = [item for item in outlier_sets() if not quick or len(item.points) <= 400]
    parts = [only] if only in PARTS else list(PARTS)
    name = None if only in PARTS else only
    results["sets"] = {
        item.name: [item.family, "development" if item.development else "report"] for item in sets
    }
    n_seeds = 1 if quick else N_SEEDS
    if "ranking" in parts:
        results["auc"], results["ap"] = _ranking(sets, name, n_seeds)
    if "novelty" in parts:
        results["novelty"] = _novelty(sets, name)
    if "decisions" in parts and name in (None, OURS):
        results["decisions"] = _decisions(sets, 2 if quick else N_DECISIONS)
    page = markdown(results)
    print(page)
    if not quick and name is None:
        write_results("outliers", results, page)


def _ranking(sets: list[OutlierSet], only: str | None, n_seeds: int) -> tuple[Any, Any]:
    auc: dict[str, dict[str, float]] = {}
    precision: dict[str, dict[str, float]] = {}
    for item in sets:
        for name, method in METHODS.items():
            if only and only not in name:
                continue
            found = [
                method.scores(item.points, None, seed)
                for seed in range(min(n_seeds, method.n_seeds))
            ]
            auc.setdefault(name, {})[item.name] = _mean(roc_auc_score, item.outlier, found)
            precision.setdefault(name, {})[item.name] = _mean(
                average_precision_score, item.outlier, found
            )
            print(item.name, name, auc[name][item.name], flush=True)
    return auc, precision


def _mean(measure: Callable[..., float], outlier: np.ndarray, found: list[np.ndarray]) -> float:
    return float(np.mean([measure(outlier, scores) for scores in found]))


def _novelty(sets: list[OutlierSet], only: str | None) -> dict[str, dict[str, float]]:
    """Area under the ROC curve of rows beside half of the inliers."""
    auc: dict[str, dict[str, float]] = {}
    for item in sets:
        for name, method in NOVELTY.items():
            if only and only not in name:
                continue
            found = []
            for clean, new, outlier in _splits(item, N_SPLITS):
                found.append(roc_auc_score(outlier, method.scores(clean, new, 0)))
            auc.setdefault(name, {})[item.name] = float(np.mean(found))
            print("novelty", item.name, name, auc[name][item.name], flush=True)
    return auc


def _splits(item: OutlierSet, n_splits: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Half of the inliers, the other rows, and which of these are outliers."""
    inliers, outliers = np.flatnonzero(~item.outlier), np.flatnonzero(item.outlier)
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(inliers)
        half = len(order) // 2
        new = np.concatenate([order[half:], outliers])
        yield item.points[order[:half]], item.points[new], item.outlier[new]


def _decisions(sets: list[OutlierSet], n_splits: int) -> dict[str, dict[str, float]]:
    """Mean false discovery proportion and power with a clean reference, and of the automatic threshold."""
    from vicinal import OutlierDetector

    records: dict[str, dict[str, float]] = {}
    for item in sets:
        found = []
        for seed, (clean, new, outlier) in enumerate(_splits(item, n_splits)):
            model = OutlierDetector(novelty=True, fdr=RATE, random_state=seed).fit(clean)
            found.append(_errors(model.predict(new) == -1, outlier))
        alone = _errors(OutlierDetector().fit_predict(item.points) == -1, item.outlier)
        false, power = np.mean(found, axis=0).tolist()
        records[item.name] = {
            "false": false,
            "power": power,
            "auto false": alone[0],
            "auto power": alone[1],
        }
        print("decisions", item.name, records[item.name], flush=True)
    return records


def _errors(flagged: np.ndarray, outlier: np.ndarray) -> tuple[float, float]:
    """Fraction of the flagged rows that are inliers, and of the outliers that are flagged."""
    right = int((flagged & outlier).sum())
    return 1.0 - right / max(int(flagged.sum()), 1) if flagged.any() else 0.0, right / outlier.sum()


# Methods


def _detector(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    from vicinal import OutlierDetector

    model = OutlierDetector(novelty=new is not None, random_state=seed).fit(X)
    return -model.score_samples(X if new is None else new)


def _noise_score(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    from vicinal import PerceptualClustering

    return PerceptualClustering(random_state=seed).fit(X).noise_score_


def _forest(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    model = IsolationForest(random_state=seed).fit(X)
    return -model.score_samples(X if new is None else new)


def _neighbors(X: np.ndarray, new: np.ndarray | None, k: int) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    distances: np.ndarray = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(new)[0]
    return distances


def _first(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    return _neighbors(X, new, 1)[:, -1]


def _fifth(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    return _neighbors(X, new, 5)[:, -1]


def _mean_of_ten(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    return _neighbors(X, new, 10).mean(axis=1)


def _covariance(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    from sklearn.covariance import MinCovDet
    from sklearn.decomposition import PCA

    rows = X if new is None else new
    varied = np.ptp(X, axis=0) > 0
    X, rows = X[:, varied], rows[:, varied]
    if X.shape[1] > MAX_MCD_COLUMNS:
        projection = PCA(min(MAX_MCD_COLUMNS, len(X) // 5), random_state=seed).fit(X)
        X, rows = projection.transform(X), projection.transform(rows)
    distances: np.ndarray = MinCovDet(random_state=seed).fit(X).mahalanobis(rows)
    return distances


def _local_factor(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    from sklearn.neighbors import LocalOutlierFactor

    return -LocalOutlierFactor().fit(X).negative_outlier_factor_


def _ecod(X: np.ndarray, new: np.ndarray | None, seed: int) -> np.ndarray:
    from pyod.models.ecod import ECOD

    return ECOD().fit(X).decision_scores_


METHODS: dict[str, Method] = {
    OURS: Method(_detector, N_SEEDS),
    "vicinal PerceptualClustering, noise_score_": Method(_noise_score),
    "scikit-learn IsolationForest": Method(_forest, N_SEEDS),
    "scikit-learn MinCovDet": Method(_covariance),
    "distance to the 5th neighbour": Method(_fifth),
    "mean distance to 10 neighbours": Method(_mean_of_ten),
    "scikit-learn LocalOutlierFactor": Method(_local_factor),
}
if find_spec("pyod"):
    METHODS["PyOD ECOD"] = Method(_ecod)
NOVELTY: dict[str, Method] = {
    OURS: Method(_detector),
    "distance to the 1st neighbour": Method(_first),
    "distance to the 5th neighbour": Method(_fifth),
    "scikit-learn IsolationForest": Method(_forest),
}


# The page


def markdown(results: dict[str, Any]) -> str:
    """Means per half and family, and scores of all sets."""
    sets = results["sets"]
    lines = [
        "# Benchmark: outliers",
        "",
        "Measured by `python -m benchmarks outliers`; all methods use defaults; columns scaled to "
        f"[0, 1]; at most 5,000 rows; mean of {N_SEEDS} seeds. Rules were chosen on the development "
        "sets; the report sets were measured afterwards.",
    ]
    for key, title in (
        ("auc", "Area under the ROC curve"),
        ("ap", "Average precision"),
        ("novelty", "New rows beside clean ones: area under the ROC curve"),
    ):
        if key in results:
            lines += ["", f"## {title}", "", *_means(results[key], sets)]
    if "decisions" in results:
        lines += ["", "## Decisions", "", *_decision_rows(results["decisions"], sets)]
    if "auc" in results:
        lines += ["", "## Area under the ROC curve of each set", "", *_each(results["auc"], sets)]
    return "\n".join([*lines, ""])


def _groups(sets: dict[str, list[str]]) -> dict[str, list[str]]:
    """Names of the sets of each half, and of each family within it."""
    groups: dict[str, list[str]] = {}
    for half in ("development", "report"):
        for family in (None, "tables", "images", "texts"):
            names = [s for s, (f, h) in sets.items() if h == half and family in (None, f)]
            if names:
                groups[f"{half}{f', {family}' if family else ''} ({len(names)})"] = names
    return groups


def _means(scores: dict[str, dict[str, float]], sets: dict[str, list[str]]) -> list[str]:
    groups = _groups(sets)
    lines = [f"| | {' | '.join(groups)} | lead of vicinal, development | report |"]
    lines.append(f"| --- |{' ---: |' * len(groups)} --- | --- |")
    for name, row in scores.items():
        cells = [f"{np.mean([row[s] for s in names]):.3f}" for names in groups.values()]
        for half in ("development", "report"):
            names = [s for s in row if sets[s][1] == half]
            cells.append("" if name == OURS else _lead(scores[OURS], row, names))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _lead(ours: dict[str, float], row: dict[str, float], names: list[str]) -> str:
    if not names:
        return ""
    found = compare({s: ours[s] for s in names}, row)
    return f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def _decision_rows(records: dict[str, dict[str, float]], sets: dict[str, list[str]]) -> list[str]:
    lines = [
        "False discovery proportion and power, means over the sets, with two standard errors over the "
        f"sets: with a clean reference at a rate of {RATE:.0%} ({N_DECISIONS} splits), and of "
        '`contamination="auto"` without one.',
        "",
        "| | false, clean reference | power | false, auto | power |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for group, names in _groups(sets).items():
        table = np.array([list(records[s].values()) for s in names])
        error = 2.0 * table[:, 0].std(ddof=1) / np.sqrt(len(names)) if len(names) > 1 else 0.0
        false, power, auto_false, auto_power = table.mean(axis=0)
        lines.append(
            f"| {group} | {false:.3f} ± {error:.3f} | {power:.3f} | {auto_false:.3f} | {auto_power:.3f} |"
        )
    return lines


def _each(scores: dict[str, dict[str, float]], sets: dict[str, list[str]]) -> list[str]:
    lines = [
        f"| | family | half | {' | '.join(scores)} |",
        f"| --- | --- | --- |{' ---: |' * len(scores)}",
    ]
    for name, (family, half) in sets.items():
        cells = [f"{row[name]:.3f}" if name in row else "" for row in scores.values()]
        lines.append(f"| {name} | {family} | {half} | {' | '.join(cells)} |")
    return lines
