"""Communities of neighbour graphs, compared with the communities of a single cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from vicinal.cluster._community_null import (
    dense_first_communities,
    neighbor_digraph,
    normal_modularity,
    null_modularity,
)
from vicinal.cluster._consensus import consensus_communities
from vicinal.cluster._density_modes import local_dimension
from vicinal.cluster._mode_choice import THINNESS_OF_COMPACT, THINNESS_OF_CURVES

if TYPE_CHECKING:
    from vicinal._core.types import NJobs

# Numbers of neighbours.
SCALES = (5, 10, 15)
# Minimum excess of modularity over a single cluster of the same size and dimension. Structureless data of 50
# to 5,000 points in 1 to 50 dimensions stays below 0.04.
MIN_EXCESS = 0.06
# Normal samples of the same shape match better: of 108 single clusters that are long or have heavy tails, 2
# exceed them by more.
MIN_EXCESS_OVER_NORMAL = 0.03
# Larger neighbourhoods are preferred if they leave at most this factor more edges unexplained.
MAX_UNEXPLAINED_RATIO = 1.05


class NeighborCommunities(NamedTuple):
    """Communities for one number of neighbours, nested from fine to coarse, and the order of visits.

    ``null`` is the modularity expected of one cluster.
    """

    n_neighbors: int
    modularity: float
    null: float
    levels: tuple[np.ndarray, ...]
    order: np.ndarray

    @property
    def excess(self) -> float:
        return self.modularity - self.null

    @property
    def is_significant(self) -> bool:
        return self.excess >= MIN_EXCESS and self.n_clusters > 1

    @property
    def unexplained(self) -> float:
        """Fraction of edges left unexplained, relative to a single cluster."""
        return (1.0 - self.modularity) / (1.0 - self.null)

    @property
    def n_clusters(self) -> int:
        return int(self.levels[-1].max()) + 1


def communities_by_scale(
    points: np.ndarray,
    indices: np.ndarray,
    distances: np.ndarray,
    thinness: float,
    n_jobs: NJobs,
    min_over_normal: float = MIN_EXCESS_OVER_NORMAL,
) -> dict[int, NeighborCommunities]:
    """Communities of distinct points for each number of neighbours.

    Those that exceed the communities of a round cluster are compared with a normal one of the same shape,
    which they have to exceed by ``min_over_normal``.
    """
    communities = {
        k: neighbor_communities(indices, distances, k, points.shape[1], thinness)
        for k in SCALES
        if k < distances.shape[1]
    }
    scales = [k for k, view in communities.items() if view.is_significant]
    if scales:
        for k, null in zip(scales, normal_modularity(points, scales, n_jobs), strict=True):
            view = communities[k]
            margin = MIN_EXCESS - min_over_normal
            communities[k] = view._replace(null=max(view.null, float(null) - margin))
    return communities


def neighbor_communities(
    indices: np.ndarray, distances: np.ndarray, k: int, n_features: int, thinness: float
) -> NeighborCommunities:
    """Communities for k neighbours, compared with those of one round cluster."""
    communities, order = dense_first_communities(indices, distances, k)
    wide = min(2 * max(k, 8), distances.shape[1] - 1)
    dimension = min(local_dimension(distances[:, 1 : wide + 1]), n_features)
    # Communities along a curve, however thick, form a one-dimensional chain.
    thickness = [THINNESS_OF_COMPACT, THINNESS_OF_CURVES]
    dimension = float(np.interp(thinness, thickness, [dimension, min(dimension, 1.0)]))
    null = null_modularity(len(indices), dimension, k)
    return NeighborCommunities(k, communities.modularity[-1], null, communities.levels, order)


def choose_communities(
    communities: dict[int, NeighborCommunities], indices: np.ndarray
) -> NeighborCommunities | None:
    """Consensus of the communities that explain the edges best; ties go to more neighbours.

    None if no communities are significant, or if their boundaries are not reproducible.
    """
    significant = [view for view in communities.values() if view.is_significant]
    least = min((view.unexplained for view in significant), default=0.0)
    best = [view for view in significant if view.unexplained <= MAX_UNEXPLAINED_RATIO * least]
    if not best:
        return None
    # Mutual neighbours count twice.
    digraph = neighbor_digraph(indices, best[-1].n_neighbors)
    weights = sparse.csr_array(digraph + digraph.T)
    consensus = consensus_communities(weights, best[-1].order)
    return best[-1]._replace(levels=consensus.levels) if consensus.is_reproducible else None
