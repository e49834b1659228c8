"""Scatter plots of points, coloured by class or value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_real
from vicinal.plot._axes import (
    NOISE,
    NOISE_COLOR,
    UNKNOWN,
    UNKNOWN_COLOR,
    check_axes,
    check_colormap,
    check_labels,
    check_positions,
    class_colors,
    class_name,
    classes_of,
    equal_scales,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from vicinal._core.types import ArrayLike

REMEDY = "pass the columns to plot, such as Z[:, :2]."
# Integers with more distinct values than this are drawn as values, not as classes.
MAX_CLASSES = 60
MAX_LEGEND_ENTRIES = 20
# More points are rasterised, so that vector files stay small.
MAX_VECTOR_POINTS = 20_000


@entry
def embedding(
    positions: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    cmap: str | Colormap = "viridis",
    point_size: float | None = None,
    legend: bool = True,
) -> Axes:
    """Plot points in two or three dimensions, coloured by label.

    Parameters
    ----------
    positions : array of shape (n, 2 or 3)
        Positions of the points: an embedding, or the data.
    labels : array of shape (n,), optional
        Strings or integers are classes, one colour each; -1 is noise, drawn in grey below the others;
        None, NaN, NA and "" mean no label, drawn in a lighter grey. Other numbers, or more than 60
        distinct integers, are values with a colour bar.
    ax : matplotlib Axes, optional
        Axes to draw in, with 3-D projection for three-dimensional positions; by default a new figure.
    cmap : str or matplotlib Colormap, default="viridis"
        Colours of values.
    point_size : float, optional
        Marker area in points; by default it decreases with the number of points.
    legend : bool, default=True
        Show a legend of the classes (at most 20), or the colour bar of values.

    Returns
    -------
    matplotlib Axes
        Axes with the plot.

    Examples
    --------
    >>> import vicinal
    >>> ax = vicinal.plot.embedding([[0, 0], [0, 1], [4, 4]], ["a", "a", "b"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    points = check_positions(positions, "positions", REMEDY)
    n = len(points)
    size = float(np.clip(40_000 / n, 1.0, 24.0))
    if point_size is not None:
        size = check_real(point_size, "point_size", low=0.0)
    point_labels = None if labels is None else check_labels(labels, n)
    colormap = check_colormap(cmap)
    ax = check_axes(ax, points.shape[1])
    style: dict[str, Any] = {"s": size, "linewidths": 0, "rasterized": n > MAX_VECTOR_POINTS}
    if points.shape[1] == 3:
        style["depthshade"] = False
    if point_labels is None:
        ax.scatter(*points.T, color="tab:blue", **style)
    elif _are_values(point_labels):
        _draw_values(ax, points, point_labels.astype(np.float64), colormap, legend, style)
    else:
        _draw_classes(ax, points, point_labels, legend, style)
    equal_scales(ax, points)
    return ax


def _are_values(labels: np.ndarray) -> bool:
    if labels.dtype.kind not in "iuf":
        return False
    known = labels[~np.isnan(labels)]
    return bool((known != np.round(known)).any()) or len(np.unique(known)) > MAX_CLASSES


def _draw_values(
    ax: Any,
    points: np.ndarray,
    values: np.ndarray,
    cmap: Colormap,
    legend: bool,
    style: dict[str, Any],
) -> None:
    known = np.isfinite(values)
    if not known.all():
        ax.scatter(*points[~known].T, color=UNKNOWN_COLOR, **style)
    scatter = ax.scatter(*points[known].T, c=values[known], cmap=cmap, **style)
    if legend:
        ax.figure.colorbar(scatter, ax=ax, shrink=0.8)


def _draw_classes(
    ax: Any, points: np.ndarray, labels: np.ndarray, legend: bool, style: dict[str, Any]
) -> None:
    names, codes = classes_of(labels)
    is_noise = names == NOISE if names.dtype.kind in "iuf" else np.zeros(len(names), dtype=bool)
    unknown, noise = codes == len(names), np.append(is_noise, False)[codes]
    for grey, color in ((unknown, UNKNOWN_COLOR), (noise, NOISE_COLOR)):
        if grey.any():
            ax.scatter(*points[grey].T, color=color, zorder=1, **style)
    colors = np.zeros((len(names), 4))
    colors[~is_noise] = class_colors(int((~is_noise).sum()))
    # In random order, so that no class covers another.
    order = np.random.default_rng(0).permutation(np.flatnonzero(~(noise | unknown)))
    if len(order):
        ax.scatter(*points[order].T, c=colors[codes[order]], zorder=2, **style)
    if legend and len(names) <= MAX_LEGEND_ENTRIES:
        entries: list[tuple[str, Any]] = [
            (class_name(name), color)
            for name, color in zip(names[~is_noise], colors[~is_noise], strict=True)
        ]
        entries += [("noise", NOISE_COLOR)] if noise.any() else []
        entries += [(UNKNOWN, UNKNOWN_COLOR)] if unknown.any() else []
        _draw_legend(ax, entries)


def _draw_legend(ax: Axes, entries: list[tuple[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    # Separate markers, because those of the points may be too small to show a colour.
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 6}
    ax.legend(
        handles=[Line2D([], [], color=color, label=name, **style) for name, color in entries],
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
        handletextpad=0.2,
    )
