"""Near-duplicates among many embeddings: CPU time, memory and completeness of the pairs.

Embeddings lie in clusters. One row in fifty is copied with a little noise, and one in a hundred exactly.
The pairs must contain these, and those of sampled rows are compared with a literal search.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np

from benchmarks.report import write_results

# Name, rows, columns, metric.
CASES = (
    ("exact, cosine", 100_000, 384, "cosine"),
    ("exact, Euclidean", 100_000, 384, "euclidean"),
    ("approximate, cosine", 1_000_000, 256, "cosine"),
)
N_SAMPLED, ROWS_PER_CLUSTER = 1000, 500


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` 5,000 rows, nothing written."""
    records = {}
    for name, n, columns, metric in CASES:
        if only and only not in name:
            continue
        records[name] = measure(5000 if quick else n, columns, metric)
        print(name, records[name], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("large_duplicates", records, page)


def embeddings(n: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors in clusters, in single precision, with near and exact copies in random places.

    Also returns the pairs of each row and its copy.
    """
    rng = np.random.default_rng(0)
    n_near, n_equal = n // 50, n // 100
    n_rows = n - n_near - n_equal
    centers = rng.normal(size=(max(1, n // ROWS_PER_CLUSTER), columns)).astype(np.float32)
    X = centers[rng.integers(0, len(centers), n_rows)]
    X += rng.standard_normal(X.shape, np.float32)
    near = X[:n_near] + 0.05 * rng.standard_normal((n_near, columns), np.float32)
    X = np.concatenate([X, near, X[-n_equal:]])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    order = rng.permutation(n)
    place = np.argsort(order)
    sources = np.concatenate([np.arange(n_near), np.arange(n_rows - n_equal, n_rows)])
    planted = np.sort(np.column_stack([place[sources], place[n_rows:]]), axis=1)
    return X[order], planted


def measure(n: int, columns: int, metric: str) -> dict[str, Any]:
    """Cost of the search, and the pairs of sampled rows that it missed or invented."""
    from vicinal import near_duplicates

    near_duplicates(embeddings(2000, 8)[0], metric=metric)  # compiles
    X, planted = embeddings(n, columns)
    before = _peak_gb()
    wall, start = time.perf_counter(), time.process_time()
    result = near_duplicates(X, metric=metric)
    seconds, wall, peak = time.process_time() - start, time.perf_counter() - wall, _peak_gb()
    # Rounding in single precision moves a distance by less than this.
    tolerance = 1e-4 * result.threshold
    sampled = np.random.default_rng(1).choice(n, min(n, N_SAMPLED), replace=False)
    found = {(int(i), int(j)) for i, j in result.pairs}
    n_planted = sum((int(i), int(j)) in found for i, j in planted)
    expected = _literal_pairs(X, sampled, metric, result.threshold - tolerance)
    allowed = _literal_pairs(X, sampled, metric, result.threshold + tolerance)
    of_sample = {pair for pair in found if pair[0] in set(sampled) or pair[1] in set(sampled)}
    return {
        "rows": n,
        "columns": columns,
        "cpu_seconds": seconds,
        "wall_seconds": wall,
        "peak_gb": peak,
        "before_gb": before,
        "pairs": result.n_pairs,
        "stated_recall": float(result.recall),
        "sampled_pairs": len(expected),
        "planted_recall": n_planted / len(planted),
        "recall": len(expected & found) / max(1, len(expected)),
        "false_pairs": len(of_sample - allowed),
    }


def _literal_pairs(
    X: np.ndarray, rows: np.ndarray, metric: str, threshold: float
) -> set[tuple[int, int]]:
    """Pairs of some rows with any row, from all distances in double precision, a few rows at a time."""
    pairs = set()
    squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    for block in np.array_split(rows, max(1, len(rows) // 50)):
        products = (X @ X[block].T).T.astype(np.float64)
        if metric == "cosine":
            lengths = 1.0 - products / np.sqrt(squares[block, None] * squares)
        else:
            lengths = np.sqrt(np.maximum(squares[block, None] + squares - 2.0 * products, 0.0))
        near = lengths <= threshold + 1e-3
        for at, j in zip(*np.nonzero(near), strict=True):
            i = int(block[at])
            a, b = X[i].astype(np.float64), X[j].astype(np.float64)
            if metric == "cosine":
                exact = 1.0 - a @ b / np.sqrt((a @ a) * (b @ b))
            else:
                exact = float(np.linalg.norm(a - b))
            if i != j and exact <= threshold:
                pairs.add((min(i, int(j)), max(i, int(j))))
    return pairs


def _peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def markdown(records: dict[str, Any]) -> str:
    """Cases as rows."""
    lines = [
        "# Benchmark: near-duplicates among many rows",
        "",
        "Made by `python -m benchmarks large_duplicates`: `near_duplicates` with defaults on embeddings in "
        f"single precision. One recall is that of the planted copies, the other that of all pairs of "
        f"{N_SAMPLED:,} rows in a literal search.",
        "",
        "| case | rows | columns | CPU time | wall time | peak memory | pairs | copies found "
        "| recall | false pairs |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {r['rows']:,} | {r['columns']} | {r['cpu_seconds']:.0f} s | {r['wall_seconds']:.0f} s "
        f"| {r['peak_gb']:.1f} GB | {r['pairs']:,} | {r['planted_recall']:.4f} | {r['recall']:.4f} "
        f"| {r['false_pairs']} |"
        for name, r in records.items()
    ]
    return "\n".join([*lines, ""])
