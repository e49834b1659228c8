"""The number of clusters, layers and noise of points, from one neighbour graph and four measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._base.row_assignment import assign_rows, number_by_first_occurrence, unit_rows
from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.array_checks import check_points
from vicinal._core.options import checked
from vicinal.evidence.borders import find_valleys, thinness
from vicinal.evidence.communities import find_communities
from vicinal.evidence.constants import (
    MAX_LENGTH_DIMENSION,
    MAX_UNTESTED,
    MIN_CANDIDATES,
    MIN_EXCESS,
    MIN_GAP,
    MIN_GROUP,
    MIN_NOISE_TO_REPEAT,
    MIN_POINTS,
    N_NEIGHBORS,
    N_SHARED,
    SCALE_NEIGHBOR,
)
from vicinal.evidence.gaps import n_clusters_by_gap, relative_gaps
from vicinal.evidence.noise import N_DENSITY, BackgroundNoise, find_noise, no_noise
from vicinal.evidence.result import ClusterEvidence, Layer, one_cluster
from vicinal.evidence.sample import canonical_groups, nearest_sampled, sample_rows
from vicinal.graphs._build.connect import shortest_bridges
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._intrinsic_dimension import maximum_likelihood_dimension
from vicinal.operators.eigenpairs import leading_eigenpairs

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# One search finds enough neighbours for all measurements.
N_LISTED = max(N_NEIGHBORS, N_SHARED) + 1
# Smaller weights would be rounding errors of the walk.
MIN_WEIGHT = 1e-4
# Assigning points to the parts of a gap does not need accurate eigenvectors.
TOLERANCE = 1e-5
# Layers coarser than the chosen one, at most.
MAX_COARSER = 3


@checked
def estimate_clusters(X: ArrayLike, *, n_jobs: NJobs = -1) -> ClusterEvidence:
    """Estimate the number of clusters, their layers, and the noise of points.

    Points are one cluster unless a gap in the spectrum of their neighbour graph or a valley of the density
    along a border divides them more clearly than chance divides one cluster; each part is examined in the
    same way. Communities that exceed those of a sample with the same columns and correlations are
    the clusters if they are clearer than the weakest of these divisions.

    Noise is what is too sparse for its cluster, if a mixture of clusters and a background is clearly more
    likely than clusters alone. If there is noise, the other points are examined again without it, and noise
    gets the cluster of the nearest other point.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Points; standardise columns of different units first. Equal rows count once.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it, nor on the order of the rows
        or their unit.

    Returns
    -------
    ClusterEvidence
        The number of clusters, labels, layers and noise, and the measurement that decided. Fewer than 40
        distinct points are always one cluster without noise. Of more than 10,000 distinct points, a random
        sample is examined; the others get the cluster of the nearest sampled point.

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
    distinct = fit_rescaling(distinct).transform(distinct)
    return _of_distinct(distinct, np.bincount(groups.group)).of_rows(groups.group)


def _of_distinct(distinct: np.ndarray, counts: np.ndarray) -> ClusterEvidence:
    """The evidence of distinct points, at least `MIN_POINTS`, each of which stands for so many rows."""
    rows = sample_rows(len(distinct))
    sample = distinct[rows]
    found = examine(sample, counts[rows])
    if len(sample) < len(distinct):
        nearest, reach = nearest_sampled(distinct, sample, N_DENSITY)
    else:
        nearest, reach = rows, found.distances[:, 1 : N_DENSITY + 1]
    noise = _noise(distinct, reach, found.dimension, found.groups[nearest])
    kept = rows[~noise.is_noise[rows]]
    if noise.is_noise.mean() >= MIN_NOISE_TO_REPEAT and len(kept) >= MIN_POINTS:
        # Noise bridges clusters and splits thin ones.
        dimension = found.dimension
        found = examine(distinct[kept], counts[kept])
        search = NeighborSearch(distinct[kept])
        nearest = search.nearest(1, queries=distinct)[0][:, 0]
        again = _noise(distinct, reach, dimension, found.groups[nearest])
        if again.is_noise.any():
            noise = again
            nearest = nearest[_nearest_member(distinct, found.groups[nearest], again.is_noise)]
    layers = [layer._replace(labels=layer.labels[nearest]) for layer in found.layers]
    chosen = layers[found.chosen]
    return ClusterEvidence(
        chosen.n_clusters, chosen.labels, chosen.source, layers, found.gaps, found.dimension, noise
    )


def _nearest_member(points: np.ndarray, groups: np.ndarray, is_noise: np.ndarray) -> np.ndarray:
    """The point whose cluster each point has: itself or, for noise, the nearest other point.

    If a group would consist of noise, all points keep theirs.
    """
    source, members = np.arange(len(points)), np.flatnonzero(~is_noise)
    if len(np.unique(groups[members])) <= groups.max():
        return source
    search = NeighborSearch(points[members])
    source[is_noise] = members[search.nearest(1, queries=points[is_noise])[0][:, 0]]
    return source


def _noise(
    points: np.ndarray, reach: np.ndarray, dimension: float, groups: np.ndarray
) -> BackgroundNoise:
    """The noise of points; much noise that has clusters itself consists of sparse clusters, and is none.

    It has if a gap or communities divide a sample of all points in which none are denser than the noise: the
    noise alone has holes where the clusters are. Shallow valleys also come from thinning at random.
    """
    noise = find_noise(reach, dimension, groups)
    if noise.is_noise.mean() > MAX_UNTESTED:
        log_uniform = np.log1p(-np.random.default_rng(0).random(len(points)))
        rows = np.flatnonzero(log_uniform < noise.log_background)
        rows = rows[sample_rows(len(rows))]
        if len(rows) >= MIN_POINTS:
            layers = examine(points[rows], np.ones(len(rows))).layers
            if any(layer.source in ("gap", "communities") for layer in layers):
                return no_noise(len(points))
    return noise


class Examined(NamedTuple):
    """What the measurements say of distinct points without noise.

    ``groups`` are those that gaps and valleys divide: communities divide noise as they divide clusters, so
    they say nothing about it. ``chosen`` is the position of the clusters in the layers.
    """

    layers: list[Layer]
    chosen: int
    groups: np.ndarray
    gaps: np.ndarray
    dimension: float
    distances: np.ndarray


def examine(points: np.ndarray, counts: np.ndarray) -> Examined:
    """Divide distinct points by gaps and valleys, or by communities if these are clearer.

    The numbers of equal rows multiply the weights of the graph, but they shorten no distance.
    """
    indices, distances = _lists(points)
    dimension = intrinsic_dimension(distances, points.shape[1])
    masses = sparse.diags_array(counts / counts.mean())
    weights = sparse.csr_array(masses @ neighbor_weights(indices, distances, dimension) @ masses)
    gaps, by_gap = parts_by_gap(points, weights)
    parts = by_gap[-1]
    joined = _connected_parts(points, weights, distances, parts)
    valleys = find_valleys(joined, indices, distances, dimension, parts)
    groups = valleys.labels
    layers = [Layer(np.zeros(len(points), np.int64), 1, "none", 1.0)]
    n_parts = int(parts.max()) + 1
    for labels in by_gap:
        number = int(labels.max()) + 1
        if number > layers[-1].n_clusters:
            layers.append(Layer(labels, number, "gap", float(gaps[number - 1] / MIN_GAP)))
    if groups.max() >= n_parts:
        depths = [depth for _, depth in valleys.merges]
        coarser = [
            Layer(labels, int(labels.max()) + 1, "density", later)
            for (labels, _), later in zip(valleys.merges[:-1], depths[1:], strict=True)
            if labels.max() >= n_parts
        ]
        layers += _clearest(coarser)
        layers.append(Layer(groups, int(groups.max()) + 1, "density", depths[0]))
    chosen = len(layers) - 1
    communities = find_communities(
        points,
        indices,
        distances,
        dimension,
        thinness(weights),
        lambda sample, k: _nearest(sample, k),
    )
    if communities is not None:
        decide = communities.excess[-1] / MIN_EXCESS > layers[chosen].score
        n_groups = layers[chosen].n_clusters
        finer = [
            Layer(labels, int(labels.max()) + 1, "communities", excess / MIN_EXCESS)
            for labels, excess in zip(
                communities.levels[::-1], communities.excess[::-1], strict=True
            )
        ]
        if decide:
            layers = [layer for layer in layers if layer.n_clusters < finer[0].n_clusters]
            chosen = len(layers)
            layers += finer[:2]
        elif finer[0].n_clusters > n_groups:
            layers.append(finer[0])
    return Examined(layers, chosen, groups, gaps, dimension, distances)


def _clearest(layers: list[Layer]) -> list[Layer]:
    """The layers with the highest scores, from coarse to fine."""
    best = sorted(layers, key=lambda layer: -layer.score)[:MAX_COARSER]
    return sorted(best, key=lambda layer: layer.n_clusters)


def parts_by_gap(
    points: np.ndarray, weights: sparse.csr_array
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Relative eigengaps of the graph, and the parts that significant gaps divide it into.

    The last ones are those of the largest gap; before them are those of significant gaps at fewer parts.
    Small components are outliers, which are no parts; like small parts they follow their nearest points. In
    one column the graph is a path, which breaks wherever points are sparse by chance.
    """
    n = len(points)
    components = sparse.csgraph.connected_components(weights, directed=False)[1]
    sizes = np.bincount(components)
    large = np.flatnonzero(sizes[components] >= MIN_GROUP)
    n_candidates = max(MIN_CANDIDATES, int(np.count_nonzero(sizes >= MIN_GROUP))) + 1
    if len(large) < 3 or points.shape[1] == 1:
        return np.full(1, MIN_GAP), [np.zeros(n, np.int64)]
    graph = weights if len(large) == n else sparse.csr_array(weights[large][:, large])
    pairs = leading_eigenpairs(
        graph, min(n_candidates, len(large)), tolerance=TOLERANCE, random_state=0
    )
    gaps = relative_gaps(pairs.values)
    number = n_clusters_by_gap(gaps)
    coarser = [k for k in range(2, number) if gaps[k - 1] > MIN_GAP]
    numbers = sorted(sorted(coarser, key=lambda k: -gaps[k - 1])[:MAX_COARSER])
    parts = []
    for k in (*numbers, number):
        found = assign_rows(unit_rows(pairs.vectors[:, :k]), k, "kmeans", 0).labels
        parts.append(_with_small_parts(points, large, found))
    return gaps, parts


def _with_small_parts(points: np.ndarray, rows: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Parts of all points, given those of some; points of small parts and others follow the nearest."""
    is_large = np.bincount(found)[found] >= MIN_GROUP
    known, labels = rows[is_large], np.zeros(len(points), np.int64)
    labels[known] = found[is_large]
    others = np.setdiff1d(np.arange(len(points)), known)
    if len(others) and len(known):
        search = NeighborSearch(points[known])
        labels[others] = labels[known[search.nearest(1, queries=points[others])[0][:, 0]]]
    return number_by_first_occurrence(labels)


def _connected_parts(
    points: np.ndarray,
    weights: sparse.csr_array,
    distances: np.ndarray,
    parts: np.ndarray,
) -> sparse.csr_array:
    """The graph without edges between parts, and with the shortest edges that connect each part."""
    entries = sparse.coo_array(weights)
    inside = parts[entries.row] == parts[entries.col]
    rows, columns, values = entries.row[inside], entries.col[inside], entries.data[inside]
    within = sparse.csr_array((values, (rows, columns)), shape=weights.shape)
    components = sparse.csgraph.connected_components(within, directed=False)[1]
    links = []
    for part in range(int(parts.max()) + 1):
        members = np.flatnonzero(parts == part)
        own = np.unique(components[members], return_inverse=True)[1]
        if own.max() > 0:
            bridges, lengths = shortest_bridges(points[members], "euclidean", own, 1)
            links.append((members[bridges], lengths))
    if not links:
        return within
    ends = np.concatenate([ends for ends, _ in links])
    lengths = np.concatenate([lengths for _, lengths in links])
    added = _kernel(lengths, _scales(distances), ends[:, 0], ends[:, 1])
    new = sparse.csr_array((added, (ends[:, 0], ends[:, 1])), shape=weights.shape)
    return sparse.csr_array(within + new + new.T)


def neighbor_weights(
    indices: np.ndarray, distances: np.ndarray, dimension: float
) -> sparse.csr_array:
    """Weights of the symmetric graph of 10 neighbours.

    They follow from lengths in units of the scales of both ends (Zelnik-Manor and Perona) or, in many
    dimensions, from the fraction of their neighbours that both ends share (Jarvis and Patrick).
    """
    n, k = len(indices), min(N_NEIGHBORS, distances.shape[1] - 1)
    ends = np.repeat(np.arange(n), k), indices[:, 1 : k + 1].ravel()
    # Lengths of 0 would not be stored.
    lengths = np.maximum(distances[:, 1 : k + 1].ravel(), np.finfo(float).tiny)
    graph = sparse.csr_array((lengths, ends), shape=(n, n))
    graph = sparse.csr_array(graph.maximum(graph.T))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    if dimension <= MAX_LENGTH_DIMENSION:
        graph.data = _kernel(graph.data, _scales(distances), rows, graph.indices)
        return graph
    m = min(N_SHARED, distances.shape[1] - 1) + 1
    pattern = (np.ones(n * m), indices[:, :m].ravel(), np.arange(n + 1) * m)
    listed = sparse.csr_array(pattern, shape=(n, n))
    shared = np.asarray((listed @ listed.T)[rows, graph.indices]).ravel()
    graph.data = np.maximum(shared / (2 * m - shared), MIN_WEIGHT)
    return graph


def _scales(distances: np.ndarray) -> np.ndarray:
    radii = distances[:, min(SCALE_NEIGHBOR, distances.shape[1] - 1)]
    return np.maximum(radii, 1e-12 * float(distances.max()) + np.finfo(float).tiny)


def _kernel(
    lengths: np.ndarray, scales: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    relative = (lengths / scales[first]) * (lengths / scales[second])
    return np.maximum(np.exp(-relative), MIN_WEIGHT)


def intrinsic_dimension(distances: np.ndarray, n_columns: int) -> float:
    """Intrinsic dimension from distances to k neighbours, corrected for small k; 1 if unknown."""
    k = distances.shape[1] - 1
    dimension = maximum_likelihood_dimension(distances[:, 1:])
    known = (k - 2) / (k - 1) * dimension if k > 2 and np.isfinite(dimension) else 1.0
    return float(min(known, n_columns))


def _lists(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _nearest(points, N_LISTED)


def _nearest(points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    return NeighborSearch(points).nearest(min(k, len(points) - 1))
