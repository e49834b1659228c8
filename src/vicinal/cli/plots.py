"""Plots of rows: their positions and colours."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import MissingDependencyError


class Plane(NamedTuple):
    """Plot positions of the rows, and a description of them."""

    positions: np.ndarray
    axes: tuple[str, ...] = ()
    shows: str = "the original columns"


def project_to_plane(points: np.ndarray) -> Plane:
    """The points if they have at most three columns, otherwise their first two principal components."""
    if points.shape[1] <= 3:
        return Plane(points)
    from sklearn.decomposition import PCA

    positions = np.zeros((len(points), 2))
    if len(points) > 1:
        positions[:] = PCA(n_components=2, random_state=0).fit_transform(points)
    return Plane(
        positions,
        ("first principal component", "second principal component"),
        f"the first two principal components of {points.shape[1]} columns",
    )


def new_figure(size: tuple[float, float]) -> Any:
    """Empty figure of a size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "--plot needs matplotlib: pip install 'vicinal[plot]'."
        ) from error
    # Not pyplot, which may need a display.
    return Figure(figsize=size, layout="constrained")


def new_axes(plane: Plane) -> tuple[Any, Any]:
    """Figure and axes for two- or three-dimensional positions."""
    figure = new_figure((7, 7))
    ax = figure.add_subplot(projection="3d" if plane.positions.shape[1] == 3 else None)
    if plane.axes:
        ax.set(xlabel=plane.axes[0], ylabel=plane.axes[1])
    return figure, ax


def draw_points(plane: Plane, path: Path, labels: Any = None) -> str:
    """Plot the rows, coloured by label; returns what the plot shows."""
    from vicinal import plot

    figure, ax = new_axes(plane)
    plot.embedding(plane.positions, labels, ax=ax)
    save_figure(figure, path)
    return plane.shows


def save_figure(figure: Any, path: Path, dpi: float = 150) -> None:
    """Write a figure in the format of the file name."""
    # Through memory, because matplotlib hides errors of a full disk behind its own.
    buffer = BytesIO()
    figure.savefig(buffer, format=path.suffix.lower()[1:], dpi=dpi)
    path.write_bytes(buffer.getvalue())
