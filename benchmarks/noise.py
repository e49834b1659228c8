"""Noise labels: F1 on sets with labelled noise, and the fraction of points labelled as noise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, f1_score

from benchmarks import labeled_sets
from benchmarks.labeled_sets import NOISY, LabeledSet
from benchmarks.report import write_results
from vicinal.datasets import make_half_cylinders

OTHER_FAMILIES = "other families in noise"
# From points to labels, -1 for noise.
Method = Callable[[np.ndarray], np.ndarray]


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, only small sets and no files."""
    warnings.simplefilter("ignore")
    methods = {name: m for name, m in METHODS.items() if not only or only in name}
    records = []
    for group, item in _sets():
        if quick and len(item.points) > 500:
            continue
        noise = item.truths[0] < 0
        labels = {name: method(item.points) for name, method in methods.items()}
        masks = {name: found < 0 for name, found in labels.items()}
        rest = {n: ~noise & ~mask for n, mask in masks.items()}
        print(group, item.name, {n: int(mask.sum()) for n, mask in masks.items()}, flush=True)
        records.append(
            {
                "group": group,
                "set": item.name,
                "half": _half(group, item),
                "f1": {n: float(f1_score(noise, m, zero_division=0.0)) for n, m in masks.items()},
                "fraction": {n: float(m.mean()) for n, m in masks.items()},
                "ari": {
                    n: float(adjusted_rand_score(item.truths[0][rest[n]], found[rest[n]]))
                    for n, found in labels.items()
                },
            }
        )
    page = markdown(records, list(methods))
    print(page)
    if not quick and not only:
        write_results("noise", records, page)


def _half(group: str, item: LabeledSet) -> str:
    # The density rule was chosen without looking at the other families.
    is_development = item.development and group != OTHER_FAMILIES
    return "development" if is_development else "report"


def _sets() -> Iterator[tuple[str, LabeledSet]]:
    for item in labeled_sets.shapes():
        if item.name in NOISY:
            yield "shapes in noise", item._replace(truths=(item.truths[NOISY[item.name]],))
        else:
            yield "clean", item
    for sets in (labeled_sets.real, labeled_sets.clusters):
        for item in sets():
            yield "clean", item
    for item in labeled_sets.clusters_in_noise():
        yield "generated in noise", item
    for item in labeled_sets.other_clusters_in_noise():
        yield OTHER_FAMILIES, item
    for n_noise in (200, 800, 1600):
        for seed in range(3):
            X, y = make_half_cylinders(800, n_noise, random_state=seed)
            yield "half-cylinders in noise", LabeledSet(f"half_cylinders_{n_noise}_{seed}", X, (y,))


def _evidence(X: np.ndarray) -> np.ndarray:
    from vicinal.cluster import estimate_clusters

    evidence = estimate_clusters(X)
    return np.where(evidence.noise.is_noise, -1, evidence.labels)


def _perceptual(X: np.ndarray) -> np.ndarray:
    from vicinal import PerceptualClustering

    return PerceptualClustering(random_state=0).fit_predict(X)


def _hdbscan(X: np.ndarray) -> np.ndarray:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X)


def _deadwood(X: np.ndarray) -> np.ndarray:
    from deadwood import Deadwood

    return np.where(Deadwood().fit(X).labels_ < 0, -1, 0)


METHODS: dict[str, Method] = {
    "vicinal estimate_clusters": _evidence,
    "vicinal PerceptualClustering": _perceptual,
    "scikit-learn HDBSCAN (15)": _hdbscan,
}
if find_spec("deadwood"):
    METHODS["Deadwood"] = _deadwood


def markdown(records: list[dict[str, Any]], methods: list[str]) -> str:
    """Means per group and half."""
    lines = [
        "# Benchmark: noise",
        "",
        "Measured by `python -m benchmarks noise`: F1 of the noise label on sets with labelled noise, "
        "the mean and maximum fraction of points labelled as noise, and the adjusted Rand index of the "
        "points that neither are nor are labelled noise, with an automatic number of clusters. Rules were "
        "chosen on the development half; see docs/guides/noise.md for what else was looked at. Deadwood "
        "labels noise only; its Rand index is that of one cluster.",
        "",
        "| group | half | sets | method | F1 | noise, mean | noise, max | ARI of the rest |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for group in dict.fromkeys(r["group"] for r in records):
        for half in ("development", "report"):
            selected = [r for r in records if r["group"] == group and r["half"] == half]
            for name in methods if selected else []:
                f1 = np.mean([r["f1"][name] for r in selected])
                fractions = [r["fraction"][name] for r in selected]
                f1_cell = "" if group == "clean" else f"{f1:.3f}"
                lines.append(
                    f"| {group} | {half} | {len(selected)} | {name} | {f1_cell} | {np.mean(fractions):.3f} "
                    f"| {np.max(fractions):.2f} | {np.mean([r['ari'][name] for r in selected]):.3f} |"
                )
    return "\n".join([*lines, ""])
