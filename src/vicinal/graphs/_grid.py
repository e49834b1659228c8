"""Grids of pixels or voxels: each cell is connected to the cells around it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.array_checks import check_points, real_array
from vicinal._core.memory import require_memory
from vicinal._core.rescale import power_of_two
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._entries import Entries, index_dtype, unit_strengths
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike

# By number of axes: connectivity -> number of axes along which a neighbour may differ.
STEP_AXES = {2: {4: 1, 8: 2}, 3: {6: 1, 26: 3}}
Offset = tuple[int, ...]
Region = tuple[slice | int, ...]


def grid(
    shape: Sequence[int] | np.ndarray | None = None,
    *,
    connectivity: int | None = None,
    image: ArrayLike | None = None,
) -> Graph:
    """Grid graph of cells, each connected to the cells around it.

    Nodes are numbered in C order, as by ``numpy.ravel``: the last axis varies fastest.

    Parameters
    ----------
    shape : tuple of 2 or 3 ints, optional
        Number of cells along each axis. Optional if an image is given.
    connectivity : {4, 8, 6, 26}, optional
        Number of neighbours of an inner cell: 4 or 8 in two dimensions, 6 or 26 in three; the larger
        by default.
    image : array, optional
        Values of the cells, of the grid's shape (grey) or with one more axis for channels (colour).
        Without ``shape``, an image with three axes is a colour image (height, width, channels),
        unless ``connectivity`` is 6 or 26: then it is a grey volume.

    Returns
    -------
    Graph
        Edge lengths are the differences of the two values (Euclidean over channels), or without an
        image the distances between the cells: 1, sqrt(2) or sqrt(3).

    Examples
    --------
    >>> from vicinal.graphs import grid
    >>> grid((2, 3))
    Graph(6 nodes, 11 edges, undirected, 1 component, 0 isolates)
    >>> grid(image=[[0, 0, 9], [0, 1, 9]], connectivity=4).to_scipy().toarray()[1]
    array([0., 0., 9., 0., 1., 0.])
    """
    values = None if image is None else _as_image(image)
    sizes = _check_shape(shape, connectivity, values)
    offsets = _offsets(len(sizes), connectivity)
    n, width = int(np.prod(sizes)), 2 * len(offsets)
    require_memory(n * width * 34.0, "the grid", "Work on tiles, or on a smaller image.")

    lengths = np.zeros((*sizes, width))
    stored = np.zeros((*sizes, width), dtype=bool)
    steps = np.empty(width, dtype=index_dtype(n, n * width))
    for c, offset in enumerate(offsets):
        # Offsets ascend, and so do neighbours; the opposite offset is as far from the end.
        here, there = _overlap(sizes, offset)
        opposite = width - 1 - c
        differences = _differences(values, here, there) if values is not None else _norm(offset)
        lengths[(*here, c)] = differences
        lengths[(*there, opposite)] = differences
        stored[(*here, c)] = stored[(*there, opposite)] = True
        steps[c] = np.dot(offset, _strides(sizes))
        steps[opposite] = -steps[c]

    stored = stored.reshape(n, width)
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    neighbors = np.arange(n, dtype=steps.dtype)[:, None] + steps
    lengths = lengths.reshape(n, width)[stored]
    entries = Entries(indptr, neighbors[stored], lengths, unit_strengths(len(lengths)))
    return Graph._of_entries(entries, directed=False)


def _as_image(image: ArrayLike) -> np.ndarray:
    array = real_array(image, "image")
    if not 2 <= array.ndim <= 4:
        raise InvalidValueError(
            f"image has shape {array.shape}, but (height, width) or (depth, height, width) is "
            "needed, with channels as an optional last axis."
        )
    return check_points(array.reshape(-1, 1), name="image").reshape(array.shape)


def _check_shape(
    shape: Sequence[int] | np.ndarray | None, connectivity: int | None, image: np.ndarray | None
) -> tuple[int, ...]:
    if shape is None:
        if image is None:
            raise InvalidValueError("shape=None and image=None, but one of them is needed.")
        volume = image.ndim == 4 or (image.ndim == 3 and connectivity in tuple(STEP_AXES[3]))
        return image.shape[: 3 if volume else 2]
    is_sequence = isinstance(shape, (tuple, list)) or (
        isinstance(shape, np.ndarray) and shape.ndim == 1
    )
    if not is_sequence or len(shape) not in STEP_AXES:
        raise InvalidValueError(f"shape={shape!r}, but a tuple of 2 or 3 sizes is needed.")
    checked = tuple(check_count(cells, f"shape[{axis}]") for axis, cells in enumerate(shape))
    if image is not None and (
        image.shape[: len(checked)] != checked or image.ndim > len(checked) + 1
    ):
        raise InvalidValueError(
            f"image has shape {image.shape}, which does not match shape={checked}."
        )
    return checked


def _offsets(n_axes: int, connectivity: int | None) -> list[Offset]:
    """Offsets to the neighbours before a cell, in the order of their node numbers."""
    allowed = STEP_AXES[n_axes]
    if connectivity is None:
        connectivity = max(allowed)
    if connectivity not in tuple(allowed):
        raise InvalidValueError(
            f"connectivity={connectivity!r}, but a grid with {n_axes} axes has "
            f"{' or '.join(map(str, allowed))} neighbours per cell."
        )
    before = [step for step in itertools.product((-1, 0, 1), repeat=n_axes) if step < (0,) * n_axes]
    return [step for step in before if np.count_nonzero(step) <= allowed[connectivity]]


def _overlap(shape: tuple[int, ...], offset: Offset) -> tuple[Region, Region]:
    """Slices of the cells that have a neighbour at the offset, and of those neighbours."""
    here = tuple(slice(max(0, -o), size - max(0, o)) for o, size in zip(offset, shape, strict=True))
    there = tuple(
        slice(max(0, o), size - max(0, -o)) for o, size in zip(offset, shape, strict=True)
    )
    return here, there


def _strides(shape: tuple[int, ...]) -> np.ndarray:
    return np.cumprod([1, *shape[:0:-1]])[::-1]


def _norm(offset: Offset) -> float:
    return float(np.sqrt(np.count_nonzero(offset)))


def _differences(image: np.ndarray, here: Region, there: Region) -> np.ndarray:
    difference = image[here] - image[there]
    if difference.ndim == len(here):
        return np.abs(difference)
    largest = np.abs(difference).max(initial=0.0)
    # Scaling by a power of two keeps all bits and the squares in range.
    unit = power_of_two(largest)
    difference /= unit
    total = np.zeros(difference.shape[:-1])
    for channel in range(difference.shape[-1]):
        total += np.square(difference[..., channel])
    return np.sqrt(total) * unit
