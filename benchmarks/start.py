"""``python -m benchmarks start``: what a fresh process costs before its first answer, beside peers.

Processor seconds of a process that imports a library, of one that fits it to 1,000 points where nothing
was compiled before, and of one that finds compiled code on the disk; the first and the last are the least
of three.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.report import RESULTS

REPEATS = 3
# The library, what imports it as its users do, and a first fit of the points X.
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
    """Measure every contender that is installed; with `quick`, once, and nothing is written."""
    for name, (module, imports, fit) in CONTENDERS.items():
        if (only and only not in name) or importlib.util.find_spec(module) is None:
            continue
        row = {"contender": name, **measure(imports, fit, 1 if quick else REPEATS)}
        print(_line(row), flush=True)
        if not quick:
            save(row)


def save(row: dict[str, Any]) -> None:
    """Put a row among those measured before, so that an interrupted run keeps what it has."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "start.json"
    earlier = json.loads(path.read_text()) if path.exists() else []
    found = {other["contender"]: other for other in [*earlier, row]}
    rows = [found[name] for name in CONTENDERS if name in found]
    path.write_text(json.dumps(rows, indent=1) + "\n")
    path.with_suffix(".md").write_text(markdown(rows))


def measure(imports: str, fit: str, repeats: int) -> dict[str, float]:
    """Seconds of the import, of a first fit without and with compiled code on the disk."""
    first_fit = f"{POINTS}\n{imports}\n{fit}\n{REPORT}"
    only_import = f"{imports}\n{REPORT}"
    with tempfile.TemporaryDirectory() as folder:
        return {
            # The folder is empty once only.
            "compiling": _seconds(first_fit, folder),
            "import": min(_seconds(only_import, folder) for _ in range(repeats)),
            "compiled": min(_seconds(first_fit, folder) for _ in range(repeats)),
        }


def _seconds(code: str, folder: str) -> float:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of all contenders."""
    return "\n".join(
        [
            "# Benchmark: start",
            "",
            "Made by `python -m benchmarks start`: processor seconds of a fresh process, the interpreter "
            f"included, the least of {REPEATS} (where nothing was compiled: of one). The fits are of 1,000 "
            "points in 3 columns.",
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
