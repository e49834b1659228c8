"""What a query finds, drawn among all points."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from vicinal._core.validation import check_count, check_real, read_array, real_array
from vicinal.exceptions import InvalidValueError
from vicinal.plot._axes import (
    NOISE_COLOR,
    check_axes,
    check_colormap,
    check_drawable,
    check_positions,
    equal_scales,
)
from vicinal.plot.scatter import MANY, REMEDY


def ranking(
    positions: Any,
    found: Any,
    scores: Any = None,
    *,
    query: Any = None,
    ax: Any = None,
    cmap: Any = "viridis",
    point_size: float | None = None,
) -> Any:
    """Draw points, those that a query has found coloured from the first to the last.

    Parameters
    ----------
    positions : array of shape (n, 2 or 3)
        Where the points are.
    found : array of int of shape (k,) or (1, k)
        What was found, the best first: a row of what `rank` and `kneighbors` give.
    scores : array of the same shape, optional
        Colour by these in place of the place in the list.
    query : int or array of shape (2 or 3,), optional
        The query, a number of a point or a position; it is drawn as a star.
    ax : matplotlib Axes, optional
        Where to draw, of 3-D projection for three-dimensional positions; by default a new figure.
    cmap : str or matplotlib Colormap
        Colours from the first found to the last; of scores, from the highest to the lowest.
    point_size : float, optional
        Marker area in points; by default smaller for more points.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import vicinal
    >>> ax = vicinal.plot.ranking([[0, 0], [0, 1], [1, 1], [5, 5]], [1, 2], query=0)
    >>> len(ax.collections)  # the others, what was found, the query
    3
    """
    points = check_positions(positions, "positions", REMEDY)
    n, dimension = points.shape
    found = _check_found(found, n)
    values, title = np.arange(1.0, len(found) + 1), "place"
    named, cmap = isinstance(cmap, str), check_colormap(cmap)
    if scores is not None:
        values, title = check_drawable(real_array(scores, "scores").ravel(), "scores"), "score"
        if len(values) != len(found):
            raise InvalidValueError(
                f"scores has {len(values)} numbers, but {len(found)} were found."
            )
        if named:  # the highest score is the first place
            cmap = cmap.reversed()
    star = None if query is None else _place(query, points)
    size = float(np.clip(40_000 / n, 1.0, 24.0))
    if point_size is not None:
        size = check_real(point_size, "point_size", low=0.0)
    ax = check_axes(ax, dimension)
    style: dict[str, Any] = {"linewidths": 0, "rasterized": n > MANY}
    if dimension == 3:
        style["depthshade"] = False
    others = np.setdiff1d(np.arange(n), found)
    ax.scatter(*points[others].T, s=size, color=NOISE_COLOR, zorder=1, **style)
    # The last first, so that the best lie on top.
    drawn = ax.scatter(
        *points[found[::-1]].T, s=1.6 * size, c=values[::-1], cmap=cmap, zorder=2, **style
    )
    if star is not None:
        ax.scatter(
            *star[:, None],
            s=max(160.0, 8 * size),
            color="crimson",
            marker="*",
            edgecolors="white",
            linewidths=0.8,
            zorder=3,
        )
    ax.figure.colorbar(drawn, ax=ax, label=title, shrink=0.8)
    equal_scales(ax, points)
    return ax


def _check_found(found: Any, n: int) -> np.ndarray:
    array = read_array(found, "found")
    if array.ndim == 2 and len(array) == 1:
        array = array[0]
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise InvalidValueError(
            f"found has shape {array.shape} and dtype {array.dtype}, but the numbers of the points "
            "that one query has found are needed: a row of what rank or kneighbors gives."
        )
    if array.min() < 0 or array.max() >= n:
        bad = array.min() if array.min() < 0 else array.max()
        raise InvalidValueError(
            f"found holds {bad}, but the points are numbered from 0 to {n - 1}."
        )
    return array


def _place(query: Any, points: np.ndarray) -> np.ndarray:
    if isinstance(query, numbers.Number):
        return points[check_count(query, "query", low=0, high=len(points) - 1)]
    place = real_array(query, "query").ravel()
    if len(place) != points.shape[1]:
        raise InvalidValueError(
            f"query has {len(place)} coordinates, but the positions have {points.shape[1]}."
        )
    return place
