"""Tables and figures of the study of cluster preserving embedding, with the claims of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies import cluster_preserving as study
from studies.cluster_preserving import Outcome, Setting
from studies.experiments import Experiment, Rows, save_figure
from studies.loaders import DIGITS, check_folder

Table = list[list[str]]
# Smallest difference that counts: of the means, and in standard errors over repetitions.
MIN_LEAD, MIN_STANDARD_ERRORS = 0.005, 2.0


def spiral_table(result: Outcome) -> Table:
    """Rand index of each method, and how often it is exact."""
    table = [["method", "Rand index", "exact recoveries"]]
    for method in _distinct(result.rows, "method"):
        scores = _scores(result.rows, method=method)
        exact = f"{np.count_nonzero(scores == 1.0)} of {len(scores)}"
        table.append([_on_points(method), _mean(scores), exact])
    return table


def eigenvalue_table(result: Outcome) -> Table:
    """Leading eigenvalues of both methods."""
    directions = _distinct(result.rows, "direction")
    table = [[f"method ({result.figure_data['source']})", *(f"value {k}" for k in directions)]]
    for method in _distinct(result.rows, "method"):
        values = [row["eigenvalue"] for row in result.rows if row["method"] == method]
        table.append([method, *(f"{value:.4g}" for value in values)])
    return table


def accuracy_table(result: Outcome) -> Table:
    """Rand index of each method on each subset, and whether CPE leads as in the paper."""
    methods = _distinct(result.rows, "method")
    table = [[f"digits ({result.figure_data['source']})", *methods, "verdict"]]
    for digits in _distinct(result.rows, "digits"):
        scores = {m: _scores(result.rows, digits=digits, method=m) for m in methods}
        table.append([digits, *(_mean(scores[m]) for m in methods), verdict(scores)])
    return table


def verdict(scores: dict[str, np.ndarray]) -> str:
    """Whether the better CPE method beats the best other method, paired over repetitions."""
    cpe = max(study.METHODS, key=lambda method: scores[method].mean())
    others = [method for method in scores if method not in study.METHODS]
    best = max(others, key=lambda method: scores[method].mean())
    difference = scores[cpe] - scores[best]
    standard_error = difference.std() / np.sqrt(max(len(difference) - 1, 1))
    if abs(difference.mean()) < max(MIN_LEAD, MIN_STANDARD_ERRORS * standard_error):
        return f"on par with {best}"
    if difference.mean() > 0:
        return f"holds: ahead of {best}"
    return f"does not hold: behind {best}"


def width_table(result: Outcome) -> Table:
    """Mean Rand index over the width of the kernel."""
    factors = _distinct(result.rows, "factor")
    table = [["data", "method", *(f"{factor:g}" for factor in factors)]]
    for data in _distinct(result.rows, "data"):
        for method in study.METHODS:
            means = [
                _scores(result.rows, data=data, method=method, factor=factor).mean()
                for factor in factors
            ]
            table.append([data, method, *(f"{mean:.3f}" for mean in means)])
    return table


def draw_spirals(result: Outcome, path: Path) -> None:
    """Figure 1: the curves and their embeddings."""
    from vicinal.plot import embedding

    truth = result.figure_data["truth"]
    embeddings = {
        name: Y for name, Y in result.figure_data["embeddings"].items() if name != study.PIXELS
    }

    def fill(figure: Any) -> None:
        width = len(embeddings) + 1
        ax = figure.add_subplot(1, width, 1, projection="3d")
        embedding(result.figure_data["X"], truth, ax=ax, legend=False)
        ax.set_title("three spirals")
        for k, (method, Y) in enumerate(embeddings.items()):
            _panel(figure.add_subplot(1, width, k + 2), method, Y, truth)

    save_figure(fill, (14, 3.8), path)


def draw_digits(result: Outcome, path: Path) -> None:
    """Figure 2: both digits by each method."""
    embeddings, truth = result.figure_data["embeddings"], result.figure_data["truth"]

    def fill(figure: Any) -> None:
        for ax, (method, Y) in zip(
            figure.subplots(1, len(embeddings)), embeddings.items(), strict=True
        ):
            _panel(ax, method, Y, truth)

    save_figure(fill, (14, 3.8), path)


def draw_accuracy(result: Outcome, path: Path) -> None:
    """Figure 3: bars of each method on each subset."""
    methods = _distinct(result.rows, "method")
    subsets = _distinct(result.rows, "digits")

    def fill(figure: Any) -> None:
        ax = figure.subplots()
        for k, method in enumerate(methods):
            scores = [_scores(result.rows, digits=digits, method=method) for digits in subsets]
            positions = np.arange(len(subsets)) + (k - (len(methods) - 1) / 2) / (len(methods) + 1)
            ax.bar(
                positions,
                [values.mean() for values in scores],
                1 / (len(methods) + 1),
                yerr=[values.std() for values in scores],
                label=method,
            )
        ax.set_xticks(np.arange(len(subsets)), subsets)
        ax.set(ylabel="Rand index", xlabel="digits", ylim=(0.4, 1.0))
        ax.legend(ncols=len(methods), loc="upper center", bbox_to_anchor=(0.5, 1.12))

    save_figure(fill, (12, 4), path)


def draw_widths(result: Outcome, path: Path) -> None:
    """Rand index over sigma, one panel per method."""
    factors = _distinct(result.rows, "factor")

    def fill(figure: Any) -> None:
        panels = figure.subplots(1, len(study.METHODS), sharey=True)
        for ax, method in zip(panels, study.METHODS, strict=True):
            for data in _distinct(result.rows, "data"):
                means = [
                    _scores(result.rows, data=data, method=method, factor=factor).mean()
                    for factor in factors
                ]
                ax.semilogx(factors, means, "o-", label=data)
            ax.axvline(1.0, color="0.6", linestyle=":")
            ax.set(title=method, xlabel="sigma / automatic sigma")
        panels[0].set_ylabel("Rand index")
        panels[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    save_figure(fill, (11, 4), path)


def _panel(ax: Any, method: str, Y: np.ndarray, truth: np.ndarray) -> None:
    from vicinal.plot import embedding

    # Eigenvectors have no common unit, so each axis is scaled separately.
    embedding(Y / np.abs(Y).max(axis=0), truth, ax=ax, legend=False)
    ax.set_title(method)


def _on_points(method: str) -> str:
    return "k-means on the points" if method == study.PIXELS else method


def _distinct(rows: Rows, key: str) -> list[Any]:
    return list(dict.fromkeys(row[key] for row in rows))


def _scores(rows: Rows, **filters: Any) -> np.ndarray:
    selected = [row for row in rows if all(row[name] == value for name, value in filters.items())]
    return np.array([row["rand_index"] for row in selected])


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():.3f} ± {values.std():.3f}"


EXPERIMENTS = [
    Experiment(
        "figure-1",
        study.spiral_embeddings,
        spiral_table,
        draw_spirals,
        "Laplacian eigenmaps preserve the curves but not the clusters; CPE separates the three clusters.",
    ),
    Experiment(
        "figure-2",
        study.digit_embeddings,
        eigenvalue_table,
        draw_digits,
        "CPE preserves the clusters of digits 1 and 3 better than PCA and Laplacian eigenmaps; CPE-MDS has "
        "only one positive eigenvalue.",
    ),
    Experiment(
        "figure-3",
        study.digit_accuracy,
        accuracy_table,
        draw_accuracy,
        "k-means is more accurate after CPE than on pixels, after PCA and after Laplacian eigenmaps.",
    ),
    Experiment("sigma", study.width_effect, width_table, draw_widths),
]


def plan(quick: bool, data: Path | None) -> tuple[Setting, list[Experiment]]:
    """Setting and experiments of ``python -m studies cluster-preserving``."""
    check_folder(data, DIGITS)
    return (study.QUICK if quick else study.FULL)._replace(data=data), EXPERIMENTS
