"""``python -m benchmarks start``: import and first fit in a new process, compared with peers.

CPU seconds of a process that imports a library, of one that fits 1,000 points when nothing is compiled
yet, and of one that finds compiled code on disk. The first and the last are the minimum of three runs.
The first call of each main feature of vicinal is measured as well; the slowest is listed beside the peers.
"""

from __future__ import annotations

import compileall
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
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
SLOWEST = "vicinal, slowest feature"
# First calls that are measured without compiled code, each in a process of its own.
FEATURES = (
    "vicinal.SpectralClustering(3).fit(X)",
    "vicinal.SpectralClustering().fit(X)",
    "vicinal.SpectralClustering(3).fit(X).predict(X[:5] + 0.01)",
    "vicinal.SpectralClustering(3, graph='path_similarity').fit(X)",
    "vicinal.PerceptualClustering(3).fit(X)",
    "vicinal.PerceptualClustering().fit(X)",
    "vicinal.PerceptualClustering(3).fit(X).predict(X[:5] + 0.01)",
    "vicinal.SparseSubspaceClustering(3).fit(X[::4])",
    "vicinal.KernelKMeans(3).fit(X)",
    "vicinal.ClusterPreservingEmbedding().fit(X)",
    "vicinal.DiffusionMaps().fit(X)",
    "vicinal.Isomap().fit(X)",
    "vicinal.LaplacianEigenmaps().fit(X)",
    "vicinal.NeighborMap().fit(X)",
    "vicinal.PerceptualEmbedding().fit(X)",
    "vicinal.OutlierDetector().fit(X)",
    "vicinal.ManifoldRanking().fit(X).rank([0], 5)",
    "vicinal.PerceptualRanking().fit(X).rank([0], 5)",
    "vicinal.Reranker().fit(X).rank(X[:5] + 0.01, 5)",
    "vicinal.GraphClassifier().fit(X, y).predict(X[:5] + 0.01)",
    "vicinal.GraphRegressor().fit(X, X[:, 0]).predict(X[:5] + 0.01)",
    "vicinal.LabelPropagation().fit(X, y).predict(X[:5] + 0.01)",
    "vicinal.SimilarityVoteClassifier().fit(X, y).predict(X[:5] + 0.01)",
    "vicinal.SelfSmoothing().fit(X)",
    "vicinal.near_duplicates(X)",
    "vicinal.segment(X.reshape(25, 40, 3), 3)",
    "vicinal.graphs.beta_skeleton(X, 1.5)",
    "vicinal.graphs.disjoint_mst(X)",
    "vicinal.graphs.structure_aware_l1(X, 10)",
)
POINTS = "import numpy; X = numpy.random.default_rng(0).normal(size=(1000, 3)); X[:500] += 5"
LABELS = "import numpy; y = numpy.where(numpy.arange(1000) % 10, -1, numpy.arange(1000) // 500)"
REPORT = "import time; print(time.process_time())"


def run(only: str | None, quick: bool) -> None:
    """Measure every installed contender; with `quick`, once and without writing files."""
    _compile_bytecode()
    for name, (module, imports, fit) in CONTENDERS.items():
        if (only and only not in name) or importlib.util.find_spec(module) is None:
            continue
        row = {"contender": name, **measure(imports, fit, 1 if quick else N_REPEATS)}
        print(_line(row), flush=True)
        if not quick:
            save(row)
    if not only or only in SLOWEST:
        row = measure_features(1 if quick else N_REPEATS)
        print(_line(row), *_feature_lines([row]), sep="\n", flush=True)
        if not quick:
            save(row)


def save(row: dict[str, Any]) -> None:
    """Merge a row into those measured before, so that an interrupted run keeps its results."""
    path = RESULTS / "start.json"
    earlier = json.loads(path.read_text()) if path.exists() else []
    by_contender = {other["contender"]: other for other in [*earlier, row]}
    rows = [by_contender[name] for name in (*CONTENDERS, SLOWEST) if name in by_contender]
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


def measure_features(repeats: int) -> dict[str, Any]:
    """Seconds of the first call of each feature, and all times of the slowest."""
    first_calls = {}
    for feature in FEATURES:
        with tempfile.TemporaryDirectory() as folder:
            code = f"{POINTS}\n{LABELS}\nimport vicinal\n{feature}\n{REPORT}"
            first_calls[feature] = _seconds(code, folder)
    slowest = max(first_calls, key=lambda feature: first_calls[feature])
    # `import vicinal` alone would load nothing.
    times = measure(f"{LABELS}; import vicinal; {slowest.partition('(')[0]}", slowest, repeats)
    return {"contender": SLOWEST, **times, "first_calls": first_calls}


def _compile_bytecode() -> None:
    """Compile the modules of vicinal to bytecode, as pip does when it installs them."""
    spec = importlib.util.find_spec("vicinal")
    if spec and spec.origin:
        compileall.compile_dir(Path(spec.origin).parent, quiet=2)


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
            *_feature_lines(rows),
            "",
        ]
    )


def _feature_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The table of first calls, slowest first, if they were measured."""
    first_calls = {name: s for row in rows for name, s in row.get("first_calls", {}).items()}
    if not first_calls:
        return []
    ordered = sorted(first_calls.items(), key=lambda item: -item[1])
    return [
        "",
        "First calls of features, nothing compiled, a single run each:",
        "",
        "| call | CPU time |",
        "| --- | ---: |",
        *(f"| `{name}` | {seconds:.2f} s |" for name, seconds in ordered),
    ]


def _line(row: dict[str, Any]) -> str:
    times = " | ".join(f"{row[key]:.2f} s" for key in ("import", "compiling", "compiled"))
    return f"| {row['contender']} | {times} |"
