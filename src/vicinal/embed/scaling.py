"""Classical scaling: coordinates from distances, and new points from their distances to known points.

The matrix of squared distances, centred on both sides, contains the inner products of the points; its leading
eigenvectors give their coordinates. It is never formed: distances are squared on the fly, and vectors are
centred instead.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from vicinal._core.array_checks import check_points
from vicinal._core.matrix_checks import check_distances
from vicinal._core.options import entry
from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal._core.rescale import power_of_two
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.operators.eigenpairs import leading_eigenpairs

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# Number of squares per block, so that they stay in the cache.
ENTRIES_PER_BLOCK = 1 << 17
ROWS_PER_TASK = 256
# Eigenvalues below this fraction of the first are rounding errors.
MIN_RELATIVE_EIGENVALUE = 1e-12
# Largest distance in units of the scaling; squares of larger distances would overflow.
MAX_RELATIVE_DISTANCE = 1e150


class Scaling(NamedTuple):
    """Result of classical scaling, with everything needed to embed new points.

    Eigenvalues and squares refer to distances divided by ``unit``, a power of two near the largest
    distance, so that squares neither overflow nor underflow.
    """

    coordinates: np.ndarray
    eigenvalues: np.ndarray
    mean_squares: np.ndarray
    unit: float


@entry
def classical_scaling(
    distances: ArrayLike, n_components: int = 2, *, n_jobs: NJobs = -1
) -> Scaling:
    """Compute points whose Euclidean distances approximate given distances (Torgerson's scaling).

    Parameters
    ----------
    distances : array of shape (n, n)
        Distances: symmetric, finite, >= 0.
    n_components : int, default=2
        Number of coordinates, less than n.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    Scaling
        ``coordinates`` (n, n_components), centred, along principal axes; ``eigenvalues``,
        ``mean_squares`` and ``unit``. If the distances have fewer dimensions, the other columns are zeros.

    References
    ----------
    Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 1952.

    Examples
    --------
    >>> from vicinal.embed import classical_scaling
    >>> classical_scaling([[0, 3, 4], [3, 0, 5], [4, 5, 0]], 2).eigenvalues.shape
    (2,)
    """
    array = check_distances(distances, name="distances")
    if not isinstance(array, np.ndarray):
        raise InvalidTypeError(
            "distances is a sparse matrix, but scaling needs the distance of every pair: pass "
            "distances.toarray() if all are stored, or the shortest paths of Graph.from_scipy(distances)."
        )
    return scale_distances(array, n_components)


def scale_distances(distances: np.ndarray, n_components: int) -> Scaling:
    """`classical_scaling` of checked distances."""
    n = len(distances)
    n_components = check_count(
        n_components,
        "n_components",
        high=n - 1,
        remedy=f"There are n_samples={n} points, which span at most {n - 1} dimension(s).",
    )
    unit = _unit(distances)
    with one_blas_thread():
        inner = CentredSquares(distances, unit)
        mean_squares = inner.squares_times(np.full((n, 1), 1.0 / n))[:, 0]
        values, vectors = np.zeros(n_components), np.zeros((n, n_components))
        # The eigensolver cannot start from a matrix of zeros.
        if mean_squares.any():
            values, vectors, _ = leading_eigenpairs(inner, n_components, normalized=False)
    values = np.where(values > MIN_RELATIVE_EIGENVALUE * values[0], values, 0.0)
    return Scaling(vectors * np.sqrt(values) * unit, values, mean_squares, unit)


@entry
def landmark_mds_transform(
    scaling: Scaling, distances: ArrayLike, *, n_jobs: NJobs = -1
) -> np.ndarray:
    """Compute coordinates of points from their distances to the points of a scaling.

    Parameters
    ----------
    scaling : Scaling
        A scaling of n points: all points, or landmarks among them.
    distances : array-like of shape (m, n)
        Distances to the points of the scaling. Those points keep their coordinates.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    ndarray of shape (m, n_components)
        Coordinates.

    References
    ----------
    de Silva and Tenenbaum, "Sparse multidimensional scaling using landmark points", Stanford 2004.

    Examples
    --------
    >>> from vicinal.embed import classical_scaling, landmark_mds_transform
    >>> distances = [[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]
    >>> scaling = classical_scaling(distances, 2)
    >>> new = landmark_mds_transform(scaling, distances[:1])
    >>> bool(abs(new - scaling.coordinates[:1]).max() < 1e-9)
    True
    """
    if not isinstance(scaling, Scaling):
        raise InvalidTypeError(
            f"scaling is a {type(scaling).__name__}, but a Scaling is needed; classical_scaling returns one."
        )
    rows = check_points(distances, name="distances")
    n = len(scaling.coordinates)
    if rows.shape[1] != n or rows.min() < 0:
        raise InvalidValueError(
            f"distances has shape {rows.shape} and a smallest value of {rows.min():g}, but distances >= 0 "
            f"to the {n} points of the scaling are needed, one column each."
        )
    if rows.max() * (1.0 / scaling.unit) > MAX_RELATIVE_DISTANCE:
        raise InvalidValueError(
            f"distances contains values up to {rows.max():g}, but those of the scaling are about "
            f"{scaling.unit:g}; use the same unit for both."
        )
    return embed_rows(scaling, rows)


def embed_rows(scaling: Scaling, distances: np.ndarray) -> np.ndarray:
    """`landmark_mds_transform` of checked distances."""
    from vicinal.embed._scaling_kernels import squares_times

    columns = np.ascontiguousarray(scaling.coordinates.T)
    products = np.empty((len(distances), len(columns)))

    # Not by a matrix product, whose last digits would depend on the number of rows.
    def multiply(rows: tuple[int, int]) -> None:
        block = np.ascontiguousarray(distances[slice(*rows)])
        squares_times(block, 1.0 / scaling.unit, columns, 0, len(block), products[slice(*rows)])

    parts = _row_blocks(distances)
    if len(parts) == 1:  # starting threads would take longer than one point
        multiply(parts[0])
    else:
        map_threads(multiply, parts)
    products -= columns @ scaling.mean_squares
    positive = scaling.eigenvalues > 0
    if positive.all():
        products *= -0.5 / scaling.eigenvalues
    else:
        products *= np.divide(
            -0.5, scaling.eigenvalues, out=np.zeros(len(positive)), where=positive
        )
    return products


class Axes(NamedTuple):
    """Centre and principal directions (columns) of points."""

    centre: np.ndarray
    directions: np.ndarray


def rotate(points: np.ndarray, axes: Axes) -> np.ndarray:
    """Coordinates of points along axes; those of a point do not depend on the other points."""
    from vicinal.embed._scaling_kernels import rotated_rows

    # Not by a matrix product, whose last digits would depend on the number of points.
    rotated = np.empty((len(points), axes.directions.shape[1]))
    rotated_rows(points, axes.centre, np.ascontiguousarray(axes.directions), rotated)
    return rotated


def principal_axes(points: np.ndarray) -> Axes:
    """Centre and principal directions of points, largest variance first; the largest entry is positive."""
    centre = points.mean(axis=0)
    centred = points - centre
    extent = float(np.abs(centred).max()) or 1.0
    _, _, directions = np.linalg.svd(np.einsum("ni,nj->ij", centred / extent, centred / extent))
    largest = np.argmax(np.abs(directions), axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]
    return Axes(centre, directions.T)


def reconstruction_error(scaling: Scaling, distances: np.ndarray) -> float:
    """Root mean squared difference between the inner products from distances and from coordinates."""
    coordinates = scaling.coordinates / scaling.unit
    means, mean = scaling.mean_squares, scaling.mean_squares.mean()

    def sum_of_squares(rows: tuple[int, int]) -> float:
        here = slice(*rows)
        products = np.square(distances[here] * (1.0 / scaling.unit))
        products -= means
        products -= (means[here] - mean)[:, None]
        products *= -0.5
        products -= coordinates[here] @ coordinates.T
        return float(np.vdot(products, products))

    with one_blas_thread():
        sums = map_threads(sum_of_squares, _row_blocks(distances))
    return math.sqrt(sum(sums)) / len(distances) * scaling.unit * scaling.unit


class CentredSquares(LinearOperator):
    """-1/2 J S J for squared distances S and the centring matrix J, which subtracts the mean."""

    def __init__(self, distances: np.ndarray, unit: float) -> None:
        super().__init__(np.float64, distances.shape)
        self.distances, self.scale = distances, 1.0 / unit

    def squares_times(self, X: np.ndarray) -> np.ndarray:
        from vicinal.embed._scaling_kernels import squares_times

        columns = np.ascontiguousarray(X.T)
        products = np.empty(X.shape)
        map_threads(
            lambda rows: squares_times(self.distances, self.scale, columns, *rows, products),
            blocks(len(X), ROWS_PER_TASK),
        )
        return products

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        X = X.reshape(len(X), -1)
        product = self.squares_times(X - X.mean(axis=0))
        product -= product.mean(axis=0)
        product *= -0.5
        return product

    _matvec = _matmat


def _row_blocks(distances: np.ndarray) -> list[tuple[int, int]]:
    return blocks(len(distances), max(1, ENTRIES_PER_BLOCK // distances.shape[1]))


def _unit(distances: np.ndarray) -> float:
    largest = float(distances.max())
    if not np.isfinite(largest):
        raise InvalidValueError(
            "distances contain infinite or undefined values, but scaling needs finite ones; if they are "
            "shortest paths, connect the graph."
        )
    return power_of_two(largest)
