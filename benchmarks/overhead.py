"""``python -m benchmarks overhead``: few points, one new point, and one query, each beside a peer.

CPU milliseconds of one thread in a warm process, the minimum of many calls: fixed costs of a call do not
depend on the load of the machine then.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

import numpy as np

from benchmarks.report import RESULTS, write_results

GENIE = "genieclust"
N_REPEATS = 30
# Repeated calls stop after this CPU time.
MAX_SECONDS = 3.0
N_FITTED = 20_000
ALPHA, N_QUERIES = 0.999, 16


class Row(NamedTuple):
    """Calls of vicinal and of a peer, and how many units (queries) each of them processes."""

    case: str
    vicinal: Callable[[], Any]
    peer: str
    peer_call: Callable[[], Any]
    units: tuple[int, int] = (1, 1)


def run(only: str | None, quick: bool) -> None:
    """Measure every case; with `quick`, once on fewer points and without writing files."""
    for make in (small_data, new_points, queries):
        for row in make(1000 if quick else N_FITTED):
            if only and only not in row.case:
                continue
            n_calls = 1 if quick else N_REPEATS
            ours, theirs = (
                milliseconds(call, n_calls) / units
                for call, units in zip((row.vicinal, row.peer_call), row.units, strict=True)
            )
            record = {"case": row.case, "vicinal": ours, "peer": row.peer, "peer ms": theirs}
            print(_line(record), flush=True)
            if not quick:
                save(record)


def milliseconds(call: Callable[[], Any], n_calls: int) -> float:
    """Smallest CPU time of a call, after one that is not counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        times: list[float] = []
        while len(times) < n_calls and sum(times) < MAX_SECONDS:
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
    return 1e3 * min(times)


def small_data(n: int) -> Iterator[Row]:
    """A thousand points, beside Genie and the eigenproblem, and the report of a small table."""
    from sklearn.datasets import load_iris, make_blobs, make_moons

    from vicinal import SpectralClustering, graphs, perceive
    from vicinal.operators import leading_eigenpairs

    sets = {
        "two moons": (make_moons(1000, noise=0.05, random_state=0)[0], 2),
        "five clusters": (make_blobs(1000, centers=5, cluster_std=1.5, random_state=1)[0], 5),
    }
    for name, (X, k) in sets.items():
        fit = partial(SpectralClustering(k, random_state=0, n_jobs=1).fit, X)
        affinity = graphs.knn(X, 10).affinity()
        if find_spec(GENIE):
            yield Row(f"fit of 1,000 x 2, {name}", fit, "Genie", partial(_genie, X, k))
        yield Row(
            f"fit of 1,000 x 2, {name}, and its eigenproblem",
            fit,
            "eigenpairs alone",
            partial(leading_eigenpairs, affinity, k, normalized=True, tolerance=1e-5, n_jobs=1),
        )
    iris = load_iris().data
    yield Row(
        "perceive of 150 x 4",
        lambda: perceive(iris, random_state=0, n_jobs=1),
        "SpectralClustering",
        lambda: SpectralClustering(3, random_state=0, n_jobs=1).fit(iris),
    )


def _genie(X: np.ndarray, k: int) -> Any:
    from genieclust import Genie

    # A new object, because Genie keeps the spanning tree of the last points.
    return Genie(k).fit(X)


def new_points(n: int) -> Iterator[Row]:
    """One new point among fitted ones in three dimensions, beside the search for its neighbours."""
    import vicinal
    from vicinal.neighbors import NeighborSearch

    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=n)
    X = rng.normal(size=(5, 3))[truth] * 8 + rng.normal(size=(n, 3))
    point = X[:1] + 0.01
    labels = np.where(np.arange(n) < 50, truth, -1)
    search = NeighborSearch(X, n_jobs=1)
    options: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    models: dict[str, Any] = {
        "SpectralClustering.predict": vicinal.SpectralClustering(5, **options),
        "PerceptualClustering.predict": vicinal.PerceptualClustering(5, **options),
        "LaplacianEigenmaps.transform": vicinal.LaplacianEigenmaps(2, **options),
        "DiffusionMaps.transform": vicinal.DiffusionMaps(2, **options),
        "Isomap.transform": vicinal.Isomap(2, n_landmarks=100, **options),
        "ClusterPreservingEmbedding.transform": vicinal.ClusterPreservingEmbedding(2, n_jobs=1),
        "GraphClassifier.predict": vicinal.GraphClassifier(n_jobs=1),
        "OutlierDetector.predict": vicinal.OutlierDetector(n_jobs=1),
    }
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, labels)
        method = getattr(model, name.split(".")[1])
        yield Row(
            name,
            partial(method, point),
            "bare search",
            partial(search.nearest, 10, queries=point),
        )


def queries(n: int) -> Iterator[Row]:
    """Scores of queries along 5 n points, beside smoothed aggregation to the same residual."""
    from pyamg import smoothed_aggregation_solver

    from vicinal import ManifoldRanking

    n *= 5
    rng = np.random.default_rng(0)
    height, angle = rng.random(n), np.pi * rng.random(n)
    X = np.column_stack([np.cos(angle), np.sin(angle), 3 * height])
    X[n // 2 :, :2] = np.column_stack([1 - X[n // 2 :, 0], 0.5 - X[n // 2 :, 1]])
    X += 0.02 * rng.normal(size=X.shape)
    model = ManifoldRanking(ALPHA, n_jobs=1).fit(X)
    system = cast("Any", model._resolvent).system
    rows = rng.choice(n, N_QUERIES, replace=False)
    start = np.zeros(n)
    start[rows[0]] = 1.0
    hierarchy = smoothed_aggregation_solver(system)
    yield Row(
        f"ranking of {n:,} points, alpha {ALPHA}, per query",
        lambda: model.rank(rows, 100),
        "pyamg",
        lambda: hierarchy.solve(start, tol=1e-12, accel="cg"),
        (N_QUERIES, 1),
    )


def save(record: dict[str, Any]) -> None:
    """Merge a row into those measured before, so that an interrupted run keeps its results."""
    path = RESULTS / "overhead.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    by_case = {row["case"]: row for row in [*rows, record]}
    write_results("overhead", list(by_case.values()), markdown(list(by_case.values())))


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of all cases."""
    return "\n".join(
        [
            "# Benchmark: overhead",
            "",
            "Measured by `python -m benchmarks overhead`: CPU milliseconds of one thread in a warm process, "
            f"the minimum of up to {N_REPEATS} calls. New points are predicted by models of "
            f"{N_FITTED:,} points in three dimensions.",
            "",
            "| | vicinal | peer | peer | ratio |",
            "| --- | ---: | --- | ---: | ---: |",
            *map(_line, rows),
            "",
        ]
    )


def _line(row: dict[str, Any]) -> str:
    ours, theirs = row["vicinal"], row["peer ms"]
    return (
        f"| {row['case']} | {ours:.3g} ms | {row['peer']} | {theirs:.3g} ms | {ours / theirs:.3g} |"
    )
