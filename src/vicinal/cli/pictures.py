"""Pictures of rows: where they are drawn, and how they are coloured."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import MissingDependencyError


class Plane(NamedTuple):
    """Positions of the rows in two or three dimensions, and what they show."""

    positions: np.ndarray
    axes: tuple[str, ...] = ()
    shows: str = "the columns as they are"


def plane_of(points: np.ndarray) -> Plane:
    """The points themselves up to three columns, else their two principal components."""
    if points.shape[1] <= 3:
        return Plane(points)
    from sklearn.decomposition import PCA

    positions = np.zeros((len(points), 2))
    if len(points) > 1:
        positions[:] = PCA(n_components=2, random_state=0).fit_transform(points)
    return Plane(
        positions,
        ("first principal component", "second principal component"),
        f"{points.shape[1]} columns in the plane of their two principal components",
    )


def new_figure(size: tuple[float, float]) -> Any:
    """An empty figure of a size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "--plot needs matplotlib: pip install 'vicinal[plot]'."
        ) from error
    # Not pyplot: it would look for a screen.
    return Figure(figsize=size, layout="constrained")


def new_axes(plane: Plane) -> tuple[Any, Any]:
    """Figure and axes for positions of a plane or of a space."""
    figure = new_figure((7, 7))
    ax = figure.add_subplot(projection="3d" if plane.positions.shape[1] == 3 else None)
    if plane.axes:
        ax.set(xlabel=plane.axes[0], ylabel=plane.axes[1])
    return figure, ax


def draw_points(plane: Plane, path: Path, labels: Any = None) -> str:
    """Write a picture of the rows, coloured by their labels; returns what it shows."""
    from vicinal import plot

    figure, ax = new_axes(plane)
    plot.embedding(plane.positions, labels, ax=ax)
    save_picture(figure, path)
    return plane.shows


def save_picture(figure: Any, path: Path, dpi: float = 150) -> None:
    """Write a figure in the format that the name of the file asks for."""
    # By way of memory: on a full disk, matplotlib hides the error behind one of its own.
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix.lower()[1:], dpi=dpi)
    path.write_bytes(drawn.getvalue())
