"""Segmentation errors against human maps that tolerate finer or coarser segmentations.

References
----------
Martin, Fowlkes, Tal and Malik, "A database of human segmented natural images", ICCV 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal.exceptions import InvalidValueError
from vicinal.metrics.clustering import Contingency, contingency

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike


def global_consistency_error(
    segments: ArrayLike, human_maps: ArrayLike | Sequence[ArrayLike]
) -> float:
    """Error of a segmentation, 0 if one of the two maps refines the other everywhere.

    The refinement error of a pixel is the fraction of its segment in one map that lies outside its
    segment in the other. It is averaged over all pixels in both directions; the smaller one is returned.

    Parameters
    ----------
    segments : array of int of shape (height, width)
        Label map, for instance from `vicinal.segment`.
    human_maps : array of int of shape (height, width) or (n_maps, height, width), or list of maps
        Human segmentations; with several maps, the smallest error counts.

    Returns
    -------
    float
        From 0 to 1. A single segment, or one per pixel, also has error 0: compare only results with
        similar numbers of segments.

    Examples
    --------
    >>> from vicinal.metrics import global_consistency_error
    >>> halves = [[0, 0, 1, 1]]
    >>> global_consistency_error(halves, [[0, 1, 2, 3]])
    0.0
    >>> global_consistency_error(halves, [[0, 1, 1, 1]])
    0.25
    """
    return _smallest_error(segments, human_maps, _global_error)


def local_consistency_error(
    segments: ArrayLike, human_maps: ArrayLike | Sequence[ArrayLike]
) -> float:
    """Error of a segmentation where either map may be the finer one at each pixel.

    Like `global_consistency_error`, but the smaller direction is chosen at each pixel, so it is never
    larger.

    Parameters
    ----------
    segments : array of int of shape (height, width)
        Label map, for instance from `vicinal.segment`.
    human_maps : array of int of shape (height, width) or (n_maps, height, width), or list of maps
        Human segmentations; with several maps, the smallest error counts.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from vicinal.metrics import local_consistency_error
    >>> local_consistency_error([[0, 0, 1, 2]], [[0, 1, 2, 2]])
    0.0
    """
    return _smallest_error(segments, human_maps, _local_error)


def _global_error(table: Contingency) -> float:
    return float(min(error.sum() for error in _refinement_errors(table)) / table.total)


def _local_error(table: Contingency) -> float:
    return float(np.minimum(*_refinement_errors(table)).sum() / table.total)


def _refinement_errors(table: Contingency) -> tuple[np.ndarray, np.ndarray]:
    """Errors in both directions, summed over the pixels of each pair of segments."""
    sizes_1, sizes_2 = table.row_sums[table.rows], table.column_sums[table.columns]
    return (
        table.counts * ((sizes_1 - table.counts) / sizes_1),
        table.counts * ((sizes_2 - table.counts) / sizes_2),
    )


def _smallest_error(
    segments: ArrayLike,
    human_maps: ArrayLike | Sequence[ArrayLike],
    error: Callable[[Contingency], float],
) -> float:
    labels = read_array(segments, "segments")
    if labels.ndim != 2 or labels.size == 0:
        raise InvalidValueError(
            f"segments has shape {labels.shape}, but a label map (height, width) is needed."
        )
    try:
        maps = np.asarray(human_maps)
    except ValueError:
        shapes = ", ".join(str(np.shape(single)) for single in cast("Sequence[Any]", human_maps))
        raise InvalidValueError(
            f"human_maps have shapes {shapes}, but all must have the shape of segments, {labels.shape}."
        ) from None
    given_shape = maps.shape
    if maps.ndim == 2:
        maps = maps[None]
    if maps.ndim != 3 or maps.shape[1:] != labels.shape or len(maps) == 0:
        raise InvalidValueError(
            f"human_maps has shape {given_shape}, but one map, or a list of maps, with the "
            f"shape of segments, {labels.shape}, is needed."
        )
    names = "human_maps", "segments"
    return min(error(contingency(single.ravel(), labels.ravel(), names)) for single in maps)
