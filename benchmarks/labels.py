"""Few labels: accuracy and calibration of classes spread along a graph, and the gain of suggested labels.

``python -m benchmarks labels`` measures 20 draws of 1, 2, 5 and 10 labels per class and writes each set
when it is done; ``--only`` chooses sets by name. ``--draws`` and ``--points`` change the number of draws and
the largest number of points of a set, ``--quick`` uses two draws of small sets; these write no files. The
peer GraphLearning is the package ``graphlearning``.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
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
# Bins of confidence.
N_BINS = 10
# Sets on which suggested labels are compared with random ones.
QUERY_SETS = ("mnist", "digits")


@dataclass
class Points:
    """Points of a set and the graphs that all draws share."""

    X: np.ndarray

    @cached_property
    def graph(self) -> Any:
        from vicinal import graphs

        return graphs.knn(self.X, K)

    @cached_property
    def spreading_graph(self) -> Any:
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=K).fit(self.X).kneighbors_graph(self.X)


# From points and class codes (-1 unknown) to class probabilities, or to classes.
Method = Callable[[Points, np.ndarray], np.ndarray]


def run(
    only: str | None, quick: bool, n_draws: int | None = None, n_points: int | None = None
) -> None:
    """Measure and print, and write Markdown and JSON after each set measured in full."""
    warnings.simplefilter("ignore")
    complete = not (quick or n_draws or n_points)
    n_draws = n_draws or (2 if quick else N_DRAWS)
    n_points = n_points or (500 if quick else None)
    path = RESULTS / "labels.json"
    content: dict[str, list[dict[str, Any]]] = {"accuracy": [], "queries": []}
    if complete and path.exists():
        content = json.loads(path.read_text())
    for name, X, y, half in _sets(n_points):
        if only and only not in name:
            continue
        points = Points(X)
        measured = {"accuracy": _accuracies(name, points, y, half, n_draws), "queries": []}
        if name in QUERY_SETS:
            measured["queries"] = [_queries(name, points, y, min(n_draws, N_QUERY_RUNS))]
        for key, records in measured.items():
            others = [record for record in content[key] if record["set"] != name]
            content[key] = sorted(others + records, key=lambda record: SETS.index(record["set"]))
        print(f"{name} measured", flush=True)
        if complete:
            RESULTS.mkdir(exist_ok=True)
            path.write_text(json.dumps(content, indent=1) + "\n")
            path.with_suffix(".md").write_text(markdown(**content, n_draws=n_draws))
    print(markdown(**content, n_draws=n_draws))


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


def _accuracies(
    name: str, points: Points, y: np.ndarray, half: str, n_draws: int
) -> list[dict[str, Any]]:
    records = []
    for rate in RATES:
        if np.median(np.bincount(y)) <= rate:
            continue  # no unlabelled points would be left
        results: dict[str, list[tuple[float, float]]] = {}
        curves: dict[str, np.ndarray] = {}
        for seed in range(n_draws):
            codes = some_labels(y, rate, np.random.default_rng([seed, rate]))
            hidden = codes < 0
            for method, function in METHODS.items():
                found = function(points, codes)[hidden]
                classes = found if found.ndim == 1 else found.argmax(axis=1)
                right = classes == y[hidden]
                error = float("nan")
                if found.ndim == 2:
                    bins = reliability(found, right)
                    error = calibration_error(bins)
                    curves[method] = curves.get(method, 0.0) + bins
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
                    "reliability": curves[method].tolist() if method in curves else None,
                }
            )
    return records


def reliability(probabilities: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Number of points, sum of confidences and number of right classes, for each bin of confidence."""
    confidence = probabilities.max(axis=1)
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    parts = (np.ones(len(right)), confidence, right)
    return np.array([np.bincount(bins, part, minlength=N_BINS) for part in parts])


def calibration_error(bins: np.ndarray) -> float:
    """Expected calibration error: mean difference of confidence and accuracy over bins of confidence."""
    return float(np.abs(bins[1] - bins[2]).sum() / bins[0].sum())


def _queries(name: str, points: Points, y: np.ndarray, n_runs: int) -> dict[str, Any]:
    """Accuracy with 5 suggested labels per class and with 10 random ones."""
    from vicinal import GraphClassifier

    n_classes = int(y.max()) + 1
    accuracies: list[tuple[float, float]] = []
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        codes = some_labels(y, 1, rng)
        for _ in range(4):
            queries = GraphClassifier().fit(points.graph, codes).suggest_queries(n_classes)
            codes[queries] = y[queries]
        random_codes = np.full(len(y), -1)
        chosen = rng.choice(len(y), 10 * n_classes, replace=False)
        random_codes[chosen] = y[chosen]
        pair = []
        for given in (codes, random_codes):
            classes = GraphClassifier().fit(points.graph, given).transduction_
            pair.append(float((classes == y)[given < 0].mean()))
        accuracies.append((pair[0], pair[1]))
    suggested, at_random = np.mean(accuracies, axis=0)
    return {"set": name, "suggested_5": float(suggested), "random_10": float(at_random)}


def _ours(method: LabelMethod) -> Method:
    def fit(points: Points, codes: np.ndarray) -> np.ndarray:
        from vicinal import GraphClassifier

        return GraphClassifier(method).fit(points.graph, codes).label_distributions_

    return fit


def _graphlearning(method: str) -> Method:
    """GraphLearning's model on the same affinity."""

    def fit(points: Points, codes: np.ndarray) -> np.ndarray:
        import graphlearning
        from scipy import sparse

        labelled = np.flatnonzero(codes >= 0)
        model = getattr(graphlearning.ssl, method)(sparse.csr_matrix(points.graph.affinity()))
        return np.asarray(model.fit_predict(labelled, codes[labelled]))

    return fit


def _spreading(points: Points, codes: np.ndarray) -> np.ndarray:
    from sklearn.semi_supervised import LabelSpreading

    # The matrix of kernel="knn", which LabelSpreading would search for again at each draw.
    model = LabelSpreading(kernel=lambda *_: points.spreading_graph)
    return model.fit(points.X, codes).label_distributions_


def _regression(points: Points, codes: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    labelled = codes >= 0
    # The coefficients lie in the span of the labelled rows: same model, far fewer columns.
    X = points.X @ np.linalg.svd(points.X[labelled], full_matrices=False)[2].T
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


def markdown(accuracy: list[dict[str, Any]], queries: list[dict[str, Any]], n_draws: int) -> str:
    """Mean accuracy and calibration error per number of labels, for all sets and both halves."""
    lines = [
        "# Benchmark: few labels",
        "",
        "Measured by `python -m benchmarks labels`: accuracy on the unlabelled points with 1, 2, 5 and 10 "
        f"labels per class (ORL: up to 5), mean of {n_draws} draws and of the sets; {K} neighbours. ECE is "
        "the expected calibration error, mean over all numbers of labels. The default method was "
        "chosen on sets of both halves, so the halves do not validate it.",
    ]
    for half in (None, "development", "report"):
        chosen = [r for r in accuracy if half in (None, r["half"])]
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
    lines += _reliability_lines(accuracy)
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


def _reliability_lines(accuracy: list[dict[str, Any]]) -> list[str]:
    """Accuracy of the points in each bin of confidence, all sets and numbers of labels together."""
    methods = dict.fromkeys(r["method"] for r in accuracy if r["reliability"] is not None)
    edges = [f"{i / N_BINS:.1f}" for i in range(N_BINS)]
    lines = ["", "## Reliability", ""]
    lines += [
        "Accuracy of the points whose largest probability is at least this, up to the next column:",
        "",
    ]
    lines += [f"| | {' | '.join(edges)} |", f"| --- |{' ---: |' * N_BINS}"]
    for method in methods:
        # Each set and number of labels counts once, not each point.
        curves = [np.array(r["reliability"]) for r in accuracy if r["method"] == method]
        bins = sum(curve / curve[0].sum() for curve in curves)
        cells = [f"{r / n:.2f}" if n > 0 else "" for n, r in zip(bins[0], bins[2], strict=True)]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines
