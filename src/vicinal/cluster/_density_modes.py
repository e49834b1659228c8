"""Clusters as modes of the density, with a test of each against sampling error.

The density at a point follows from the distance r to its k-th neighbour: log density = -d log r in d
dimensions, with a standard error of 1 / sqrt(k) whatever the data. Going from dense to sparse, every mode
ends where it meets a denser one. The prominence of the mode is the fall of the log density from its peak to
that saddle, in standard errors. Among m = n / k independent neighbourhoods of one cluster the largest error
is near sqrt(2 log m), which is the unit of prominence. One cluster stays below 1.5 of it, or below 2.2 if the
data is so thin that paths cannot avoid sparse regions: then it may be the sum of two errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.cluster._mode_kernels import merge_modes
from vicinal.graphs._build.connect import shortest_bridges
from vicinal.graphs._build.kruskal import spanning_subset
from vicinal.neighbors._intrinsic_dimension import maximum_likelihood_dimension
from vicinal.operators._matmul_kernels import hops_from

# In more dimensions, neighbour distances depend more on the position than on sampling error.
MAX_DIMENSION = 10.0


class DensityModes(NamedTuple):
    """Modes of the density for one number of neighbours, the most prominent first.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbours.
    dimension : float
        Intrinsic dimension at this scale.
    prominence : ndarray (m,)
        Prominence of each mode after the densest, descending, in units of the largest sampling error.
    peaks : ndarray of int (m + 1,)
        Densest point of each mode, starting with the densest mode.
    thinness : float
        Longest path relative to that in a square with the same number of neighbourhoods: near 1 for compact
        data, 2 or more for curves, where paths cannot avoid sparse regions.
    edges : tuple
        Sources and targets in ascending order of level, and radii, for `mode_labels`.
    bridges : tuple
        Pairs of points that connect the components of the neighbour graph, and their distances.
    """

    n_neighbors: int
    dimension: float
    prominence: np.ndarray
    peaks: np.ndarray
    thinness: float
    edges: tuple[np.ndarray, np.ndarray, np.ndarray]
    bridges: tuple[np.ndarray, np.ndarray]


def density_modes(
    points: np.ndarray,
    indices: np.ndarray,
    distances: np.ndarray,
    k: int,
    n_jobs: int | None = -1,
    finer: DensityModes | None = None,
) -> DensityModes:
    """Modes of the density of distinct points.

    Parameters
    ----------
    points : ndarray (n, D)
        Distinct points.
    indices, distances : ndarray (n, more than k)
        Nearest neighbours, starting with the point itself.
    k : int
        Number of neighbours for the density.
    n_jobs : int, optional
        Number of threads.
    finer : DensityModes, optional
        The modes of the same points for fewer neighbours, if known: they save a search.
    """
    n = len(indices)
    radii = distances[:, k]
    sources, targets = np.repeat(np.arange(n), k), indices[:, 1 : k + 1].ravel()
    lengths = distances[:, 1 : k + 1].ravel()
    # Points closer than both radii list each other; one direction is enough.
    is_new = (sources < targets) | (lengths >= radii[targets])
    sources, targets, lengths = sources[is_new], targets[is_new], lengths[is_new]
    pattern = sparse.csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(n, n))
    components = sparse.csgraph.connected_components(pattern, directed=False)[1]
    links, gaps = bridges = _bridges(points, components, finer, n_jobs)
    sources, targets = np.append(sources, links[:, 0]), np.append(targets, links[:, 1])
    lengths = np.append(lengths, gaps)
    levels = np.maximum(np.maximum(radii[sources], radii[targets]), lengths)
    order = np.lexsort((lengths, levels))
    sources, targets, levels = sources[order], targets[order], levels[order]
    _, peaks, edges = _merged(sources, targets, radii, np.zeros(n, bool))
    saddles = levels[edges]
    dimension = min(local_dimension(distances[:, 1 : k + 1]), points.shape[1])
    with np.errstate(divide="ignore"):
        falls = min(dimension, MAX_DIMENSION) * np.log(saddles / radii[peaks])
    prominence = falls * np.sqrt(k) / np.sqrt(2.0 * np.log(n / k))
    order = np.argsort(-prominence, kind="stable")
    order = order[prominence[order] > 0]
    return DensityModes(
        k,
        dimension,
        prominence[order],
        np.append(np.argmin(radii), peaks[order]),
        _thinness(sources, targets, n, k),
        (sources, targets, radii),
        bridges,
    )


def _bridges(
    points: np.ndarray, components: np.ndarray, finer: DensityModes | None, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum spanning tree of the components.

    Components for fewer neighbours are parts of these, so their tree contains the edges of this one.
    """
    if components.max() == 0:
        return np.empty((0, 2), np.int64), np.empty(0)
    if finer is None:
        return shortest_bridges(points, "euclidean", components, 1)
    links, lengths = finer.bridges
    order = np.argsort(lengths, kind="stable")
    needed = order[spanning_subset(components[links[order]], int(components.max()) + 1)[0]]
    return links[needed], lengths[needed]


def mode_labels(modes: DensityModes, n_clusters: int) -> np.ndarray:
    """Assign every point to one of the ``n_clusters`` most prominent modes."""
    return np.unique(basins(modes, modes.peaks[:n_clusters]), return_inverse=True)[1]


def basins(modes: DensityModes, peaks: np.ndarray) -> np.ndarray:
    """One number per point, equal for the points that belong to the same of these peaks."""
    sources, targets, radii = modes.edges
    is_peak = np.zeros(len(radii), dtype=bool)
    is_peak[peaks] = True
    roots, *_ = _merged(sources, targets, radii, is_peak)
    while (roots[roots] != roots).any():
        roots = roots[roots]
    return roots


def thinness_within(modes: DensityModes, members: np.ndarray) -> float:
    """Thinness of a part of the points, given by a mask."""
    sources, targets, _ = modes.edges
    inside = members[sources] & members[targets]
    position = np.cumsum(members) - 1
    ends = position[sources[inside]], position[targets[inside]]
    return _thinness(*ends, int(members.sum()), modes.n_neighbors)


def _merged(
    sources: np.ndarray, targets: np.ndarray, radii: np.ndarray, is_peak: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parents of the points, and the peaks of the modes that end with the edges where they end."""
    n = len(radii)
    parent = np.arange(n)
    peaks, saddles = np.empty((2, n), np.int64)
    count = merge_modes(sources, targets, radii, is_peak, parent, np.arange(n), peaks, saddles)
    return parent, peaks[:count], saddles[:count]


def local_dimension(distances: np.ndarray) -> float:
    """Intrinsic dimension from distances to k neighbours, corrected for small k; 1 if unknown."""
    k = distances.shape[1]
    dimension = maximum_likelihood_dimension(distances)
    return (k - 2) / (k - 1) * dimension if k > 2 and np.isfinite(dimension) else 1.0


def _thinness(sources: np.ndarray, targets: np.ndarray, n: int, k: int) -> float:
    """Longest shortest path, in units of the side of a square of n / k neighbourhoods."""
    ones = np.ones(len(sources), np.int8)
    # As row numbers of 32 bits, for which the kernel is compiled elsewhere.
    ends = sources.astype(np.int32), targets.astype(np.int32)
    graph = sparse.csr_array((ones, ends), shape=(n, n))
    graph = sparse.csr_array(graph + graph.T)
    steps = np.empty(n, np.int64)
    last = hops_from(0, graph.indptr, graph.indices, steps)
    last = hops_from(last, graph.indptr, graph.indices, steps)
    # A step is one radius long; an independent neighbourhood is two radii wide.
    return float(steps[last] / 2.0 / np.sqrt(n / k))
