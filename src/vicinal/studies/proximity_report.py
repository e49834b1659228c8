"""Tables and figures of the study of proximity graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidValueError
from vicinal.studies import proximity_graphs as study
from vicinal.studies.experiments import Experiment, Rows, save_figure

# Thresholds of a good result: segmentation error, and true residual variance.
GOOD_ERROR = 0.05
GOOD_RESIDUAL = 0.01
# A geodesic error is good if it is at most so many times the best of all graphs at the same noise.
NEAR_BEST = 2.0


class Curve(NamedTuple):
    """Mean and standard deviation over the draws, by parameter."""

    values: list[float]
    mean: np.ndarray
    spread: np.ndarray


def curve(rows: Rows, noise: str, graph: str, over: str, what: str) -> Curve:
    """One measure of one graph over its parameter; infinite where any draw failed."""
    chosen = [row for row in rows if row["noise"] == noise and row["graph"] == graph]
    values = list(dict.fromkeys(row[over] for row in chosen))
    table = np.array([[row[what] for row in chosen if row[over] == value] for value in values])
    whole = np.isfinite(table).all(axis=1)
    mean, spread = np.full(len(values), np.inf), np.full(len(values), np.inf)
    mean[whole], spread[whole] = table[whole].mean(axis=1), table[whole].std(axis=1)
    return Curve(values, mean, spread)


def clustering_table(rows: Rows) -> list[list[str]]:
    """For each graph: its best scale, the good scales, and the error without any scale."""
    table = [["noise", "graph", "lowest error", "scales with error <= 0.05", "error at infinity"]]
    for noise, graph in _pairs(rows):
        found = curve(rows, noise, graph, "scale", "error")
        best = int(np.argmin(found.mean))
        good = run_of(found.values, found.mean <= GOOD_ERROR)
        table.append([noise, graph, _shown(found, best), good, _shown(found, len(found.mean) - 1)])
    return table


def isomap_table(rows: Rows) -> list[list[str]]:
    """For each kind of graph: its best parameter and the good parameters."""
    table = [
        ["noise", "graph", "", "lowest E", "at", "E within twice the best of all", "V <= 0.01"]
    ]
    for noise in dict.fromkeys(row["noise"] for row in rows):
        names = [graph for of, graph in _pairs(rows) if of == noise]
        errors = {name: curve(rows, noise, name, "value", "geodesic_error") for name in names}
        best_of_all = min(found.mean.min() for found in errors.values())
        for name, found in errors.items():
            residual = curve(rows, noise, name, "value", "true_residual")
            best = int(np.argmin(found.mean))
            parameter = next(row["parameter"] for row in rows if row["graph"] == name)
            table.append(
                [
                    noise,
                    name,
                    parameter,
                    _shown(found, best),
                    f"{found.values[best]:g}",
                    run_of(found.values, found.mean <= NEAR_BEST * best_of_all),
                    run_of(residual.values, residual.mean <= GOOD_RESIDUAL),
                ]
            )
    return table


def run_of(values: Sequence[float], good: Sequence[bool] | np.ndarray) -> str:
    """Ends of the longest run of good values, and its length."""
    longest: list[float] = []
    run: list[float] = []
    for value, fine in zip(values, good, strict=True):
        run = [*run, value] if fine else []
        longest = max(longest, run, key=len)
    if not longest:
        return "none"
    ends = f"{longest[0]:g}" if len(longest) == 1 else f"{longest[0]:g} to {longest[-1]:g}"
    return f"{ends} ({len(longest)} of {len(values)})"


def draw_clustering(rows: Rows, path: Path) -> None:
    """Error of the segmentation over scales, one panel per noise level."""
    levels = list(dict.fromkeys(row["noise"] for row in rows))

    def fill(figure: Any) -> None:
        panels = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
        for ax, noise in zip(panels, levels, strict=True):
            for number, graph in enumerate(graph for of, graph in _pairs(rows) if of == noise):
                found = curve(rows, noise, graph, "scale", "error")
                at = np.arange(len(found.values))
                style = {"g": "k--", "k": ":", "P": "-", "D": "-."}[graph[0]]
                (line,) = ax.plot(at, found.mean, style, label=graph, zorder=9 - number)
                low, high = found.mean - found.spread, found.mean + found.spread
                ax.fill_between(at, low, high, color=line.get_color(), alpha=0.08, linewidth=0)
            ax.set_xticks(at, [f"{value:g}" for value in found.values])
            ax.set(title=f"{noise} noise", xlabel="scale of the affinity", ylim=(-0.02, 0.7))
        panels[0].set_ylabel("clustering error")
        panels[0].legend(fontsize=7, ncols=2, loc="upper right")

    save_figure(fill, (4.2 * len(levels), 3.6), path)


def draw_isomap(rows: Rows, path: Path) -> None:
    """Geodesic error and both residual variances over the parameter of each kind of graph."""
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
            for axis, what, style, label in (
                (ax, "geodesic_error", "b-", "E"),
                (right, "estimated_residual", "r-", "V, estimated"),
                (right, "true_residual", "r--", "V, true"),
            ):
                found = curve(rows, noise, name, "value", what)
                fine = np.isfinite(found.mean)
                axis.errorbar(
                    np.asarray(found.values)[fine],
                    found.mean[fine],
                    found.spread[fine],
                    fmt=style,
                    label=label,
                    linewidth=1,
                )
            # One tree overestimates distances a hundred times more than the best graphs do.
            ax.set(yscale="log", ylim=(0.8 * smallest, 1.3 * largest))
            ax.set(title=f"{name}, {noise} noise", xlabel=parameter)
            ax.set_xlim(0, 1.03 * max(found.values))
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


def _shown(found: Curve, at: int) -> str:
    if not np.isfinite(found.mean[at]):
        return "in pieces"
    return f"{found.mean[at]:.3f} ± {found.spread[at]:.3f}"


def plan(quick: bool, data: Path | None) -> tuple[study.Setting, list[Experiment]]:
    """Setting and experiments of ``vicinal reproduce proximity-graphs``."""
    if data is not None:
        raise InvalidValueError(
            "--data has no effect on proximity-graphs, which makes its own data."
        )
    return study.QUICK if quick else study.FULL, [
        Experiment("clustering", study.clustering_errors, clustering_table, draw_clustering),
        Experiment("isomap", study.isomap_errors, isomap_table, draw_isomap),
    ]
