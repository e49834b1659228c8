"""Estimate the number of clusters from density modes and communities of the points."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vicinal._base.row_assignment import number_by_first_occurrence
from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.array_checks import check_points
from vicinal._core.options import checked
from vicinal._core.rescale import max_magnitude
from vicinal.cluster._background import (
    MAX_UNTESTED_FRACTION,
    N_NEIGHBORS,
    BackgroundNoise,
    background_noise,
    no_noise,
)
from vicinal.cluster._community_choice import (
    MIN_EXCESS,
    NeighborCommunities,
    choose_communities,
    neighbor_communities,
)
from vicinal.cluster._density_modes import DensityModes, density_modes, mode_labels
from vicinal.cluster._mode_choice import (
    MIN_PROMINENCE,
    ModeChoice,
    choose_modes,
    n_prominent,
    n_significant,
)
from vicinal.graphs._build.duplicates import Duplicates, find_duplicates
from vicinal.neighbors import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# Numbers of neighbours for densities and communities.
DENSITY_SCALES = (8, 16, 32, 64)
COMMUNITY_SCALES = (5, 10, 15)
# A neighbourhood contains at most a fifth of the points.
MIN_POINTS_PER_NEIGHBOR = 5
MIN_POINTS = MIN_POINTS_PER_NEIGHBOR * DENSITY_SCALES[0]
# Clusters are estimated again without the noise if it is at least this fraction of the points; a few outliers
# change little.
MIN_NOISE_TO_REPEAT = 0.01
# Of more points, a random sample is examined. A cluster of one in 400 points still has about 40 in it.
MAX_POINTS = 15_000


class Layer(NamedTuple):
    """One level of nested clusters.

    Attributes
    ----------
    labels : ndarray of int (n,)
        Cluster of each row.
    n_clusters : int
        Number of clusters.
    persistence : float
        Log ratio of the evidence for the weakest cluster to that for the next candidate.
    """

    labels: np.ndarray
    n_clusters: int
    persistence: float


class ClusterEvidence(NamedTuple):
    """The number of clusters and the evidence for it.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    labels : ndarray of int (n,)
        Cluster of each row, numbered by first occurrence.
    source : {"density", "communities", "none"}
        The method that decided; "none" if there is no evidence for more than one cluster.
    candidates : list of (n_clusters, score)
        The chosen number first; a score above 1 is significant.
    layers : list of Layer
        Nested clusters from coarse to fine, including the chosen ones.
    prominence : dict
        Prominences of the modes, descending, for each number of neighbours.
    excess : dict
        Modularity in excess of a single cluster, for each number of neighbours.
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
def estimate_clusters(X: ArrayLike, *, n_jobs: NJobs = -1) -> ClusterEvidence:
    """Estimate the number of clusters, nested layers, labels and noise of points.

    Two methods are compared with a null model of one cluster. Modes of the density must be more prominent
    than sampling error explains (`vicinal.cluster._density_modes`). Communities of the neighbour graph must
    exceed the modularity of one cluster with the same number of points and dimensions; they are a consensus
    over random halves of the graph (`vicinal.cluster._consensus`). Well-separated modes decide first; then
    communities, which also work in many dimensions, where densities are unreliable; then other significant
    modes. If there is noise, the other points are clustered again without it; noise belongs to the cluster of
    the nearest other point.

    Of more than 15,000 distinct points, a random sample of 15,000 is examined. The other points get the
    cluster of the nearest sampled point, and noise is found by the distances of all points to the sample.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Points; duplicate rows count once.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it, nor on the order of the rows
        or their unit.

    Returns
    -------
    ClusterEvidence
        The number of clusters, labels, noise and the evidence. Fewer than 40 distinct points are always one
        cluster without noise.

    Examples
    --------
    >>> from vicinal.cluster import estimate_clusters
    >>> from vicinal.datasets import make_two_moons
    >>> X, _ = make_two_moons(400, noise=0.05, random_state=1)
    >>> estimate_clusters(X).n_clusters
    2
    """
    points = check_points(X)
    groups = _in_canonical_order(find_duplicates(points), points)
    distinct = points[groups.representative]
    if len(distinct) < MIN_POINTS:
        return _one_cluster(len(points))
    sample = _sample(distinct)
    neighbors, distances, views = _density_views(sample, n_jobs)
    nearest, reach = np.arange(len(sample)), distances[:, 1 : N_NEIGHBORS + 1]
    if len(sample) < len(distinct):
        nearest, reach = _nearest_sampled(distinct, sample, n_jobs)
    evidence = _combine_views(sample, nearest, neighbors, distances, views)
    # The second scale has enough neighbours to estimate the dimension, but is still local.
    dimension = views[min(1, len(views) - 1)].dimension
    find_noise = partial(_noise_without_clusters, distinct, reach, dimension, n_jobs)
    noise = find_noise(evidence.labels)
    kept = np.flatnonzero(~noise.is_noise)
    if noise.is_noise.mean() >= MIN_NOISE_TO_REPEAT and len(kept) >= MIN_POINTS:
        # Noise bridges clusters and splits thin ones: cluster the other points again, without it.
        sample = _sample(distinct[kept])
        nearest = NeighborSearch(sample, n_jobs=n_jobs).nearest(1, queries=distinct)[0][:, 0]
        evidence = _combine_views(sample, nearest, *_density_views(sample, n_jobs))
        again = find_noise(evidence.labels)
        noise = again if again.is_noise.any() else noise
    return _expand_to_rows(evidence._replace(noise=noise), groups.group)


def _combine_views(
    distinct: np.ndarray,
    group: np.ndarray,
    neighbors: np.ndarray,
    distances: np.ndarray,
    views: list[DensityModes],
) -> ClusterEvidence:
    """Evidence from distinct points; ``group`` contains the point whose cluster each row belongs to."""
    modes = choose_modes(views)
    sizes = np.array([len(distinct)])
    if modes.is_separated:
        sizes = np.bincount(mode_labels(modes.view, modes.number))
    communities = {
        k: neighbor_communities(
            neighbors, distances, k, distinct.shape[1], sizes, views[0].thinness
        )
        for k in COMMUNITY_SCALES
        if k < distances.shape[1]
    }
    chosen = None if modes.is_certain else choose_communities(communities, neighbors)
    if chosen is not None:
        communities[chosen.n_neighbors] = chosen
    return _combine(group, views, modes, communities, chosen)


def _noise_without_clusters(
    points: np.ndarray, distances: np.ndarray, dimension: float, n_jobs: NJobs, labels: np.ndarray
) -> BackgroundNoise:
    """Background noise; much noise that has clusters itself consists of sparse clusters, not of noise."""
    noise = background_noise(distances, dimension, labels)
    if (
        noise.is_noise.mean() > MAX_UNTESTED_FRACTION
        and count_modes(points[noise.is_noise], n_jobs=n_jobs) > 1
    ):
        return background_noise(distances, dimension, labels, MAX_UNTESTED_FRACTION)
    return noise


def count_modes(points: np.ndarray, *, n_jobs: NJobs = -1) -> int:
    """Number of clusters by density modes alone; 1 for fewer than 40 distinct points."""
    groups = _in_canonical_order(find_duplicates(points), points)
    if len(groups.representative) < MIN_POINTS:
        return 1
    sample = _sample(points[groups.representative])
    return choose_modes(_density_views(sample, n_jobs)[2]).number


def _sample(distinct: np.ndarray) -> np.ndarray:
    """At most `MAX_POINTS` random points, in their order."""
    if len(distinct) <= MAX_POINTS:
        return distinct
    rows = np.random.default_rng(0).choice(len(distinct), MAX_POINTS, replace=False)
    return distinct[np.sort(rows)]


def _nearest_sampled(
    distinct: np.ndarray, sample: np.ndarray, n_jobs: NJobs
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest sampled point of every point, and distances to the nearest other sampled points."""
    rescaling = fit_rescaling(distinct)
    search = NeighborSearch(rescaling.transform(sample), n_jobs=n_jobs)
    indices, distances = search.nearest(N_NEIGHBORS + 1, queries=rescaling.transform(distinct))
    is_sampled = distances[:, :1] == 0
    return indices[:, 0], np.where(is_sampled, distances[:, 1:], distances[:, :-1])


def _density_views(
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


def _in_canonical_order(groups: Duplicates, points: np.ndarray) -> Duplicates:
    """Groups ordered by the values of their rows, so that nothing depends on the order of the rows."""
    distinct = points[groups.representative]
    units = distinct / (max_magnitude(distinct) or 1.0)
    keys = np.column_stack([units.sum(axis=1), np.square(units).sum(axis=1)])
    order = np.lexsort(keys.T)
    if (keys[order[1:]] == keys[order[:-1]]).all(axis=1).any():
        order = np.lexsort(distinct.T)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    return Duplicates(groups.representative[order], position[groups.group])


def _combine(
    group: np.ndarray,
    views: list[DensityModes],
    modes: ModeChoice,
    communities: dict[int, NeighborCommunities],
    chosen: NeighborCommunities | None,
) -> ClusterEvidence:
    prominence = {view.n_neighbors: view.prominence for view in views}
    excess = {k: view.excess for k, view in communities.items()}
    view, n_modes = modes.view, modes.number
    candidates = _candidates(views, communities)
    if chosen is not None and not (modes.is_separated and n_modes >= chosen.n_clusters):
        layers = [
            Layer(number_by_first_occurrence(labels[group]), int(labels.max()) + 1, chosen.excess)
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
    """Numbers of clusters and the evidence for their weakest cluster, relative to what is required."""
    scores: dict[int, float] = {1: 1.0}
    for view in views:
        number = n_prominent(view)
        if number > 1:
            score = float(view.prominence[number - 2]) / MIN_PROMINENCE
            scores[number] = max(scores.get(number, 0.0), score)
    for level in communities.values():
        number, score = level.n_clusters, level.excess / MIN_EXCESS
        scores[number] = max(scores.get(number, 0.0), score)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _mode_layers(view: DensityModes, n_modes: int, group: np.ndarray) -> list[Layer]:
    """Nested clusters at the largest falls of prominence, from coarse to fine, including the chosen ones.

    The finest layer has all significant modes.
    """
    finest = max(n_modes, n_significant(view))
    prominence = np.append(view.prominence[: finest - 1], 1.0)
    falls = np.log(prominence[:-1] / np.maximum(prominence[1:], 1.0))
    numbers = {int(i) + 2 for i in np.argsort(-falls, kind="stable")[:4] if falls[i] > 0}
    numbers |= {n_modes, finest}
    layers = []
    for number in sorted(numbers):
        labels = number_by_first_occurrence(mode_labels(view, number)[group])
        layers.append(Layer(labels, number, float(falls[number - 2])))
    return layers


def _one_cluster(n: int) -> ClusterEvidence:
    labels = np.zeros(n, dtype=np.int64)
    layers = [Layer(labels, 1, 0.0)]
    return ClusterEvidence(1, labels, "none", [(1, 1.0)], layers, {}, {}, 1.0, no_noise(n))


def _expand_to_rows(evidence: ClusterEvidence, group: np.ndarray) -> ClusterEvidence:
    """Expand the results of distinct points to all rows."""
    noise = evidence.noise
    layers = [
        layer._replace(labels=number_by_first_occurrence(layer.labels[group]))
        for layer in evidence.layers
    ]
    return evidence._replace(
        labels=number_by_first_occurrence(evidence.labels[group]),
        layers=layers,
        noise=noise._replace(
            is_noise=noise.is_noise[group], score=noise.score[group], sparsity=noise.sparsity[group]
        ),
    )
