"""Eigenpairs of small graphs by Lanczos on the inverse, from a Cholesky factor of a band.

The nodes of a graph of points in the plane can be ordered such that its matrix has a narrow band. The
Cholesky factor of the band takes less time than Lanczos on the matrix itself. On the inverse, the eigenvalues
next to 1 are far apart, so that few steps suffice.

References
----------
Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM 1969. Ericsson and Ruhe, "The
spectral transformation Lanczos method", Mathematics of Computation 1980.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpbtrf, dpbtrs, dstev
from scipy.sparse.csgraph import reverse_cuthill_mckee

# Up to this bandwidth, the factor costs less than the steps of Lanczos that it saves; both costs are linear
# in the number of nodes. Larger graphs are not reordered, because their bands are rarely as narrow.
MAX_BANDWIDTH, MAX_NODES = 256, 10_000
# Shift beyond the eigenvalue 1, so that the matrix is positive definite.
SHIFT = 1e-10
# There are at most FIRST_STEPS + STEPS_PER_PAIR * n_pairs steps, and convergence is checked after
# STEPS_PER_CHECK of them, or after a tenth of those so far if that is more.
FIRST_STEPS, STEPS_PER_PAIR, STEPS_PER_CHECK = 40, 3, 3
# Accuracy of the next eigenvalue, which shows whether some were missed, relative to its distance from 1, and
# the margin that a missed one must exceed, in tolerances.
PROBE_ACCURACY, MISSED_MARGIN = 1e-2, 10.0


class BandFactor(NamedTuple):
    """Cholesky factor of (1 + SHIFT) I - S, as a lower band, and the nodes in its order."""

    lower: np.ndarray
    order: np.ndarray


def banded_pairs(
    matrix: sparse.csr_array, known: np.ndarray, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Largest eigenpairs of a connected normalised affinity, without the known one of eigenvalue 1.

    None if the band is wide, if the iteration did not converge, or if it missed a direction of a multiple
    eigenvalue: Lanczos from one vector finds only one.
    """
    factor = factorize_band(matrix)
    if factor is None:
        return None
    rng = np.random.default_rng(seed)
    found = known[factor.order][None]
    pairs = _inverse_lanczos(factor.lower, found, n_pairs, tolerance, rng)
    if pairs is None:
        return None
    values, rows = pairs
    found = np.vstack([found, rows])
    probe = _inverse_lanczos(factor.lower, found, 1, PROBE_ACCURACY * (1.0 - values[-1]), rng)
    if probe is None or probe[0][0] > values[-1] + MISSED_MARGIN * tolerance:
        return None
    vectors = np.empty((len(known), n_pairs))
    vectors[factor.order] = rows.T
    return values, vectors


def factorize_band(matrix: sparse.csr_array) -> BandFactor | None:
    """The factor, or None if S cannot be reordered to a narrow band."""
    n = matrix.shape[0]
    if n > MAX_NODES:
        return None
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    positions = np.empty(n, np.int64)
    positions[order] = np.arange(n)
    columns = positions[matrix.indices]
    offsets = np.repeat(positions, np.diff(matrix.indptr)) - columns
    width = int(offsets.max())
    if width > MAX_BANDWIDTH:
        return None
    band = np.zeros((width + 1, n), order="F")
    band[0] = 1.0 + SHIFT
    below = offsets >= 0
    band[offsets[below], columns[below]] -= matrix.data[below]
    lower, failed = dpbtrf(band, lower=1, overwrite_ab=1)
    return None if failed else BandFactor(lower, order)


def _inverse_lanczos(
    lower: np.ndarray, known: np.ndarray, n_pairs: int, tolerance: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """Largest eigenvalues and eigenvectors (rows) orthogonal to ``known`` ones; None if not converged."""
    n_known, n = known.shape
    n_steps = min(n - n_known, FIRST_STEPS + STEPS_PER_PAIR * n_pairs)
    basis = np.empty((n_known + n_steps, n))
    basis[:n_known] = known
    diagonal, off_diagonal = np.zeros(n_steps), np.zeros(n_steps)
    vector = rng.standard_normal(n)
    vector -= (known @ vector) @ known
    vector /= np.sqrt(vector @ vector)
    next_check = n_pairs + STEPS_PER_CHECK
    for step in range(n_steps):
        basis[n_known + step] = vector
        image = dpbtrs(lower, vector, lower=1)[0]
        diagonal[step] = vector @ image
        past = basis[: n_known + step + 1]
        for _ in range(2):  # in floating point, orthogonalisation must be repeated once
            image -= (past @ image) @ past
        length = off_diagonal[step] = np.sqrt(image @ image)
        if step + 1 == next_check:
            next_check += max(STEPS_PER_CHECK, step // 10)
            inverses, mix, failed = dstev(diagonal[: step + 1], off_diagonal[:step])
            if failed:
                return None
            inverses, mix = inverses[: -n_pairs - 1 : -1], mix[:, : -n_pairs - 1 : -1]
            # A residual r of the inverse is at most 2 r / inverse for the matrix itself.
            if np.all(2.0 * length * np.abs(mix[-1]) <= tolerance * inverses):
                rows = mix.T @ basis[n_known : n_known + step + 1]
                return 1.0 + SHIFT - 1.0 / inverses, rows
        if length <= np.finfo(float).eps * diagonal[0]:
            return None
        vector = image / length
    return None
