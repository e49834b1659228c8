"""The automatic number, layers and noise on every kind of set, beside the answer that they replaced.

``--only GROUP`` or ``--only GROUP/development`` measures a part. Scores that stand in the results as
``before`` are those of the rules that the evidence replaced; they are kept.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, f1_score

from benchmarks.evidence_sets import GROUPS, HALVES
from benchmarks.labeled_sets import LabeledSet
from benchmarks.report import RESULTS, write_results

NAME = "evidence"


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, small sets and no files."""
    warnings.simplefilter("ignore")
    path = RESULTS / f"{NAME}.json"
    records = json.loads(path.read_text()) if path.exists() else []
    for group, sets in GROUPS.items():
        for half in HALVES:
            if only and only not in (group, half, f"{group}/{half}"):
                continue
            for item in sets(half):
                if quick and len(item.points) > 500:
                    continue
                key = group, half, item.name
                old: dict[str, Any] = next((r for r in records if _key(r) == key), {})
                new = measure(group, half, item, old)
                print(
                    *key,
                    {n: (m["n_clusters"], round(m["ari"], 3)) for n, m in new["methods"].items()},
                )
                records = [r for r in records if _key(r) != key] + [new]
            if not quick:
                write_results(NAME, records, markdown(records))
    print(markdown(records))


def _key(record: dict[str, Any]) -> tuple[str, str, str]:
    return record["group"], record["half"], record["set"]


def measure(group: str, half: str, item: LabeledSet, old: dict[str, Any]) -> dict[str, Any]:
    """Scores of all methods on a set; those of peers and of earlier rules are taken over."""
    methods = {name: score(method, item) for name, method in OURS.items()}
    for name, method in PEERS.items():
        kept = old.get("methods", {}).get(name)
        methods[name] = kept or score(method, item)
    before = old.get("before") or {name: methods[name] for name in OURS}
    n_true = len(np.unique(item.truths[0][item.truths[0] >= 0]))
    return {
        "group": group,
        "half": half,
        "set": item.name,
        "true": n_true,
        "methods": methods,
        "before": before,
    }


def score(method: Callable[[np.ndarray], np.ndarray], item: LabeledSet) -> dict[str, float]:
    """Number of clusters, adjusted Rand index of the points that are no noise in the truth, and noise."""
    start = time.process_time()
    labels = method(item.points)
    seconds = time.process_time() - start
    truth = item.truths[0]
    member = truth >= 0
    return {
        "n_clusters": len(np.unique(labels[labels >= 0])),
        "ari": float(adjusted_rand_score(truth[member], labels[member])),
        "f1": float(f1_score(~member, labels < 0, zero_division=0.0)),
        "noise": float((labels[member] < 0).mean()),
        "seconds": seconds,
    }


def _estimate(X: np.ndarray) -> np.ndarray:
    from vicinal.cluster import estimate_clusters

    found = estimate_clusters(X, n_jobs=1)
    return np.where(found.noise.is_noise, -1, found.labels)


def _spectral(X: np.ndarray) -> np.ndarray:
    from vicinal import SpectralClustering

    return SpectralClustering(random_state=0, n_jobs=1).fit_predict(X)


def _perceptual(X: np.ndarray) -> np.ndarray:
    from vicinal import PerceptualClustering

    return PerceptualClustering(random_state=0, n_jobs=1).fit_predict(X)


def _hdbscan(X: np.ndarray) -> np.ndarray:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=5, copy=True, n_jobs=1).fit_predict(X)


OURS = {
    "estimate_clusters": _estimate,
    "SpectralClustering": _spectral,
    "PerceptualClustering": _perceptual,
}
PEERS = {"HDBSCAN(5)": _hdbscan}


def markdown(records: list[dict[str, Any]]) -> str:
    """Means by group and half, with paired differences to the scores before."""
    lines = [
        "# Benchmark: evidence",
        "",
        "Measured by `python -m benchmarks evidence`: the number of clusters and the noise are not given, "
        "all settings are defaults. Mean adjusted Rand index over the points that are no noise in the truth, "
        "difference to the rules that the evidence replaced with its 95 % bootstrap interval over sets, "
        "fraction of sets with the true number of clusters and with more than one, F1 of the noise, members "
        "called noise, and mean CPU seconds. Choices were made on development sets only.",
        "",
        "| group | half | sets | method | ARI | difference | number right | above 1 | F1 | called | s |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for group in GROUPS:
        for half in HALVES:
            chosen = [r for r in records if (r["group"], r["half"]) == (group, half)]
            for name in chosen[0]["methods"] if chosen else []:
                lines.append(_row(group, half, chosen, name))
    return "\n".join([*lines, ""])


def _row(group: str, half: str, records: list[dict[str, Any]], name: str) -> str:
    found = [r["methods"][name] for r in records]
    means = {key: float(np.mean([f[key] for f in found])) for key in found[0]}
    right = float(
        np.mean([f["n_clusters"] == r["true"] for f, r in zip(found, records, strict=True)])
    )
    above = float(np.mean([f["n_clusters"] > 1 for f in found]))
    change = ""
    if name in OURS:
        change = interval(
            np.array(
                [f["ari"] - r["before"][name]["ari"] for f, r in zip(found, records, strict=True)]
            )
        )
    return (
        f"| {group} | {half} | {len(records)} | {name} | {means['ari']:.3f} | {change} | {right:.2f} "
        f"| {above:.2f} | {means['f1']:.3f} | {means['noise']:.3f} | {means['seconds']:.2f} |"
    )


def interval(differences: np.ndarray) -> str:
    """Mean of paired differences, with the 95 % bootstrap interval."""
    rng = np.random.default_rng(0)
    draws = rng.integers(len(differences), size=(2000, len(differences)))
    low, high = np.quantile(differences[draws].mean(axis=1), [0.025, 0.975])
    return f"{differences.mean():+.3f} ({low:+.3f} to {high:+.3f})"
