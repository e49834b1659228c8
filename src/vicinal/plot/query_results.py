"""Results of a query among all points."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import read_array, real_array
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.plot._axes import (
    NOISE_COLOR,
    check_axes,
    check_colormap,
    check_drawable,
    check_positions,
    equal_scales,
)
from vicinal.plot.scatter import MAX_VECTOR_POINTS, REMEDY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from vicinal._core.types import ArrayLike


def ranking(
    positions: ArrayLike,
    results: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    query: int | ArrayLike | None = None,
    ax: Axes | None = None,
    cmap: str | Colormap = "viridis",
    point_size: float | None = None,
) -> Axes:
    """Plot points, with the results of a query coloured by rank.

    Parameters
    ----------
    positions : array of shape (n, 2 or 3)
        Positions of the points.
    results : array of int of shape (k,) or (1, k)
        Indices of the results, best first, as returned by `rank` or `kneighbors`.
    scores : array of the same shape, optional
        Values to colour by instead of the rank.
    query : int or array of shape (2 or 3,), optional
        Index or position of the query, drawn as a star.
    ax : matplotlib Axes, optional
        Axes to draw in, with 3-D projection for three-dimensional positions; by default a new figure.
    cmap : str or matplotlib Colormap, default="viridis"
        Colours from the first result to the last, or from the highest score to the lowest.
    point_size : float, optional
        Marker area in points; by default it decreases with the number of points.

    Returns
    -------
    matplotlib Axes
        Axes with the plot.

    Examples
    --------
    >>> import vicinal
    >>> ax = vicinal.plot.ranking([[0, 0], [0, 1], [1, 1], [5, 5]], [1, 2], query=0)
    >>> len(ax.collections)  # other points, results, query
    3
    """
    points = check_positions(positions, "positions", REMEDY)
    n, dimension = points.shape
    indices = _check_results(results, n)
    values, title = np.arange(1.0, len(indices) + 1), "rank"
    colormap = check_colormap(cmap)
    if scores is not None:
        values, title = check_drawable(real_array(scores, "scores").ravel(), "scores"), "score"
        if len(values) != len(indices):
            raise InvalidValueError(
                f"scores has {len(values)} values, but results has {len(indices)}."
            )
        if isinstance(cmap, str):  # the highest score has the first rank
            colormap = colormap.reversed()
    star = None if query is None else _query_position(query, points)
    size = float(np.clip(40_000 / n, 1.0, 24.0))
    if point_size is not None:
        size = check_real(point_size, "point_size", low=0.0)
    axes: Any = check_axes(ax, dimension)
    style: dict[str, Any] = {"linewidths": 0, "rasterized": n > MAX_VECTOR_POINTS}
    if dimension == 3:
        style["depthshade"] = False
    others = np.setdiff1d(np.arange(n), indices)
    axes.scatter(*points[others].T, s=size, color=NOISE_COLOR, zorder=1, **style)
    # In reverse, so that the best are on top.
    scatter = axes.scatter(
        *points[indices[::-1]].T, s=1.6 * size, c=values[::-1], cmap=colormap, zorder=2, **style
    )
    if star is not None:
        axes.scatter(
            *star[:, None],
            s=max(160.0, 8 * size),
            color="crimson",
            marker="*",
            edgecolors="white",
            linewidths=0.8,
            zorder=3,
        )
    axes.figure.colorbar(scatter, ax=axes, label=title, shrink=0.8)
    equal_scales(axes, points)
    return axes


def _check_results(results: ArrayLike, n: int) -> np.ndarray:
    array = read_array(results, "results")
    if array.ndim == 2 and len(array) == 1:
        array = array[0]
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise InvalidValueError(
            f"results has shape {array.shape} and dtype {array.dtype}, but the indices of the results "
            "of one query are needed: one row of the result of rank or kneighbors."
        )
    if array.min() < 0 or array.max() >= n:
        invalid = array.min() if array.min() < 0 else array.max()
        raise InvalidValueError(
            f"results contains {invalid}, but the points are numbered from 0 to {n - 1}."
        )
    return array


def _query_position(query: int | ArrayLike, points: np.ndarray) -> np.ndarray:
    if isinstance(query, numbers.Number):
        return points[check_count(query, "query", low=0, high=len(points) - 1)]
    position = real_array(query, "query").ravel()
    if len(position) != points.shape[1]:
        raise InvalidValueError(
            f"query has {len(position)} coordinates, but the positions have {points.shape[1]}."
        )
    return position
