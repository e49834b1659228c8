"""Grids of pixels or voxels: each is connected to the cells around it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from vicinal._core.array_checks import check_points, real_array
from vicinal._core.memory import require_memory
from vicinal._core.rescale import power_of_two
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._entries import Entries, index_dtype
from vicinal.graphs.graph import Graph

# Neighbours of an inner cell -> along how many axes a step may go at once, by number of axes.
STEP_AXES = {2: {4: 1, 8: 2}, 3: {6: 1, 26: 3}}
Offset = tuple[int, ...]
Region = tuple[Any, ...]


def grid(shape: Any = None, connectivity: int | None = None, image: Any = None) -> Graph:
    """Grid of cells, each connected to those around it.

    Nodes are numbered as ``numpy.ravel`` lays out the cells: the last axis runs fastest.

    Parameters
    ----------
    shape : tuple of 2 or 3 ints, optional
        Cells along each axis. It may be left out when there is an image.
    connectivity : {4, 8, 6, 26}, optional
        Neighbours of an inner cell: 4 or 8 in two dimensions, 6 or 26 in three; the larger by
        default.
    image : array, optional
        Values of the cells: of the grid's shape (grey), or with one more axis for the channels
        (colour). Without ``shape``, an image with three axes is a colour picture (height, width,
        channels), unless ``connectivity`` is 6 or 26: then it is a grey volume.

    Returns
    -------
    Graph
        The length of an edge is the difference of the two values (Euclidean over the channels), or
        without an image the distance of the two cells: 1, sqrt(2) or sqrt(3).

    Examples
    --------
    >>> from vicinal.graphs import grid
    >>> grid((2, 3))
    Graph(6 nodes, 11 edges, undirected, 1 component, 0 isolates)
    >>> grid(image=[[0, 0, 9], [0, 1, 9]], connectivity=4).to_scipy().toarray()[1]
    array([0., 0., 9., 0., 1., 0.])
    """
    values = None if image is None else _as_image(image)
    shape = _check_shape(shape, connectivity, values)
    offsets = _offsets(len(shape), connectivity)
    n, width = int(np.prod(shape)), 2 * len(offsets)
    require_memory(n * width * 34.0, "the grid", "Work on tiles, or on a smaller image.")

    lengths = np.zeros((*shape, width))
    stored = np.zeros((*shape, width), dtype=bool)
    steps = np.empty(width, dtype=index_dtype(n, n * width))
    for c, offset in enumerate(offsets):
        # Offsets rise, and so do neighbours; the opposite one stands as far from the end.
        here, there = _overlap(shape, offset)
        back = width - 1 - c
        between = _differences(values, here, there) if values is not None else _norm(offset)
        lengths[(*here, c)] = between
        lengths[(*there, back)] = between
        stored[(*here, c)] = stored[(*there, back)] = True
        steps[c] = np.dot(offset, _strides(shape))
        steps[back] = -steps[c]

    stored = stored.reshape(n, width)
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    neighbors = np.arange(n, dtype=steps.dtype)[:, None] + steps
    lengths = lengths.reshape(n, width)[stored]
    entries = Entries(indptr, neighbors[stored], lengths, np.ones(len(lengths)))
    return Graph._trusted(entries, directed=False)


def _as_image(image: Any) -> np.ndarray:
    array = real_array(image, "image")
    if not 2 <= array.ndim <= 4:
        raise InvalidValueError(
            f"image has shape {array.shape}, but (height, width), (depth, height, width) or one of "
            "them with channels at the end is needed."
        )
    return check_points(array.reshape(-1, 1), name="image").reshape(array.shape)


def _check_shape(shape: Any, connectivity: int | None, image: np.ndarray | None) -> tuple[int, ...]:
    if shape is None:
        if image is None:
            raise InvalidValueError("shape=None and image=None, but one of them is needed.")
        volume = image.ndim == 4 or (image.ndim == 3 and connectivity in tuple(STEP_AXES[3]))
        return image.shape[: 3 if volume else 2]
    flat = isinstance(shape, (tuple, list)) or (isinstance(shape, np.ndarray) and shape.ndim == 1)
    if not flat or len(shape) not in STEP_AXES:
        raise InvalidValueError(f"shape={shape!r}, but 2 or 3 numbers of cells are needed.")
    checked = tuple(check_count(cells, f"shape[{axis}]") for axis, cells in enumerate(shape))
    if image is not None and (
        image.shape[: len(checked)] != checked or image.ndim > len(checked) + 1
    ):
        raise InvalidValueError(
            f"image has shape {image.shape}, which does not fit shape={checked}."
        )
    return checked


def _offsets(n_axes: int, connectivity: int | None) -> list[Offset]:
    """Steps to the neighbours before a cell, in the order of their numbers."""
    allowed = STEP_AXES[n_axes]
    if connectivity is None:
        connectivity = max(allowed)
    if connectivity not in tuple(allowed):
        raise InvalidValueError(
            f"connectivity={connectivity!r}, but a grid with {n_axes} axes has "
            f"{' or '.join(map(str, allowed))} neighbours a cell."
        )
    before = [step for step in itertools.product((-1, 0, 1), repeat=n_axes) if step < (0,) * n_axes]
    return [step for step in before if np.count_nonzero(step) <= allowed[connectivity]]


def _overlap(shape: tuple[int, ...], offset: Offset) -> tuple[Region, Region]:
    """Cells that have a neighbour at the offset, and those neighbours, as slices."""
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
    change = image[here] - image[there]
    if change.ndim == len(here):
        return np.abs(change)
    largest = np.abs(change).max(initial=0.0)
    # Measured in a power of two, the changes keep their bits and their squares stay in range.
    unit = power_of_two(largest)
    change /= unit
    total = np.zeros(change.shape[:-1])
    for channel in range(change.shape[-1]):
        total += np.square(change[..., channel])
    return np.sqrt(total) * unit
