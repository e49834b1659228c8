"""What distinguishes each cluster, a rule for it, its nearest cluster, and why rows are noise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal.report._effects import category_effects, column_ranks, rank_biserial
from vicinal.report._preprocessing import CleanTable
from vicinal.report._rules import find_rule, rule_features
from vicinal.report._steps.clusters import Clusters
from vicinal.report._steps.exemplars import Exemplars
from vicinal.tables._codes import NORMAL_IQR

N_FEATURES, N_SEPARATING, N_REASONS = 3, 2, 2
N_NOISE_ROWS = 10
# Effects below this size do not distinguish a cluster.
MIN_EFFECT = 0.1
# Columns that a rule is searched in: those with the largest effects.
MAX_RULE_COLUMNS = 20


class Explanations(NamedTuple):
    """Clusters and noise in terms of the columns.

    Attributes
    ----------
    clusters : list of dict
        For each cluster: the ``features`` that distinguish it from the other clusters, each with an effect
        size from -1 to 1 and its 95 % interval; a ``rule`` with precision and recall on held-out rows, or
        None; ``typical`` rows; the ``nearest`` other cluster; and the features that ``separate`` the two.
    noise : list of dict
        For the rows with the highest noise scores that are noise: their nearest cluster, and ``reasons``, the
        columns in which they are farthest from it, in robust standard deviations of this cluster.
    """

    clusters: list[dict[str, Any]]
    noise: list[dict[str, Any]]


def explain(
    data: CleanTable,
    clusters: Clusters,
    exemplars: Exemplars,
    seed: int,
    n_jobs: int | None = -1,
) -> Explanations:
    """Explain clusters and noise."""
    labels = clusters.labels
    explained = []
    if labels.max() > 0:
        known = labels >= 0
        ranks = column_ranks(data.values[known], n_jobs)
        features = rule_features(data.values, data.names, data.categories)
        for label in range(int(labels.max()) + 1):
            distinguishing = _features(data, ranks, known, labels == label)
            columns = {feature["column"] for feature in distinguishing[:MAX_RULE_COLUMNS]}
            usable = [feature for feature in features if feature.column in columns]
            nearest = _nearest_cluster(label, data, clusters)
            pair = known & ((labels == label) | (labels == nearest))
            pair_ranks = column_ranks(data.values[pair], n_jobs)
            separating = _features(data, pair_ranks, pair, labels == label)
            explained.append(
                {
                    "cluster": label,
                    "features": _strongest(
                        distinguishing, N_FEATURES, data, known, labels == label
                    ),
                    "rule": find_rule(usable, labels == label, np.random.default_rng(seed)),
                    "typical": exemplars.clusters[label]["typical"] if exemplars.clusters else [],
                    "nearest": nearest,
                    "separate": _strongest(separating, N_SEPARATING, data, pair, labels == label),
                }
            )
    return Explanations(explained, _noise_reasons(data, labels, clusters.noise_score))


def _features(
    data: CleanTable, ranks: np.ndarray, rows: np.ndarray, members: np.ndarray
) -> list[dict[str, Any]]:
    """How members differ from the other rows, largest effect first; ``ranks`` are those of the rows."""
    inside = members[rows]
    effects = rank_biserial(ranks, inside) if data.names else []
    features: list[dict[str, Any]] = [
        {"column": name, "effect": effect.size, "low": effect.low, "high": effect.high}
        for name, effect in zip(data.names, effects, strict=True)
    ]
    for name, words in data.categories.items():
        record = category_effects(words[rows], inside)
        if record is not None:
            features.append({"column": name, **record})
    return sorted(features, key=lambda feature: -abs(feature["effect"]))


def _median(values: np.ndarray) -> float:
    # One of the values: the mean of two may overflow.
    return float(np.quantile(values, 0.5, method="lower"))


def _strongest(
    features: list[dict[str, Any]],
    n: int,
    data: CleanTable,
    rows: np.ndarray,
    members: np.ndarray,
) -> list[dict[str, Any]]:
    """The first features that are not too weak, and whose interval excludes 0, with medians of numbers."""
    strongest = [
        feature
        for feature in features[:n]
        if abs(feature["effect"]) >= MIN_EFFECT and feature["low"] * feature["high"] > 0
    ]
    for feature in strongest:
        if "category" not in feature:
            values = data.values[:, data.names.index(feature["column"])]
            feature["inside"] = _median(values[rows & members])
            feature["outside"] = _median(values[rows & ~members])
    return strongest


def _nearest_cluster(label: int, data: CleanTable, clusters: Clusters) -> int:
    """The cluster that most of the neighbours in other clusters belong to, or with the nearest centre."""
    shared = clusters.probabilities[clusters.labels == label, :-1].mean(axis=0)
    shared[label] = 0.0
    if shared.max() > 0:
        return int(shared.argmax())
    centers = np.stack(
        [data.points[clusters.labels == other].mean(axis=0) for other in range(len(shared))]
    )
    distances = np.linalg.norm(centers - centers[label], axis=1)
    distances[label] = np.inf
    return int(distances.argmin())


def _noise_reasons(data: CleanTable, labels: np.ndarray, score: np.ndarray) -> list[dict[str, Any]]:
    noise = np.flatnonzero(labels < 0)
    if not len(noise) or not data.names:
        return []
    rows = noise[np.argsort(-score[noise], kind="stable")[:N_NOISE_ROWS]]
    # Halved, because the difference of two values may overflow.
    halves, levels = data.values / 2, [0.25, 0.5, 0.75]
    quartiles = np.stack(
        [
            np.quantile(halves[labels == label], levels, axis=0)
            for label in range(int(labels.max()) + 1)
        ]
    )
    medians = quartiles[:, 1]
    overall = _unit(np.quantile(halves, levels, axis=0), np.ptp(halves, axis=0))
    records = []
    for i in rows.tolist():
        # Absolute differences: one extreme value does not decide which cluster is nearest.
        with np.errstate(over="ignore"):
            distances = np.abs((halves[i] - medians) / overall).sum(axis=1)
        nearest = int(distances.argmin())
        away = (halves[i] - medians[nearest]) / _unit(quartiles[nearest], overall)
        worst = np.argsort(-np.abs(away), kind="stable")[:N_REASONS]
        reasons = [
            {
                "column": data.names[j],
                "value": float(data.values[i, j]),
                "typical": float(2.0 * medians[nearest, j]),
                "deviation": float(away[j]),
            }
            for j in worst.tolist()
        ]
        records.append({"row": i, "nearest": nearest, "reasons": reasons})
    return records


def _unit(quartiles: np.ndarray, fallback: np.ndarray) -> np.ndarray:
    """Robust standard deviation of each column."""
    unit = (quartiles[2] - quartiles[0]) / NORMAL_IQR
    unit = np.where(unit > 0, unit, fallback)
    return np.where(unit > 0, unit, 1.0)
