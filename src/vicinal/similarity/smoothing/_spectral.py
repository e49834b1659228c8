"""Self-smoothing in the eigenvectors of the normalised affinity: one decomposition serves every t.

W_t = D^1/2 V l^(t+1) V' D^1/2. After enough steps only the leading eigenvalues are left; they are found
by filtering a block of random vectors with Chebyshev polynomials, which are small on all eigenvalues
that have faded and grow fast outside, so that multiple eigenvalues come out as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr

from vicinal.graphs._build.duplicates import Duplicates, many_duplicates

EPS = np.finfo(np.float64).eps
GAIN = 1e8
PROBES = 8
MOMENTS = 60
ROUNDS = 6
SPARE = 10


@dataclass(frozen=True)
class SmoothingSpectrum:
    """Eigenpairs of the normalised affinity of a symmetric similarity.

    Attributes
    ----------
    roots : ndarray (n,)
        Square roots of the sums of the rows.
    values, vectors : ndarray (q,), (n, q)
    cutoff : float
        No eigenvalue that is missing is larger in modulus; 0 if none is missing.
    """

    roots: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    cutoff: float = 0.0

    def powers(self, t: float) -> np.ndarray:
        """l^t for each eigenvalue; of a negative one with fractional t the real part."""
        turn = (-1.0) ** int(t) if t == int(t) else np.cos(np.pi * t)
        moduli = np.abs(self.values)
        # A negative power of 0 is taken for 0: there is nothing in that direction to begin with.
        powers = np.power(moduli, t, out=np.zeros_like(moduli), where=(moduli > 0) | (t >= 0))
        return powers * np.where(self.values < 0, turn, 1.0)

    def weights(self, t: float) -> np.ndarray:
        """What is left of each eigenvalue in W_t: l l^t."""
        return self.values * self.powers(t)

    def left_out(self, t: float) -> float:
        """Bound of the error of W_t[i, j] in units of sqrt(d_i d_j), d the sums of the rows of W."""
        return float(self.cutoff ** (t + 1.0))

    def diagonal(self, t: float) -> np.ndarray:
        """W_t[i, i]."""
        return np.square(self.vectors) @ self.weights(t) * np.square(self.roots)

    def spread(self, rows: np.ndarray, t: float) -> np.ndarray:
        """``rows`` times P^t: what a walk that starts at random after them does in t steps."""
        left = self._coordinates(rows)
        return self._signed(t, ((left * self.powers(t)) @ self.vectors.T) * self.roots)

    def returns(self, rows: np.ndarray, t: float) -> np.ndarray:
        """p P^t D^-1 p' of each row p; t may be negative."""
        return np.square(self._coordinates(rows)) @ self.powers(t)

    def _coordinates(self, rows: np.ndarray) -> np.ndarray:
        inverse = np.divide(1.0, self.roots, out=np.zeros_like(self.roots), where=self.roots > 0)
        return (rows * inverse) @ self.vectors

    def matrix(self, t: float) -> np.ndarray:
        """W_t."""
        weights = self.weights(t)
        faded = EPS * np.abs(weights).max(initial=0.0)
        # A matrix times its own transpose costs half.
        positive = self._scaled(weights, weights > faded)
        matrix = positive @ positive.T
        if (weights < -faded).any():
            negative = self._scaled(weights, weights < -faded)
            matrix -= negative @ negative.T
        return self._signed(t, matrix)

    def _scaled(self, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        vectors = self.vectors if chosen.all() else self.vectors[:, chosen]
        scaled = vectors * np.sqrt(np.abs(weights[chosen]))
        scaled *= self.roots[:, None]
        return scaled

    def _signed(self, t: float, smoothed: np.ndarray) -> np.ndarray:
        # Whole steps of nonnegative similarities are nonnegative: what is below 0 is rounding.
        return np.maximum(smoothed, 0.0, out=smoothed) if t == int(t) else smoothed


def all_pairs(matrix: np.ndarray, roots: np.ndarray) -> SmoothingSpectrum:
    """Every eigenpair of a normalised affinity; of duplicates those whose eigenvalue is not 0."""
    rows = many_duplicates(matrix)
    if rows is not None:
        found = all_pairs(of_distinct(matrix, rows), roots[rows.representative])
        vectors = found.vectors[rows.group] / np.sqrt(rows.counts)[rows.group, None]
        return SmoothingSpectrum(roots, found.values, vectors)
    values, vectors = eigh(matrix, check_finite=False)
    # Zero eigenvalues are found as rounding, of which a small power would make something.
    values[np.abs(values) < EPS * len(values)] = 0.0
    return SmoothingSpectrum(roots, np.clip(values, -1.0, 1.0), vectors)


def of_distinct(matrix: np.ndarray, rows: Duplicates) -> np.ndarray:
    """A symmetric matrix between sets of equal rows: S^m[i, j] is its power over sqrt(n_i n_j).

    Each set of n_i rows stands for itself; what a walk does between sets does not depend on the row.
    """
    sizes = np.sqrt(rows.counts)
    first = rows.representative
    return matrix[np.ix_(first, first)] * (sizes[:, None] * sizes)


def leading_pairs(
    matrix: Any,
    roots: np.ndarray,
    cutoff: float,
    *,
    budget: float = np.inf,
    widest: float = np.inf,
    accuracy: float = 1e-13,
    seed: int = 0,
) -> SmoothingSpectrum | None:
    """All eigenpairs above a cutoff in modulus; None if finding them would cost too much.

    Parameters
    ----------
    matrix : ndarray or operator (n, n)
        Normalised affinity.
    roots : ndarray (n,)
    cutoff : float
    budget : float
        Number of products with a vector.
    widest : float
        Number of vectors that may be held at a time.
    accuracy : float
        Residual of the eigenpairs at 1; those near the cutoff, which matter less, may have more.
    """
    n = matrix.shape[0]
    degree = max(2, int(np.ceil(np.log(2 * GAIN) / np.arccosh(1 / min(cutoff, 1 - 1e-9)))))
    rng = np.random.default_rng(seed)
    width = int(1.15 * count_above(matrix, cutoff, rng)) + SPARE
    # One round rarely suffices, two mostly do.
    if 2 * degree * width > budget:
        return None
    block = np.empty((n, 0))
    for _ in range(ROUNDS):
        if width > min(widest, n // 3):
            return None
        fresh = rng.standard_normal((n, width - block.shape[1]))
        values, block, residuals = _filtered(matrix, np.hstack([block, fresh]), degree, cutoff)
        above = np.abs(values) > cutoff
        if above.all():  # there may be more of them than the block has room for
            width = int(1.5 * width)
        elif (residuals[above] <= _allowed(values[above], cutoff, accuracy)).all():
            order = np.argsort(-np.abs(values[above]), kind="stable")
            found = np.clip(values[above][order], -1.0, 1.0)
            return SmoothingSpectrum(roots, found, block[:, above][:, order], cutoff)
    return None


def count_above(matrix: Any, cutoff: float, rng: np.random.Generator) -> float:
    """About how many eigenvalues are above a cutoff in modulus, from moments of random vectors."""
    signs = rng.choice([-1.0, 1.0], size=(matrix.shape[0], PROBES))
    moments = chebyshev_moments(matrix, signs, MOMENTS // 2).sum(axis=1) / PROBES
    k = np.arange(len(moments))
    # Step function of both ends of the spectrum, damped (Jackson) so that it does not ring.
    angle = np.arccos(min(cutoff, 1.0))
    step = np.where(k % 2 == 0, 2.0, 0.0) * np.sin(k * angle) * 2 / (np.pi * np.maximum(k, 1))
    step[0] = 2 * angle / np.pi
    m = len(moments) + 1
    turn = np.pi * k / m
    damping = ((m - k) * np.cos(turn) + np.sin(turn) / np.tan(np.pi / m)) / m
    return max(0.0, float(step * damping @ moments))


def chebyshev_moments(matrix: Any, vectors: np.ndarray, degree: int) -> np.ndarray:
    """x' T_k(A) x for each column x and k up to twice the degree, one product for two moments."""
    moments = np.empty((2 * degree + 1, vectors.shape[1]))
    before, now = vectors, np.asarray(matrix @ vectors)
    moments[0] = (before * before).sum(axis=0)
    moments[1] = (before * now).sum(axis=0)
    for k in range(1, degree + 1):
        moments[2 * k] = 2 * (now * now).sum(axis=0) - moments[0]
        if k < degree:
            after = 2 * np.asarray(matrix @ now)
            after -= before
            before, now = now, after
            moments[2 * k + 1] = 2 * (before * now).sum(axis=0) - moments[1]
    return moments


def _allowed(values: np.ndarray, cutoff: float, accuracy: float) -> np.ndarray:
    """Residuals that move no power by more than its share: eigenvalues near the cutoff fade anyway."""
    fading = np.log(np.abs(values)) / np.log(cutoff)
    return accuracy ** (1 - np.clip(fading, 0.0, 0.9)) * 10


def _filtered(
    matrix: Any, block: np.ndarray, degree: int, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ritz pairs of a block after a Chebyshev filter that is small inside [-cutoff, cutoff]."""
    before, now = block, np.asarray(matrix @ block) / cutoff
    for _ in range(degree - 1):
        after = np.asarray(matrix @ now) * (2 / cutoff)
        after -= before
        before, now = now, after
    basis = qr(now, mode="economic", check_finite=False)[0]
    image = np.asarray(matrix @ basis)
    values, turns = eigh(basis.T @ image)
    vectors = basis @ turns
    residuals = np.linalg.norm(image @ turns - vectors * values, axis=0)
    return values, vectors, residuals
