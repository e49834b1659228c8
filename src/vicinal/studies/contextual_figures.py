"""Figures of the study of contextual distances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vicinal.studies.contextual_distance import (
    DIGITS,
    FACE_ALPHA,
    FACE_NEIGHBORS,
    SEEN_FROM,
    Outcome,
)
from vicinal.studies.experiments import save_figure as save

# Noise, then classes.
COLORS = np.array(["0.6", "tab:red", "tab:green", "tab:blue"])
# Elevation and azimuth that look into the half-cylinders.
ALONG = (65, -80)


def draw_distances(found: Outcome, path: Path) -> None:
    """Figure 3: the points, and bars of both distances from point a."""
    X, labels = found.scene["X"], found.scene["labels"]

    def fill(figure: Any) -> None:
        panels = figure.subplots(1, 3)
        _ten_points(panels[0], X, labels)
        panels[0].annotate("a", X[SEEN_FROM], xytext=(-14, 4), textcoords="offset points")
        colors = ["tab:blue" if row["cluster"] == "I" else "tab:red" for row in found.rows]
        names = [str(row["point"]) for row in found.rows]
        for ax, what in zip(panels[1:], ("euclidean", "contextual"), strict=True):
            ax.bar(names, [row[what] for row in found.rows], color=colors)
            ax.set(title=f"{what} distance from a", xlabel="point (red: Cluster II)")

    save(fill, (12, 3.6), path)


def draw_ten_points(found: Outcome, path: Path) -> None:
    """Figure 4: second and third eigenvector of each method."""
    places, labels = found.scene["places"], found.scene["labels"]

    def fill(figure: Any) -> None:
        for ax, (method, Y) in zip(figure.subplots(1, len(places)), places.items(), strict=True):
            _ten_points(ax, Y, labels)
            ax.set_title(method, fontsize=9)

    save(fill, (3.2 * len(places), 3.2), path)


def draw_digraph(found: Outcome, path: Path) -> None:
    """Figure 6: the digraph, and its matrix of weights."""
    X, labels, graph = (found.scene[name] for name in ("X", "labels", "graph"))

    def fill(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        for row in found.rows:
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
        left.set_title("two neighbours a point")
        image = right.imshow(graph.to_scipy("strengths").toarray(), cmap="viridis")
        right.set(title="weights", xlabel="to", ylabel="from")
        figure.colorbar(image, ax=right, shrink=0.8)

    save(fill, (9, 4), path)


def draw_clusters(found: Outcome, path: Path) -> None:
    """Figure 7: clusters by coding length over noise, then the centroid and peers at the second level."""
    shown = found.scene["shown"]
    levels = list(dict.fromkeys(noise for noise, _ in shown))
    second = levels[min(1, len(levels) - 1)]
    panels = [(noise, "perceptual, coding length, noise given") for noise in levels]
    others = ("perceptual, centroid, noise given", "NJW", "normalised cut", "k-means")
    panels += [(second, method) for method in others]

    def fill(figure: Any) -> None:
        for ax, (noise, method) in zip(_spaces(figure, len(panels)), panels, strict=True):
            X, labels = shown[noise, method]
            ax.scatter(*X.T, s=1.5, c=COLORS[labels + 1])
            ax.view_init(*ALONG)
            ax.set_title(f"{method}\n{noise} noise points", fontsize=8)

    save(fill, (14, 7.5), path)


def draw_embeddings(found: Outcome, path: Path) -> None:
    """Figure 8: three dimensions of each embedding, and the middle of the perceptual one."""
    places, truth = found.scene["places"], found.scene["truth"]
    panels: list[tuple[str, np.ndarray, float | None]] = [
        (method, Y, None) for method, Y in places.items()
    ]
    method, Y = "perceptual, coding length", places["perceptual, coding length"]
    panels.append((f"{method}, the middle", Y, float(np.quantile(np.abs(Y), 0.8))))

    def fill(figure: Any) -> None:
        for ax, (title, rows, limit) in zip(_spaces(figure, len(panels)), panels, strict=False):
            kept = slice(None) if limit is None else np.abs(rows).max(axis=1) <= limit
            ax.scatter(*rows[kept].T, s=1.5, c=COLORS[truth[kept] + 1])
            ax.set_title(title, fontsize=8)

    save(fill, (14, 7.5), path)


def draw_digits(found: Outcome, path: Path) -> None:
    """Figure 9: embeddings of handwritten digits."""
    places, truth = found.scene["places"], found.scene["truth"]
    colors = COLORS[1:][np.searchsorted(DIGITS, truth)]

    def fill(figure: Any) -> None:
        for ax, (method, Y) in zip(_spaces(figure, len(places)), places.items(), strict=True):
            ax.scatter(*Y.T, s=1.5, c=colors)
            ax.set_title(method, fontsize=9)
        figure.suptitle(f"{found.scene['source']}: red 1, green 2, blue 3", fontsize=9)

    save(fill, (12, 4.2), path)


def draw_norms(found: Outcome, path: Path) -> None:
    """Figure 10: on the left the digits farthest from the origin, on the right the nearest."""
    shown = found.scene["shown"]
    names = list(dict.fromkeys(name for name, _, _ in shown))

    def fill(figure: Any) -> None:
        for ax, name in zip(figure.subplots(1, len(names)), names, strict=True):
            rows = [
                _mosaics(shown[name, digit, "far"], shown[name, digit, "near"]) for digit in DIGITS
            ]
            ax.imshow(np.vstack(rows), cmap="gray_r")
            ax.set(title=f"{name}: far from the origin | near it", xticks=[], yticks=[])

    save(fill, (13, 4), path)


def draw_ranking(found: Outcome, path: Path) -> None:
    """Figure 11: points ranked first, over noise; then the centroid and Zhou's ranking."""
    shown = found.scene["shown"]
    levels = list(dict.fromkeys(noise for noise, _, _ in shown))
    second = levels[min(1, len(levels) - 1)]
    alphas = [alpha for noise, method, alpha in shown if method == "Zhou" and noise == second]
    own = next(alpha for _, method, alpha in shown if method != "Zhou")
    panels = [(noise, "perceptual, coding length", own) for noise in levels]
    panels += [(second, "perceptual, centroid", own)]
    panels += [
        (second, "Zhou", alpha) for alpha in (alphas[0], alphas[len(alphas) // 2], alphas[-1])
    ]

    def fill(figure: Any) -> None:
        for ax, (noise, method, alpha) in zip(_spaces(figure, len(panels)), panels, strict=True):
            X, query, first = shown[noise, method, alpha]
            colors = np.full(len(X), "0.7", dtype=object)
            colors[first] = "tab:green"
            ax.scatter(*X.T, s=1.5, c=colors.tolist())
            ax.scatter(*X[query], s=60, c="k")
            ax.view_init(*ALONG)
            ax.set_title(f"{method}, alpha = {alpha:g}\n{noise} noise points", fontsize=8)

    save(fill, (14, 7.5), path)


def draw_faces(found: Outcome, path: Path) -> None:
    """Figure 13: accuracy at the paper's parameters, over alpha, and over K."""
    rows = found.rows
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
        for ax, over in zip(curves, ("alpha", "K"), strict=True):
            for method in methods:
                found_at = accuracies(rows, method, over)
                at = np.array(list(found_at))
                ax.plot(
                    -np.log10(1 - at) if over == "alpha" else at, found_at.values(), label=method
                )
            if over == "alpha":
                ax.set_xticks(-np.log10(1 - at), [f"{value:g}" for value in at], fontsize=6)
            ax.set_xlabel(over)
        curves[1].legend(fontsize=7)
        figure.suptitle(found.scene["source"], fontsize=9)

    save(fill, (11, 3.4), path)


def accuracies(rows: list[dict[str, Any]], method: str, over: str) -> dict[float, float]:
    """Accuracy of a method over alpha or over K, the other as in the paper."""
    other, fixed = ("K", FACE_NEIGHBORS) if over == "alpha" else ("alpha", FACE_ALPHA)
    chosen = [row for row in rows if row["method"] == method and row[other] == fixed]
    return {row[over]: row["accuracy"] for row in sorted(chosen, key=lambda row: row[over])}


def _ten_points(ax: Any, X: np.ndarray, labels: np.ndarray) -> None:
    for label, marker, color in ((0, "o", "tab:blue"), (1, "P", "tab:red")):
        ax.scatter(*X[labels == label].T, marker=marker, c=color, s=40)
    for i, place in enumerate(X):
        ax.annotate(str(i), place, xytext=(5, 3), textcoords="offset points", fontsize=7)
    ax.set(xticks=[], yticks=[])
    ax.margins(0.15)


def _spaces(figure: Any, number: int) -> list[Any]:
    rows = 1 if number <= 3 else 2
    columns = -(-number // rows)
    panels = [figure.add_subplot(rows, columns, i + 1, projection="3d") for i in range(number)]
    for ax in panels:
        ax.set(xticks=[], yticks=[], zticks=[])
    return panels


def _mosaics(far: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Ten columns of each, with a gap between."""
    height = far.shape[1]
    sides = [_mosaic(far), _mosaic(near)]
    rows = max(len(side) for side in sides)
    sides = [np.pad(side, ((0, rows - len(side)), (0, 0))) for side in sides]
    return np.hstack([sides[0], np.full((rows, height // 2), 1.0), sides[1]])


def _mosaic(images: np.ndarray) -> np.ndarray:
    n, height, width = images.shape
    rows = -(-n // 10)
    whole = np.zeros((rows * 10, height, width))
    whole[:n] = images
    return whole.reshape(rows, 10, height, width).swapaxes(1, 2).reshape(rows * height, 10 * width)
