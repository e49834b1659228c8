"""Few labels: accuracy and calibration of classes spread along a graph, and the gain of suggested labels.

``python -m benchmarks labels`` measures 20 draws of 1, 2, 5 and 10 labels per class; ``--draws`` and
``--points`` change the number of draws and the largest number of points of a set, ``--quick`` uses two
draws of small sets. The peer GraphLearning is the package ``graphlearning``.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import labeled_sets
from benchmarks.report import RESULTS

if TYPE_CHECKING:
    from vicinal._core.types import LabelMethod

RATES = (1, 2, 5, 10)
N_DRAWS = 20
# Runs of the comparison of suggested with random labels.
N_QUERY_RUNS = 10
# Neighbours of every graph: the default of `GraphClassifier` and of LabelSpreading.
K = 7
# Sets of the accuracy table; two UCI tables are the largest ones.
SETS = ("mnist", "digits", "orl", "uci/vehicle", "uci/image_segmentation")
# From points, their graph and class codes (-1 unknown) to class probabilities, or to classes.
Method = Callable[[np.ndarray, Any, np.ndarray], np.ndarray]


def run(
    only: str | None, quick: bool, n_draws: int | None = None, n_points: int | None = None
) -> None:
    """Measure, print, and write Markdown and JSON; only a complete run writes files."""
    warnings.simplefilter("ignore")
    complete = not (quick or only or n_draws or n_points)
    n_draws = n_draws or (2 if quick else N_DRAWS)
    n_points = n_points or (500 if quick else None)
    records: list[dict[str, Any]] = []
    for name, X, y, half in _sets(n_points):
        records += _measure(name, X, y, half, n_draws, only)
        print(f"{name} measured", flush=True)
    queries = [] if only else _query_records(n_points, 2 if quick else min(n_draws, N_QUERY_RUNS))
    page = markdown(records, queries, n_draws)
    print(page)
    if complete:
        RESULTS.mkdir(exist_ok=True)
        content = {"accuracy": records, "queries": queries}
        (RESULTS / "labels.json").write_text(json.dumps(content, indent=1) + "\n")
        (RESULTS / "labels.md").write_text(page)


def _sets(n_points: int | None) -> Iterator[tuple[str, np.ndarray, np.ndarray, str]]:
    for item in labeled_sets.real():
        name = "mnist" if item.name == "mnist5000" else item.name
        if name not in SETS:
            continue
        X, y = item.points, item.truths[0]
        if name == "mnist":
            with np.load(labeled_sets.folder() / "mnist_test.npz") as arrays:
                X = arrays["X"].reshape(len(arrays["X"]), -1) / 255.0
                y = arrays["y"].astype(np.int64)
        if n_points is not None and len(X) > n_points:
            chosen = np.random.default_rng(0).permutation(len(X))[:n_points]
            X, y = X[chosen], y[chosen]
        y = np.unique(y, return_inverse=True)[1]
        yield name, X, y, "development" if item.development else "report"


def some_labels(y: np.ndarray, per_class: int, rng: np.random.Generator) -> np.ndarray:
    """Class codes of a few points per class, -1 elsewhere; at least one of each class stays unlabelled."""
    codes = np.full(len(y), -1)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        n_labels = max(min(per_class, len(members) - 1), 1)
        codes[rng.choice(members, n_labels, replace=False)] = label
    return codes


def _measure(
    name: str, X: np.ndarray, y: np.ndarray, half: str, n_draws: int, only: str | None
) -> list[dict[str, Any]]:
    from vicinal import graphs

    graph = graphs.knn(X, K)
    records = []
    for rate in RATES:
        if np.median(np.bincount(y)) <= rate:
            continue  # no unlabelled points would be left
        results: dict[str, list[tuple[float, float]]] = {}
        for seed in range(n_draws):
            codes = some_labels(y, rate, np.random.default_rng([seed, rate]))
            hidden = codes < 0
            for method, function in METHODS.items():
                if only and only not in method:
                    continue
                found = function(X, graph, codes)[hidden]
                classes = found if found.ndim == 1 else found.argmax(axis=1)
                right = classes == y[hidden]
                error = float("nan") if found.ndim == 1 else calibration_error(found, right)
                results.setdefault(method, []).append((float(right.mean()), error))
        for method, pairs in results.items():
            accuracy, error = np.mean(pairs, axis=0)
            records.append(
                {
                    "set": name,
                    "half": half,
                    "rate": rate,
                    "method": method,
                    "accuracy": float(accuracy),
                    "calibration_error": None if np.isnan(error) else float(error),
                }
            )
    return records


def calibration_error(probabilities: np.ndarray, right: np.ndarray, n_bins: int = 10) -> float:
    """Expected calibration error: mean difference of confidence and accuracy over bins of confidence."""
    confidence = probabilities.max(axis=1)
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, confidence - right, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(right))


def _query_records(n_points: int | None, n_runs: int) -> list[dict[str, Any]]:
    """Accuracy with 5 suggested labels per class and with 10 random ones."""
    from vicinal import GraphClassifier, graphs

    records = []
    for name, X, y, _ in _sets(n_points):
        if name not in ("mnist", "digits"):
            continue
        graph, n_classes = graphs.knn(X, K), int(y.max()) + 1
        accuracies: list[tuple[float, float]] = []
        for seed in range(n_runs):
            rng = np.random.default_rng(seed)
            codes = some_labels(y, 1, rng)
            for _ in range(4):
                queries = GraphClassifier().fit(graph, codes).suggest_queries(n_classes)
                codes[queries] = y[queries]
            random_codes = np.full(len(y), -1)
            chosen = rng.choice(len(y), 10 * n_classes, replace=False)
            random_codes[chosen] = y[chosen]
            pair = []
            for given in (codes, random_codes):
                classes = GraphClassifier().fit(graph, given).transduction_
                pair.append(float((classes == y)[given < 0].mean()))
            accuracies.append((pair[0], pair[1]))
        suggested, at_random = np.mean(accuracies, axis=0)
        records.append(
            {"set": name, "suggested_5": float(suggested), "random_10": float(at_random)}
        )
    return records


def _ours(method: LabelMethod) -> Method:
    def fit(X: np.ndarray, graph: Any, codes: np.ndarray) -> np.ndarray:
        from vicinal import GraphClassifier

        return GraphClassifier(method).fit(graph, codes).label_distributions_

    return fit


def _graphlearning(method: str) -> Method:
    """GraphLearning's model on the same affinity."""

    def fit(X: np.ndarray, graph: Any, codes: np.ndarray) -> np.ndarray:
        import graphlearning
        from scipy import sparse

        labelled = np.flatnonzero(codes >= 0)
        model = getattr(graphlearning.ssl, method)(sparse.csr_matrix(graph.affinity()))
        return np.asarray(model.fit_predict(labelled, codes[labelled]))

    return fit


def _spreading(X: np.ndarray, graph: Any, codes: np.ndarray) -> np.ndarray:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(kernel="knn", n_neighbors=K).fit(X, codes).label_distributions_


def _regression(X: np.ndarray, graph: Any, codes: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    labelled = codes >= 0
    return LogisticRegression(max_iter=200).fit(X[labelled], codes[labelled]).predict_proba(X)


METHODS: dict[str, Method] = {
    "vicinal harmonic (default)": _ours("harmonic"),
    "vicinal laplace": _ours("laplace"),
    "vicinal poisson": _ours("poisson"),
    "vicinal poisson_mbo": _ours("poisson_mbo"),
    "vicinal prior": _ours("prior"),
    "GraphLearning poisson": _graphlearning("poisson"),
    "GraphLearning laplace": _graphlearning("laplace"),
    "scikit-learn LabelSpreading": _spreading,
    "scikit-learn LogisticRegression": _regression,
}


def markdown(records: list[dict[str, Any]], queries: list[dict[str, Any]], n_draws: int) -> str:
    """Mean accuracy and calibration error per number of labels, for all sets and both halves."""
    lines = [
        "# Benchmark: few labels",
        "",
        "Measured by `python -m benchmarks labels`: accuracy on the unlabelled points with 1, 2, 5 and 10 "
        f"labels per class (ORL: up to 5), mean of {n_draws} draws and of the sets; {K} neighbours. ECE is "
        "the expected calibration error, mean over all numbers of labels. The default method and the "
        "power of its probabilities were chosen on sets of both halves, so the halves do not validate them.",
    ]
    for half in (None, "development", "report"):
        chosen = [r for r in records if half in (None, r["half"])]
        if not chosen:
            continue
        names = ", ".join(dict.fromkeys(r["set"] for r in chosen))
        lines += ["", f"## {half or 'all'}: {names}", ""]
        lines += [f"| | {' | '.join(map(str, RATES))} | ECE |", f"| --- |{' ---: |' * 5}"]
        for method in dict.fromkeys(r["method"] for r in chosen):
            rows = [r for r in chosen if r["method"] == method]
            cells = [
                f"{np.mean([r['accuracy'] for r in rows if r['rate'] == rate]):.3f}"
                for rate in RATES
            ]
            errors = [r["calibration_error"] for r in rows if r["calibration_error"] is not None]
            cells.append(f"{np.mean(errors):.3f}" if errors else "")
            lines.append(f"| {method} | {' | '.join(cells)} |")
    if queries:
        lines += [
            "",
            "## Suggested labels",
            "",
            "| set | 5 suggested per class | 10 random per class |",
        ]
        lines += ["| --- | ---: | ---: |"]
        lines += [
            f"| {q['set']} | {q['suggested_5']:.3f} | {q['random_10']:.3f} |" for q in queries
        ]
    return "\n".join([*lines, ""])
