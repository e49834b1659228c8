"""Checks of what the user gives, each done once, before any long work.

An error names the argument, says what was given, what is needed and what to do.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.memory import free_memory
from vicinal._core.options import check_options
from vicinal._core.sparse import check_indices, checked_csr
from vicinal._core.symmetry import (
    average_mirrored,
    first_asymmetric_row,
    rounding_of,
    with_averaged_pairs,
)
from vicinal._core.tables import as_table
from vicinal.exceptions import InsufficientMemoryError, InvalidTypeError, InvalidValueError

LARGEST_COUNT = 2**63 - 1
# From here on distances between points may overflow.
FAR = 1e300


def real_array(values: Any, name: str) -> np.ndarray:
    """`values` as an array of real numbers of any dtype and shape, the caller's own if it is one."""
    array = read_array(values, name)
    if array.dtype.kind == "O":
        with suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "buif":
        raise not_real(name, array.dtype)
    return array


def read_array(values: Any, name: str) -> np.ndarray:
    """`values` as an array of whatever they are; all of them must be there."""
    if sparse.issparse(values):
        raise InvalidTypeError(
            f"{name} is a sparse matrix, but an array is needed: pass {name}.toarray() if it is small."
        )
    values = as_table(values, name)
    n_masked = int(np.ma.getmaskarray(values).sum()) if isinstance(values, np.ma.MaskedArray) else 0
    if n_masked:
        raise InvalidValueError(
            f"{name} is a masked array in which {n_masked} value(s) are masked, but all must be known; "
            f"fill them in by {name}.filled(value), or drop their rows by numpy.ma.compress_rows({name})."
        )
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidValueError(
            f"{name} is a {type(values).__name__} whose rows have different lengths or kinds, but a table "
            "needs the same number of values in each; fill in or cut rows."
        ) from error


def validate_input(model: Any, X: Any, **options: Any) -> Any:
    """`validate_data` of scikit-learn, which would take what is masked for known; and of options."""
    from sklearn.utils.validation import validate_data

    check_options(model)
    X = as_table(X)
    if isinstance(X, (list, tuple, np.ma.MaskedArray)):
        X = read_array(X, "X")
    if sparse.issparse(X):
        check_indices(X, "X")
    try:
        with np.errstate(invalid="ignore"):  # sums of huge values of both signs
            return validate_data(model, X, **options)
    except OverflowError as error:
        raise InvalidValueError(
            "X holds numbers beyond 1.8e308, the largest that a float can be."
        ) from error


def check_points(
    X: Any, *, name: str = "X", min_points: int = 1, dtype: Any = np.float64
) -> np.ndarray:
    """`X` as a finite, C-contiguous (n, D) array of ``dtype``; the caller's array is never changed.

    ``dtype=None`` keeps float32 and makes everything else float64.
    """
    if sparse.issparse(X):
        raise InvalidTypeError(
            f"{name} is a sparse matrix, but points must be dense: pass {name}.toarray(), reduce it first "
            "(for instance by TruncatedSVD), or give metric='precomputed' if it holds distances."
        )
    array = real_array(X, name)
    if array.ndim != 2:
        hint = f"{name}.reshape(-1, 1)" if array.ndim == 1 else f"{name}.reshape(len({name}), -1)"
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but a table of points (n_points, n_features) is needed; "
            f"use {hint} if that is what it holds."
        )
    n, d = array.shape
    if n < min_points or d < 1:
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but at least {min_points} point(s) and 1 feature are needed."
        )
    if dtype is None:
        dtype = np.float32 if array.dtype == np.float32 else np.float64
    array = _as_floats(array, dtype)
    _check_finite(array, name)
    check_extent(array, name)
    return array


def _as_floats(array: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
    """C-contiguous floats; what one cannot hold, of a wider float, is infinite and found as such."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def check_extent(points: np.ndarray, name: str) -> None:
    """Refuse points whose distances are beyond the largest float."""
    if not -FAR < float(points.min()) <= float(points.max()) < FAR:
        halves = points.max(axis=0) / 2 - points.min(axis=0) / 2
        with np.errstate(over="ignore"):
            length = 2 * halves.max() * np.linalg.norm(halves / max(halves.max(), 1.0))
        if not np.isfinite(length):
            raise InvalidValueError(
                f"{name} holds values from {points.min():g} to {points.max():g}, between which distances are "
                f"beyond 1.8e308, the largest number; divide {name} by 1e10: units do not matter."
            )


def check_distances(distances: Any, *, name: str = "X") -> np.ndarray | sparse.csr_array:
    """A distance matrix: square, finite, nonnegative, symmetric, zero on the diagonal.

    What rounding leaves of that, as in ``1 - numpy.corrcoef(X)``, is mended on a copy: values below 0 and
    on the diagonal become 0, and a distance that differs from its mirror image the mean of both.
    A sparse one keeps its explicit zeros (distances 0) and may leave pairs out (not neighbours); its
    diagonal is never read.
    """
    if sparse.issparse(distances):
        return _check_sparse_distances(distances, name)
    array = real_array(distances, name)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0:
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but metric='precomputed' needs a square distance matrix; "
            "scipy.spatial.distance.squareform turns a condensed one into it."
        )
    given, array = array, _as_floats(array)
    _check_finite(array, name)
    slack = rounding_of(given.dtype) * float(array.max())
    lowest, own = float(array.min()), np.diagonal(array)
    if lowest < -slack:
        i, j = np.unravel_index(np.argmin(array), array.shape)
        raise InvalidValueError(
            f"{name}[{i}, {j}] = {array[i, j]:g} is negative, but distances must be >= 0; "
            "turn similarities into distances first, for instance by max - similarity."
        )
    if (np.abs(own) > slack).any():
        row = int(np.argmax(np.abs(own) > slack))
        raise InvalidValueError(
            f"{name}[{row}, {row}] = {own[row]:g}, but the distance of a point to itself must be 0; "
            f"set the diagonal by numpy.fill_diagonal({name}, 0)."
        )
    symmetric = first_asymmetric_row(array) is None
    different = None if symmetric else first_asymmetric_row(array, slack)
    if different is not None:
        row, column = different, int(np.argmax(np.abs(array[different] - array[:, different])))
        raise _not_symmetric(name, row, column, array[row, column], array[column, row])
    if lowest < 0 or own.any() or not symmetric:
        if np.may_share_memory(array, given):
            array = array.copy()
        np.maximum(array, 0.0, out=array)
        np.fill_diagonal(array, 0.0)
        average_mirrored(array)
    return array


def check_affinity(
    affinity: Any, *, name: str = "affinity", symmetric: bool = True
) -> sparse.csr_array:
    """Affinities, sparse or dense, as a `csr_array`: square, finite, >= 0 and, if asked, symmetric.

    Entries that differ from their mirror image by rounding only are averaged.
    """
    if not sparse.issparse(affinity):
        affinity = real_array(affinity, name)
    elif affinity.dtype.kind not in "buif":
        raise not_real(name, affinity.dtype)
    shape = affinity.shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InvalidValueError(
            f"{name} has shape {shape}, but a square matrix of affinities is needed; "
            "a table of points goes in with the name of a graph, such as graph='knn'."
        )
    if sparse.issparse(affinity):
        matrix = checked_csr(affinity, name, np.float64)
    else:
        matrix = sparse.csr_array(affinity, dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # csr_array shares the caller's buffers
        matrix.sum_duplicates()
    _check_finite(matrix.data[:, None], f"{name}.data")
    if matrix.nnz and matrix.data.min() < 0:
        raise InvalidValueError(
            f"{name} holds the negative value {matrix.data.min():g}, but affinities must be >= 0; "
            "distances become affinities by Graph.from_scipy(distances).affinity()."
        )
    if symmetric and matrix.nnz:
        difference = abs(matrix - matrix.T)
        worst = difference.max()
        if worst > rounding_of(affinity.dtype) * matrix.data.max():
            at = int(np.argmax(difference.data))
            row = int(np.searchsorted(difference.indptr, at, side="right")) - 1
            column = int(difference.indices[at])
            raise _not_symmetric(
                name,
                row,
                column,
                matrix[row, column],
                matrix[column, row],
                "; distances to neighbours go in with graph='precomputed_distances'",
            )
        if worst > 0:
            matrix = (matrix + matrix.T) / 2
    return matrix


def check_count(
    value: Any, name: str, *, low: int = 1, high: int | None = None, remedy: str = ""
) -> int:
    """`value` as an int with ``low <= value <= high``, and never above what an int64 holds."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < low or value > (LARGEST_COUNT if high is None else high):
        beyond = whole and high is None and value > low
        wanted = f"an integer >= {low}" if high is None else f"an integer from {low} to {high}"
        wanted = f"an integer from {low} to 2**63 - 1" if beyond else wanted
        raise _error(whole, f"{name}={value!r}, but {wanted} is needed.", remedy)
    return int(value)


def check_real(
    value: Any,
    name: str,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    remedy: str = "",
) -> float:
    """`value` as a finite float in [low, high], or in (low, high] with ``open_low``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    number = as_float(value) if real else np.nan
    if not np.isfinite(number) or not low <= number <= high or (open_low and number == low):
        wanted = "a finite number"
        if low > -np.inf:
            wanted += f" {'>' if open_low else '>='} {low:g}"
        if high < np.inf:
            wanted += f"{' and' if low > -np.inf else ''} <= {high:g}"
        raise _error(real, f"{name}={value!r}, but {wanted} is needed.", remedy)
    return number


def as_float(value: Any) -> float:
    """A real number of any type as a float, infinite where a float cannot hold it."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def check_choice(value: Any, name: str, choices: Sequence[Any]) -> Any:
    """`value` if it is one of ``choices``."""
    if isinstance(value, str) and value in choices:
        return value
    raise _error(
        isinstance(value, str),
        f"{name}={value!r}, but one of {', '.join(map(repr, choices))} is needed.",
        "",
    )


def check_list(values: Any, name: str, what: str) -> list[Any]:
    """`values` as a list, of anything that can be iterated over but text and mappings."""
    if not isinstance(values, (str, bytes, Mapping)):
        with suppress(TypeError, NotImplementedError):
            return list(values)
    raise InvalidTypeError(f"{name}={values!r}, but a list of {what} is needed.")


def require_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse work that would not fit into the memory that is free now."""
    free = free_memory()
    if free is not None and n_bytes > free:
        raise InsufficientMemoryError(
            f"{what} needs about {n_bytes / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB of memory are free. "
            f"{remedy}"
        )


def not_real(name: str, dtype: np.dtype) -> TypeError:
    """The error about values of a dtype that are no real numbers."""
    remedy = (
        f"take {name}.real, or the modulus by abs({name}), if that is what counts."
        if dtype.kind == "c"
        else "encode or drop the columns that are not numeric."
    )
    return InvalidTypeError(f"{name} has dtype {dtype}, but real numbers are needed; {remedy}")


def _check_finite(array: np.ndarray, name: str) -> None:
    # The sum is a cheap first look without a mask as large as the array; it may overflow on finite data.
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind != "f" or np.isfinite(array.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(array)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InvalidValueError(
            f"{name} holds {int(bad.sum())} value(s) that are NaN or infinite, the first at "
            f"[{i}, {j}]; impute or drop them (sklearn.impute.SimpleImputer does)."
        )


def _check_sparse_distances(distances: Any, name: str) -> sparse.csr_array:
    if distances.shape[0] != distances.shape[1] or distances.shape[0] == 0:
        raise InvalidValueError(
            f"{name} has shape {distances.shape}, but metric='precomputed' needs a square matrix."
        )
    if distances.dtype.kind not in "buif":
        raise not_real(name, distances.dtype)
    matrix = checked_csr(distances, name, np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # csr_array shares the caller's buffers
        matrix.sum_duplicates()
    _check_finite(matrix.data[:, None], f"{name}.data")
    slack = rounding_of(distances.dtype) * float(matrix.data.max(initial=0.0))
    lowest = float(matrix.data.min(initial=0.0))
    if lowest < -slack:
        raise InvalidValueError(
            f"{name} holds the negative value {lowest:g}, but distances must be >= 0."
        )
    if lowest < 0:
        arrays = np.maximum(matrix.data, 0.0), matrix.indices, matrix.indptr
        matrix = sparse.csr_array(arrays, shape=matrix.shape)
    return with_averaged_pairs(matrix, slack)


def _not_symmetric(
    name: str, row: int, column: int, here: float, there: float, hint: str = ""
) -> ValueError:
    texts = next(
        texts
        for digits in (6, 10, 17)
        if (texts := (f"{here:.{digits}g}", f"{there:.{digits}g}"))[0] != texts[1]
    )
    return InvalidValueError(
        f"{name} is not symmetric: {name}[{row}, {column}] = {texts[0]} but "
        f"{name}[{column}, {row}] = {texts[1]}; average it as ({name} + {name}.T) / 2 "
        f"if it is meant to be{hint}."
    )


def _error(right_type: bool, message: str, remedy: str) -> Exception:
    text = f"{message} {remedy}".rstrip()
    return InvalidValueError(text) if right_type else InvalidTypeError(text)
