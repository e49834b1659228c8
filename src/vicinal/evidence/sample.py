"""Distinct points in an order of their own, and a sample of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.rescale import max_magnitude
from vicinal.evidence.constants import MAX_POINTS
from vicinal.graphs._build.duplicates import Duplicates, find_duplicates
from vicinal.neighbors import NeighborSearch

if TYPE_CHECKING:
    pass


def canonical_groups(points: np.ndarray) -> Duplicates:
    """Groups of equal rows, ordered by their values, so that nothing depends on the order of the rows."""
    groups = find_duplicates(points)
    distinct = points[groups.representative]
    units = distinct / (max_magnitude(distinct) or 1.0)
    keys = np.column_stack([units.sum(axis=1), np.square(units).sum(axis=1)])
    order = np.lexsort(keys.T)
    if (keys[order[1:]] == keys[order[:-1]]).all(axis=1).any():
        order = np.lexsort(distinct.T)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    return Duplicates(groups.representative[order], position[groups.group])


def sample_rows(n: int) -> np.ndarray:
    """At most `MAX_POINTS` random ones of n rows, in their order."""
    if n <= MAX_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MAX_POINTS, replace=False))


def nearest_sampled(
    distinct: np.ndarray, sample: np.ndarray, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest sampled point of every point, and distances to the nearest other sampled points."""
    rescaling = fit_rescaling(distinct)
    search = NeighborSearch(rescaling.transform(sample))
    indices, distances = search.nearest(n_neighbors + 1, queries=rescaling.transform(distinct))
    is_sampled = distances[:, :1] == 0
    return indices[:, 0], np.where(is_sampled, distances[:, 1:], distances[:, :-1])
