"""How well geodesic distances are estimated, and how well an embedding keeps them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from vicinal._core.array_checks import check_points, real_array
from vicinal._core.options import checked
from vicinal._core.parallel import blocks, map_threads
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Pairs that are looked at together: few enough to stay in the cache.
CACHED = 1 << 16


def geodesic_error(estimated: Any, true: Any) -> float:
    """Mean absolute difference of estimated and true geodesic distances.

    It is E = ||G' - G|| / N^2 with the sum of absolute values as the norm: the one for which division
    by the number of entries gives the average error per pair, in the units of the distances. (With
    the Frobenius norm the same errors would count less the more points there are.)

    Parameters
    ----------
    estimated : array of shape (n, m)
        Distances along a graph; infinity where it has no path.
    true : array of shape (n, m)
        True distances, finite.

    Returns
    -------
    float
        Infinity if some estimate is.

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
            f"estimated has shape {estimates.shape} and true {truth.shape}, but both must hold the "
            "distances of the same pairs."
        )
    if np.isnan(estimates).any():
        raise InvalidValueError("estimated holds values that are no numbers; drop these pairs.")
    rows = blocks(len(truth), max(1, CACHED // truth.shape[1]))
    with np.errstate(over="ignore"):
        total = sum(float(np.abs(estimates[i:j] - truth[i:j]).sum()) for i, j in rows)
        if np.isfinite(total):
            return total / truth.size
        # The mean of huge errors may still be a number.
        return sum(float((np.abs(estimates[i:j] - truth[i:j]) / truth.size).sum()) for i, j in rows)


@checked
def residual_variance(
    geodesics: Any, embedding: Any, landmarks: Any = None, *, n_jobs: int | None = -1
) -> float:
    """Part of the variance of geodesic distances that the distances in an embedding leave unexplained.

    It is 1 - R^2, where R is the linear correlation of the two over all pairs: with distances along a
    graph the residual variance that Isomap reports, with true ones the true residual variance.

    Parameters
    ----------
    geodesics : array of shape (n, n), or (n, m) with m landmarks
        Finite distances.
    embedding : array of shape (n, n_components)
        A row a point.
    landmarks : array of int of shape (m,), optional
        Points that the columns of ``geodesics`` belong to; all points by default.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    float
        Between 0 and 1; 0 also if there is no variance and the embedding has none.

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
    places = check_points(embedding, name="embedding")
    distances = check_points(geodesics, name="geodesics")
    targets = np.arange(len(places)) if landmarks is None else real_array(landmarks, "landmarks")
    if targets.ndim != 1 or targets.dtype.kind not in "iu" or len(targets) == 0:
        raise InvalidTypeError(
            f"landmarks has shape {targets.shape} and dtype {targets.dtype}, but the numbers of points "
            "are needed."
        )
    if targets.min() < 0 or targets.max() >= len(places):
        raise InvalidValueError(
            f"landmarks holds {targets.min()} to {targets.max()}, but points are 0 to {len(places) - 1}."
        )
    if distances.shape != (len(places), len(targets)):
        raise InvalidValueError(
            f"geodesics has shape {distances.shape}, but {len(places)} points in the embedding and "
            f"{len(targets)} landmarks need ({len(places)}, {len(targets)})."
        )
    return unexplained_variance(distances, places, places[targets], n_jobs)


def unexplained_variance(
    distances: np.ndarray, places: np.ndarray, targets: np.ndarray, n_jobs: int | None
) -> float:
    """1 - R^2 of given distances and those between places and targets."""
    # Divided by the largest, so that squares of huge or tiny values are ordinary numbers.
    largest = float(distances.max()) or 1.0
    extent = float(np.abs(places).max()) or 1.0
    places, targets = places / extent, targets / extent

    def moments(rows: tuple[int, int]) -> Moments:
        given = distances[slice(*rows)] / largest
        return Moments.of(given, cdist(places[slice(*rows)], targets))

    rows = blocks(len(places), max(1, CACHED // len(targets)))
    total = Moments(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for part in map_threads(moments, rows, n_jobs):
        total = total.joined(part)
    if total.xx == 0.0 or total.yy == 0.0:
        return float(total.xx != total.yy)
    return float(max(0.0, 1.0 - total.xy / total.xx * (total.xy / total.yy)))


class Moments(NamedTuple):
    """Number, means and centred sums of products of two variables, over a part of all pairs."""

    number: int
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

    def joined(self, other: Moments) -> Moments:
        """Moments of both parts; sums of centred values do not cancel as plain sums would."""
        number = self.number + other.number
        part = other.number / number
        dx, dy = other.x - self.x, other.y - self.y
        between = self.number * part
        return Moments(
            number,
            self.x + dx * part,
            self.y + dy * part,
            self.xx + other.xx + dx * dx * between,
            self.yy + other.yy + dy * dy * between,
            self.xy + other.xy + dx * dy * between,
        )


def _dot(x: np.ndarray, y: np.ndarray) -> float:
    # Not by BLAS, whose sums depend on its number of threads.
    return float(np.einsum("ij,ij", x, y))
