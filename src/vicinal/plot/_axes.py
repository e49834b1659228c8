"""What all pictures share: axes to draw in, positions, and colours of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._validation import check_points

# Points that belong to no class, as scikit-learn marks them.
NOISE = -1
NOISE_COLOR = "0.72"


def new_axes(dimension: int = 2, size: tuple[float, float] | None = None) -> Any:
    """Axes of a new figure, of 3-D projection for three dimensions."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection="3d" if dimension == 3 else None)


def check_axes(ax: Any, dimension: int) -> Any:
    """``ax`` if its projection fits the positions; new axes if it is None."""
    if ax is None:
        return new_axes(dimension)
    if hasattr(ax, "get_zlim") != (dimension == 3):
        raise ValueError(
            f"ax is {'a 3-D' if hasattr(ax, 'get_zlim') else 'a 2-D'} Axes, but the positions have "
            f"{dimension} coordinates; make it with "
            "plt.subplots(subplot_kw={'projection': '3d'}) for three, without for two."
        )
    return ax


def check_positions(positions: Any, name: str, remedy: str) -> np.ndarray:
    """Positions that can be drawn: of 2 or 3 coordinates; one coordinate becomes a line."""
    array = check_points(positions, name=name)
    if array.shape[1] == 1:
        return np.column_stack([array[:, 0], np.zeros(len(array))])
    if array.shape[1] > 3:
        raise ValueError(f"{name} has {array.shape[1]} features, but 2 or 3 can be drawn; {remedy}")
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
    """One label an item."""
    array = np.asarray(labels)
    if array.shape != (n,):
        raise ValueError(
            f"labels has shape {array.shape}, but one label for each of the {n} items is needed."
        )
    return array


def class_colors(n_classes: int) -> np.ndarray:
    """Colours (n_classes, 4) that can be told apart as far as possible."""
    from matplotlib import colormaps
    from matplotlib.colors import hsv_to_rgb

    if n_classes <= 9:
        # Without its grey, which is the colour of noise.
        return np.array([colormaps["tab10"](i + (i >= 7)) for i in range(n_classes)])
    # The golden angle keeps neighbours in the list apart; brightness tells close hues apart.
    i = np.arange(n_classes)
    hues = (0.58 + i * 0.61803398875) % 1.0
    colors = hsv_to_rgb(np.column_stack([hues, 0.55 + 0.25 * (i % 2), 0.92 - 0.17 * (i % 3)]))
    return np.column_stack([colors, np.ones(n_classes)])
