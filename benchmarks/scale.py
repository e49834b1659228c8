"""Neighbours of dask arrays by cells on disk, compared with memory: time, balance, equal bits."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import write_results

# Number of points, dimension, and whether they are along curves (or normal, so that few cells are pruned).
CASES = {
    "curved, 1,000,000 x 16": (1_000_000, 16, True),
    "normal, 1,000,000 x 3": (1_000_000, 3, False),
    "normal, 50,000 x 16": (50_000, 16, False),
}
N_NEIGHBORS, QUICK_POINTS = 10, 5_000
# CPU time relative to memory, if cells are pruned and otherwise; largest cell relative to the mean.
TARGETS = {"curved": 1.5, "normal": 2.0}
MAX_BALANCE = 2.0


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, few points and no files."""
    records = {}
    for name, (n, d, curved) in CASES.items():
        if only and only not in name:
            continue
        n = min(n, QUICK_POINTS) if quick else n
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/X.npy", make_points(n, d, curved))
            parts = {kind: _measure(kind, folder) for kind in ("memory", "cells")}
            same = all(
                np.array_equal(
                    np.load(f"{folder}/memory-{i}.npy"), np.load(f"{folder}/cells-{i}.npy")
                )
                for i in range(2)
            )
        records[name] = parts["cells"] | {
            "seconds in memory": parts["memory"]["seconds"],
            "CPU ratio": parts["cells"]["seconds"] / parts["memory"]["seconds"],
            "same bits": float(same),
        }
        print(name, records[name], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("scale", records, page)


def make_points(n: int, d: int, curved: bool) -> np.ndarray:
    """Twenty noisy arcs in d dimensions, or a normal distribution, in single precision."""
    rng = np.random.default_rng(0)
    if not curved:
        return rng.normal(size=(n, d)).astype(np.float32)
    label, angle = rng.integers(0, 20, n), rng.uniform(0, 3, n)
    arc = np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
    axes, centers = rng.normal(size=(20, 2, d)), 3 * rng.normal(size=(20, d))
    points = np.einsum("ia,iac->ic", arc, axes.astype(np.float32)[label]) + centers[label]
    return (points + 0.05 * rng.normal(size=(n, d))).astype(np.float32)


def _measure(kind: str, folder: str) -> dict[str, float]:
    """CPU seconds, and the largest cell relative to the mean, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", kind, folder]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = ("seconds", "balance")
    return dict(zip(names, map(float, output.split()), strict=True))


def main(kind: str, folder: str) -> None:
    """Find neighbours of the points in a folder, in memory or by cells, and print what it took."""
    import dask.array as da

    from vicinal import scale
    from vicinal.neighbors import NeighborSearch

    small = np.random.default_rng(0).normal(size=(500, 16)).astype(np.float32)
    X = np.load(f"{folder}/X.npy", mmap_mode="r")
    with scale.config(cell_size=100):
        for sample in (small, small[:, : X.shape[1]].copy()):  # load the compiled code first
            NeighborSearch(sample).nearest(3)
            NeighborSearch(da.from_array(sample, chunks=200)).nearest(3)
    start, balance = time.process_time(), 1.0
    lists: Any
    if kind == "memory":
        lists = NeighborSearch(np.array(X)).nearest(N_NEIGHBORS)
    else:
        with scale.config(store=Path(folder) / "store"):
            search = NeighborSearch(da.from_array(X, chunks=(1 << 17, -1)))
            lists = search.nearest(N_NEIGHBORS)
        sizes = search._backend.X.cells.index.sizes
        balance = float(sizes.max() / sizes.mean())
    seconds = time.process_time() - start
    for i, values in enumerate(lists):
        np.save(f"{folder}/{kind}-{i}.npy", values if kind == "memory" else values.compute())
    print(seconds, balance)


def markdown(records: dict[str, dict[str, float]]) -> str:
    """One row per input."""
    lines = [
        "# Benchmark: scale",
        "",
        f"Measured by `python -m benchmarks scale`: lists of {N_NEIGHBORS} neighbours by cells on disk, "
        "with the threads of one process, and in memory. Seconds are CPU time.",
        "",
        "| points | in memory | by cells | ratio | target | largest cell / mean | same bits |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for name, record in records.items():
        lines.append(
            f"| {name} | {record['seconds in memory']:.1f} s | {record['seconds']:.1f} s | "
            f"{record['CPU ratio']:.2f} | {TARGETS[name.split(',')[0]]:g} | "
            f"{record['balance']:.2f} | {'yes' if record['same bits'] else 'NO'} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main(*sys.argv[1:])
