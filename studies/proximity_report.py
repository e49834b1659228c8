"""Tables and figures of the study of proximity graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from studies import proximity_graphs as study
from studies.experiments import Experiment, Rows, save_figure
from vicinal.exceptions import InvalidValueError

# Thresholds of a good result: segmentation error, and true residual variance.
GOOD_ERROR = 0.05
GOOD_RESIDUAL = 0.01
# A geodesic error is good if it is at most this many times the best of all graphs at the same noise.
MAX_ERROR_RATIO = 2.0


class Curve(NamedTuple):
    """Mean and standard deviation over repetitions, by parameter."""

    values: list[float]
    mean: np.ndarray
    std: np.ndarray


def curve(rows: Rows, noise: str, graph: str, parameter: str, key: str) -> Curve:
    """One measure of one graph by its parameter; infinite where any repetition failed."""
    selected = [row for row in rows if row["noise"] == noise and row["graph"] == graph]
    values = list(dict.fromkeys(row[parameter] for row in selected))
    table = np.array(
        [[row[key] for row in selected if row[parameter] == value] for value in values]
    )
    is_finite = np.isfinite(table).all(axis=1)
    mean, std = np.full(len(values), np.inf), np.full(len(values), np.inf)
    mean[is_finite], std[is_finite] = table[is_finite].mean(axis=1), table[is_finite].std(axis=1)
    return Curve(values, mean, std)


def clustering_table(rows: Rows) -> list[list[str]]:
    """For each graph: its lowest error, the good scales, and the error at an infinite scale."""
    table = [["noise", "graph", "lowest error", "scales with error <= 0.05", "error at infinity"]]
    for noise, graph in _pairs(rows):
        errors = curve(rows, noise, graph, "scale", "error")
        best = int(np.argmin(errors.mean))
        good_scales = longest_run(errors.values, errors.mean <= GOOD_ERROR)
        table.append(
            [
                noise,
                graph,
                _format_point(errors, best),
                good_scales,
                _format_point(errors, len(errors.mean) - 1),
            ]
        )
    return table


def isomap_table(rows: Rows) -> list[list[str]]:
    """For each kind of graph: its best parameter and the good parameters."""
    table = [
        ["noise", "graph", "", "lowest E", "at", "E within twice the best of all", "V <= 0.01"]
    ]
    for noise in dict.fromkeys(row["noise"] for row in rows):
        names = [graph for level, graph in _pairs(rows) if level == noise]
        errors = {name: curve(rows, noise, name, "value", "geodesic_error") for name in names}
        best_of_all = min(error.mean.min() for error in errors.values())
        for name, error in errors.items():
            residual = curve(rows, noise, name, "value", "true_residual")
            best = int(np.argmin(error.mean))
            parameter = next(row["parameter"] for row in rows if row["graph"] == name)
            table.append(
                [
                    noise,
                    name,
                    parameter,
                    _format_point(error, best),
                    f"{error.values[best]:g}",
                    longest_run(error.values, error.mean <= MAX_ERROR_RATIO * best_of_all),
                    longest_run(residual.values, residual.mean <= GOOD_RESIDUAL),
                ]
            )
    return table


def longest_run(values: Sequence[float], is_good: Sequence[bool] | np.ndarray) -> str:
    """First and last value of the longest run of good values, and its length."""
    longest: list[float] = []
    run: list[float] = []
    for value, good in zip(values, is_good, strict=True):
        run = [*run, value] if good else []
        longest = max(longest, run, key=len)
    if not longest:
        return "none"
    ends = f"{longest[0]:g}" if len(longest) == 1 else f"{longest[0]:g} to {longest[-1]:g}"
    return f"{ends} ({len(longest)} of {len(values)})"


def draw_clustering(rows: Rows, path: Path) -> None:
    """Segmentation error by scale, one panel per noise level."""
    levels = list(dict.fromkeys(row["noise"] for row in rows))

    def fill(figure: Any) -> None:
        panels = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
        for ax, noise in zip(panels, levels, strict=True):
            for order, graph in enumerate(graph for level, graph in _pairs(rows) if level == noise):
                points = curve(rows, noise, graph, "scale", "error")
                positions = np.arange(len(points.values))
                style = {"g": "k--", "k": ":", "P": "-", "D": "-."}[graph[0]]
                (line,) = ax.plot(positions, points.mean, style, label=graph, zorder=9 - order)
                low, high = points.mean - points.std, points.mean + points.std
                ax.fill_between(
                    positions, low, high, color=line.get_color(), alpha=0.08, linewidth=0
                )
            ax.set_xticks(positions, [f"{value:g}" for value in points.values])
            ax.set(title=f"{noise} noise", xlabel="scale of the affinity", ylim=(-0.02, 0.7))
        panels[0].set_ylabel("clustering error")
        panels[0].legend(fontsize=7, ncols=2, loc="upper right")

    save_figure(fill, (4.2 * len(levels), 3.6), path)


def draw_isomap(rows: Rows, path: Path) -> None:
    """Geodesic error and both residual variances by the parameter of each kind of graph."""
    levels = list(dict.fromkeys(row["noise"] for row in rows))
    names = list(dict.fromkeys(row["graph"] for row in rows))
    errors = [row["geodesic_error"] for row in rows if np.isfinite(row["geodesic_error"])]
    smallest, largest = min(errors), max(errors)

    def fill(figure: Any) -> None:
        panels = figure.subplots(len(levels), len(names), squeeze=False)
        for (i, j), ax in np.ndenumerate(panels):
            noise, name = levels[i], names[j]
            parameter = next(row["parameter"] for row in rows if row["graph"] == name)
            right = ax.twinx()
            for axis, key, style, label in (
                (ax, "geodesic_error", "b-", "E"),
                (right, "estimated_residual", "r-", "V, estimated"),
                (right, "true_residual", "r--", "V, true"),
            ):
                points = curve(rows, noise, name, "value", key)
                is_finite = np.isfinite(points.mean)
                axis.errorbar(
                    np.asarray(points.values)[is_finite],
                    points.mean[is_finite],
                    points.std[is_finite],
                    fmt=style,
                    label=label,
                    linewidth=1,
                )
            # One tree overestimates distances a hundred times more than the best graphs do.
            ax.set(yscale="log", ylim=(0.8 * smallest, 1.3 * largest))
            ax.set(title=f"{name}, {noise} noise", xlabel=parameter)
            ax.set_xlim(0, 1.03 * max(points.values))
            right.set_ylim(0, 1.05)
            if j == 0:
                ax.set_ylabel("E", color="b")
            if j == len(names) - 1:
                right.set_ylabel("V", color="r")
            if i == j == 0:
                right.legend(fontsize=7, loc="upper left")

    save_figure(fill, (3.1 * len(names), 2.8 * len(levels)), path)


def _pairs(rows: Rows) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["noise"], row["graph"]) for row in rows))


def _format_point(points: Curve, i: int) -> str:
    if not np.isfinite(points.mean[i]):
        return "disconnected"
    return f"{points.mean[i]:.3f} ± {points.std[i]:.3f}"


def plan(quick: bool, data: Path | None) -> tuple[study.Setting, list[Experiment]]:
    """Setting and experiments of ``python -m studies proximity-graphs``."""
    if data is not None:
        raise InvalidValueError(
            "--data has no effect on proximity-graphs, which makes its own data."
        )
    return study.QUICK if quick else study.FULL, [
        Experiment("clustering", study.clustering_errors, clustering_table, draw_clustering),
        Experiment("isomap", study.isomap_errors, isomap_table, draw_isomap),
    ]
