"""Figures of the study of self-smoothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.experiments import save_figure
from studies.self_smoothing import Outcome

STYLES = {"SSO": "C0o-", "diffusion maps": "C1s-", "affinity propagation": "C2^:"}


def draw_three_items(result: Outcome, path: Path) -> None:
    """Distance to the truth by t."""

    def fill(figure: Any) -> None:
        ax = figure.subplots()
        steps = [row["t"] for row in result.rows]
        ax.plot(steps, [row["error"] for row in result.rows], "C0o-", label="with step 3")
        unnormalized = [row["error_without_normalization"] for row in result.rows]
        ax.plot(steps, unnormalized, "C1s-", label="without")
        ax.set(xlabel="t", ylabel="distance to the truth", ylim=(0, None))
        ax.legend()

    save_figure(fill, (4.5, 3), path)


def draw_retrieval(result: Outcome, path: Path) -> None:
    """Figure 2: bull's eye score by t; the dashed line is the input."""
    sources = list(dict.fromkeys(row["source"] for row in result.rows if row["method"] == "SSO"))

    def fill(figure: Any) -> None:
        for ax, source in zip(figure.subplots(1, len(sources)), sources, strict=True):
            rows = [row for row in result.rows if row["source"] == source]
            _over_steps(ax, rows, "score")
            ax.set(title=f"{result.figure_data['name']}, {source}", ylabel="bull's eye")

    save_figure(fill, (4.5 * len(sources), 3.4), path)


def draw_first_retrieved(result: Outcome, path: Path) -> None:
    """Figure 3: queries and their results before and after; wrong results are framed."""
    figure_data = result.figure_data

    def fill(figure: Any) -> None:
        queries = figure_data["queries"]
        grid = figure.subplots(2 * len(queries), 11)
        for i, axes in enumerate(grid):
            query, name = queries[i // 2], ("W", "W*")[i % 2]
            results = figure_data["before"] if name == "W" else figure_data["after"]
            is_result_correct = [True, *figure_data["correct"][name][query]]
            for ax, item, is_correct in zip(
                axes, [query, *results[query]], is_result_correct, strict=True
            ):
                ax.imshow(figure_data["pixels"][item], cmap="gray", vmin=0, vmax=1)
                ax.set(xticks=[], yticks=[])
                for spine in ax.spines.values():
                    spine.set(visible=not is_correct, color="red", linewidth=2)
            axes[0].set_ylabel(name, rotation=0, labelpad=12)

    save_figure(fill, (8, 7), path)


def draw_clusters(result: Outcome, path: Path) -> None:
    """Figure 6: agreement with classes by t, mean and standard deviation."""
    names = list(dict.fromkeys(row["data"] for row in result.rows))

    def fill(figure: Any) -> None:
        for ax, name in zip(np.atleast_1d(figure.subplots(1, len(names))), names, strict=True):
            _over_steps(ax, [row for row in result.rows if row["data"] == name], "nmi")
            ax.set(title=name, ylabel="NMI")

    save_figure(fill, (4.5 * len(names), 3.4), path)


def draw_blocks(result: Outcome, path: Path) -> None:
    """Figure 7: both matrices, items sorted by class."""

    def fill(figure: Any) -> None:
        panels = result.figure_data["panels"]
        for ax, (name, matrix) in zip(figure.subplots(1, 2), panels.items(), strict=True):
            off_diagonal = matrix[~np.eye(len(matrix), dtype=bool)]
            ax.imshow(
                matrix, cmap="gray_r", vmin=0, vmax=max(np.quantile(off_diagonal, 0.995), 1e-12)
            )
            ax.set(title=name, xticks=[], yticks=[])

    save_figure(fill, (7, 3.6), path)


def draw_segments(result: Outcome, path: Path) -> None:
    """Figure 8: the first image, and its segments at every t."""
    panels = result.figure_data["panels"]
    steps = sorted({t for _, t in panels})

    def fill(figure: Any) -> None:
        grid = figure.subplots(2, len(steps))
        for axes, method in zip(grid, STYLES, strict=False):
            for ax, t in zip(axes, steps, strict=True):
                labels = panels.get((method, t))
                ax.imshow(result.figure_data["grey"], cmap="gray")
                if labels is not None:
                    ax.imshow(labels, cmap="tab10", alpha=0.5, vmax=9)
                    ax.set_title(f"{method}, t = {t}", fontsize=7)
                ax.set(xticks=[], yticks=[])

    save_figure(fill, (1.9 * len(steps), 4), path)


def draw_classification(result: Outcome, path: Path) -> None:
    """Figure 9: accuracy by t."""

    def fill(figure: Any) -> None:
        ax = figure.subplots()
        _over_steps(ax, result.rows, "accuracy")
        ax.set(title=result.figure_data["name"], ylabel="leave-one-out accuracy")

    save_figure(fill, (5, 3.4), path)


def draw_automatic(result: Outcome, path: Path) -> None:
    """Input, automatic and best in hindsight, side by side."""

    def fill(figure: Any) -> None:
        ax = figure.subplots()
        positions = np.arange(len(result.rows))
        for offset, key in enumerate(("input", "automatic", "best")):
            ax.bar(
                positions + 0.27 * (offset - 1), [row[key] for row in result.rows], 0.25, label=key
            )
        ax.set_xticks(positions, [row["data"] for row in result.rows])
        ax.set(ylabel="bull's eye", ylim=(0.5, 1))
        ax.legend()

    save_figure(fill, (5, 3.4), path)


def _over_steps(ax: Any, rows: list[dict[str, Any]], key: str) -> None:
    for method, style in STYLES.items():
        selected = [row for row in rows if row["method"] == method]
        steps = list(dict.fromkeys(row["t"] for row in selected))
        table = [[row[key] for row in selected if row["t"] == t] for t in steps]
        if table:
            mean, std = np.mean(table, axis=1), np.std(table, axis=1)
            ax.errorbar(steps, mean, std, fmt=style, label=method, markersize=4, linewidth=1)
    first = [row[key] for row in rows if row["method"] == "SSO" and row["t"] == 0]
    ax.axhline(np.mean(first), color="gray", linestyle="-.", linewidth=1)
    ax.set_xscale("symlog", linthresh=1, linscale=0.4)
    ax.set_xlim(left=-0.1)
    ax.set_xlabel("t")
    ax.legend(fontsize=7)
