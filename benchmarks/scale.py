"""Neighbours, trees and clusters of dask arrays by cells on disk, compared with memory.

Each measurement has a process of its own: CPU time, peak of resident memory beyond the interpreter with
loaded kernels, balance of cells, and whether the results have the same bits. The wall time of one and of two
workers is measured on a local cluster; it means something on a machine without other work only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import RESULTS, write_results
from benchmarks.scale_forests import N_CELLS, N_TREES, compare_forests

N_NEIGHBORS, N_CLUSTERS, QUICK_POINTS = 10, 20, 5_000
# Points that are generated at a time.
PART = 1_000_000
CHUNK_ROWS = 1 << 17
MAX_BALANCE = 2.0


WORKERS, FORESTS = "1 and 2 workers", "disjoint trees"


class Case(NamedTuple):
    """Points along curves or normal ones, what is computed, and the largest CPU time relative to memory.

    ``memory`` is the limit of `vicinal.scale.config`, in MB.
    """

    n: int
    d: int
    curved: bool
    task: str
    target: float | None
    memory: int | None = None


CASES = {
    "lists, curved, 1,000,000 x 16": Case(1_000_000, 16, True, "lists", 1.5),
    "lists, normal, 1,000,000 x 3": Case(1_000_000, 3, False, "lists", 1.5),
    "lists, normal, 50,000 x 16": Case(50_000, 16, False, "lists", 2.0),
    "tree, curved, 300,000 x 16": Case(300_000, 16, True, "tree", 1.5),
    "tree, normal, 1,000,000 x 3": Case(1_000_000, 3, False, "tree", 1.5),
    "clusters, curved, 300,000 x 16": Case(300_000, 16, True, "clusters", 1.5),
    # Without a comparison, which would not fit into memory.
    "lists, curved, 10,000,000 x 16": Case(10_000_000, 16, True, "lists", None),
    "graph, curved, 1,000,000 x 16, 250 MB": Case(1_000_000, 16, True, "graph", 1.5, 250),
    "tree, normal, 1,000,000 x 3, 200 MB": Case(1_000_000, 3, False, "tree", 3.0, 200),
    f"lists, normal, 2,000,000 x 3, {WORKERS}": Case(2_000_000, 3, False, "lists", 1.7),
    f"lists, curved, 2,000,000 x 16, {WORKERS}": Case(2_000_000, 16, True, "lists", 1.7),
    f"{FORESTS}, normal, 40,000 x 3": Case(40_000, 3, False, "forests", None),
    f"{FORESTS}, curved, 40,000 x 16": Case(40_000, 16, True, "forests", None),
}


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, few points and no files.

    Records of cases that are not measured now are kept.
    """
    path = RESULTS / "scale.json"
    records = json.loads(path.read_text()) if path.exists() and not quick else {}
    records = {name: records[name] for name in CASES if name in records}
    for name, case in CASES.items():
        if only and only not in name:
            continue
        case = case._replace(n=min(case.n, QUICK_POINTS)) if quick else case
        if case.task == "forests":
            records[name] = compare_forests(make_points(case.n, case.d, case.curved))
        else:
            records[name] = (_compare_workers if WORKERS in name else _compare)(case)
        print(name, records[name], flush=True)
        page = markdown(records)
        if not quick:
            write_results("scale", records, page)
    print(markdown(records))


def _compare(case: Case) -> dict[str, float]:
    """Measurements by cells and, if there is a target, in memory."""
    with tempfile.TemporaryDirectory() as folder:
        write_points(Path(folder) / "X.npy", case.n, case.d, case.curved)
        cells = _measure("cells", case.task, folder, str(case.memory or ""))
        if case.target is None:
            return cells
        memory = _measure("memory", case.task, folder)
        results = [sorted(Path(folder).glob(f"{kind}-*.npy")) for kind in ("memory", "cells")]
        same = all(
            np.array_equal(np.load(a), np.load(b)) for a, b in zip(*results, strict=True)
        ) and bool(results[0])
    return cells | {
        "seconds in memory": memory["seconds"],
        "MB in memory": memory["MB"],
        "CPU ratio": cells["seconds"] / memory["seconds"],
        "same bits": float(same),
    }


def _compare_workers(case: Case) -> dict[str, float]:
    """Wall time of one and of two workers."""
    with tempfile.TemporaryDirectory() as folder:
        write_points(Path(folder) / "X.npy", case.n, case.d, case.curved)
        seconds = {
            n_workers: _measure("workers", case.task, folder, str(n_workers))["seconds"]
            for n_workers in (1, 2)
        }
    return {
        "seconds, 1 worker": seconds[1],
        "seconds, 2 workers": seconds[2],
        "speed-up": seconds[1] / seconds[2],
    }


def make_points(n: int, d: int, curved: bool, part: int = 0) -> np.ndarray:
    """Twenty noisy arcs in d dimensions, or a normal distribution, in single precision."""
    rng = np.random.default_rng([part, 1])
    if not curved:
        return rng.normal(size=(n, d)).astype(np.float32)
    shape = np.random.default_rng(0)
    axes = shape.normal(size=(20, 2, d)).astype(np.float32)
    centers = (3 * shape.normal(size=(20, d))).astype(np.float32)
    label, angle = rng.integers(0, 20, n), rng.uniform(0, 3, n)
    arc = np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
    points = np.einsum("ia,iac->ic", arc, axes[label]) + centers[label]
    return (points + 0.05 * rng.normal(size=(n, d))).astype(np.float32)


def write_points(path: Path, n: int, d: int, curved: bool) -> None:
    """Points in a file, generated in parts."""
    points = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    for part, a in enumerate(range(0, n, PART)):
        points[a : a + PART] = make_points(min(PART, n - a), d, curved, part)
    points.flush()


def _measure(kind: str, task: str, folder: str, option: str = "") -> dict[str, float]:
    """What a process of its own prints."""
    command = [sys.executable, "-m", "benchmarks.scale", kind, task, folder, option]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def main(kind: str, task: str, folder: str, option: str) -> None:
    """Compute a task on the points in a folder, in memory, by cells or on workers; print what it took.

    ``option`` is a limit of memory in MB, or the number of workers.
    """
    import dask.array as da

    from vicinal import scale

    X = np.load(f"{folder}/X.npy", mmap_mode="r")
    if kind == "workers":
        print(json.dumps({"seconds": _seconds_of_workers(X, folder, task, int(option))}))
        return
    small = np.array(X[:3000])
    with scale.config(cell_size=500):  # load the compiled code first
        TASKS[task](small)
        TASKS[task](da.from_array(small, chunks=(1000, -1)))
    chunks = scale.read_npy(f"{folder}/X.npy", CHUNK_ROWS)
    memory = int(option) * 10**6 if option else None
    before, start = _peak(), time.process_time()
    if kind == "memory":
        results: Any = TASKS[task](np.array(X))
    else:
        with scale.config(store=Path(folder) / "store", memory=memory):
            results = TASKS[task](chunks)
    record = {"seconds": time.process_time() - start, "MB": _peak() - before}
    if kind == "cells":
        record["largest cell / mean"] = _balance(Path(folder) / "store")
    print(json.dumps(record))
    if len(X) <= PART:
        for i, values in enumerate(results):
            np.save(
                f"{folder}/{kind}-{i}.npy", values.compute() if hasattr(values, "dask") else values
            )


def _seconds_of_workers(X: np.ndarray, folder: str, task: str, n_workers: int) -> float:
    """Wall time on a local cluster whose workers have loaded the compiled code."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from vicinal import scale

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        with scale.config(client=client, cell_size=500):
            TASKS[task](da.from_array(np.array(X[:20_000]), chunks=(1000, -1)))
        start = time.perf_counter()
        with scale.config(client=client):
            TASKS[task](scale.read_npy(f"{folder}/X.npy", CHUNK_ROWS))
        return time.perf_counter() - start


def _peak() -> float:
    """Peak of resident memory of this process, in MB."""
    # Not that of getrusage, which a process inherits from the one that starts it.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6


def _balance(store: Path) -> float:
    (sizes,) = store.glob("*/CellIndex-sizes.npy")
    counts = np.load(sizes)
    return float(counts.max() / counts.mean())


def _lists(X: Any) -> Any:
    from vicinal.neighbors import NeighborSearch

    return NeighborSearch(X, n_jobs=1).nearest(N_NEIGHBORS)


def _tree(X: Any) -> Any:
    from vicinal import graphs

    graph = graphs.mst(X, n_jobs=1)
    return graph.indices, graph.lengths


def _graph(X: Any) -> Any:
    from vicinal import graphs

    graph = graphs.knn(X, N_NEIGHBORS, n_jobs=1)
    return graph.indices, graph.lengths


def _clusters(X: Any) -> Any:
    from vicinal import SpectralClustering

    return (SpectralClustering(N_CLUSTERS, random_state=0, n_jobs=1).fit(X).labels_,)


TASKS = {"lists": _lists, "graph": _graph, "tree": _tree, "clusters": _clusters}


def markdown(records: dict[str, dict[str, Any]]) -> str:
    """One row per case, and the notes of records that were not measured by this command."""
    lines = [
        "# Benchmark: scale",
        "",
        f"Measured by `python -m benchmarks scale`, one thread: lists of {N_NEIGHBORS} neighbours and their "
        f"graph, minimum spanning trees, and spectral clustering into {N_CLUSTERS} clusters, in single "
        "precision, by cells on disk and in memory. Seconds are CPU time; MB is the peak of resident memory "
        "beyond the interpreter with its compiled code, with pages of mapped files that the system may drop. "
        "A number of MB in the name is the limit given as `vicinal.scale.config(memory=...)`.",
        "",
        "| case | in memory | by cells | ratio | target | MB in memory | MB by cells "
        "| largest cell / mean | same bits |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for name, record in records.items():
        if WORKERS in name or FORESTS in name:
            continue
        target = CASES[name].target
        known = [f"{record['seconds in memory']:.1f} s"] if target else [""]
        known += [f"{record['seconds']:.1f} s"]
        known += [f"{record['CPU ratio']:.2f}", f"{target:g}"] if target else ["", ""]
        known += [f"{record['MB in memory']:.0f}" if target else "", f"{record['MB']:.0f}"]
        known += [f"{record['largest cell / mean']:.2f}"]
        known += [("yes" if record["same bits"] else "NO") if target else ""]
        lines.append(f"| {name} | {' | '.join(known)} |")
    notes = [f"{name}: {record['note']}" for name, record in records.items() if "note" in record]
    lines += [part for note in notes for part in ("", note)]
    for name in filter(lambda name: WORKERS in name, records):
        record = records[name]
        lines += [
            "",
            f"{name}: {record['seconds, 1 worker']:.1f} and {record['seconds, 2 workers']:.1f} s of wall "
            f"time, {record['speed-up']:.2f} times as fast (target {CASES[name].target:g}).",
        ]
    for name in filter(lambda name: FORESTS in name, records):
        record = records[name]
        lines += [
            "",
            f"{name}: {N_TREES} trees take {record['seconds in memory']:.1f} s of CPU time in memory, "
            f"{record['seconds, rounds']:.1f} s in {N_CELLS} cells by rounds of searches, and the forests of "
            f"{record['pairs']:.0f} pairs of cells {record['seconds, forests']:.1f} s before they are merged "
            f"(same edges: {'yes' if record['same bits'] else 'NO'}).",
        ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main(*sys.argv[1:])
