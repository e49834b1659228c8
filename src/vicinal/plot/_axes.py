"""What all pictures share: axes to draw in, positions, and colours of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.tables import missing_cells
from vicinal._core.validation import check_points, read_array
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Points that belong to no class, as scikit-learn marks them.
NOISE = -1
LARGEST = 1e100
NOISE_COLOR = "0.72"
# Points whose class nobody knows.
UNKNOWN = "no label"
UNKNOWN_COLOR = "0.86"


def new_axes(dimension: int = 2, size: tuple[float, float] | None = None) -> Any:
    """Axes of a new figure, of 3-D projection for three dimensions."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection="3d" if dimension == 3 else None)


def check_are_axes(ax: Any, name: str = "ax") -> Any:
    """``ax`` if it is an Axes of matplotlib."""
    from matplotlib.axes import Axes

    if isinstance(ax, Axes):
        return ax
    raise InvalidTypeError(
        f"{name}={ax!r}, but an Axes of matplotlib is needed; plt.subplots() makes one."
    )


def check_colormap(cmap: Any, name: str = "cmap") -> Any:
    """The colour map of that name, or the one that was given."""
    from matplotlib import colormaps
    from matplotlib.colors import Colormap

    if isinstance(cmap, Colormap):
        return cmap
    if isinstance(cmap, str) and cmap in colormaps:
        return colormaps[cmap]
    kind = InvalidValueError if isinstance(cmap, str) else InvalidTypeError
    raise kind(f"{name}={cmap!r}, but a Colormap or a name in matplotlib.colormaps is needed.")


def check_color(color: Any, name: str = "color") -> Any:
    """``color`` if matplotlib knows it as one colour."""
    from matplotlib.colors import is_color_like

    if is_color_like(color):
        return color
    raise InvalidValueError(
        f"{name}={color!r}, but a colour of matplotlib is needed, such as 'red', '#ff0000' or (1, 0, 0)."
    )


def check_axes(ax: Any, dimension: int) -> Any:
    """``ax`` if its projection fits the positions; new axes if it is None."""
    if ax is None:
        return new_axes(dimension)
    check_are_axes(ax)
    if hasattr(ax, "get_zlim") != (dimension == 3):
        raise InvalidValueError(
            f"ax is {'a 3-D' if hasattr(ax, 'get_zlim') else 'a 2-D'} Axes, but the positions have "
            f"{dimension} coordinates; make it with "
            "plt.subplots(subplot_kw={'projection': '3d'}) for three, without for two."
        )
    return ax


def check_drawable(values: np.ndarray, name: str) -> np.ndarray:
    """Numbers that matplotlib can draw, which squares them."""
    known = values[np.isfinite(values)].astype(np.float64)
    beyond = np.abs(known).max(initial=0.0) > LARGEST
    if beyond or (len(known) and 0 < np.ptp(known) < 1 / LARGEST):
        raise InvalidValueError(
            f"{name} holds values from {known.min():g} to {known.max():g}, but matplotlib draws none beyond "
            f"{LARGEST:g} and no differences below {1 / LARGEST:g}; rescale them."
        )
    return values


def check_positions(positions: Any, name: str, remedy: str) -> np.ndarray:
    """Positions that can be drawn: of 2 or 3 coordinates; one coordinate becomes a line."""
    array = check_drawable(check_points(positions, name=name), name)
    if array.shape[1] == 1:
        return np.column_stack([array[:, 0], np.zeros(len(array))])
    if array.shape[1] > 3:
        raise InvalidValueError(
            f"{name} has {array.shape[1]} features, but 2 or 3 can be drawn; {remedy}"
        )
    return array


def equal_scales(ax: Any, positions: np.ndarray) -> None:
    """One unit is as long in every direction."""
    if positions.shape[1] == 2:
        ax.set_aspect("equal")
        return
    spans = np.ptp(positions, axis=0)
    # A flat direction needs some room too, or the box could not be drawn.
    ax.set_box_aspect(np.maximum(spans, 0.01 * spans.max()) if spans.max() > 0 else np.ones(3))


def check_labels(labels: Any, n: int) -> np.ndarray:
    """One label an item; numbers some of which are missing become floats, with NaN there."""
    array = read_array(labels, "labels")
    if array.dtype.kind in "US" and isinstance(labels, (list, tuple)):
        array = np.array(labels, dtype=object)  # or a NaN among words would become a word
    if array.shape != (n,):
        raise InvalidValueError(
            f"labels has shape {array.shape}, but one label for each of the {n} items is needed."
        )
    if array.dtype.kind != "O":
        return array
    there = ~missing_cells(array)
    known = np.array(array[there].tolist())
    if known.dtype.kind not in "iuf" or there.all():
        return known if there.all() else array
    numbers = np.full(n, np.nan)
    numbers[there] = known
    return numbers


def classes_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes in their order, and the number of each item's; what has none comes behind them all."""
    there = ~missing_cells(labels)
    known = labels[there]
    if known.dtype.kind == "O":  # of one type, so that they have an order
        known = np.array(known.tolist())
        known = known.astype(str) if known.dtype.kind == "O" else known
    names, numbers = np.unique(known, return_inverse=True)
    codes = np.full(len(labels), len(names))
    codes[there] = numbers
    return names, codes


def class_name(label: Any) -> str:
    """A class as it is written: whole numbers that were read as floats as what they are."""
    return f"{label:.15g}" if isinstance(label, np.floating) else str(label)


def class_colors(n_classes: int) -> np.ndarray:
    """Colours (n_classes, 4) that can be told apart as far as possible."""
    from matplotlib import colormaps
    from matplotlib.colors import hsv_to_rgb

    if n_classes <= 9:
        # Without its grey, which is the colour of noise.
        return np.array([colormaps["tab10"](i + (i >= 7)) for i in range(n_classes)]).reshape(-1, 4)
    # The golden angle keeps neighbours in the list apart; brightness tells close hues apart.
    i = np.arange(n_classes)
    hues = (0.58 + i * 0.61803398875) % 1.0
    colors = hsv_to_rgb(np.column_stack([hues, 0.55 + 0.25 * (i % 2), 0.92 - 0.17 * (i % 3)]))
    return np.column_stack([colors, np.ones(n_classes)])
