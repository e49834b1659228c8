"""Re-ranking of search results: `Reranker` beside k-reciprocal neighbours, diffusion and query expansion.

The peers follow their references literally, with dense matrices, so their time says little.
"""

from __future__ import annotations

import json
import resource
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.metrics import pairwise_distances

from benchmarks import near_duplicates, retrieval
from benchmarks.labeled_sets import LabeledSet
from benchmarks.report import RESULTS, write_results

MAX_ROWS, MAX_QUERIES, N_RESULTS = 3000, 300, 100
N_LARGE, N_PER_CLUSTER, N_LARGE_QUERIES = 100_000, 200, 500
# Columns of the large galleries; each is measured by a run of its own, so that peaks of memory are its own.
LARGE = {f"large {n_columns}": n_columns for n_columns in (64, 384)}
OURS = "vicinal Reranker"
# Parameters of the references: Zhong et al. 2017, and Iscen et al. 2017.
K1, K2, ORIGINAL_WEIGHT = 20, 6, 0.3
N_DIFFUSED, N_OF_QUERY, ALPHA, EXPONENT = 50, 10, 0.99, 3


class Search(NamedTuple):
    """A gallery and queries: rows of the gallery, or points apart from it."""

    gallery: np.ndarray
    queries: np.ndarray
    rows: np.ndarray | None

    @property
    def distances(self) -> np.ndarray:
        """Distances of the queries to the gallery; infinite from a row to itself."""
        lengths = pairwise_distances(self.queries, self.gallery)
        if self.rows is not None:
            lengths[np.arange(len(self.rows)), self.rows] = np.inf
        return lengths


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` 600 rows, nothing written.

    A large gallery is measured by itself, with ``--only "large 64"``, and added to the results of the sets.
    """
    warnings.simplefilter("ignore")
    stored = RESULTS / "rerank.json"
    records: dict[str, Any] = json.loads(stored.read_text("utf-8")) if stored.exists() else {}
    if only in LARGE:
        records[only] = large(LARGE[only])
    else:
        records["sets"] = {}
        for item in sets():
            if only and only not in item.name:
                continue
            records["sets"][item.name] = _measure(item, 600 if quick else MAX_ROWS)
            records["sets"][item.name]["development"] = item.development
            print(item.name, records["sets"][item.name], flush=True)
    page = markdown(records)
    print(page)
    if not quick and (only is None or only in LARGE):
        write_results("rerank", records, page)


def sets() -> Iterator[LabeledSet]:
    """Images, silhouettes, faces, tables and texts with classes."""
    yield from (item for item in retrieval.sets() if item.name not in retrieval.HELD_OUT)
    yield _texts()


def _texts() -> LabeledSet:
    """Weighted word counts of generated texts of 20 topics."""
    texts, topics = near_duplicates.topic_texts(np.random.default_rng(0), 1500, of_topic=0.35)
    return LabeledSet("texts", near_duplicates.tfidf(texts), (topics,))


def _measure(item: LabeledSet, max_rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(zlib.crc32(item.name.encode()))
    order = rng.permutation(len(item.points))[:max_rows]
    X, y = item.points[order], item.truths[0][order]
    m = min(MAX_QUERIES, len(X) // 3)
    labelled = np.flatnonzero(y[:m] >= 0)
    searches = {
        "within": (Search(X, X[labelled], labelled), y),
        "apart": (Search(X[m:], X[labelled], None), y[m:]),
    }
    record: dict[str, Any] = {}
    for mode, (search, labels) in searches.items():
        record[mode] = {}
        for name, method in METHODS.items():
            start = time.process_time()
            found = method(search)
            spent = time.process_time() - start
            scores = _scores(labels[found] == y[labelled, None], labels, y[labelled], mode)
            record[mode][name] = {**scores, "seconds": spent}
    return record


def _scores(
    relevant: np.ndarray, labels: np.ndarray, of_queries: np.ndarray, mode: str
) -> dict[str, float]:
    """Mean average precision of the first results, and precision of the first one and the first ten."""
    counts = (labels == of_queries[:, None]).sum(axis=1) - (mode == "within")
    precision = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    largest = np.maximum(1, np.minimum(counts, relevant.shape[1]))
    return {
        "map": float(((precision * relevant).sum(axis=1) / largest).mean()),
        "p1": float(relevant[:, 0].mean()),
        "p10": float(relevant[:, :10].mean()),
    }


def _first(scores: np.ndarray) -> np.ndarray:
    """The first results by ascending distance."""
    size = min(N_RESULTS, scores.shape[1] - 1)
    return np.argsort(scores, axis=1, kind="stable")[:, :size]


def euclidean(search: Search) -> np.ndarray:
    """The order of distances."""
    return _first(search.distances)


def reranker(search: Search) -> np.ndarray:
    """`Reranker` with its defaults."""
    from vicinal import Reranker

    model = Reranker(n_jobs=1).fit(search.gallery)
    queries = search.queries if search.rows is None else search.rows
    return model.rank(queries, min(N_RESULTS, len(search.gallery) - 1))[0]


def query_expansion(search: Search) -> np.ndarray:
    """The mean of a query and its 10 nearest items as a new query (Chum et al. 2007)."""
    near = np.argsort(search.distances, axis=1, kind="stable")[:, :10]
    means = (search.queries + search.gallery[near].sum(axis=1)) / 11
    return euclidean(search._replace(queries=means))


def k_reciprocal(search: Search) -> np.ndarray:
    """Jaccard distances of k-reciprocal neighbours (Zhong et al. 2017), over queries and gallery."""
    n = len(search.gallery)
    X = search.gallery if search.rows is not None else np.vstack([search.gallery, search.queries])
    queries = np.arange(n, len(X)) if search.rows is None else search.rows
    D = np.square(pairwise_distances(X))
    D /= D.max(axis=1)[:, None]
    order = np.argsort(D, axis=1, kind="stable")
    encoded = np.zeros_like(D)
    for i in range(len(D)):
        core = _reciprocal(order, i, K1)
        members = core
        for j in core:
            theirs = _reciprocal(order, j, round(K1 / 2))
            if len(np.intersect1d(theirs, core)) > 2 / 3 * len(theirs):
                members = np.append(members, theirs)
        members = np.unique(members)
        weights = np.exp(-D[i, members])
        encoded[i, members] = weights / weights.sum()
    encoded = np.array([encoded[near[:K2]].mean(axis=0) for near in order])
    final = np.empty((len(queries), n))
    for at, query in enumerate(queries):
        shared = np.minimum(encoded[query], encoded[:n]).sum(axis=1)
        jaccard = 1 - shared / (2 - shared)
        final[at] = (1 - ORIGINAL_WEIGHT) * jaccard + ORIGINAL_WEIGHT * D[query, :n]
        if search.rows is not None:
            final[at, query] = np.inf
    return _first(final)


def _reciprocal(order: np.ndarray, i: int, k: int) -> np.ndarray:
    near = order[i, : k + 1]
    return near[(order[near, : k + 1] == i).any(axis=1)]


def diffusion(search: Search) -> np.ndarray:
    """Equilibrium of a diffusion from the query along mutual neighbours (Iscen et al. 2017)."""
    unit = search.gallery / np.maximum(np.linalg.norm(search.gallery, axis=1), 1e-300)[:, None]
    of_queries = search.queries / np.linalg.norm(search.queries, axis=1)[:, None]
    similarity = np.maximum(unit @ unit.T, 0.0) ** EXPONENT
    np.fill_diagonal(similarity, 0.0)
    near = _largest(similarity, N_DIFFUSED)
    affinity = similarity * (near & near.T)
    roots = np.sqrt(np.maximum(affinity.sum(axis=1), 1e-12))
    laplacian = np.eye(len(unit)) - ALPHA * affinity / roots[:, None] / roots
    start = np.maximum(of_queries @ unit.T, 0.0) ** EXPONENT
    if search.rows is None:
        start *= _largest(start, N_OF_QUERY)
    else:
        start = np.eye(len(unit))[search.rows]
    found = cho_solve(cho_factor(laplacian), start.T).T
    if search.rows is not None:
        found[np.arange(len(found)), search.rows] = -np.inf
    return _first(-found)


def _largest(matrix: np.ndarray, k: int) -> np.ndarray:
    """Where the k largest entries of each row are."""
    largest = np.zeros(matrix.shape, bool)
    np.put_along_axis(largest, np.argsort(-matrix, axis=1, kind="stable")[:, :k], True, axis=1)
    return largest


METHODS: dict[str, Callable[[Search], np.ndarray]] = {
    OURS: reranker,
    "k-reciprocal": k_reciprocal,
    "diffusion": diffusion,
    "query expansion": query_expansion,
    "Euclidean": euclidean,
}


def large(n_columns: int) -> dict[str, float]:
    """CPU time of the build and per query, and peak memory, on one core."""
    from vicinal import Reranker

    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_LARGE // N_PER_CLUSTER, n_columns))
    X = centers[rng.integers(0, len(centers), N_LARGE)].astype(np.float32)
    X += rng.normal(size=X.shape).astype(np.float32)
    new = X[:N_LARGE_QUERIES] + 0.1 * rng.normal(size=(N_LARGE_QUERIES, n_columns))
    Reranker(n_jobs=1).fit(X[:500]).rank(new[:5].astype(np.float32), 5)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model = Reranker(n_jobs=1).fit(X)
    build = time.process_time() - start
    start = time.process_time()
    for query in new.astype(np.float32):
        model.rank(query[None], 10)
    single = (time.process_time() - start) / len(new)
    start = time.process_time()
    model.rank(new.astype(np.float32), 10)
    together = (time.process_time() - start) / len(new)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "items": N_LARGE,
        "columns": n_columns,
        "build_seconds": build,
        "single_query_ms": 1e3 * single,
        "query_ms": 1e3 * together,
        "peak_gb": peak / 1e6,
        "before_gb": before / 1e6,
        "t": int(model.t_),
    }


def markdown(records: dict[str, Any]) -> str:
    """Sets as rows, methods as columns, each with three scores."""
    lines = [
        "# Benchmark: re-ranking",
        "",
        "Made by `python -m benchmarks rerank`: mean average precision of the first "
        f"{N_RESULTS} results / precision of the first / of the first ten, for at most {MAX_QUERIES} queries "
        f"and {MAX_ROWS:,} rows. Queries are rows of the gallery (within) or apart from it. The rule of "
        '`Reranker` was chosen on the sets marked "yes".',
        "",
        f"| set | chosen on | queries | {' | '.join(METHODS)} |",
        f"| --- | --- | --- |{' ---: |' * len(METHODS)}",
    ]
    for name, record in records.get("sets", {}).items():
        known = "yes" if record["development"] else "no"
        for mode in ("within", "apart"):
            cells = " | ".join(_cell(record[mode][method]) for method in METHODS)
            lines.append(f"| {name} | {known} | {mode} | {cells} |")
    for chosen_on, title in ((True, "mean, chosen on"), (False, "mean, others")):
        for mode in ("within", "apart"):
            rows = [
                r[mode] for r in records.get("sets", {}).values() if r["development"] == chosen_on
            ]
            if rows:
                cells = " | ".join(_cell(_mean(rows, method)) for method in METHODS)
                lines.append(f"| **{title}** | | {mode} | {cells} |")
    for found in (records[name] for name in LARGE if name in records):
        lines += [
            "",
            f"{found['items']:,} x {found['columns']} points in single precision, one core: built in "
            f"{found['build_seconds']:.0f} s, {found['single_query_ms']:.2f} ms per query one by one, "
            f"{found['query_ms']:.2f} ms together, {found['peak_gb']:.2f} GB at the peak of the process "
            f"({found['before_gb']:.2f} GB before, with the points).",
        ]
    return "\n".join([*lines, ""])


def _mean(rows: list[Any], method: str) -> dict[str, float]:
    return {key: float(np.mean([row[method][key] for row in rows])) for key in ("map", "p1", "p10")}


def _cell(scores: dict[str, float]) -> str:
    return f"{scores['map']:.3f} / {scores['p1']:.3f} / {scores['p10']:.3f}"
