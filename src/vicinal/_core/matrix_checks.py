"""Validation of square matrices: distances and affinities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import as_floats, check_finite, not_real, real_array
from vicinal._core.sparse import checked_csr
from vicinal._core.symmetry import (
    first_asymmetric_row,
    rounding_tolerance,
    symmetrize_close_pairs,
    symmetrize_in_place,
)
from vicinal.exceptions import InvalidValueError


def check_distances(distances: Any, *, name: str = "X") -> np.ndarray | sparse.csr_array:
    """Validate a distance matrix: square, finite, nonnegative, symmetric, zero on the diagonal.

    Rounding errors, as in ``1 - numpy.corrcoef(X)``, are corrected on a copy: slightly negative values and
    the diagonal become 0, and the two distances of a pair become their mean.
    A sparse matrix keeps its explicit zeros (distance 0). Pairs that it does not store are not neighbours,
    and its diagonal is ignored.
    """
    if sparse.issparse(distances):
        return _check_sparse_distances(distances, name)
    given = real_array(distances, name)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] == 0:
        raise InvalidValueError(
            f"{name} has shape {given.shape}, but metric='precomputed' needs a square distance matrix; "
            "scipy.spatial.distance.squareform converts a condensed one."
        )
    array = as_floats(given)
    check_finite(array, name)
    tolerance = rounding_tolerance(given.dtype) * float(array.max())
    lowest, diagonal = float(array.min()), np.diagonal(array)
    if lowest < -tolerance:
        i, j = np.unravel_index(np.argmin(array), array.shape)
        raise InvalidValueError(
            f"{name}[{i}, {j}] = {array[i, j]:g} is negative, but distances must be >= 0; "
            "convert similarities to distances first, for instance as max - similarity."
        )
    if (np.abs(diagonal) > tolerance).any():
        row = int(np.argmax(np.abs(diagonal) > tolerance))
        raise InvalidValueError(
            f"{name}[{row}, {row}] = {diagonal[row]:g}, but the distance of a point to itself must be 0; "
            f"set the diagonal with numpy.fill_diagonal({name}, 0)."
        )
    symmetric = first_asymmetric_row(array) is None
    asymmetric_row = None if symmetric else first_asymmetric_row(array, tolerance)
    if asymmetric_row is not None:
        differences = np.abs(array[asymmetric_row] - array[:, asymmetric_row])
        raise _not_symmetric(array, name, asymmetric_row, int(np.argmax(differences)))
    if lowest < 0 or diagonal.any() or not symmetric:
        if np.may_share_memory(array, given):
            array = array.copy()
        np.maximum(array, 0.0, out=array)
        np.fill_diagonal(array, 0.0)
        symmetrize_in_place(array)
    return array


def _check_sparse_distances(distances: Any, name: str) -> sparse.csr_array:
    if distances.shape[0] != distances.shape[1] or distances.shape[0] == 0:
        raise InvalidValueError(
            f"{name} has shape {distances.shape}, but metric='precomputed' needs a square matrix."
        )
    matrix = _canonical(distances, name)
    check_finite(matrix.data[:, None], f"{name}.data")
    tolerance = rounding_tolerance(distances.dtype) * float(matrix.data.max(initial=0.0))
    lowest = float(matrix.data.min(initial=0.0))
    if lowest < -tolerance:
        raise InvalidValueError(
            f"{name} contains the negative value {lowest:g}, but distances must be >= 0."
        )
    if lowest < 0:
        arrays = np.maximum(matrix.data, 0.0), matrix.indices, matrix.indptr
        matrix = sparse.csr_array(arrays, shape=matrix.shape)
    return symmetrize_close_pairs(matrix, tolerance)


def check_affinity(
    affinity: Any, *, name: str = "affinity", symmetric: bool = True
) -> sparse.csr_array:
    """Validate affinities, sparse or dense: square, finite, >= 0 and, by default, symmetric.

    The result is a `csr_array`. Entries that differ from their mirror image only by rounding are averaged.
    """
    if not sparse.issparse(affinity):
        affinity = real_array(affinity, name)
    shape = affinity.shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InvalidValueError(
            f"{name} has shape {shape}, but a square matrix of affinities is needed; "
            "for a table of points, pass the name of a graph, such as graph='knn'."
        )
    matrix = _canonical(affinity, name)
    check_finite(matrix.data[:, None], f"{name}.data")
    if matrix.nnz and matrix.data.min() < 0:
        raise InvalidValueError(
            f"{name} contains the negative value {matrix.data.min():g}, but affinities must be >= 0; "
            "convert distances to affinities with Graph.from_scipy(distances).affinity()."
        )
    if symmetric and matrix.nnz:
        difference = abs(matrix - matrix.T)
        worst = difference.max()
        if worst > rounding_tolerance(affinity.dtype) * matrix.data.max():
            at = int(np.argmax(difference.data))
            row = int(np.searchsorted(difference.indptr, at, side="right")) - 1
            hint = "; for distances to neighbours, pass graph='precomputed_distances'"
            raise _not_symmetric(matrix, name, row, int(difference.indices[at]), hint)
        if worst > 0:
            matrix = (matrix + matrix.T) / 2
    return matrix


def _canonical(matrix: Any, name: str) -> sparse.csr_array:
    """Convert to a `csr_array` of float64 with sorted indices and no duplicate entries."""
    if not sparse.issparse(matrix):
        return sparse.csr_array(matrix, dtype=np.float64)
    if matrix.dtype.kind not in "buif":
        raise not_real(name, matrix.dtype)
    csr = checked_csr(matrix, name, np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()  # csr_array shares the caller's buffers
        csr.sum_duplicates()
    return csr


def _not_symmetric(matrix: Any, name: str, row: int, column: int, hint: str = "") -> ValueError:
    """Error that shows two mirrored entries with as many digits as are needed to see a difference."""
    entry, mirrored = matrix[row, column], matrix[column, row]
    digits = next(d for d in (6, 10, 17) if f"{entry:.{d}g}" != f"{mirrored:.{d}g}")
    return InvalidValueError(
        f"{name} is not symmetric: {name}[{row}, {column}] = {entry:.{digits}g} but "
        f"{name}[{column}, {row}] = {mirrored:.{digits}g}; symmetrize it as ({name} + {name}.T) / 2 "
        f"if it should be symmetric{hint}."
    )
