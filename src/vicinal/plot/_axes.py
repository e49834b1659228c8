"""Axes, positions and class colours, shared by all plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import check_points, read_array
from vicinal._core.tables import missing_cells
from vicinal.exceptions import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from vicinal._core.types import ArrayLike

# Label of noise, as in scikit-learn.
NOISE = -1
MAX_DRAWABLE = 1e100
NOISE_COLOR = "0.72"
# Points without a label.
UNKNOWN = "no label"
UNKNOWN_COLOR = "0.86"


def check_are_axes(ax: object, name: str = "ax") -> None:
    """Raise unless ``ax`` is a matplotlib Axes."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InvalidTypeError(
            f"{name}={ax!r}, but a matplotlib Axes is needed; create one with plt.subplots()."
        )


def check_colormap(cmap: object, name: str = "cmap") -> Colormap:
    """Colormap of this name, or the given Colormap."""
    from matplotlib import colormaps
    from matplotlib.colors import Colormap

    if isinstance(cmap, Colormap):
        return cmap
    if isinstance(cmap, str) and cmap in colormaps:
        return colormaps[cmap]
    kind = InvalidValueError if isinstance(cmap, str) else InvalidTypeError
    raise kind(f"{name}={cmap!r}, but a Colormap or a name in matplotlib.colormaps is needed.")


def check_color(color: Any, name: str = "color") -> Any:
    """Return ``color`` if it is a matplotlib colour, otherwise raise."""
    from matplotlib.colors import is_color_like

    if is_color_like(color):
        return color
    raise InvalidValueError(
        f"{name}={color!r}, but a matplotlib colour is needed, such as 'red', '#ff0000' or (1, 0, 0)."
    )


def check_axes(ax: Axes | None, dimension: int) -> Axes:
    """Return ``ax`` if its projection fits the dimension; new axes if it is None."""
    if ax is None:
        from matplotlib import pyplot as plt

        figure = plt.figure(layout="constrained")
        return figure.add_subplot(projection="3d" if dimension == 3 else None)
    check_are_axes(ax)
    if hasattr(ax, "get_zlim") != (dimension == 3):
        raise InvalidValueError(
            f"ax is {'a 3-D' if hasattr(ax, 'get_zlim') else 'a 2-D'} Axes, but the positions have "
            f"{dimension} coordinates; for three, create it with "
            "plt.subplots(subplot_kw={'projection': '3d'}), for two without subplot_kw."
        )
    return ax


def check_drawable(values: np.ndarray, name: str) -> np.ndarray:
    """Return values if matplotlib, which squares them, can draw them."""
    known = values[np.isfinite(values)].astype(np.float64)
    beyond = np.abs(known).max(initial=0.0) > MAX_DRAWABLE
    if beyond or (len(known) and 0 < np.ptp(known) < 1 / MAX_DRAWABLE):
        raise InvalidValueError(
            f"{name} has values from {known.min():g} to {known.max():g}, but matplotlib cannot draw values "
            f"beyond {MAX_DRAWABLE:g} or differences below {1 / MAX_DRAWABLE:g}; rescale them."
        )
    return values


def check_positions(positions: ArrayLike, name: str, remedy: str) -> np.ndarray:
    """Positions with 2 or 3 coordinates; a single coordinate is drawn as a line."""
    array = check_drawable(check_points(positions, name=name), name)
    if array.shape[1] == 1:
        return np.column_stack([array[:, 0], np.zeros(len(array))])
    if array.shape[1] > 3:
        raise InvalidValueError(
            f"{name} has {array.shape[1]} features, but 2 or 3 can be drawn; {remedy}"
        )
    return array


def equal_scales(ax: Any, positions: np.ndarray) -> None:
    """Give all axes the same scale."""
    if positions.shape[1] == 2:
        ax.set_aspect("equal")
        return
    spans = np.ptp(positions, axis=0)
    # A constant coordinate needs a minimum extent, or the box cannot be drawn.
    ax.set_box_aspect(np.maximum(spans, 0.01 * spans.max()) if spans.max() > 0 else np.ones(3))


def check_labels(labels: ArrayLike, n: int) -> np.ndarray:
    """One label per item; numeric labels with gaps become floats with NaN."""
    array = read_array(labels, "labels")
    if array.dtype.kind in "US" and isinstance(labels, (list, tuple)):
        array = np.array(labels, dtype=object)  # otherwise a NaN among strings becomes a string
    if array.shape != (n,):
        raise InvalidValueError(
            f"labels has shape {array.shape}, but one label for each of the {n} items is needed."
        )
    if array.dtype.kind != "O":
        return array
    labelled = ~missing_cells(array)
    known = np.array(array[labelled].tolist())
    if known.dtype.kind not in "iuf" or labelled.all():
        return known if labelled.all() else array
    numbers = np.full(n, np.nan)
    numbers[labelled] = known
    return numbers


def classes_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes, and the class index of each item; unlabelled items get the last index."""
    labelled = ~missing_cells(labels)
    known = labels[labelled]
    if known.dtype.kind == "O":  # one type, so that they can be sorted
        known = np.array(known.tolist())
        known = known.astype(str) if known.dtype.kind == "O" else known
    names, numbers = np.unique(known, return_inverse=True)
    codes = np.full(len(labels), len(names))
    codes[labelled] = numbers
    return names, codes


def class_name(label: object) -> str:
    """Class as text; integers that were read as floats without decimals."""
    return f"{label:.15g}" if isinstance(label, np.floating) else str(label)


def class_colors(n_classes: int) -> np.ndarray:
    """Distinguishable colours (n_classes, 4)."""
    from matplotlib import colormaps
    from matplotlib.colors import hsv_to_rgb

    if n_classes <= 9:
        # Without its grey, which is the colour of noise.
        return np.array([colormaps["tab10"](i + (i >= 7)) for i in range(n_classes)]).reshape(-1, 4)
    # The golden angle separates consecutive hues; brightness separates close ones.
    i = np.arange(n_classes)
    hues = (0.58 + i * 0.61803398875) % 1.0
    colors = hsv_to_rgb(np.column_stack([hues, 0.55 + 0.25 * (i % 2), 0.92 - 0.17 * (i % 3)]))
    return np.column_stack([colors, np.ones(n_classes)])
