"""Retrieval with defaults: mean average precision of rankings against that of Euclidean distances."""

from __future__ import annotations

import itertools
import warnings
import zlib
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import pairwise_distances

from benchmarks import labeled_sets
from benchmarks.labeled_sets import LabeledSet
from benchmarks.report import write_results

N_QUERIES = 500
# The former fixed value of alpha.
FIXED_ALPHA = 0.999
# Held-out sets with unusual shapes; the rule was chosen on all others.
HELD_OUT = (
    "fcps/lsun",
    "fcps/tetra",
    "fcps/wingnut",
    "sipu/compound",
    "sipu/flame",
    "sipu/jain",
    "sipu/pathbased",
    "sipu/r15",
    "sklearn/breast_cancer",
    "sklearn/iris",
)


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` at most 1000 rows, nothing written."""
    warnings.simplefilter("ignore")
    records: dict[str, dict[str, float]] = {}
    for item in sets():
        if only and only not in item.name:
            continue
        rng = np.random.default_rng(zlib.crc32(item.name.encode()))
        rows = rng.permutation(len(item.points))[: 1000 if quick else None]
        records[item.name] = _measure(item.points[rows], item.truths[0][rows])
        records[item.name]["held_out"] = item.name in HELD_OUT
        print(item.name, records[item.name], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("retrieval", records, page)


def sets() -> Iterator[LabeledSet]:
    """Images, shapes and tables with classes, and half-cylinders in noise (-1)."""
    yield from labeled_sets.real()
    with np.load(labeled_sets.folder() / "mpeg7_shapes.npz") as stored:
        truths = (stored["labels"].astype(np.int64),)
        for name in ("mask64", "contours"):
            points = stored[name].reshape(len(truths[0]), -1).astype(np.float64)
            yield LabeledSet(f"mpeg7/{name}", points, truths)
    from vicinal.datasets import make_half_cylinders

    for n_noise in (200, 800):
        X, y = make_half_cylinders(400, n_noise, random_state=0)
        yield LabeledSet(f"half_cylinders/{n_noise}", X, (y,))
    for item in itertools.chain(labeled_sets.shapes(), labeled_sets.clusters()):
        if item.name in HELD_OUT:
            yield item


def _measure(X: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    from vicinal import PerceptualRanking

    queries = np.flatnonzero(truth >= 0)[:N_QUERIES]
    chosen = PerceptualRanking().fit(X)
    fixed = PerceptualRanking(alpha=FIXED_ALPHA).fit(X)
    return {
        "euclidean": average_precision(-pairwise_distances(X[queries], X), queries, truth),
        "fixed": average_precision(fixed.scores(queries), queries, truth),
        "auto": average_precision(chosen.scores(queries), queries, truth),
        "alpha": chosen.alpha_,
    }


def average_precision(scores: np.ndarray, queries: np.ndarray, truth: np.ndarray) -> float:
    """Mean over queries; a query is not among its own results."""
    values = []
    for row, query in zip(scores, queries, strict=True):
        order = np.argsort(-row, kind="stable")
        relevant = truth[order[order != query]] == truth[query]
        if relevant.any():
            hits = np.flatnonzero(relevant) + 1.0
            values.append(np.mean(np.arange(1, len(hits) + 1) / hits))
    return float(np.mean(values))


def markdown(records: dict[str, dict[str, float]]) -> str:
    """Sets as rows."""
    lines = [
        "# Benchmark: retrieval",
        "",
        f"Made by `python -m benchmarks retrieval`: mean average precision of {N_QUERIES} queries, or all, "
        "for the order of Euclidean distances and for `PerceptualRanking`, with the alpha that it chooses "
        f'by default ("auto") and with {FIXED_ALPHA}. The rule was chosen without the '
        "sets that are held out.",
        "",
        f"| set | held out | Euclidean | alpha = {FIXED_ALPHA} | auto | alpha |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, record in records.items():
        half = "yes" if record["held_out"] else "no"
        lines.append(
            f"| {name} | {half} | {record['euclidean']:.3f} | {record['fixed']:.3f} "
            f"| {record['auto']:.3f} | {record['alpha']:g} |"
        )
    return "\n".join([*lines, ""])
