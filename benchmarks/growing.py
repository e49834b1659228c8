"""Growing graphs: CPU time of inserting single points, and of building the graph again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.report import write_results

N_POINTS, N_INSERTS = 100_000, 200


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` 5,000 points, nothing written."""
    from vicinal import graphs

    n = 5000 if quick else N_POINTS
    kinds: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "knn": (
            lambda X: graphs.GrowingKNN(X, 10, n_jobs=1),
            lambda X: graphs.knn(X, 10, n_jobs=1),
        ),
        "mst": (lambda X: graphs.GrowingMST(X, n_jobs=1), lambda X: graphs.mst(X, n_jobs=1)),
    }
    records = {}
    for columns in (3, 16):
        X = np.random.default_rng(0).normal(size=(n + N_INSERTS, columns))
        for name, (growing, build) in kinds.items():
            key = f"{name}, {columns} columns"
            if only and only not in key:
                continue
            graph = growing(X[:n])
            graph.insert(X[n : n + 1])  # compiles
            built = build(X[: n + 1])
            assert graph.graph == built
            start = time.process_time()
            for row in range(n + 1, n + N_INSERTS):
                graph.insert(X[row : row + 1])
                graph._update()
            insert = (time.process_time() - start) / (N_INSERTS - 1)
            start = time.process_time()
            built = build(X)
            rebuild = time.process_time() - start
            assert graph.graph == built
            records[key] = {
                "points": n,
                "insert_ms": 1e3 * insert,
                "rebuild_ms": 1e3 * rebuild,
                "ratio": rebuild / insert,
            }
            print(key, records[key], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("growing", records, page)


def markdown(records: dict[str, dict[str, float]]) -> str:
    """Graphs as rows."""
    lines = [
        "# Benchmark: growing graphs",
        "",
        "Made by `python -m benchmarks growing`: CPU time of inserting one point at a time, with the graph "
        "up to date after each, and of building the graph again. Both graphs are equal.",
        "",
        "| graph | points | insert (ms) | build again (ms) | ratio |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {record['points']:,} | {record['insert_ms']:.2f} | {record['rebuild_ms']:.0f} "
        f"| {record['ratio']:,.0f} |"
        for name, record in records.items()
    ]
    return "\n".join([*lines, ""])
