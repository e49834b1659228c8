"""Clusters as modes of the density, with a test of each against sampling error.

The density at a point follows from the distance r to its k-th neighbour: log density = -d log r in d
dimensions, with a standard error of 1 / sqrt(k) whatever the data. Going from dense to sparse, every mode
ends where it meets a denser one. How far the density falls between the peak and that saddle, in standard
errors, is the prominence of the mode. Among m = n / k independent neighbourhoods of one cluster the largest
error is near sqrt(2 log m), so a prominence is given in that unit: chance makes less than 1.5 of it, or,
where the data is so thin that paths cannot avoid its sparse places, less than 1.9 (twice the unit bounds it).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.cluster._mode_kernels import assign_modes, farthest_steps, merge_modes
from vicinal.graphs._build.connect import shortest_bridges

# Beyond this dimension neighbour distances differ by position more than by chance.
MAX_DIMENSION = 10.0


class DensityModes(NamedTuple):
    """Modes of the density at one number of neighbours, the most prominent first.

    Attributes
    ----------
    n_neighbors : int
    dimension : float
        Intrinsic dimension at this scale.
    prominence : ndarray (m,)
        Of each mode after the densest, descending, in units of the largest sampling error.
    peaks : ndarray of int (m + 1,)
        Densest point of each mode, that of the densest mode first.
    thinness : float
        Length of the longest path over that of a square of as many neighbourhoods: near 1 for compact data,
        2 and more on curves, where paths cannot avoid sparse places.
    edges : tuple
        Sources, targets in ascending order of level, and radii, for `mode_labels`.
    """

    n_neighbors: int
    dimension: float
    prominence: np.ndarray
    peaks: np.ndarray
    thinness: float
    edges: tuple[np.ndarray, np.ndarray, np.ndarray]


def density_modes(
    points: np.ndarray,
    indices: np.ndarray,
    distances: np.ndarray,
    k: int,
    n_jobs: int | None = -1,
) -> DensityModes:
    """Modes of the density of distinct points.

    Parameters
    ----------
    points : ndarray (n, D)
    indices, distances : ndarray (n, more than k)
        Nearest neighbours, the point itself first.
    k : int
        Number of neighbours that the density is read from.
    n_jobs : int, optional
        Number of threads.
    """
    n = len(indices)
    radii = distances[:, k]
    sources, targets = np.repeat(np.arange(n), k), indices[:, 1 : k + 1].ravel()
    lengths = distances[:, 1 : k + 1].ravel()
    pattern = sparse.csr_array((np.ones(n * k, np.int8), (sources, targets)), shape=(n, n))
    components = sparse.csgraph.connected_components(pattern, directed=False)[1]
    if components.max() > 0:
        links, gaps = shortest_bridges(points, "euclidean", components, 1, n_jobs)
        sources, targets = np.append(sources, links[:, 0]), np.append(targets, links[:, 1])
        lengths = np.append(lengths, gaps)
    levels = np.maximum(np.maximum(radii[sources], radii[targets]), lengths)
    order = np.lexsort((lengths, levels))
    sources, targets, levels = sources[order], targets[order], levels[order]
    peaks, saddles = np.empty(n, np.int64), np.empty(n)
    count = merge_modes(sources, targets, levels, radii, peaks, saddles)
    peaks, saddles = peaks[:count], saddles[:count]
    dimension = min(likely_dimension(distances[:, 1 : k + 1]), points.shape[1])
    with np.errstate(divide="ignore"):
        falls = min(dimension, MAX_DIMENSION) * np.log(saddles / radii[peaks])
    prominence = falls * np.sqrt(k) / np.sqrt(2.0 * np.log(n / k))
    first = np.argsort(-prominence, kind="stable")
    first = first[prominence[first] > 0]
    return DensityModes(
        k,
        dimension,
        prominence[first],
        np.append(np.argmin(radii), peaks[first]),
        _thinness(sources, targets, n, k),
        (sources, targets, radii),
    )


def mode_labels(modes: DensityModes, n_clusters: int) -> np.ndarray:
    """Every point with the most prominent mode that it belongs to, when this many are kept."""
    sources, targets, radii = modes.edges
    is_peak = np.zeros(len(radii), dtype=bool)
    is_peak[modes.peaks[:n_clusters]] = True
    labels = np.empty(len(radii), np.int64)
    assign_modes(sources, targets, radii, is_peak, labels)
    return np.unique(labels, return_inverse=True)[1]


def likely_dimension(distances: np.ndarray) -> float:
    """Intrinsic dimension from distances to neighbours, by maximum likelihood (Levina and Bickel)."""
    k = distances.shape[1]
    if k < 3:
        return 1.0
    mean = np.log(distances[:, -1:] / distances[:, :-1]).mean()
    return float((k - 2) / (k - 1) / mean) if mean > 0 else 1.0


def _thinness(sources: np.ndarray, targets: np.ndarray, n: int, k: int) -> float:
    """Length of the longest of the shortest paths, in units of the side of a square of n / k cells."""
    ones = np.ones(len(sources), np.int8)
    graph = sparse.csr_array((ones, (sources, targets)), shape=(n, n))
    graph = sparse.csr_array(graph + graph.T)
    steps = np.empty(n, np.int64)
    last = farthest_steps(graph.indptr, graph.indices, 0, steps)
    last = farthest_steps(graph.indptr, graph.indices, last, steps)
    # A step is a radius, an independent neighbourhood two of them wide.
    return float(steps[last] / 2.0 / np.sqrt(n / k))
