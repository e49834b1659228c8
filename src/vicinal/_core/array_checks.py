"""Validation of arrays and tables of points, done once, before any long computation.

Error messages name the argument and say what was given, what is needed and what to do.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.options import check_options
from vicinal._core.sparse import check_indices
from vicinal._core.tables import as_table
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Distances between points with larger coordinates may overflow.
MAX_SAFE_COORDINATE = 1e300
# Up to this number of values, a Python loop is faster than NumPy.
FEW_VALUES = 32


def real_array(values: Any, name: str) -> np.ndarray:
    """Convert values to an array of real numbers of any dtype and shape; an array is not copied."""
    array = read_array(values, name)
    if array.dtype.kind == "O":
        _reject_column_of_vectors(array, name)
        with suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "buif":
        raise not_real(name, array.dtype)
    return array


def _reject_column_of_vectors(array: np.ndarray, name: str) -> None:
    if array.size and isinstance(array.flat[0], (list, np.ndarray)):
        raise InvalidTypeError(
            f"{name} is a column with a vector in each row, but a table with a column per feature is needed; "
            f"pass numpy.stack({name}), or of a data frame numpy.stack of this column."
        )


def read_array(values: Any, name: str) -> np.ndarray:
    """Convert values to an array of any dtype; masked values and ragged rows are rejected."""
    if sparse.issparse(values):
        raise InvalidTypeError(
            f"{name} is a sparse matrix, but an array is needed: pass {name}.toarray() if it is small."
        )
    values = as_table(values, name)
    masked = isinstance(values, np.ma.MaskedArray)
    n_masked = int(np.ma.getmaskarray(values).sum()) if masked else 0
    if n_masked:
        raise InvalidValueError(
            f"{name} is a masked array in which {n_masked} value(s) are masked, but missing values are not "
            f"supported; fill them with {name}.filled(value), or drop their rows with "
            f"numpy.ma.compress_rows({name})."
        )
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidValueError(
            f"{name} is a {type(values).__name__} whose rows have different lengths or types, but all rows "
            "of a table need the same number of values; pad or truncate them."
        ) from error


def validate_input(model: Any, X: Any, **options: Any) -> Any:
    """Check the parameters of an estimator and its input, with scikit-learn's `validate_data`.

    Unlike scikit-learn, masked arrays and malformed sparse matrices are rejected.
    """
    check_options(model)
    reset = options.get("reset", True)
    if _is_finite_table(X) and len(X) >= options.get("ensure_min_samples", 1):
        # scikit-learn's own checks take several times as long as the search for the neighbours of one point.
        if reset:
            model.n_features_in_ = X.shape[1]
            model.__dict__.pop("feature_names_in_", None)
            return X
        if X.shape[1] == getattr(model, "n_features_in_", -1) and not hasattr(
            model, "feature_names_in_"
        ):
            return X
    from sklearn.utils.validation import validate_data

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
            "X contains numbers beyond 1.8e308, the largest float; rescale it."
        ) from error
    except ValueError as error:
        text = re.fullmatch(
            r"could not convert string to float: (?:np.str_\()?(.*?)\)?", str(error)
        )
        if text is None:
            raise
        raise InvalidValueError(
            f"X contains text, such as {text[1][:80]}, but numbers are needed; encode categories and dates "
            "with vicinal.TableEncoder, or drop their columns."
        ) from error


def _is_finite_table(X: Any) -> bool:
    """Whether X is an array of finite floats, one row per point, of which nothing but the size is unknown."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and _is_finite(X)
    )


def _is_finite(array: np.ndarray) -> bool:
    """Whether all values are finite."""
    if array.size <= FEW_VALUES:
        return all(map(math.isfinite, array.ravel().tolist()))
    return bool(np.isfinite(array).all())


def check_points(
    X: Any, *, name: str = "X", min_points: int = 1, dtype: Any = np.float64
) -> np.ndarray:
    """Convert X to a finite, C-contiguous (n, D) array of ``dtype``; the input is never changed.

    ``dtype=None`` keeps float32 and converts everything else to float64.
    """
    if type(X) is np.ndarray and X.dtype == np.float64 and dtype in (None, np.float64):
        valid = X.ndim == 2 and X.flags.c_contiguous and len(X) >= max(min_points, 1)
        if valid and X.size and _is_moderate(X):
            return X  # at a fraction of the cost of the checks below, for one query
    if sparse.issparse(X):
        raise InvalidTypeError(
            f"{name} is a sparse matrix, but points must be dense: pass {name}.toarray(), reduce it first "
            "(for instance with TruncatedSVD), or pass metric='precomputed' if it contains distances."
        )
    array = real_array(X, name)
    if array.ndim == 0:
        raise InvalidValueError(
            f"{name} is a single value of type {type(X).__name__}, but points need the shape (n_points, "
            "n_features)."
        )
    if array.ndim != 2:
        hint = f"{name}.reshape(-1, 1)" if array.ndim == 1 else f"{name}.reshape(len({name}), -1)"
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but a table of points (n_points, n_features) is needed; "
            f"use {hint} if there is one point per entry of the first axis."
        )
    n, d = array.shape
    if n < min_points or d < 1:
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but at least {min_points} point(s) and 1 feature are needed."
        )
    if dtype is None:
        dtype = np.float32 if array.dtype == np.float32 else np.float64
    array = as_floats(array, dtype)
    check_finite(array, name)
    check_extent(array, name)
    return array


def _is_moderate(points: Any) -> bool:
    """Whether all values are numbers below `MAX_SAFE_COORDINATE`; the minimum of values with NaN is NaN."""
    # As floats, because the limit is not a number in single precision.
    lowest, highest = float(points.min()), float(points.max())
    return -MAX_SAFE_COORDINATE < lowest <= highest < MAX_SAFE_COORDINATE


def as_floats(array: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
    """Convert to C-contiguous floats; values beyond the range of ``dtype`` become infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def check_extent(points: Any, name: str) -> None:
    """Reject points, dense or sparse, whose distances would overflow."""
    if _is_moderate(points):
        return
    lowest, highest = float(points.min()), float(points.max())
    low, high = points.min(axis=0), points.max(axis=0)
    if sparse.issparse(points):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    half_ranges = high / 2 - low / 2
    largest = half_ranges.max()
    with np.errstate(over="ignore"):
        diameter = 2 * largest * np.linalg.norm(half_ranges / max(largest, 1.0))
    if not np.isfinite(diameter):
        raise InvalidValueError(
            f"{name} contains values from {lowest:g} to {highest:g}, whose distances exceed 1.8e308, the "
            f"largest float; divide {name} by 1e10 (results do not depend on the unit)."
        )


def check_finite(array: np.ndarray, name: str) -> None:
    """Reject a 2-D array that contains NaN or infinite values."""
    # The sum is cheap and needs no mask as large as the array, but it may overflow on finite data.
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind != "f" or np.isfinite(array.sum(dtype=np.float64)):
            return
    invalid = ~np.isfinite(array)
    if invalid.any():
        i, j = np.argwhere(invalid)[0]
        raise InvalidValueError(
            f"{name} contains {int(invalid.sum())} value(s) that are NaN or infinite, the first at "
            f"[{i}, {j}]; impute them (for instance with sklearn.impute.SimpleImputer) or drop them."
        )


def not_real(name: str, dtype: np.dtype) -> TypeError:
    """Error for values that are not real numbers."""
    remedy = (
        f"take {name}.real or abs({name}), whichever is meant."
        if dtype.kind == "c"
        else "encode or drop the columns that are not numeric."
    )
    return InvalidTypeError(f"{name} has dtype {dtype}, but real numbers are needed; {remedy}")
