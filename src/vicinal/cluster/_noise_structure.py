"""Structure of noise: much noise that has clusters of its own consists of sparse clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal.cluster._background import (
    BackgroundNoise,
    background_noise,
    choose_noise,
    fit_scales,
    with_one_fraction,
)
from vicinal.cluster._density_modes import local_dimension
from vicinal.cluster._density_views import (
    DENSITY_SCALES,
    MIN_POINTS,
    count_modes,
    sample_points,
)
from vicinal.cluster._modes_and_communities import modes_and_communities
from vicinal.cluster._noise_evidence import MAX_UNTESTED_FRACTION
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
    noise fills the space. Noise that fills the gaps between clusters, which their edges do not, needs less
    evidence.
    """
    scales = fit_scales(distances, dimension, labels)
    # If different fractions of one background lead to noise with a structure, one fraction may not.
    for tried in (scales, with_one_fraction(scales)):
        noise = choose_noise(tried)
        if noise.is_noise.mean() <= MAX_UNTESTED_FRACTION:
            break
        if not _has_clusters(points, noise, n_jobs) and not _is_as_thin_as_clusters(
            points, noise.is_noise, n_jobs
        ):
            return noise
    else:
        return choose_noise(scales, MAX_UNTESTED_FRACTION)
    if labels.max() > 0:
        background = choose_noise(scales, fills_gaps=True)
        if _is_background(points, background, n_jobs):
            return background
    return noise


def noise_across_communities(
    points: np.ndarray, distances: np.ndarray, dimension: float, n_jobs: NJobs
) -> BackgroundNoise | None:
    """Much noise around points that are taken as one cluster, if it has no structure; otherwise None.

    Communities divide everything, noise too, but thinned to the density of the noise nothing is left of them.
    """
    noise = background_noise(distances, dimension, np.zeros(len(points), np.int64))
    return noise if _is_background(points, noise, n_jobs) else None


def _has_clusters(points: np.ndarray, noise: BackgroundNoise, n_jobs: NJobs) -> bool:
    """Whether noise has clusters, even if the holes that the other points leave in it are filled.

    A hole is a valley of the density: around a curve, it can divide the noise.
    """
    if count_modes(points[noise.is_noise], n_jobs=n_jobs) == 1:
        return False
    return count_modes(_thinned_to_noise(points, noise), n_jobs=n_jobs) > 1


def _is_background(points: np.ndarray, noise: BackgroundNoise, n_jobs: NJobs) -> bool:
    """Whether there is much noise, and no structure if nothing is denser than the noise."""
    if noise.is_noise.mean() <= MAX_UNTESTED_FRACTION:
        return False
    thinned = _thinned_to_noise(points, noise)
    if len(thinned) < MIN_POINTS:
        return False  # too few to show a structure
    n_modes, found = modes_and_communities(thinned, n_jobs=n_jobs)
    has_structure = n_modes > 1 or found
    return not has_structure and not _is_as_thin_as_clusters(points, noise.is_noise, n_jobs)


def _thinned_to_noise(points: np.ndarray, noise: BackgroundNoise) -> np.ndarray:
    """A sample of the points in which none are denser than the noise."""
    log_uniform = np.log1p(-np.random.default_rng(0).random(len(points)))
    return np.asarray(points[log_uniform < noise.log_background])


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
