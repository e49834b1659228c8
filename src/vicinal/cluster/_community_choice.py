"""Communities of neighbour graphs, compared with those that chance makes in one cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.cluster._communities import louvain
from vicinal.cluster._density_modes import likely_dimension
from vicinal.cluster._mode_choice import COMPACT, THIN

# Modularity above that of one cluster of the same size and dimension from which communities are real:
# structureless data of 50 to 5,000 points in 1 to 50 dimensions stays below 0.04.
EXCESS = 0.06
# Larger neighbourhoods are preferred if they leave at most this factor more of the edges unexplained.
SAME = 1.05


class NeighborCommunities(NamedTuple):
    """Communities at one number of neighbours, nested from fine to coarse."""

    modularity: float
    null: float
    levels: tuple[np.ndarray, ...]

    @property
    def excess(self) -> float:
        return self.modularity - self.null

    @property
    def unexplained(self) -> float:
        """Edges that the communities leave unexplained, relative to those that chance would leave."""
        return (1.0 - self.modularity) / (1.0 - self.null)

    @property
    def n_clusters(self) -> int:
        return int(self.levels[-1].max()) + 1


def neighbor_communities(
    indices: np.ndarray,
    distances: np.ndarray,
    k: int,
    n_features: int,
    sizes: np.ndarray,
    thinness: float,
) -> NeighborCommunities:
    """Communities at one scale, compared with clear modes of these sizes that have none within them."""
    n = len(indices)
    ones = np.ones(n * k)
    graph = sparse.csr_array(
        (ones, (np.repeat(np.arange(n), k), indices[:, 1 : k + 1].ravel())), shape=(n, n)
    )
    graph = sparse.csr_array(graph.maximum(graph.T))
    # From dense to sparse, which does not depend on the order of the rows.
    order = np.argsort(distances[:, k], kind="stable")
    found = louvain(graph, order)
    wide = min(2 * max(k, 8), distances.shape[1] - 1)
    dimension = min(likely_dimension(distances[:, 1 : wide + 1]), n_features)
    # On curves, however thick, communities follow each other in one dimension.
    dimension = float(np.interp(thinness, [COMPACT, THIN], [dimension, min(dimension, 1.0)]))
    null = null_modularity(n, dimension, k)
    if len(sizes) > 1:
        null = max(null, _modularity_of_parts(sizes, dimension, k))
    return NeighborCommunities(found.modularity[-1], null, found.levels)


def choose_communities(communities: dict[int, NeighborCommunities]) -> NeighborCommunities | None:
    """Real communities that explain the edges best; at a tie those of the most neighbours."""
    real = [v for v in communities.values() if v.excess >= EXCESS and v.n_clusters > 1]
    least = min((view.unexplained for view in real), default=0.0)
    best = [view for view in real if view.unexplained <= SAME * least]
    return best[-1] if best else None


def _modularity_of_parts(sizes: np.ndarray, dimension: float, k: int) -> float:
    """Modularity of separate clusters, each whole or in the communities that chance makes of it."""
    fractions = sizes / sizes.sum()
    missing = np.array([1.0 - null_modularity(max(size, k), dimension, k) for size in sizes])
    # At the best size of communities, cut edges miss d times as much as those that degrees explain.
    cut = missing * dimension / (dimension + 1.0)
    split = 1.0 - fractions @ cut - np.square(fractions) @ (missing - cut)
    return float(max(split, 1.0 - fractions @ fractions))


def null_modularity(n: int, dimension: float, k: int) -> float:
    """Modularity that communities of one cluster reach on its graph of k neighbours.

    Communities of s points cut a fraction of about (k / s)^(1/d) of the edges, and s / n is the fraction of
    edges that degrees explain: the best s leaves 1 - Q near (k / n)^(1/(d+1)). In many dimensions the graph
    is as good as random, with Q near 1 / sqrt(degree) (Guimera and others 2004). With the factor for low
    dimensions this is the modularity of uniform and normal samples of 50 to 5,000 points in 1 to 50
    dimensions to within 0.06, or above it.
    """
    random = 0.97 / np.sqrt(1.5 * k)
    factor = (1.0 - random) * (1.15 - 0.15 / max(dimension, 1.0))
    return float(1.0 - factor * (k / n) ** (1.0 / (dimension + 1.0)))
