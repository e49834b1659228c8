"""Errors of estimated geodesic distances, and how well an embedding preserves distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from vicinal._core.array_checks import check_points, real_array
from vicinal._core.options import entry
from vicinal._core.parallel import blocks, map_threads
from vicinal.exceptions import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# Pairs per block, few enough to stay in the cache.
PAIRS_PER_BLOCK = 1 << 16


def geodesic_error(estimated: ArrayLike, true: ArrayLike) -> float:
    """Mean absolute difference between estimated and true geodesic distances.

    This is E = ||G' - G|| / N^2 with the entrywise 1-norm, for which division by the number of entries
    gives the average error per pair, in the units of the distances. (With the Frobenius norm, the same
    errors would count less for more points.)

    Parameters
    ----------
    estimated : array of shape (n, m)
        Distances along a graph; infinity if there is no path.
    true : array of shape (n, m)
        True distances, finite.

    Returns
    -------
    float
        Infinity if an estimate is infinite.

    Examples
    --------
    >>> from vicinal.metrics import geodesic_error
    >>> geodesic_error([[0, 5], [5, 0]], [[0, 4], [4, 0]])
    0.5
    """
    truth = check_points(true, name="true")
    estimates = real_array(estimated, "estimated")
    if estimates.shape != truth.shape:
        raise InvalidValueError(
            f"estimated has shape {estimates.shape} and true {truth.shape}, but both must contain the "
            "distances of the same pairs."
        )
    if np.isnan(estimates).any():
        raise InvalidValueError("estimated contains NaN; drop these pairs.")
    rows = blocks(len(truth), max(1, PAIRS_PER_BLOCK // truth.shape[1]))
    with np.errstate(over="ignore"):
        total = sum(float(np.abs(estimates[i:j] - truth[i:j]).sum()) for i, j in rows)
        if np.isfinite(total):
            return total / truth.size
        # The mean of huge errors may still be finite.
        return sum(float((np.abs(estimates[i:j] - truth[i:j]) / truth.size).sum()) for i, j in rows)


@entry
def residual_variance(
    geodesics: ArrayLike,
    embedding: ArrayLike,
    *,
    landmarks: ArrayLike | None = None,
    n_jobs: NJobs = -1,
) -> float:
    """Fraction of the variance of geodesic distances that distances in an embedding do not explain.

    This is 1 - R^2, where R is the linear correlation of the two over all pairs. With distances along a
    graph it is the residual variance that Isomap reports, with true distances the true residual variance.

    Parameters
    ----------
    geodesics : array of shape (n, n) or (n, m)
        Finite distances between all points, or from all points to m landmarks.
    embedding : array of shape (n, n_components)
        One row per point.
    landmarks : array of int of shape (m,), optional
        Points of the columns of ``geodesics``; all points by default.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    float
        From 0 to 1; also 0 if neither the distances nor the embedding vary.

    References
    ----------
    Tenenbaum, de Silva and Langford, "A global geometric framework for nonlinear dimensionality
    reduction", Science 2000.

    Examples
    --------
    >>> from vicinal.metrics import residual_variance
    >>> round(residual_variance([[0, 2, 3], [2, 0, 1], [3, 1, 0]], [[0.0], [20.0], [30.0]]), 12)
    0.0
    """
    positions = check_points(embedding, name="embedding")
    distances = check_points(geodesics, name="geodesics")
    targets = np.arange(len(positions)) if landmarks is None else real_array(landmarks, "landmarks")
    if targets.ndim != 1 or targets.dtype.kind not in "iu" or len(targets) == 0:
        raise InvalidTypeError(
            f"landmarks has shape {targets.shape} and dtype {targets.dtype}, but indices of points "
            "are needed."
        )
    if targets.min() < 0 or targets.max() >= len(positions):
        raise InvalidValueError(
            f"landmarks contains {targets.min()} to {targets.max()}, but points are 0 to "
            f"{len(positions) - 1}."
        )
    if distances.shape != (len(positions), len(targets)):
        raise InvalidValueError(
            f"geodesics has shape {distances.shape}, but {len(positions)} points in the embedding and "
            f"{len(targets)} landmarks need ({len(positions)}, {len(targets)})."
        )
    return unexplained_variance(distances, positions, positions[targets])


def unexplained_variance(
    distances: np.ndarray, positions: np.ndarray, targets: np.ndarray
) -> float:
    """1 - R^2 of given distances and those between positions and targets."""
    # Divided by the largest value, so that squares neither overflow nor underflow.
    largest = float(distances.max()) or 1.0
    extent = float(np.abs(positions).max()) or 1.0
    positions, targets = positions / extent, targets / extent

    def moments(rows: tuple[int, int]) -> Moments:
        given = distances[slice(*rows)] / largest
        return Moments.of(given, cdist(positions[slice(*rows)], targets))

    rows = blocks(len(positions), max(1, PAIRS_PER_BLOCK // len(targets)))
    total = Moments(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for block in map_threads(moments, rows):
        total = total.merged(block)
    if total.xx == 0.0 or total.yy == 0.0:
        return float(total.xx != total.yy)
    return float(max(0.0, 1.0 - total.xy / total.xx * (total.xy / total.yy)))


class Moments(NamedTuple):
    """Count, means and centred sums of products of two variables, over a block of pairs."""

    n: int
    x: float
    y: float
    xx: float
    yy: float
    xy: float

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray) -> Moments:
        mean_x, mean_y = float(x.mean()), float(y.mean())
        x, y = x - mean_x, y - mean_y
        return cls(x.size, mean_x, mean_y, *map(float, (_dot(x, x), _dot(y, y), _dot(x, y))))

    def merged(self, other: Moments) -> Moments:
        """Moments of both blocks; centred sums avoid the cancellation of plain sums."""
        n = self.n + other.n
        fraction = other.n / n
        dx, dy = other.x - self.x, other.y - self.y
        weight = self.n * fraction
        return Moments(
            n,
            self.x + dx * fraction,
            self.y + dy * fraction,
            self.xx + other.xx + dx * dx * weight,
            self.yy + other.yy + dy * dy * weight,
            self.xy + other.xy + dx * dy * weight,
        )


def _dot(x: np.ndarray, y: np.ndarray) -> float:
    # Not with BLAS, whose sums depend on the number of threads.
    return float(np.einsum("ij,ij", x, y))
