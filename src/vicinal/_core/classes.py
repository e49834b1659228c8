"""Classes of points, with -1 where a class is unknown."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal._core.tables import homogeneous, is_null
from vicinal.exceptions import InvalidTypeError, InvalidValueError


def encode_classes(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes in y, and the code of the class of each point, -1 where y is -1."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    # NumPy would convert a list of strings and -1 to strings.
    if isinstance(y, (list, tuple)) and any(isinstance(value, str) for value in y):
        y = np.array(y, dtype=object)
    if isinstance(y, np.ma.MaskedArray):
        y = read_array(y, "y")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "V":
        raise InvalidTypeError(
            f"y has dtype {labels.dtype}, but one class per point is needed; pass one of its fields."
        )
    check_length(len(labels), n)
    if any(is_null(label) for label in labels.tolist()):
        raise InvalidValueError(
            "Input y contains NaN, None or NA; mark unknown classes by -1, for a pandas column with "
            "y.astype(object).fillna(-1)."
        )
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise InvalidValueError(
            "Input y contains infinity, which is not a class; mark unknown classes by -1."
        )
    if labels.dtype.kind == "f" and float(np.abs(labels).max(initial=0.0)) >= 2**53:
        raise InvalidValueError(
            f"y holds {labels[np.argmax(np.abs(labels))]:g}, but float classes must be whole numbers "
            "below 2**53; convert them to integers or strings."
        )
    if labels.dtype.kind == "O":
        unknown = np.array([not isinstance(label, str) and label == -1 for label in labels])
    elif labels.dtype.kind in "US":
        unknown = np.zeros(n, dtype=bool)
    else:
        unknown = labels == -1
    known = labels[~unknown]
    if len(known) == 0:
        raise InvalidValueError(
            "y contains only -1, so no point is labelled; pass the class of at least one point."
        )
    if known.dtype.kind == "O":
        known = homogeneous(known, "y")
    check_classification_targets(known)
    if known.dtype.kind in "US" and "-1" in known.astype(str):
        raise InvalidValueError(
            "y holds the string '-1', but the number -1 marks unknown classes; use an array of "
            "dtype object."
        )
    classes, known_codes = np.unique(known, return_inverse=True)
    codes = np.full(n, -1)
    codes[~unknown] = known_codes
    return classes, codes


def check_length(length: int, n: int) -> None:
    if length != n:
        raise InvalidValueError(
            f"y has {length} value(s), but X has {n} point(s); pass one value per point, and mark "
            "unknown ones."
        )
