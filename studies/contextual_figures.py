"""Figures of the study of contextual distances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.contextual_distance import (
    DIGITS,
    FACE_ALPHA,
    FACE_NEIGHBORS,
    QUERY_POINT,
    Outcome,
)
from studies.experiments import save_figure as save

# Noise, then classes.
COLORS = np.array(["0.6", "tab:red", "tab:green", "tab:blue"])
# Elevation and azimuth that look into the half-cylinders.
VIEW_ANGLES = (65, -80)


def draw_distances(result: Outcome, path: Path) -> None:
    """Figure 3: the points, and bars of both distances from point a."""
    X, labels = result.figure_data["X"], result.figure_data["labels"]

    def fill(figure: Any) -> None:
        panels = figure.subplots(1, 3)
        _ten_points(panels[0], X, labels)
        panels[0].annotate("a", X[QUERY_POINT], xytext=(-14, 4), textcoords="offset points")
        colors = ["tab:blue" if row["cluster"] == "I" else "tab:red" for row in result.rows]
        names = [str(row["point"]) for row in result.rows]
        for ax, key in zip(panels[1:], ("euclidean", "contextual"), strict=True):
            ax.bar(names, [row[key] for row in result.rows], color=colors)
            ax.set(title=f"{key} distance from a", xlabel="point (red: Cluster II)")

    save(fill, (12, 3.6), path)


def draw_ten_points(result: Outcome, path: Path) -> None:
    """Figure 4: second and third eigenvector of each method."""
    embeddings, labels = result.figure_data["embeddings"], result.figure_data["labels"]

    def fill(figure: Any) -> None:
        for ax, (method, Y) in zip(
            figure.subplots(1, len(embeddings)), embeddings.items(), strict=True
        ):
            _ten_points(ax, Y, labels)
            ax.set_title(method, fontsize=9)

    save(fill, (3.2 * len(embeddings), 3.2), path)


def draw_digraph(result: Outcome, path: Path) -> None:
    """Figure 6: the digraph, and its matrix of weights."""
    X, labels, graph = (result.figure_data[name] for name in ("X", "labels", "graph"))

    def fill(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        for row in result.rows:
            left.annotate(
                "",
                X[row["target"]],
                X[row["source"]],
                arrowprops={
                    "arrowstyle": "->",
                    "alpha": 0.3 + 0.7 * row["weight"],
                    "connectionstyle": "arc3,rad=0.25",
                },
            )
        _ten_points(left, X, labels)
        left.set_title("two neighbours per point")
        image = right.imshow(graph.to_scipy("strengths").toarray(), cmap="viridis")
        right.set(title="weights", xlabel="to", ylabel="from")
        figure.colorbar(image, ax=right, shrink=0.8)

    save(fill, (9, 4), path)


def draw_clusters(result: Outcome, path: Path) -> None:
    """Figure 7: clusters by coding length at each noise level; the centroid and peers at the second."""
    panel_data = result.figure_data["panels"]
    levels = list(dict.fromkeys(noise for noise, _ in panel_data))
    second = levels[min(1, len(levels) - 1)]
    panels = [(noise, "perceptual, coding length, noise given") for noise in levels]
    others = ("perceptual, centroid, noise given", "NJW", "normalised cut", "k-means")
    panels += [(second, method) for method in others]

    def fill(figure: Any) -> None:
        for ax, (noise, method) in zip(_panels_3d(figure, len(panels)), panels, strict=True):
            X, labels = panel_data[noise, method]
            ax.scatter(*X.T, s=1.5, c=COLORS[labels + 1])
            ax.view_init(*VIEW_ANGLES)
            ax.set_title(f"{method}\n{noise} noise points", fontsize=8)

    save(fill, (14, 7.5), path)


def draw_embeddings(result: Outcome, path: Path) -> None:
    """Figure 8: three dimensions of each embedding, and the perceptual one near the origin."""
    embeddings, truth = result.figure_data["embeddings"], result.figure_data["truth"]
    panels: list[tuple[str, np.ndarray, float | None]] = [
        (method, Y, None) for method, Y in embeddings.items()
    ]
    method, Y = "perceptual, coding length", embeddings["perceptual, coding length"]
    panels.append((f"{method}, near the origin", Y, float(np.quantile(np.abs(Y), 0.8))))

    def fill(figure: Any) -> None:
        for ax, (title, rows, limit) in zip(_panels_3d(figure, len(panels)), panels, strict=False):
            inside = slice(None) if limit is None else np.abs(rows).max(axis=1) <= limit
            ax.scatter(*rows[inside].T, s=1.5, c=COLORS[truth[inside] + 1])
            ax.set_title(title, fontsize=8)

    save(fill, (14, 7.5), path)


def draw_digits(result: Outcome, path: Path) -> None:
    """Figure 9: embeddings of handwritten digits."""
    embeddings, truth = result.figure_data["embeddings"], result.figure_data["truth"]
    colors = COLORS[1:][np.searchsorted(DIGITS, truth)]

    def fill(figure: Any) -> None:
        for ax, (method, Y) in zip(
            _panels_3d(figure, len(embeddings)), embeddings.items(), strict=True
        ):
            ax.scatter(*Y.T, s=1.5, c=colors)
            ax.set_title(method, fontsize=9)
        figure.suptitle(f"{result.figure_data['source']}: red 1, green 2, blue 3", fontsize=9)

    save(fill, (12, 4.2), path)


def draw_norms(result: Outcome, path: Path) -> None:
    """Figure 10: digits farthest from the origin (left) and nearest to it (right)."""
    panel_data = result.figure_data["panels"]
    names = list(dict.fromkeys(name for name, _, _ in panel_data))

    def fill(figure: Any) -> None:
        for ax, name in zip(figure.subplots(1, len(names)), names, strict=True):
            rows = [
                _mosaics(panel_data[name, digit, "far"], panel_data[name, digit, "near"])
                for digit in DIGITS
            ]
            ax.imshow(np.vstack(rows), cmap="gray_r")
            ax.set(title=f"{name}: far from the origin | near it", xticks=[], yticks=[])

    save(fill, (13, 4), path)


def draw_ranking(result: Outcome, path: Path) -> None:
    """Figure 11: top-ranked points by noise level; then the centroid and Zhou's ranking."""
    panel_data = result.figure_data["panels"]
    levels = list(dict.fromkeys(noise for noise, _, _ in panel_data))
    second = levels[min(1, len(levels) - 1)]
    alphas = [alpha for noise, method, alpha in panel_data if method == "Zhou" and noise == second]
    perceptual_alpha = next(alpha for _, method, alpha in panel_data if method != "Zhou")
    panels = [(noise, "perceptual, coding length", perceptual_alpha) for noise in levels]
    panels += [(second, "perceptual, centroid", perceptual_alpha)]
    panels += [
        (second, "Zhou", alpha) for alpha in (alphas[0], alphas[len(alphas) // 2], alphas[-1])
    ]

    def fill(figure: Any) -> None:
        for ax, (noise, method, alpha) in zip(_panels_3d(figure, len(panels)), panels, strict=True):
            X, query, ranked = panel_data[noise, method, alpha]
            colors = np.full(len(X), "0.7", dtype=object)
            colors[ranked] = "tab:green"
            ax.scatter(*X.T, s=1.5, c=colors.tolist())
            ax.scatter(*X[query], s=60, c="k")
            ax.view_init(*VIEW_ANGLES)
            ax.set_title(f"{method}, alpha = {alpha:g}\n{noise} noise points", fontsize=8)

    save(fill, (14, 7.5), path)


def draw_faces(result: Outcome, path: Path) -> None:
    """Figure 13: accuracy at the paper's parameters, over alpha, and over K."""
    rows = result.rows
    methods = list(dict.fromkeys(row["method"] for row in rows))[:-1]

    def fill(figure: Any) -> None:
        bars, *curves = figure.subplots(1, 3, sharey=True)
        heights = [accuracies(rows, method, "alpha")[FACE_ALPHA] for method in methods]
        bars.bar(["coding\nlength", "centroid", "Zhou"], heights)
        bars.axhline(rows[-1]["accuracy"], color="k", linestyle=":", label="nearest neighbours")
        bars.set(
            title=f"K = {FACE_NEIGHBORS}, alpha = {FACE_ALPHA}", ylabel="accuracy", ylim=(0, 1)
        )
        bars.legend(fontsize=7)
        for ax, parameter in zip(curves, ("alpha", "K"), strict=True):
            for method in methods:
                accuracy_by_value = accuracies(rows, method, parameter)
                positions = np.array(list(accuracy_by_value))
                ax.plot(
                    -np.log10(1 - positions) if parameter == "alpha" else positions,
                    accuracy_by_value.values(),
                    label=method,
                )
            if parameter == "alpha":
                ax.set_xticks(
                    -np.log10(1 - positions), [f"{value:g}" for value in positions], fontsize=6
                )
            ax.set_xlabel(parameter)
        curves[1].legend(fontsize=7)
        figure.suptitle(result.figure_data["source"], fontsize=9)

    save(fill, (11, 3.4), path)


def accuracies(rows: list[dict[str, Any]], method: str, parameter: str) -> dict[float, float]:
    """Accuracy of a method by alpha or by K; the other is as in the paper."""
    other, fixed = ("K", FACE_NEIGHBORS) if parameter == "alpha" else ("alpha", FACE_ALPHA)
    selected = [row for row in rows if row["method"] == method and row[other] == fixed]
    return {
        row[parameter]: row["accuracy"] for row in sorted(selected, key=lambda row: row[parameter])
    }


def _ten_points(ax: Any, X: np.ndarray, labels: np.ndarray) -> None:
    for label, marker, color in ((0, "o", "tab:blue"), (1, "P", "tab:red")):
        ax.scatter(*X[labels == label].T, marker=marker, c=color, s=40)
    for i, position in enumerate(X):
        ax.annotate(str(i), position, xytext=(5, 3), textcoords="offset points", fontsize=7)
    ax.set(xticks=[], yticks=[])
    ax.margins(0.15)


def _panels_3d(figure: Any, n_panels: int) -> list[Any]:
    rows = 1 if n_panels <= 3 else 2
    columns = -(-n_panels // rows)
    panels = [figure.add_subplot(rows, columns, i + 1, projection="3d") for i in range(n_panels)]
    for ax in panels:
        ax.set(xticks=[], yticks=[], zticks=[])
    return panels


def _mosaics(far: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Two mosaics of ten columns with a gap between them."""
    height = far.shape[1]
    sides = [_mosaic(far), _mosaic(near)]
    rows = max(len(side) for side in sides)
    sides = [np.pad(side, ((0, rows - len(side)), (0, 0))) for side in sides]
    return np.hstack([sides[0], np.full((rows, height // 2), 1.0), sides[1]])


def _mosaic(images: np.ndarray) -> np.ndarray:
    n, height, width = images.shape
    rows = -(-n // 10)
    padded = np.zeros((rows * 10, height, width))
    padded[:n] = images
    return padded.reshape(rows, 10, height, width).swapaxes(1, 2).reshape(rows * height, 10 * width)
