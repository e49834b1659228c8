"""Clusters of embeddings with defaults beside EVoC: agreement with classes, rows in clusters, time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import labeled_sets, near_duplicates
from benchmarks.labeled_sets import LabeledSet
from benchmarks.report import write_results

N_ROWS, SEEDS = 1000, (0, 1)


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` 500 rows, nothing written."""
    warnings.simplefilter("ignore")
    records: dict[str, Any] = {}
    for item in sets():
        if only and only not in item.name:
            continue
        rows = np.random.default_rng(0).permutation(len(item.points))[: 500 if quick else N_ROWS]
        X, y = item.points[rows].astype(np.float32), item.truths[0][rows]
        records[item.name] = {name: _measure(method, X, y) for name, method in METHODS.items()}
        print(item.name, records[item.name], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("embeddings", records, page)


def sets() -> Iterator[LabeledSet]:
    """Pixels of digits and faces, and generated texts as vectors of latent meanings."""
    yield from (item for item in labeled_sets.real() if not item.name.startswith("uci/"))
    texts, topics = near_duplicates.topic_texts(np.random.default_rng(0), N_ROWS)
    yield LabeledSet("texts", near_duplicates.latent(texts), (topics,))


def _measure(method: Callable[[np.ndarray, int], np.ndarray], X: Any, y: Any) -> dict[str, float]:
    scores, fractions, labellings = [], [], []
    start = time.process_time()
    for seed in SEEDS:
        labels = method(X, seed)
        labellings.append(labels)
        scores.append(adjusted_rand_score(y, labels))
        fractions.append(float((labels >= 0).mean()))
    return {
        "ari": float(np.mean(scores)),
        "clustered": float(np.mean(fractions)),
        "agreement": float(adjusted_rand_score(*labellings)),
        "seconds": (time.process_time() - start) / len(SEEDS),
    }


def spectral(X: np.ndarray, seed: int) -> np.ndarray:
    """`SpectralClustering` with its defaults."""
    from vicinal import SpectralClustering

    return np.asarray(SpectralClustering(random_state=seed).fit_predict(X))


def perceptual(X: np.ndarray, seed: int) -> np.ndarray:
    """`PerceptualClustering` with its defaults."""
    from vicinal import PerceptualClustering

    return np.asarray(PerceptualClustering(random_state=seed).fit_predict(X))


def evoc(X: np.ndarray, seed: int) -> np.ndarray:
    """The default layer of EVoC."""
    from evoc import EVoC

    return np.asarray(EVoC(random_state=seed).fit_predict(X))


METHODS = {
    "vicinal SpectralClustering": spectral,
    "vicinal PerceptualClustering": perceptual,
    "EVoC": evoc,
}


def markdown(records: dict[str, Any]) -> str:
    """Sets as rows, methods as columns."""
    lines = [
        "# Benchmark: clusters of embeddings",
        "",
        f"Made by `python -m benchmarks embeddings`: at most {N_ROWS:,} rows, number of clusters not given. "
        "Adjusted Rand index / fraction of rows in clusters / agreement of two seeds (adjusted Rand index) / "
        "CPU time, which includes compilation on the first set.",
        "",
        f"| set | {' | '.join(METHODS)} |",
        f"| --- |{' ---: |' * len(METHODS)}",
    ]
    for name, record in records.items():
        lines.append(f"| {name} | {' | '.join(_cell(record[method]) for method in METHODS)} |")
    if records:
        means = {
            method: {
                field: float(np.mean([record[method][field] for record in records.values()]))
                for field in ("ari", "clustered", "agreement", "seconds")
            }
            for method in METHODS
        }
        lines.append(f"| **mean** | {' | '.join(_cell(means[method]) for method in METHODS)} |")
    return "\n".join([*lines, ""])


def _cell(found: dict[str, float]) -> str:
    return (
        f"{found['ari']:.3f} / {100 * found['clustered']:.0f} % / {found['agreement']:.2f} / "
        f"{found['seconds']:.1f} s"
    )
