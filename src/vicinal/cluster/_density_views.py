"""Distinct points in an order of their own, a sample of many, and their density modes on several scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.rescale import max_magnitude
from vicinal.cluster._density_modes import DensityModes, density_modes
from vicinal.cluster._mode_choice import choose_modes
from vicinal.graphs._build.duplicates import Duplicates, find_duplicates
from vicinal.neighbors import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import NJobs

# Numbers of neighbours for densities.
DENSITY_SCALES = (8, 16, 32, 64)
# A neighbourhood contains at most a fifth of the points.
MIN_POINTS_PER_NEIGHBOR = 5
MIN_POINTS = MIN_POINTS_PER_NEIGHBOR * DENSITY_SCALES[0]
# Of more points, a random sample is examined. A cluster of one in 400 points still has about 40 in it.
MAX_POINTS = 15_000


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


def sample_points(distinct: np.ndarray) -> np.ndarray:
    """At most `MAX_POINTS` random points, in their order."""
    return distinct if len(distinct) <= MAX_POINTS else distinct[sample_rows(len(distinct))]


def sample_rows(n: int) -> np.ndarray:
    """At most `MAX_POINTS` random ones of n rows, in their order."""
    if n <= MAX_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MAX_POINTS, replace=False))


def nearest_sampled(
    distinct: np.ndarray, sample: np.ndarray, n_neighbors: int, n_jobs: NJobs
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest sampled point of every point, and distances to the nearest other sampled points."""
    rescaling = fit_rescaling(distinct)
    search = NeighborSearch(rescaling.transform(sample), n_jobs=n_jobs)
    indices, distances = search.nearest(n_neighbors + 1, queries=rescaling.transform(distinct))
    is_sampled = distances[:, :1] == 0
    return indices[:, 0], np.where(is_sampled, distances[:, 1:], distances[:, :-1])


def density_views(
    distinct: np.ndarray, n_jobs: NJobs
) -> tuple[np.ndarray, np.ndarray, list[DensityModes]]:
    """Neighbours, their distances, and density modes for each number of neighbours."""
    points = fit_rescaling(distinct).transform(distinct)
    max_k = min(DENSITY_SCALES[-1], len(points) // MIN_POINTS_PER_NEIGHBOR)
    indices, distances = NeighborSearch(points, n_jobs=n_jobs).nearest(max_k)
    scales = [k for k in DENSITY_SCALES if k <= max_k]
    views: list[DensityModes] = []
    for k in scales:
        finer = views[-1] if views else None
        views.append(density_modes(points, indices, distances, k, n_jobs, finer))
    return indices, distances, views


def count_modes(points: np.ndarray, *, n_jobs: NJobs = -1) -> int:
    """Number of clusters by density modes alone; 1 for fewer than 40 distinct points."""
    groups = canonical_groups(points)
    if len(groups.representative) < MIN_POINTS:
        return 1
    sample = sample_points(points[groups.representative])
    return choose_modes(density_views(sample, n_jobs)[2]).number
