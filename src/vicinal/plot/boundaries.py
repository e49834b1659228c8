"""Segments of an image: boundaries along pixel edges, or mean colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError
from vicinal.plot._axes import check_are_axes, check_color
from vicinal.segmentation._pixels import as_colors, check_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

    from vicinal._core.types import ArrayLike


@entry
def segments(
    image: ArrayLike,
    labels: ArrayLike,
    *,
    mean_colors: bool = False,
    color: ColorType = "yellow",
    line_width: float = 1.0,
    ax: Axes | None = None,
) -> Axes:
    """Draw an image with the boundaries of its segments.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Grey or colour, as for `vicinal.segment`. Channels that are not colours are averaged to grey.
    labels : array of int of shape (height, width)
        Label map.
    mean_colors : bool, default=False
        Fill each segment with its mean colour.
    color : matplotlib colour, default="yellow"
        Colour of the boundaries.
    line_width : float, default=1.0
        Width of the boundaries in points; 0 draws none.
    ax : matplotlib Axes, optional
        Axes to draw in; by default those of a new figure, which is not registered in pyplot.

    Returns
    -------
    matplotlib Axes
        Its figure is ``ax.figure``; ``ax.figure.savefig(path)`` writes it.

    Examples
    --------
    >>> import vicinal
    >>> image = [[0, 0, 9], [0, 0, 9]]
    >>> ax = vicinal.plot.segments(image, [[0, 0, 1], [0, 0, 1]])
    >>> len(ax.collections[0].get_segments())
    1
    """
    picture = _picture(check_image(image))
    label_map = read_array(labels, "labels")
    check_color(color)
    if label_map.shape != picture.shape[:2]:
        raise InvalidValueError(
            f"labels has shape {label_map.shape}, but one label for each of the {picture.shape[0]} x "
            f"{picture.shape[1]} pixels is needed."
        )
    line_width = check_real(line_width, "line_width", low=0.0)
    if mean_colors:
        picture = _segment_means(picture, label_map)
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(layout="constrained").add_subplot()
    check_are_axes(ax)
    grey: dict[str, Any] = {"cmap": "gray", "vmin": 0.0, "vmax": 1.0} if picture.ndim == 2 else {}
    ax.imshow(picture, interpolation="nearest", **grey)
    ax.set_axis_off()
    lines = boundary_lines(label_map)
    if line_width > 0 and len(lines):
        from matplotlib.collections import LineCollection

        ax.add_collection(
            LineCollection(
                list(lines), colors=[color], linewidths=line_width, capstyle="projecting"
            )
        )
    return ax


def boundary_lines(labels: np.ndarray) -> np.ndarray:
    """Maximal straight lines between pixels of different labels.

    Parameters
    ----------
    labels : ndarray of shape (height, width)

    Returns
    -------
    ndarray of shape (n_lines, 2, 2)
        Ends (x, y) of each line; the centre of the first pixel is (0, 0).
    """
    vertical = _runs(labels[:, 1:] != labels[:, :-1])
    horizontal = _runs((labels[1:] != labels[:-1]).T)
    # Between columns c and c + 1 lies x = c + 0.5; a run from row a to row b spans y from a - 0.5.
    return np.concatenate([_lines(*vertical), _lines(*horizontal)[:, :, ::-1]])


def _lines(across: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    at = across + 0.5
    return np.stack(
        [np.stack([at, start - 0.5], axis=1), np.stack([at, stop - 0.5], axis=1)], axis=1
    )


def _runs(differs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Column, first and last + 1 row of each run of True down a column."""
    columns = np.pad(differs, ((1, 1), (0, 0))).astype(np.int8).T
    steps = np.diff(columns, axis=1)
    column, start = np.nonzero(steps == 1)
    return column, start, np.nonzero(steps == -1)[1]


def _picture(image: np.ndarray) -> np.ndarray:
    """Colours, or grey levels from 0 (darkest pixel) to 1 (brightest)."""
    colors = as_colors(image)
    if colors is not None:
        return colors
    values = image.reshape(*image.shape[:2], -1).astype(np.float64)
    # Halved, so that neither the sum nor the range of huge values overflows.
    grey = (values / (2 * values.shape[2])).sum(axis=2)
    grey -= grey.min()
    return grey / grey.max() if grey.max() > 0 else grey


def _segment_means(picture: np.ndarray, labels: np.ndarray) -> np.ndarray:
    codes = np.unique(labels, return_inverse=True)[1].ravel()
    sizes = np.bincount(codes)
    channels = picture.reshape(len(codes), -1).T
    means = np.stack([np.bincount(codes, weights=values) / sizes for values in channels], axis=1)
    return means[codes].reshape(picture.shape)
