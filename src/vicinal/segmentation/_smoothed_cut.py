"""Normalised cut of a self-smoothed pixel affinity, of which nothing but products is computed.

W_t = W P^t has the degrees of W, and normalised it is S^(t+1): its cut is that of W. What changes the
cut is the self-normalisation, each row over its own entry r_i d_i, with r_i the probability of a walk to
be back after t + 1 steps. The symmetric part of that, (D^-1 R^-1 W_t + W_t R^-1 D^-1) / 2, is an operator
whose products cost about sqrt(t) products with W. Entries above 1 are not clamped and negative
eigenvalues not cut off, as these would need all entries; on small images the cut is nearly the same
with either.
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

# Pixels so many standard deviations of the walk apart are looked at together: they hardly meet.
APART = 3.0
# Of the return probabilities, of products, and of the eigenvectors, as in the cut without smoothing.
ROUGH, CLOSE, ACCURACY = 1e-3, 1e-6, 1e-2
VECTORS_AT_ONCE = 32
# So many pixels have no levels worth speaking of.
FEW = 2_000


class SmoothedAffinity(LinearOperator):
    """Symmetric part of the self-normalised W P^t, normalised by its own degrees.

    Attributes
    ----------
    known : ndarray (n,)
        First eigenvector, of eigenvalue 1: the roots of the degrees, of unit length.
    near : csr_array (n, n)
        A matrix with the same first eigenvector, and slow directions much like those of the operator.
    """

    def __init__(
        self, weights: sparse.csr_array, t: int, returns: np.ndarray, n_jobs: int | None = -1
    ) -> None:
        super().__init__(np.float64, weights.shape)
        sums = degrees(weights)
        self.walk = ThreadedSparseOperator(normalized_affinity(weights, sums), n_jobs)
        self.steps = t + 1
        self.outer, self.inner = np.sqrt(sums), 1.0 / (np.sqrt(sums) * returns)
        ones = np.ones((len(sums), 1))
        self.roots = np.ones(len(sums))
        self.roots = 1.0 / np.sqrt((self @ ones)[:, 0])
        self.known = (1.0 / self.roots) / np.linalg.norm(1.0 / self.roots)
        self.near = self._near(weights, 1.0 / (sums * returns))

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        scaled = self.roots[:, None] * X
        outer, inner = self.outer[:, None], self.inner[:, None]
        half = inner * times_power(self.walk, outer * scaled, self.steps, CLOSE)
        half += outer * times_power(self.walk, inner * scaled, self.steps, CLOSE)
        return 0.5 * self.roots[:, None] * half

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matmat(x.reshape(-1, 1))[:, 0]

    def _near(self, weights: sparse.csr_array, shares: np.ndarray) -> sparse.csr_array:
        """One step of the walk, self-normalised alike; what the degrees have more stays at home."""
        rows = np.repeat(np.arange(len(shares)), np.diff(weights.indptr))
        values = weights.data * (shares[rows] + shares[weights.indices])
        one_step = sparse.csr_array((values, weights.indices, weights.indptr), weights.shape)
        masses = np.square(1.0 / self.roots)
        sums = degrees(one_step)
        factor = (masses / sums).min()
        kept = sparse.diags_array(masses - factor * sums)
        return normalized_affinity(sparse.csr_array(factor * one_step + kept), masses)


def smoothed_vectors(
    weights: sparse.csr_array,
    shape: tuple[int, int],
    reach: float,
    t: int,
    n_vectors: int,
    n_jobs: int | None,
    progress: str | None,
) -> np.ndarray:
    """Leading generalised eigenvectors of the self-smoothed affinity of pixels, as columns.

    Parameters
    ----------
    weights : csr_array (n, n)
        Affinity of pixels, connected; a pixel's affinity to itself is set to 1.
    shape : tuple
        Height and width of the image.
    reach : float
        Root of the mean square of a step, in pixels along an axis.
    t : int
        Number of steps.
    """
    weights = sparse.csr_array(weights + sparse.eye_array(weights.shape[0], format="csr"))
    returns = return_probabilities(weights, shape, reach, t + 1, n_jobs, progress)
    operator = SmoothedAffinity(weights, t, returns, n_jobs)
    if weights.shape[0] <= FEW or n_vectors > weights.shape[0] // 10:
        others = largest(Deflated(operator, operator.known), n_vectors - 1, CLOSE, 0)[1]
        vectors = np.column_stack([operator.known, others])
    else:
        _, vectors, _ = multilevel_eigenpairs(
            operator.near,
            operator.known,
            n_vectors,
            accuracy=ACCURACY,
            operator=operator,
            n_jobs=n_jobs,
        )
    return vectors * operator.roots[:, None]


def return_probabilities(
    weights: sparse.csr_array,
    shape: tuple[int, int],
    reach: float,
    steps: int,
    n_jobs: int | None,
    progress: str | None = None,
) -> np.ndarray:
    """Probability of a walk from each pixel to be back there after some steps.

    Pixels far apart share a vector, with random signs so that what little reaches from one to
    another cancels.
    """
    height, width = shape
    walk = ThreadedSparseOperator(normalized_affinity(weights, degrees(weights)), n_jobs)
    apart = int(np.ceil(APART * reach * np.sqrt(steps))) + 1
    lines, columns = min(apart, height), min(apart, width)
    group = (np.arange(height)[:, None] % lines * columns + np.arange(width) % columns).ravel()
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=len(group))
    found = np.empty(len(group))
    order = np.argsort(group, kind="stable")
    firsts = np.searchsorted(group[order], np.arange(lines * columns + 1))
    with progress_bar(lines * columns, progress) as bar:
        for start in range(0, lines * columns, VECTORS_AT_ONCE):
            stop = min(start + VECTORS_AT_ONCE, lines * columns)
            pixels = order[firsts[start] : firsts[stop]]
            probes = np.zeros((len(group), stop - start))
            probes[pixels, group[pixels] - start] = signs[pixels]
            after = times_power(walk, probes, steps, ROUGH)
            found[pixels] = after[pixels, group[pixels] - start] * signs[pixels]
            bar.update(stop - start)
    # A walk is back at least as often as by staying, and not less often than anywhere in the limit.
    sums = degrees(weights)
    return np.maximum(found, np.maximum(sums / sums.sum(), sums ** -float(steps)))
