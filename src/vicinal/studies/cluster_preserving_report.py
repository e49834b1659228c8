"""Tables and figures of the study of cluster preserving embedding, with the claims of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vicinal.studies import cluster_preserving as study
from vicinal.studies.cluster_preserving import Outcome, Setting
from vicinal.studies.experiments import Experiment, Rows, save_figure
from vicinal.studies.images import check_folder

Table = list[list[str]]
# A lead or a lag that counts: of the mean, and in standard errors of the difference over repetitions.
NOTICEABLE, CLEAR = 0.005, 2.0


def spiral_table(found: Outcome) -> Table:
    """Rand index of each method, and how often it is exact."""
    table = [["method", "Rand index", "draws recovered exactly"]]
    for method in _distinct(found.rows, "method"):
        scores = _scores(found.rows, method=method)
        exact = f"{np.count_nonzero(scores == 1.0)} of {len(scores)}"
        table.append([_on_points(method), _mean(scores), exact])
    return table


def eigenvalue_table(found: Outcome) -> Table:
    """Leading eigenvalues of both methods."""
    directions = _distinct(found.rows, "direction")
    table = [[f"method ({found.scene['source']})", *(f"value {k}" for k in directions)]]
    for method in _distinct(found.rows, "method"):
        values = [row["eigenvalue"] for row in found.rows if row["method"] == method]
        table.append([method, *(f"{value:.4g}" for value in values)])
    return table


def accuracy_table(found: Outcome) -> Table:
    """Rand index of each method on each subset, and whether CPE leads as in the paper."""
    methods = _distinct(found.rows, "method")
    table = [[f"digits ({found.scene['source']})", *methods, "verdict"]]
    for digits in _distinct(found.rows, "digits"):
        scores = {m: _scores(found.rows, digits=digits, method=m) for m in methods}
        table.append([digits, *(_mean(scores[m]) for m in methods), verdict(scores)])
    return table


def verdict(scores: dict[str, np.ndarray]) -> str:
    """Whether the better CPE method beats the best other method, paired over repetitions."""
    ours = max(study.METHODS, key=lambda method: scores[method].mean())
    others = [method for method in scores if method not in study.METHODS]
    best = max(others, key=lambda method: scores[method].mean())
    difference = scores[ours] - scores[best]
    error = difference.std() / np.sqrt(max(len(difference) - 1, 1))
    if abs(difference.mean()) < max(NOTICEABLE, CLEAR * error):
        return f"as good as {best}"
    if difference.mean() > 0:
        return f"holds: ahead of {best}"
    return f"does not hold: behind {best}"


def width_table(found: Outcome) -> Table:
    """Mean Rand index over the width of the kernel."""
    factors = _distinct(found.rows, "factor")
    table = [["data", "method", *(f"{factor:g}" for factor in factors)]]
    for data in _distinct(found.rows, "data"):
        for method in study.METHODS:
            means = [
                _scores(found.rows, data=data, method=method, factor=factor).mean()
                for factor in factors
            ]
            table.append([data, method, *(f"{mean:.3f}" for mean in means)])
    return table


def draw_spirals(found: Outcome, path: Path) -> None:
    """Figure 1: the curves and their embeddings."""
    from vicinal.plot import embedding

    truth = found.scene["truth"]
    places = {name: Y for name, Y in found.scene["places"].items() if name != study.PIXELS}

    def fill(figure: Any) -> None:
        width = len(places) + 1
        ax = figure.add_subplot(1, width, 1, projection="3d")
        embedding(found.scene["X"], truth, ax=ax, legend=False)
        ax.set_title("three spirals")
        for k, (method, Y) in enumerate(places.items()):
            _panel(figure.add_subplot(1, width, k + 2), method, Y, truth)

    save_figure(fill, (14, 3.8), path)


def draw_digits(found: Outcome, path: Path) -> None:
    """Figure 2: both digits by each method."""
    places, truth = found.scene["places"], found.scene["truth"]

    def fill(figure: Any) -> None:
        for ax, (method, Y) in zip(figure.subplots(1, len(places)), places.items(), strict=True):
            _panel(ax, method, Y, truth)

    save_figure(fill, (14, 3.8), path)


def draw_accuracy(found: Outcome, path: Path) -> None:
    """Figure 3: bars of each method on each subset."""
    methods = _distinct(found.rows, "method")
    subsets = _distinct(found.rows, "digits")

    def fill(figure: Any) -> None:
        ax = figure.subplots()
        for k, method in enumerate(methods):
            scores = [_scores(found.rows, digits=digits, method=method) for digits in subsets]
            at = np.arange(len(subsets)) + (k - (len(methods) - 1) / 2) / (len(methods) + 1)
            ax.bar(
                at,
                [values.mean() for values in scores],
                1 / (len(methods) + 1),
                yerr=[values.std() for values in scores],
                label=method,
            )
        ax.set_xticks(np.arange(len(subsets)), subsets)
        ax.set(ylabel="Rand index", xlabel="digits", ylim=(0.4, 1.0))
        ax.legend(ncols=len(methods), loc="upper center", bbox_to_anchor=(0.5, 1.12))

    save_figure(fill, (12, 4), path)


def draw_widths(found: Outcome, path: Path) -> None:
    """Rand index over sigma, one panel per method."""
    factors = _distinct(found.rows, "factor")

    def fill(figure: Any) -> None:
        panels = figure.subplots(1, len(study.METHODS), sharey=True)
        for ax, method in zip(panels, study.METHODS, strict=True):
            for data in _distinct(found.rows, "data"):
                means = [
                    _scores(found.rows, data=data, method=method, factor=factor).mean()
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


def _distinct(rows: Rows, what: str) -> list[Any]:
    return list(dict.fromkeys(row[what] for row in rows))


def _scores(rows: Rows, **where: Any) -> np.ndarray:
    chosen = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return np.array([row["rand_index"] for row in chosen])


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():.3f} ± {values.std():.3f}"


EXPERIMENTS = [
    Experiment(
        "figure-1",
        study.spiral_embeddings,
        spiral_table,
        draw_spirals,
        "Laplacian eigenmaps keep the curves but not the clusters; CPE puts three clusters far apart.",
    ),
    Experiment(
        "figure-2",
        study.digit_embeddings,
        eigenvalue_table,
        draw_digits,
        "CPE keeps the clusters of digits 1 and 3 better than PCA and Laplacian eigenmaps; CPE-MDS has one "
        "positive eigenvalue only.",
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
    """Setting and experiments of ``vicinal reproduce cluster-preserving``."""
    check_folder(data)
    return (study.QUICK if quick else study.FULL)._replace(data=data), EXPERIMENTS
