"""An embedding as a cloud of points, coloured by class or by a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._validation import check_real
from vicinal.plot._axes import (
    NOISE,
    NOISE_COLOR,
    check_axes,
    check_labels,
    check_positions,
    class_colors,
    equal_scales,
)

REMEDY = "pass the columns to draw, such as Z[:, :2]."
# More classes than this have no legend, and whole numbers are drawn as values.
MOST_CLASSES = 60
LEGEND = 20
# From here a vector file holds one picture in place of all points.
MANY = 20_000


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
        below all others. Other numbers, or more than 60 different ones, are values with a colour bar.
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
    whole = labels.dtype.kind != "f" or bool((labels == np.round(labels)).all())
    return not whole or len(np.unique(labels)) > MOST_CLASSES


def _draw_values(
    ax: Any, points: np.ndarray, values: np.ndarray, cmap: Any, legend: bool, style: dict[str, Any]
) -> None:
    known = np.isfinite(values)
    if not known.all():
        ax.scatter(*points[~known].T, color=NOISE_COLOR, **style)
    drawn = ax.scatter(*points[known].T, c=values[known], cmap=cmap, **style)
    if legend:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.8)


def _draw_classes(
    ax: Any, points: np.ndarray, labels: np.ndarray, legend: bool, style: dict[str, Any]
) -> None:
    names, codes = np.unique(labels, return_inverse=True)
    is_noise = names == NOISE if names.dtype.kind in "iuf" else np.zeros(len(names), dtype=bool)
    noise = is_noise[codes]
    if noise.any():
        ax.scatter(*points[noise].T, color=NOISE_COLOR, zorder=1, **style)
    colors = np.zeros((len(names), 4))
    colors[~is_noise] = class_colors(int((~is_noise).sum()))
    # In a random order no class lies on top of another.
    order = np.random.default_rng(0).permutation(np.flatnonzero(~noise))
    if len(order):
        ax.scatter(*points[order].T, c=colors[codes[order]], zorder=2, **style)
    if legend and len(names) <= LEGEND:
        _draw_legend(ax, names, is_noise, colors)


def _draw_legend(ax: Any, names: np.ndarray, is_noise: np.ndarray, colors: np.ndarray) -> None:
    from matplotlib.lines import Line2D

    # Markers of their own: those of the points may be too small to show a colour.
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 6}
    entries = [
        Line2D([], [], color=color, label=_name(name), **style)
        for name, color in zip(names[~is_noise], colors[~is_noise], strict=True)
    ]
    if is_noise.any():
        entries.append(Line2D([], [], color=NOISE_COLOR, label="noise", **style))
    ax.legend(
        handles=entries,
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
        handletextpad=0.2,
    )


def _name(label: Any) -> str:
    return f"{label:g}" if isinstance(label, np.floating) else str(label)
