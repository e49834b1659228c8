"""Estimate the number of clusters from density modes and communities of the points."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vicinal._base.row_assignment import number_by_first_occurrence
from vicinal._core.array_checks import check_points
from vicinal._core.options import checked
from vicinal.cluster._background import N_NEIGHBORS, no_noise
from vicinal.cluster._community_choice import (
    MIN_EXCESS,
    NeighborCommunities,
    choose_communities,
    communities_by_scale,
)
from vicinal.cluster._density_modes import DensityModes, mode_labels
from vicinal.cluster._density_views import (
    MIN_POINTS,
    canonical_groups,
    density_views,
    nearest_sampled,
    sample_rows,
)
from vicinal.cluster._evidence_result import ClusterEvidence, Layer, expand_to_rows, one_cluster
from vicinal.cluster._mode_choice import (
    MIN_PROMINENCE,
    ModeChoice,
    choose_modes,
    n_significant,
    prominent_modes,
)
from vicinal.cluster._modes_and_communities import parts_have_communities
from vicinal.cluster._noise_structure import noise_across_communities, noise_without_clusters
from vicinal.neighbors import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# Clusters are estimated again without the noise if it is at least this fraction of the points; a few outliers
# change little.
MIN_NOISE_TO_REPEAT = 0.01
# If less than this fraction of a sample is not noise, another sample is drawn from the other points.
MIN_LEFT_IN_SAMPLE = 0.5


@checked
def estimate_clusters(X: ArrayLike, *, n_jobs: NJobs = -1) -> ClusterEvidence:
    """Estimate the number of clusters, nested layers, labels and noise of points.

    Two methods are compared with a null model of one cluster. Modes of the density must be more prominent
    than sampling error explains. Communities of the neighbour graph must
    exceed the modularity of one cluster with the same number of points and dimensions; they are a consensus
    over random halves of the graph. Well-separated modes decide first; then
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
    groups = canonical_groups(points)
    distinct = points[groups.representative]
    if len(distinct) < MIN_POINTS:
        return one_cluster(len(points))
    rows = sample_rows(len(distinct))
    sample = distinct[rows]
    neighbors, distances, views = density_views(sample, n_jobs)
    nearest, reach = rows, distances[:, 1 : N_NEIGHBORS + 1]
    if len(sample) < len(distinct):
        nearest, reach = nearest_sampled(distinct, sample, N_NEIGHBORS, n_jobs)
    # The second scale has enough neighbours to estimate the dimension, but is still local.
    dimension = views[min(1, len(views) - 1)].dimension
    find_noise = partial(noise_without_clusters, distinct, reach, dimension, n_jobs)
    combine = partial(_combine_views, sample, nearest, neighbors, distances, views, n_jobs)
    modes = choose_modes(views)
    evidence = None if modes.is_certain else combine()
    noise = find_noise(evidence.labels if evidence else _labels_of_modes(modes, nearest))
    if evidence and evidence.source == "communities":
        noise = noise_across_communities(distinct, reach, dimension, n_jobs) or noise
    kept = ~noise.is_noise
    if noise.is_noise.mean() >= MIN_NOISE_TO_REPEAT and kept.sum() >= MIN_POINTS:
        # Noise bridges clusters and splits thin ones: cluster the other points again, without it.
        rows, nearest = _sample_of(kept, distinct, rows, nearest, n_jobs)
        sample = distinct[rows]
        evidence = _combine_views(sample, nearest, *density_views(sample, n_jobs), n_jobs)
        again = find_noise(evidence.labels)
        if again.is_noise.any():
            noise = again
            evidence = _follow_others(evidence, distinct, rows[nearest], noise.is_noise, n_jobs)
    evidence = evidence or combine()
    return expand_to_rows(evidence._replace(noise=noise), groups.group)


def _sample_of(
    kept: np.ndarray, distinct: np.ndarray, rows: np.ndarray, nearest: np.ndarray, n_jobs: NJobs
) -> tuple[np.ndarray, np.ndarray]:
    """Sampled rows of the kept points, and which of them is nearest to each point.

    ``rows`` are sampled from all points, and ``nearest`` are the ones nearest to each point. What is kept of
    them is the new sample, unless too little of a larger set is left.
    """
    left = kept[rows]
    if len(rows) < len(distinct) and left.mean() < MIN_LEFT_IN_SAMPLE:
        sampled = np.flatnonzero(kept)[sample_rows(int(kept.sum()))]
        search = NeighborSearch(distinct[sampled], n_jobs=n_jobs)
        return sampled, search.nearest(1, queries=distinct)[0][:, 0]
    sampled = rows[left]
    nearest_left = (np.cumsum(left) - 1)[nearest]
    lost = np.flatnonzero(~left[nearest])
    search = NeighborSearch(distinct[sampled], n_jobs=n_jobs)
    nearest_left[lost] = search.nearest(1, queries=distinct[lost])[0][:, 0]
    return sampled, nearest_left


def _follow_others(
    evidence: ClusterEvidence,
    distinct: np.ndarray,
    followed: np.ndarray,
    is_noise: np.ndarray,
    n_jobs: NJobs,
) -> ClusterEvidence:
    """Move noise that has the cluster of other noise to that of the nearest other point.

    ``followed`` is the point whose cluster each point has. It was not noise for the first clusters, but may
    be for those without noise.
    """
    lost, others = np.flatnonzero(is_noise & is_noise[followed]), np.flatnonzero(~is_noise)
    if not len(lost):
        return evidence
    source = np.arange(len(distinct))
    search = NeighborSearch(distinct[others], n_jobs=n_jobs)
    source[lost] = others[search.nearest(1, queries=distinct[lost])[0][:, 0]]
    if any(len(np.unique(layer.labels[source])) < layer.n_clusters for layer in evidence.layers):
        return evidence  # a cluster consists of noise
    return expand_to_rows(evidence, source)


def _combine_views(
    distinct: np.ndarray,
    group: np.ndarray,
    neighbors: np.ndarray,
    distances: np.ndarray,
    views: list[DensityModes],
    n_jobs: NJobs,
) -> ClusterEvidence:
    """Evidence from distinct points; ``group`` contains the point whose cluster each row belongs to."""
    modes = choose_modes(views)
    communities = communities_by_scale(distinct, neighbors, distances, views[0].thinness, n_jobs)
    chosen = None if modes.is_certain else choose_communities(communities, neighbors)
    if chosen is not None:
        communities[chosen.n_neighbors] = chosen
        if modes.is_separated and (
            modes.number >= chosen.n_clusters or not parts_have_communities(distinct, modes, n_jobs)
        ):
            chosen = None
    return _combine(group, views, modes, communities, chosen)


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
    candidates = _candidates(views, modes, communities)
    if chosen is not None:
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
        one = one_cluster(len(group))
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
    views: list[DensityModes], modes: ModeChoice, communities: dict[int, NeighborCommunities]
) -> list[tuple[int, float]]:
    """Numbers of clusters and the evidence for their weakest cluster, relative to what is required."""
    scores: dict[int, float] = {1: 1.0}
    for view, number in [*map(prominent_modes, views), (modes.view, modes.number)]:
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
        labels = _labels_of_modes(ModeChoice(view, number, False), group)
        layers.append(Layer(labels, number, float(falls[number - 2])))
    return layers


def _labels_of_modes(modes: ModeChoice, group: np.ndarray) -> np.ndarray:
    return number_by_first_occurrence(mode_labels(modes.view, modes.number)[group])
