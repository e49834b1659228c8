"""Segments beside human maps: errors that forgive a finer or a coarser view of the same picture.

References
----------
Martin, Fowlkes, Tal and Malik, "A database of human segmented natural images", ICCV 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal.exceptions import InvalidValueError
from vicinal.metrics.clustering import Contingency, contingency


def global_consistency_error(segments: Any, human_maps: Any) -> float:
    """Error of a segmentation where one of the two maps refines the other everywhere.

    The refinement error of a pixel is the share of its segment in one map that lies outside its
    segment in the other. It is averaged over all pixels in both directions, and the better one counts.

    Parameters
    ----------
    segments : array of int of shape (height, width)
        Label map, for instance from `vicinal.segment`.
    human_maps : array of int of shape (height, width) or (n_maps, height, width), or list of maps
        What people have drawn; of several maps the one with the smallest error counts.

    Returns
    -------
    float
        From 0 to 1. One segment, or one for each pixel, has error 0 too: compare results of about as
        many segments.

    Examples
    --------
    >>> from vicinal.metrics import global_consistency_error
    >>> halves = [[0, 0, 1, 1]]
    >>> global_consistency_error(halves, [[0, 1, 2, 3]])
    0.0
    >>> global_consistency_error(halves, [[0, 1, 1, 1]])
    0.25
    """
    return _smallest(segments, human_maps, _global_error)


def local_consistency_error(segments: Any, human_maps: Any) -> float:
    """Error of a segmentation where either map may be the finer one, from pixel to pixel.

    As `global_consistency_error`, but the better direction is chosen at each pixel, so it is never
    larger.

    Parameters
    ----------
    segments : array of int of shape (height, width)
        Label map, for instance from `vicinal.segment`.
    human_maps : array of int of shape (height, width) or (n_maps, height, width), or list of maps
        What people have drawn; of several maps the one with the smallest error counts.

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
    return _smallest(segments, human_maps, _local_error)


def _global_error(table: Contingency) -> float:
    return float(min(error.sum() for error in _refinement_errors(table)) / table.total)


def _local_error(table: Contingency) -> float:
    return float(np.minimum(*_refinement_errors(table)).sum() / table.total)


def _refinement_errors(table: Contingency) -> tuple[np.ndarray, np.ndarray]:
    """Errors of all pixels that share both segments, in both directions."""
    here, there = table.row_sums[table.rows], table.column_sums[table.columns]
    return (
        table.counts * ((here - table.counts) / here),
        table.counts * ((there - table.counts) / there),
    )


def _smallest(segments: Any, human_maps: Any, error: Callable[[Contingency], float]) -> float:
    labels = read_array(segments, "segments")
    if labels.ndim != 2 or labels.size == 0:
        raise InvalidValueError(
            f"segments has shape {labels.shape}, but a label map (height, width) is needed."
        )
    try:
        maps = np.asarray(human_maps)
    except ValueError:
        shapes = ", ".join(str(np.shape(one)) for one in human_maps)
        raise InvalidValueError(
            f"human_maps have the shapes {shapes}, but all must have that of segments, {labels.shape}."
        ) from None
    if maps.ndim == 2:
        maps = maps[None]
    if maps.ndim != 3 or maps.shape[1:] != labels.shape or len(maps) == 0:
        raise InvalidValueError(
            f"human_maps has shape {np.shape(human_maps)}, but maps of the shape of segments, "
            f"{labels.shape}, are needed: one, or several in a list."
        )
    names = "human_maps", "segments"
    return min(error(contingency(one.ravel(), labels.ravel(), names)) for one in maps)
