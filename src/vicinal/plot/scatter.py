"""An embedding as a cloud of points, coloured by class or by a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.options import checked
from vicinal._core.validation import check_real
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

REMEDY = "pass the columns to draw, such as Z[:, :2]."
# More classes than this have no legend, and whole numbers are drawn as values.
MAX_CLASSES = 60
LEGEND = 20
# From here a vector file holds one picture in place of all points.
MANY = 20_000


@checked
def embedding(
    positions: Any,
    labels: Any = None,
    *,
    ax: Any = None,
    cmap: Any = "viridis",
    point_size: float | None = None,
    legend: bool = True,
) -> Any:
    """Draw points in two or three dimensions, coloured by their labels.

    Parameters
    ----------
    positions : array of shape (n, 2 or 3)
        Where the points are: an embedding, or the data itself.
    labels : array of shape (n,), optional
        Names or whole numbers are classes, each with a colour of its own; -1 is noise, grey and
        below all others; None, NaN, NA and "" are no label, in a lighter grey. Other numbers, or more
        than 60 different ones, are values with a colour bar.
    ax : matplotlib Axes, optional
        Where to draw, of 3-D projection for three-dimensional positions; by default a new figure.
    cmap : str or matplotlib Colormap
        Colours of values.
    point_size : float, optional
        Marker area in points; by default smaller for more points.
    legend : bool, default=True
        Name the classes, of which at most 20 fit, or draw the colour bar.

    Returns
    -------
    matplotlib Axes

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
    given = None if labels is None else check_labels(labels, n)
    cmap = check_colormap(cmap)
    ax = check_axes(ax, points.shape[1])
    style: dict[str, Any] = {"s": size, "linewidths": 0, "rasterized": n > MANY}
    if points.shape[1] == 3:
        style["depthshade"] = False
    if given is None:
        ax.scatter(*points.T, color="tab:blue", **style)
    elif _are_values(given):
        _draw_values(ax, points, given.astype(np.float64), cmap, legend, style)
    else:
        _draw_classes(ax, points, given, legend, style)
    equal_scales(ax, points)
    return ax


def _are_values(labels: np.ndarray) -> bool:
    if labels.dtype.kind not in "iuf":
        return False
    known = labels[~np.isnan(labels)]
    return bool((known != np.round(known)).any()) or len(np.unique(known)) > MAX_CLASSES


def _draw_values(
    ax: Any, points: np.ndarray, values: np.ndarray, cmap: Any, legend: bool, style: dict[str, Any]
) -> None:
    known = np.isfinite(values)
    if not known.all():
        ax.scatter(*points[~known].T, color=UNKNOWN_COLOR, **style)
    drawn = ax.scatter(*points[known].T, c=values[known], cmap=cmap, **style)
    if legend:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.8)


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
    # In a random order no class lies on top of another.
    order = np.random.default_rng(0).permutation(np.flatnonzero(~(noise | unknown)))
    if len(order):
        ax.scatter(*points[order].T, c=colors[codes[order]], zorder=2, **style)
    if legend and len(names) <= LEGEND:
        entries: list[tuple[str, Any]] = [
            (class_name(name), color)
            for name, color in zip(names[~is_noise], colors[~is_noise], strict=True)
        ]
        entries += [("noise", NOISE_COLOR)] if noise.any() else []
        entries += [(UNKNOWN, UNKNOWN_COLOR)] if unknown.any() else []
        _draw_legend(ax, entries)


def _draw_legend(ax: Any, entries: list[tuple[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    # Markers of their own: those of the points may be too small to show a colour.
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 6}
    ax.legend(
        handles=[Line2D([], [], color=color, label=name, **style) for name, color in entries],
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
        handletextpad=0.2,
    )
