"""Exact neighbours in many dimensions, compared with the matrix products that they need at least.

Every pair of points needs one inner product: n^2 D operations in all, because one product serves both points.
A search that did nothing else would be as fast as the products of the BLAS library in single precision. CPU
time of one thread, so that other programs hardly matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.report import write_results

N_POINTS, K = 40_000, 15
DIMENSIONS = (30, 64, 128, 256, 1000)
SIDE = 2048
N_REPEATS = 3


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` few points, nothing written."""
    records: dict[str, dict[str, float]] = {}
    for d in DIMENSIONS:
        if only and only != str(d):
            continue
        records[f"D={d}"] = measure(4_000 if quick else N_POINTS, d)
        print(d, records[f"D={d}"], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("products", records, page)


def measure(n: int, d: int) -> dict[str, float]:
    """Billions of operations per second of the search and of products, and their ratio."""
    from vicinal.neighbors import NeighborSearch

    X = np.random.default_rng(0).standard_normal((n, d))
    search = NeighborSearch(X, method="exact", n_jobs=1)
    NeighborSearch(X[:2000], method="exact", n_jobs=1).nearest(K)
    sides = np.random.default_rng(1).standard_normal((2, SIDE, d)).astype(np.float32)
    out = np.empty((SIDE, SIDE), np.float32)
    with threadpool_limits(1, user_api="blas"):
        product = _shortest(lambda: np.matmul(sides[0], sides[1].T, out=out), 5 * N_REPEATS)
        # The first search prepares the points.
        seconds = _shortest(lambda: search.nearest(K), 1 if d > 256 else N_REPEATS)
    rates = n**2 * d / seconds / 1e9, 2 * SIDE**2 * d / product / 1e9
    return {"search": rates[0], "sgemm": rates[1], "ratio": rates[1] / rates[0], "seconds": seconds}


def _shortest(call: Callable[[], object], n_repeats: int) -> float:
    times = []
    for _ in range(n_repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def markdown(records: dict[str, dict[str, float]]) -> str:
    """Dimensions as rows."""
    lines = [
        "# Benchmark: products",
        "",
        f"Measured by `python -m benchmarks products`: exact {K} neighbours of {N_POINTS:,} normal points, "
        "CPU time of one thread. GFlop/s count one inner product per pair of points; sgemm is the product of "
        f"{SIDE:,} with {SIDE:,} points by the BLAS library of numpy.",
        "",
        "| D | search, s | search, GFlop/s | sgemm, GFlop/s | sgemm / search |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, r in records.items():
        lines.append(
            f"| {name.removeprefix('D=')} | {r['seconds']:.2f} | {r['search']:.0f} | {r['sgemm']:.0f} | "
            f"{r['ratio']:.2f} |"
        )
    return "\n".join([*lines, ""])
