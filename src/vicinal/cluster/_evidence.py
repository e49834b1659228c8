"""How many clusters there are, without being told: what several views of the same points say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.array_checks import check_points
from vicinal._core.options import checked
from vicinal.cluster._background import NEIGHBORS, BackgroundNoise, background_noise, no_noise
from vicinal.cluster._community_choice import (
    EXCESS,
    NeighborCommunities,
    choose_communities,
    neighbor_communities,
)
from vicinal.cluster._density_modes import DensityModes, density_modes, mode_labels
from vicinal.cluster._mode_choice import PROMINENT, ModeChoice, choose_modes, n_prominent
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.neighbors import NeighborSearch

# Numbers of neighbours that densities and communities are looked for at, at most a fifth of the points.
DENSITY_SCALES = (8, 16, 32, 64)
COMMUNITY_SCALES = (5, 10, 15)
FRACTION = 5


class Layer(NamedTuple):
    """One level of nested clusters.

    Attributes
    ----------
    labels : ndarray of int (n,)
    n_clusters : int
    persistence : float
        How long the level lasts: log ratio of the evidence for its weakest cluster and for the next one.
    """

    labels: np.ndarray
    n_clusters: int
    persistence: float


class ClusterEvidence(NamedTuple):
    """The number of clusters and what it was read from.

    Attributes
    ----------
    n_clusters : int
    labels : ndarray of int (n,)
        Clusters by the winning view, numbered by first rows.
    source : {"density", "communities", "none"}
        The view that won; "none" if nothing speaks for more than one cluster.
    candidates : list of (n_clusters, score)
        Best first; a score above 1 is more than chance explains.
    layers : list of Layer
        Nested clusters from coarse to fine, the chosen one among them.
    prominence : dict
        For each number of neighbours the prominences of the modes, descending.
    excess : dict
        For each number of neighbours the modularity above that of one cluster.
    dimension : float
        Intrinsic dimension.
    noise : BackgroundNoise
        Which rows are noise, their scores and the threshold.
    """

    n_clusters: int
    labels: np.ndarray
    source: str
    candidates: list[tuple[int, float]]
    layers: list[Layer]
    prominence: dict[int, np.ndarray]
    excess: dict[int, float]
    dimension: float
    noise: BackgroundNoise


@checked
def estimate_clusters(X: Any, *, n_jobs: int | None = -1) -> ClusterEvidence:
    """Find the number of clusters, nested layers, labels and noise of points.

    Two views are compared with what one cluster would show. Modes of the density must be more prominent
    than sampling error makes them (`vicinal.cluster._density_modes`). Communities of the neighbour graph must
    have a modularity above that of one cluster with as many points and dimensions. Clear modes win; then
    communities, which hold in many dimensions, where densities fade; then modes that are significant only.

    Parameters
    ----------
    X : array (n, D)
        Equal rows are one point.
    n_jobs : int, optional
        Number of threads. The result does not depend on it, nor on the order of the rows or their unit.

    Returns
    -------
    ClusterEvidence
        With fewer than 40 distinct points nothing can be significant: one cluster without noise.

    Examples
    --------
    >>> from vicinal.cluster import estimate_clusters
    >>> from vicinal.datasets import make_two_moons
    >>> X, _ = make_two_moons(400, noise=0.05, random_state=1)
    >>> estimate_clusters(X).n_clusters
    2
    """
    points = check_points(X)
    groups = find_duplicates(points)
    distinct = points[groups.representative]
    distinct = fit_rescaling(distinct).transform(distinct)
    n = len(distinct)
    if n < FRACTION * DENSITY_SCALES[0]:
        return _one_cluster(len(points))
    most = min(DENSITY_SCALES[-1], n // FRACTION)
    indices, distances = NeighborSearch(distinct, n_jobs=n_jobs).nearest(most)
    views = [
        density_modes(distinct, indices, distances, k, n_jobs) for k in DENSITY_SCALES if k <= most
    ]
    modes = choose_modes(views)
    sizes = np.array([n])
    if modes.is_clear:
        sizes = np.bincount(mode_labels(modes.view, modes.number))
    communities = {
        k: neighbor_communities(indices, distances, k, distinct.shape[1], sizes, views[0].thinness)
        for k in COMMUNITY_SCALES
        if k <= most
    }
    found = _combine(groups.group, views, modes, communities)
    labels = found.labels[groups.representative]
    # The second scale has enough neighbours to know the dimension, and few enough to be local.
    dimension = views[min(1, len(views) - 1)].dimension
    noise = background_noise(distances[:, NEIGHBORS], dimension, labels)
    return found._replace(noise=_of_rows(noise, groups.group))


def _combine(
    group: np.ndarray,
    views: list[DensityModes],
    modes: ModeChoice,
    communities: dict[int, NeighborCommunities],
) -> ClusterEvidence:
    prominence = {view.n_neighbors: view.prominence for view in views}
    excess = {k: view.excess for k, view in communities.items()}
    view, n_modes = modes.view, modes.number
    chosen = None if modes.is_certain else choose_communities(communities)
    candidates = _candidates(views, communities)
    if chosen is not None and not (modes.is_clear and n_modes >= chosen.n_clusters):
        layers = [
            Layer(_number_by_first_row(labels[group]), int(labels.max()) + 1, chosen.excess)
            for labels in chosen.levels[::-1]
        ]
        source, best = "communities", layers[0]
    elif n_modes > 1:
        layers = _mode_layers(view, n_modes, group)
        source = "density"
        best = next(layer for layer in layers if layer.n_clusters == n_modes)
    else:
        one = _one_cluster(len(group))
        layers, source, best = one.layers, one.source, one.layers[0]
    score = dict(candidates)[best.n_clusters]
    others = [c for c in candidates if c[0] != best.n_clusters]
    return ClusterEvidence(
        best.n_clusters,
        best.labels,
        source,
        [(best.n_clusters, score), *others],
        layers,
        prominence,
        excess,
        views[0].dimension,
        no_noise(len(group)),
    )


def _candidates(
    views: list[DensityModes], communities: dict[int, NeighborCommunities]
) -> list[tuple[int, float]]:
    """Numbers of clusters with the evidence of their weakest cluster, in units of what is required."""
    scores: dict[int, float] = {1: 1.0}
    for view in views:
        number = n_prominent(view)
        if number > 1:
            score = float(view.prominence[number - 2]) / PROMINENT
            scores[number] = max(scores.get(number, 0.0), score)
    for found in communities.values():
        number, score = found.n_clusters, found.excess / EXCESS
        scores[number] = max(scores.get(number, 0.0), score)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _mode_layers(view: DensityModes, n_modes: int, group: np.ndarray) -> list[Layer]:
    """Nested clusters where the prominences fall most, from coarse to fine, the chosen one included."""
    prominence = np.append(view.prominence[: n_modes - 1], 1.0)
    falls = np.log(prominence[:-1] / np.maximum(prominence[1:], 1.0))
    numbers = {int(i) + 2 for i in np.argsort(-falls, kind="stable")[:4] if falls[i] > 0}
    numbers.add(n_modes)
    layers = []
    for number in sorted(numbers):
        labels = _number_by_first_row(mode_labels(view, number)[group])
        layers.append(Layer(labels, number, float(falls[number - 2])))
    return layers


def _one_cluster(n: int) -> ClusterEvidence:
    labels = np.zeros(n, dtype=np.int64)
    layers = [Layer(labels, 1, 0.0)]
    return ClusterEvidence(1, labels, "none", [(1, 1.0)], layers, {}, {}, 1.0, no_noise(n))


def _of_rows(noise: BackgroundNoise, group: np.ndarray) -> BackgroundNoise:
    """Noise of distinct points, for every row."""
    return noise._replace(
        is_noise=noise.is_noise[group], score=noise.score[group], sparsity=noise.sparsity[group]
    )


def _number_by_first_row(labels: np.ndarray) -> np.ndarray:
    """Clusters numbered by their first rows."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]
