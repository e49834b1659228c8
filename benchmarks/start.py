"""``python -m benchmarks start``: import and first fit in a new process, compared with peers.

CPU seconds of a process that imports a library, of one that fits 1,000 points when nothing is compiled
yet, and of one that finds compiled code on disk. The first and the last are the minimum of three runs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.report import RESULTS, write_results

N_REPEATS = 3
# Module of the library, the usual import, and a first fit of the points X.
CONTENDERS: dict[str, tuple[str, str, str]] = {
    "vicinal, spectral": (
        "vicinal",
        "from vicinal import SpectralClustering",
        "SpectralClustering(3).fit(X)",
    ),
    "vicinal, perceptual": (
        "vicinal",
        "from vicinal import PerceptualClustering",
        "PerceptualClustering(3).fit(X)",
    ),
    "vicinal, perceive": ("vicinal", "from vicinal import perceive", "perceive(X[425:575])"),
    "scikit-learn, spectral": (
        "sklearn",
        "from sklearn.cluster import SpectralClustering",
        "SpectralClustering(3, affinity='nearest_neighbors').fit(X)",
    ),
    "hdbscan": ("hdbscan", "from hdbscan import HDBSCAN", "HDBSCAN().fit(X)"),
    "fast_hdbscan": ("fast_hdbscan", "from fast_hdbscan import HDBSCAN", "HDBSCAN().fit(X)"),
    "umap-learn": ("umap", "from umap import UMAP", "UMAP().fit(X)"),
}
POINTS = "import numpy; X = numpy.random.default_rng(0).normal(size=(1000, 3)); X[:500] += 5"
REPORT = "import time; print(time.process_time())"


def run(only: str | None, quick: bool) -> None:
    """Measure every installed contender; with `quick`, once and without writing files."""
    for name, (module, imports, fit) in CONTENDERS.items():
        if (only and only not in name) or importlib.util.find_spec(module) is None:
            continue
        row = {"contender": name, **measure(imports, fit, 1 if quick else N_REPEATS)}
        print(_line(row), flush=True)
        if not quick:
            save(row)


def save(row: dict[str, Any]) -> None:
    """Merge a row into those measured before, so that an interrupted run keeps its results."""
    path = RESULTS / "start.json"
    earlier = json.loads(path.read_text()) if path.exists() else []
    by_contender = {other["contender"]: other for other in [*earlier, row]}
    rows = [by_contender[name] for name in CONTENDERS if name in by_contender]
    write_results("start", rows, markdown(rows))


def measure(imports: str, fit: str, repeats: int) -> dict[str, float]:
    """Seconds of the import, and of a first fit without and with compiled code on disk."""
    first_fit = f"{POINTS}\n{imports}\n{fit}\n{REPORT}"
    only_import = f"{imports}\n{REPORT}"
    with tempfile.TemporaryDirectory() as folder:
        return {
            # First, because the folder is empty only once.
            "compiling": _seconds(first_fit, folder),
            "import": min(_seconds(only_import, folder) for _ in range(repeats)),
            "compiled": min(_seconds(first_fit, folder) for _ in range(repeats)),
        }


def _seconds(code: str, folder: str) -> float:
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(process.stdout.split()[-1])


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of all contenders."""
    return "\n".join(
        [
            "# Benchmark: start",
            "",
            "Measured by `python -m benchmarks start`: CPU seconds of a new process including the "
            f"interpreter, the minimum of {N_REPEATS} runs (a single run where nothing is compiled). Each "
            "fit is on 1,000 points in 3 columns, the analysis of `perceive` on 150 of them.",
            "",
            "| | import | first fit, nothing compiled | first fit, compiled before |",
            "| --- | ---: | ---: | ---: |",
            *map(_line, rows),
            "",
        ]
    )


def _line(row: dict[str, Any]) -> str:
    times = " | ".join(f"{row[key]:.2f} s" for key in ("import", "compiling", "compiled"))
    return f"| {row['contender']} | {times} |"
