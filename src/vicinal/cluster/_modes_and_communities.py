"""Whether points have several density modes, or communities that densities do not separate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.cluster._community_choice import MIN_EXCESS, communities_by_scale
from vicinal.cluster._density_modes import mode_labels
from vicinal.cluster._density_views import (
    MIN_POINTS,
    canonical_groups,
    density_views,
    sample_points,
)
from vicinal.cluster._mode_choice import ModeChoice, choose_modes

if TYPE_CHECKING:
    from vicinal._core.types import NJobs


def parts_have_communities(distinct: np.ndarray, modes: ModeChoice, n_jobs: NJobs) -> bool:
    """Whether a cluster of the density has communities: separate clusters always have communities."""
    labels = mode_labels(modes.view, modes.number)
    return any(
        has_communities(distinct[labels == label], n_jobs=n_jobs) for label in np.unique(labels)
    )


def has_communities(points: np.ndarray, *, n_jobs: NJobs = -1) -> bool:
    """Whether points have significant communities that densities do not separate.

    If densities separate clusters, at least one of them must have communities itself.
    """
    return modes_and_communities(points, n_jobs=n_jobs)[1]


def modes_and_communities(points: np.ndarray, *, n_jobs: NJobs = -1) -> tuple[int, bool]:
    """`count_modes` and `has_communities` of points, from one search for neighbours."""
    groups = canonical_groups(points)
    if len(groups.representative) < MIN_POINTS:
        return 1, False
    sample = sample_points(points[groups.representative])
    neighbors, distances, views = density_views(sample, n_jobs)
    modes = choose_modes(views)
    # Several clusters are tested, so the margin is larger.
    communities = communities_by_scale(
        sample, neighbors, distances, views[0].thinness, n_jobs, min_over_normal=MIN_EXCESS
    )
    if modes.is_certain or not any(view.is_significant for view in communities.values()):
        return modes.number, False
    found = not modes.is_separated or parts_have_communities(sample, modes, n_jobs)
    return modes.number, found
