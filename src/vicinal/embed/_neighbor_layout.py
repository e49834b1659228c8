"""Layout of a graph by t-SNE: attraction along edges, repulsion between all pairs, from openTSNE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.parallel import n_cores_used
from vicinal.exceptions import MissingDependencyError
from vicinal.operators.laplacians import degrees

if TYPE_CHECKING:
    pass

# Standard deviation of the first coordinate at the start: so small that attraction decides first.
START_STD = 1e-4
# Relative to it, so that points with equal coordinates at the start can separate.
JITTER = 0.01
# From here on, repulsion is interpolated on a grid (FIt-SNE), below it uses a tree (Barnes-Hut): whichever
# takes less time. Grids exist in one and two dimensions only.
GRID_MIN_POINTS, GRID_MAX_DIMENSIONS = 10_000, 2
# Length of a grid cell, twice openTSNE's default: on the three sets it was chosen on (MNIST, a Swiss roll and
# blobs of 10,000 rows and more), trustworthiness stays within 0.001, in less than half the time.
GRID_CELL = 2.0
THREADED_MIN_POINTS = 10_000
# openTSNE's defaults: attraction is exaggerated at first, so that clusters form before they are spread.
EARLY_FRACTION, EARLY_EXAGGERATION = 0.5, 12.0
EARLY_MOMENTUM, MOMENTUM = 0.5, 0.8


def joint_probabilities(weights: sparse.csr_array) -> sparse.csr_array:
    """Transition probabilities of a random walk, averaged over both directions; they sum to 1.

    Affinities are squared: with local scales s they become exp(-d^2 / (s_i s_j)), the kernel of self-tuning
    spectral clustering. Without it, the last neighbours would attract almost as much as the first.
    """
    weights = _squares(weights)
    steps = weights.multiply(1.0 / degrees(weights)[:, None]).tocsr()
    joint = sparse.csr_array(steps + steps.T)
    joint.data /= joint.data.sum()
    return joint


def _squares(weights: sparse.csr_array) -> sparse.csr_array:
    """Squares of the entries relative to the largest of their row, which neither overflow nor underflow."""
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    largest = weights.max(axis=1).toarray().ravel()
    values = weights.data / largest[rows]
    return sparse.csr_array((values**2, weights.indices, weights.indptr), shape=weights.shape)


def start_positions(vectors: np.ndarray, seed: int) -> np.ndarray:
    """Spectral coordinates, shrunk as t-SNE needs them, with a little jitter."""
    centred = vectors - vectors.mean(axis=0)
    std = centred[:, 0].std()
    noise = np.random.default_rng(seed).normal(0.0, JITTER, vectors.shape)
    return np.ascontiguousarray(START_STD * (centred / (std if std > 0 else 1.0) + noise))


def lay_out(probabilities: sparse.csr_array, start: np.ndarray, n_iter: int) -> np.ndarray:
    """Coordinates that minimise the divergence of t-SNE from ``probabilities``.

    openTSNE sums over points in a fixed order, so the result does not depend on the number of threads.
    """
    n, n_dimensions = start.shape
    on_grid = n >= GRID_MIN_POINTS and n_dimensions <= GRID_MAX_DIMENSIONS
    tsne = open_tsne()
    # The optimiser multiplies the values by the exaggeration in place.
    values = sparse.csr_matrix(probabilities, copy=True)
    affinities = tsne.affinity.PrecomputedAffinities(values, normalize=False)
    layout = tsne.TSNEEmbedding(
        start,
        affinities,
        negative_gradient_method="fft" if on_grid else "bh",
        ints_in_interval=GRID_CELL,
        # Threads meet after every step, and the steps of few points are too short for that to pay off.
        n_jobs=n_cores_used() if n >= THREADED_MIN_POINTS else 1,
    )
    n_early = max(1, round(EARLY_FRACTION * n_iter))
    layout.optimize(n_early, exaggeration=EARLY_EXAGGERATION, momentum=EARLY_MOMENTUM, inplace=True)
    layout.optimize(n_iter, momentum=MOMENTUM, inplace=True)
    return np.array(layout, dtype=np.float64)


def mean_around_medoid(positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted means of the positions nearest to the weighted medoid, with half of the weight.

    Neighbours in two clusters would have their plain mean in the empty space between.

    Parameters
    ----------
    positions : ndarray of shape (m, k, d)
        Positions of k neighbours of m points.
    weights : ndarray of shape (m, k)
        Their weights; rows sum to 1.
    """
    distances = np.linalg.norm(positions[:, :, None] - positions[:, None], axis=3)
    medoid = np.argmin(np.einsum("mij,mj->mi", distances, weights), axis=1)
    from_medoid = np.take_along_axis(distances, medoid[:, None, None], axis=1)[:, 0]
    order = np.argsort(from_medoid, axis=1, kind="stable")
    sorted_weights = np.take_along_axis(weights, order, axis=1)
    needed = np.cumsum(sorted_weights, axis=1) - sorted_weights < 0.5
    sorted_weights = np.where(needed, sorted_weights, 0.0)
    sorted_weights /= sorted_weights.sum(axis=1, keepdims=True)
    nearest = np.take_along_axis(positions, order[:, :, None], axis=1)
    return np.einsum("mk,mkd->md", sorted_weights, nearest)


def open_tsne() -> Any:
    """The package openTSNE."""
    try:
        import openTSNE
        import openTSNE.affinity
    except ImportError as error:
        raise MissingDependencyError(
            "NeighborMap requires openTSNE: pip install 'vicinal[map]'."
        ) from error
    return openTSNE
