"""Normalised cut of a self-smoothed pixel affinity, which is used only through products.

W_t = W P^t has the degrees of W, and its normalised form is S^(t+1): its cut is that of W. Only the
self-normalisation changes the cut: each row is divided by its diagonal entry r_i d_i, where r_i is the
return probability of a walk after t + 1 steps. The symmetric part, (D^-1 R^-1 W_t + W_t R^-1 D^-1) / 2, is an
operator whose products cost about sqrt(t) products with W. Clipping entries at 1 and removing negative
eigenvalues would need all entries and are omitted; on small images, they hardly change the cut.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal._core.parallel import progress_bar
from vicinal.operators._eigen.multilevel import multilevel_eigenpairs
from vicinal.operators._eigen.solvers import Deflated, largest
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.laplacians import degrees, normalized_affinity
from vicinal.similarity.smoothing._walks import times_power

# Pixels this many standard deviations of the walk apart share a probe vector: walks between them are rare.
PROBE_DISTANCE = 3.0
# Tolerances of return probabilities, of products, and of eigenvectors (as in the cut without smoothing).
RETURN_TOLERANCE, PRODUCT_TOLERANCE, ACCURACY = 1e-3, 1e-6, 1e-2
VECTORS_PER_BLOCK = 32
# Up to this size, coarsening levels do not pay.
DIRECT_MAX_PIXELS = 2_000


class SmoothedAffinity(LinearOperator):
    """Symmetric part of the self-normalised W P^t, normalised by its degrees.

    Attributes
    ----------
    trivial_vector : ndarray (n,)
        First eigenvector, with eigenvalue 1: the roots of the degrees, of unit length.
    approximation : csr_array (n, n)
        Sparse matrix with the same first eigenvector and similar leading eigenvectors.
    """

    def __init__(self, weights: sparse.csr_array, t: int, returns: np.ndarray) -> None:
        super().__init__(np.float64, weights.shape)
        sums = degrees(weights)
        self.walk = ThreadedSparseOperator(normalized_affinity(weights, sums))
        self.steps = t + 1
        self.outer, self.inner = np.sqrt(sums), 1.0 / (np.sqrt(sums) * returns)
        ones = np.ones((len(sums), 1))
        self.roots = np.ones(len(sums))
        self.roots = 1.0 / np.sqrt((self @ ones)[:, 0])
        self.trivial_vector = (1.0 / self.roots) / np.linalg.norm(1.0 / self.roots)
        self.approximation = self._approximation(weights, 1.0 / (sums * returns))

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        scaled = self.roots[:, None] * X
        outer, inner = self.outer[:, None], self.inner[:, None]
        half = inner * times_power(self.walk, outer * scaled, self.steps, PRODUCT_TOLERANCE)
        half += outer * times_power(self.walk, inner * scaled, self.steps, PRODUCT_TOLERANCE)
        return 0.5 * self.roots[:, None] * half

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matmat(x.reshape(-1, 1))[:, 0]

    def _approximation(self, weights: sparse.csr_array, factors: np.ndarray) -> sparse.csr_array:
        """One step of the walk, self-normalised in the same way; loops restore the degrees."""
        rows = np.repeat(np.arange(len(factors)), np.diff(weights.indptr))
        values = weights.data * (factors[rows] + factors[weights.indices])
        one_step = sparse.csr_array((values, weights.indices, weights.indptr), weights.shape)
        masses = np.square(1.0 / self.roots)
        sums = degrees(one_step)
        scale = (masses / sums).min()
        loops = sparse.diags_array(masses - scale * sums)
        return normalized_affinity(sparse.csr_array(scale * one_step + loops), masses)


def smoothed_vectors(
    weights: sparse.csr_array,
    shape: tuple[int, int],
    step: float,
    t: int,
    n_vectors: int,
) -> np.ndarray:
    """Leading generalised eigenvectors of the self-smoothed affinity of pixels, as columns.

    Parameters
    ----------
    weights : csr_array (n, n)
        Affinity of pixels, connected; the affinity of a pixel to itself is set to 1.
    shape : tuple
        Height and width of the image.
    step : float
        Root mean squared step along an axis, in pixels.
    t : int
        Number of steps.
    n_vectors : int
        Number of eigenvectors.
    """
    weights = sparse.csr_array(weights + sparse.eye_array(weights.shape[0], format="csr"))
    returns = return_probabilities(weights, shape, step, t + 1)
    operator = SmoothedAffinity(weights, t, returns)
    if weights.shape[0] <= DIRECT_MAX_PIXELS or n_vectors > weights.shape[0] // 10:
        others = largest(
            Deflated(operator, operator.trivial_vector), n_vectors - 1, PRODUCT_TOLERANCE, 0
        )[1]
        vectors = np.column_stack([operator.trivial_vector, others])
    else:
        _, vectors, _ = multilevel_eigenpairs(
            operator.approximation,
            operator.trivial_vector,
            n_vectors,
            accuracy=ACCURACY,
            operator=operator,
        )
    return vectors * operator.roots[:, None]


def return_probabilities(
    weights: sparse.csr_array,
    shape: tuple[int, int],
    step: float,
    steps: int,
) -> np.ndarray:
    """Probability that a walk from each pixel is back after a number of steps.

    Distant pixels share a vector, with random signs, so that the few walks between them cancel.
    """
    height, width = shape
    walk = ThreadedSparseOperator(normalized_affinity(weights, degrees(weights)))
    spacing = int(np.ceil(PROBE_DISTANCE * step * np.sqrt(steps))) + 1
    lines, columns = min(spacing, height), min(spacing, width)
    group = (np.arange(height)[:, None] % lines * columns + np.arange(width) % columns).ravel()
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=len(group))
    returns = np.empty(len(group))
    order = np.argsort(group, kind="stable")
    firsts = np.searchsorted(group[order], np.arange(lines * columns + 1))
    with progress_bar(lines * columns, "segment") as bar:
        for start in range(0, lines * columns, VECTORS_PER_BLOCK):
            stop = min(start + VECTORS_PER_BLOCK, lines * columns)
            pixels = order[firsts[start] : firsts[stop]]
            probes = np.zeros((len(group), stop - start))
            probes[pixels, group[pixels] - start] = signs[pixels]
            spread = times_power(walk, probes, steps, RETURN_TOLERANCE)
            returns[pixels] = spread[pixels, group[pixels] - start] * signs[pixels]
            bar.update(stop - start)
    # Lower bounds: the stationary probability, and the probability of staying at every step.
    sums = degrees(weights)
    return np.maximum(returns, np.maximum(sums / sums.sum(), sums ** -float(steps)))
