"""Self-smoothing by eigenpairs of the normalised affinity: one decomposition serves every t.

W_t = D^1/2 V l^(t+1) V' D^1/2. After enough steps, only the leading eigenvalues matter. They are computed
by filtering a block of random vectors with a Chebyshev polynomial, which is small on the negligible
eigenvalues and grows fast outside, so multiple eigenvalues are found with their multiplicity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr

from vicinal.graphs._build.duplicates import Duplicates, many_duplicates

EPS = np.finfo(np.float64).eps
# Amplification by the Chebyshev filter of an eigenvalue 1, relative to those below the cutoff.
FILTER_GAIN = 1e8
# Random vectors and Chebyshev moments of the estimated eigenvalue count.
N_PROBES = 8
N_MOMENTS = 60
MAX_ITER = 6
# Vectors in the block beyond the estimated number of eigenvalues.
EXTRA_VECTORS = 10


@dataclass(frozen=True)
class SmoothingSpectrum:
    """Eigenpairs of the normalised affinity of a symmetric similarity.

    Attributes
    ----------
    roots : ndarray (n,)
        Square roots of the row sums.
    values, vectors : ndarray (q,), (n, q)
        Eigenvalues and eigenvectors.
    cutoff : float
        Upper bound of the modulus of omitted eigenvalues; 0 if none is omitted.
    """

    roots: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    cutoff: float = 0.0

    def powers(self, t: float) -> np.ndarray:
        """l^t for each eigenvalue; the real part for negative eigenvalues and fractional t."""
        sign = (-1.0) ** int(t) if t == int(t) else np.cos(np.pi * t)
        moduli = np.abs(self.values)
        # A negative power of 0 is set to 0: W has no component in that direction.
        powers = np.power(moduli, t, out=np.zeros_like(moduli), where=(moduli > 0) | (t >= 0))
        return powers * np.where(self.values < 0, sign, 1.0)

    def weights(self, t: float) -> np.ndarray:
        """Weight l l^t of each eigenvector in W_t."""
        return self.values * self.powers(t)

    def truncation_error(self, t: float) -> float:
        """Error bound of W_t[i, j] in units of sqrt(d_i d_j), where d are the row sums of W."""
        return float(self.cutoff ** (t + 1.0))

    def diagonal(self, t: float) -> np.ndarray:
        """W_t[i, i]."""
        return np.square(self.vectors) @ self.weights(t) * np.square(self.roots)

    def spread(self, rows: np.ndarray, t: float) -> np.ndarray:
        """``rows`` times P^t: distribution of the walk after t steps from the distributions ``rows``."""
        powers = self.powers(t)
        # Smaller powers vanish in rounding. After many steps, few eigenvectors are left.
        matters = np.abs(powers) > EPS * np.abs(powers).max(initial=0.0)
        vectors = self.vectors if matters.all() else self.vectors[:, matters]
        coordinates = self._coordinates(rows, vectors)
        return self._clip(t, ((coordinates * powers[matters]) @ vectors.T) * self.roots)

    def returns(self, rows: np.ndarray, t: float) -> np.ndarray:
        """p P^t D^-1 p' for each row p; t may be negative."""
        return np.square(self._coordinates(rows, self.vectors)) @ self.powers(t)

    def _coordinates(self, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        inverse = np.divide(1.0, self.roots, out=np.zeros_like(self.roots), where=self.roots > 0)
        return (rows * inverse) @ vectors

    def matrix(self, t: float) -> np.ndarray:
        """W_t."""
        weights = self.weights(t)
        negligible = EPS * np.abs(weights).max(initial=0.0)
        # A matrix times its own transpose costs half of a general product.
        positive = self._scaled(weights, weights > negligible)
        matrix = positive @ positive.T
        if (weights < -negligible).any():
            negative = self._scaled(weights, weights < -negligible)
            matrix -= negative @ negative.T
        return self._clip(t, matrix)

    def _scaled(self, weights: np.ndarray, selected: np.ndarray) -> np.ndarray:
        vectors = self.vectors if selected.all() else self.vectors[:, selected]
        scaled = vectors * np.sqrt(np.abs(weights[selected]))
        scaled *= self.roots[:, None]
        return scaled

    def _clip(self, t: float, smoothed: np.ndarray) -> np.ndarray:
        # Integer powers of a nonnegative matrix are nonnegative: negative entries are rounding errors.
        return np.maximum(smoothed, 0.0, out=smoothed) if t == int(t) else smoothed


def all_pairs(matrix: np.ndarray, roots: np.ndarray) -> SmoothingSpectrum:
    """All eigenpairs of a normalised affinity, except zero eigenvalues caused by duplicate rows."""
    duplicates = many_duplicates(matrix)
    if duplicates is not None:
        group = duplicates.group
        merged = all_pairs(merge_duplicates(matrix, duplicates), roots[duplicates.representative])
        vectors = merged.vectors[group] / np.sqrt(duplicates.counts)[group, None]
        return SmoothingSpectrum(roots, merged.values, vectors)
    values, vectors = eigh(matrix, check_finite=False)
    # Rounding errors in zero eigenvalues would be magnified by small powers.
    values[np.abs(values) < EPS * len(values)] = 0.0
    return SmoothingSpectrum(roots, np.clip(values, -1.0, 1.0), vectors)


def merge_duplicates(matrix: np.ndarray, duplicates: Duplicates) -> np.ndarray:
    """Symmetric matrix between groups of equal rows: S^m[i, j] is its m-th power over sqrt(n_i n_j).

    A walk between groups does not depend on the row within a group of n_i rows.
    """
    sizes = np.sqrt(duplicates.counts)
    first = duplicates.representative
    return matrix[np.ix_(first, first)] * (sizes[:, None] * sizes)


def leading_pairs(
    matrix: Any,
    roots: np.ndarray,
    cutoff: float,
    *,
    budget: float = np.inf,
    max_vectors: float = np.inf,
    accuracy: float = 1e-13,
    seed: int = 0,
) -> SmoothingSpectrum | None:
    """All eigenpairs above a cutoff in modulus; None if they cost too much.

    Parameters
    ----------
    matrix : ndarray or operator (n, n)
        Normalised affinity.
    roots : ndarray (n,)
        Square roots of the row sums of the affinity.
    cutoff : float
        Modulus above which eigenpairs are computed.
    budget : float
        Largest number of products with a vector.
    max_vectors : float
        Largest number of vectors in memory.
    accuracy : float
        Residual of eigenpairs at 1; those near the cutoff matter less and may have larger residuals.
    seed : int
        Seed of the random start vectors.
    """
    n = matrix.shape[0]
    degree = max(2, int(np.ceil(np.log(2 * FILTER_GAIN) / np.arccosh(1 / min(cutoff, 1 - 1e-9)))))
    rng = np.random.default_rng(seed)
    width = int(1.15 * count_above(matrix, cutoff, rng)) + EXTRA_VECTORS
    # One iteration rarely suffices, two usually do.
    if 2 * degree * width > budget:
        return None
    block = np.empty((n, 0))
    for _ in range(MAX_ITER):
        if width > min(max_vectors, n // 3):
            return None
        start = rng.standard_normal((n, width - block.shape[1]))
        values, block, residuals = _filtered(matrix, np.hstack([block, start]), degree, cutoff)
        above = np.abs(values) > cutoff
        if above.all():  # there may be more eigenvalues than vectors in the block
            width = int(1.5 * width)
        elif (residuals[above] <= _allowed_residuals(values[above], cutoff, accuracy)).all():
            order = np.argsort(-np.abs(values[above]), kind="stable")
            leading = np.clip(values[above][order], -1.0, 1.0)
            return SmoothingSpectrum(roots, leading, block[:, above][:, order], cutoff)
    return None


def count_above(matrix: Any, cutoff: float, rng: np.random.Generator) -> float:
    """Estimated number of eigenvalues above a cutoff in modulus, from moments of random vectors."""
    signs = rng.choice([-1.0, 1.0], size=(matrix.shape[0], N_PROBES))
    moments = chebyshev_moments(matrix, signs, N_MOMENTS // 2).sum(axis=1) / N_PROBES
    k = np.arange(len(moments))
    # Step function at both ends of the spectrum, with Jackson damping against Gibbs oscillations.
    angle = np.arccos(min(cutoff, 1.0))
    step = np.where(k % 2 == 0, 2.0, 0.0) * np.sin(k * angle) * 2 / (np.pi * np.maximum(k, 1))
    step[0] = 2 * angle / np.pi
    m = len(moments) + 1
    angles = np.pi * k / m
    damping = ((m - k) * np.cos(angles) + np.sin(angles) / np.tan(np.pi / m)) / m
    return max(0.0, float(step * damping @ moments))


def chebyshev_moments(matrix: Any, vectors: np.ndarray, degree: int) -> np.ndarray:
    """x' T_k(A) x for each column x and k up to twice the degree; one product per two moments."""
    moments = np.empty((2 * degree + 1, vectors.shape[1]))
    previous, current = vectors, np.asarray(matrix @ vectors)
    moments[0] = (previous * previous).sum(axis=0)
    moments[1] = (previous * current).sum(axis=0)
    for k in range(1, degree + 1):
        moments[2 * k] = 2 * (current * current).sum(axis=0) - moments[0]
        if k < degree:
            upcoming = 2 * np.asarray(matrix @ current)
            upcoming -= previous
            previous, current = current, upcoming
            moments[2 * k + 1] = 2 * (previous * current).sum(axis=0) - moments[1]
    return moments


def _allowed_residuals(values: np.ndarray, cutoff: float, accuracy: float) -> np.ndarray:
    """Allowed residuals of eigenpairs: larger near the cutoff, where powers are nearly negligible."""
    decay = np.log(np.abs(values)) / np.log(cutoff)
    return accuracy ** (1 - np.clip(decay, 0.0, 0.9)) * 10


def _filtered(
    matrix: Any, block: np.ndarray, degree: int, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ritz pairs of a block after a Chebyshev filter that is small inside [-cutoff, cutoff]."""
    previous, current = block, np.asarray(matrix @ block) / cutoff
    for _ in range(degree - 1):
        upcoming = np.asarray(matrix @ current) * (2 / cutoff)
        upcoming -= previous
        previous, current = current, upcoming
    basis = qr(current, mode="economic", check_finite=False)[0]
    image = np.asarray(matrix @ basis)
    values, rotation = eigh(basis.T @ image)
    vectors = basis @ rotation
    residuals = np.linalg.norm(image @ rotation - vectors * values, axis=0)
    return values, vectors, residuals
