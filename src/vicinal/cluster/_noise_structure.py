"""Noise without clusters of its own: much noise with a structure consists of sparse clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal.cluster._background import (
    MAX_UNTESTED_FRACTION,
    N_NEIGHBORS,
    BackgroundNoise,
    background_noise,
    sparsity,
)
from vicinal.cluster._density_modes import local_dimension
from vicinal.cluster._density_views import (
    DENSITY_SCALES,
    MIN_POINTS,
    count_modes,
    sample_points,
)
from vicinal.neighbors import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import NJobs

# Clusters are curves or surfaces up to this intrinsic dimension, if the space has more dimensions by at least
# `MIN_CODIMENSION`.
MAX_SURFACE_DIMENSION, MIN_CODIMENSION = 2.5, 0.7
# Background noise around curves and surfaces has an intrinsic dimension larger by this: half-cylinders in
# noise have 0.6, a sparse sphere around a dense one 0.3 at most.
MIN_EXCESS_DIMENSION = 0.4


def noise_without_clusters(
    points: np.ndarray, distances: np.ndarray, dimension: float, n_jobs: NJobs, labels: np.ndarray
) -> BackgroundNoise:
    """Background noise; more than a tenth of noise that has a structure consists of sparse clusters.

    It has clusters itself, or it is as thin as the curves or surfaces that the other points form, whereas
    noise fills the space.
    """
    noise = background_noise(distances, dimension, labels)
    if noise.is_noise.mean() > MAX_UNTESTED_FRACTION and (
        _has_clusters(points, sparsity(distances, dimension), noise.is_noise, n_jobs)
        or _is_as_thin_as_clusters(points, noise.is_noise, n_jobs)
    ):
        return background_noise(distances, dimension, labels, MAX_UNTESTED_FRACTION)
    return noise


def _has_clusters(
    points: np.ndarray, sparsities: np.ndarray, is_noise: np.ndarray, n_jobs: NJobs
) -> bool:
    """Whether noise has clusters, even if the holes that the other points leave in it are filled.

    A hole is a valley of the density: around a curve, it can divide the noise. The other points fill it if
    they are thinned to the density of the noise nearby.
    """
    if count_modes(points[is_noise], n_jobs=n_jobs) == 1:
        return False
    noise, others = np.flatnonzero(is_noise), np.flatnonzero(~is_noise)
    rescaled = fit_rescaling(points).transform(points)
    search = NeighborSearch(rescaled[noise], n_jobs=n_jobs)
    k = min(N_NEIGHBORS, len(noise))
    nearby = noise[search.nearest(k, queries=rescaled[others])[0]]
    log_ratio = sparsities[others] - sparsities[nearby].mean(axis=1)
    is_kept = np.log1p(-np.random.default_rng(0).random(len(others))) < log_ratio
    return count_modes(points[np.sort(np.append(noise, others[is_kept]))], n_jobs=n_jobs) > 1


def _is_as_thin_as_clusters(points: np.ndarray, is_noise: np.ndarray, n_jobs: NJobs) -> bool:
    """Whether clusters are curves or surfaces, and noise has no larger dimension."""
    if min(is_noise.sum(), (~is_noise).sum()) < MIN_POINTS:
        return False
    clusters = _dimension(points[~is_noise], n_jobs)
    if clusters > min(MAX_SURFACE_DIMENSION, points.shape[1] - MIN_CODIMENSION):
        return False
    return _dimension(points[is_noise], n_jobs) < clusters + MIN_EXCESS_DIMENSION


def _dimension(points: np.ndarray, n_jobs: NJobs) -> float:
    """Intrinsic dimension by the second scale of densities, as for all points."""
    sample = sample_points(points)
    search = NeighborSearch(fit_rescaling(sample).transform(sample), n_jobs=n_jobs)
    return min(local_dimension(search.nearest(DENSITY_SCALES[1])[1][:, 1:]), points.shape[1])
