"""Partially known targets: NaN marks an unknown value, -1 an unknown class."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal._core.classes import check_length
from vicinal._core.warn import warn_user
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Reason why the label of a new point is unknown.
TOO_FAR = "they are far from all training points that labels reach"


def check_values(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return y as floats with NaN where unknown, and the mask of known rows."""
    if read_array(y, "y").dtype.kind == "c":
        raise InvalidValueError("Complex data not supported: y holds complex numbers.")
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValueError(
            "y must hold numbers, with NaN where unknown; use GraphClassifier for classes."
        ) from error
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] == 0):
        raise InvalidValueError(
            f"y has shape {values.shape}, but (n,) or (n, n_columns) is needed."
        )
    check_length(len(values), n)
    if n == 0:
        raise InvalidValueError("X and y have 0 points, but at least one labelled point is needed.")
    if np.isinf(values).any():
        raise InvalidValueError("Input y contains infinity; mark unknown values by NaN.")
    known = ~np.isnan(values)
    labelled = np.asarray(known.reshape(n, -1).all(axis=1))
    partly = known.reshape(n, -1).any(axis=1) & ~labelled
    if partly.any():
        raise InvalidValueError(
            f"y[{int(np.argmax(partly))}] is NaN in some columns only, but rows must be known or "
            "unknown as a whole; fit these columns separately."
        )
    if not labelled.any():
        raise InvalidValueError(
            "Input y contains only NaN, so no point is labelled; pass at least one value."
        )
    return values, labelled


def check_codes(y: Any, n: int) -> np.ndarray:
    """Return y as class codes, -1 where unknown."""
    codes = read_array(y, "y")
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"y has shape {codes.shape} and dtype {codes.dtype}, but a one-dimensional array "
            "of integers is needed: classes 0, 1, ..., and -1 where unknown."
        )
    check_length(len(codes), n)
    codes = codes.astype(np.int64)
    if codes.min() < -1 or codes.max() < 0:
        raise InvalidValueError(
            f"y ranges from {codes.min()} to {codes.max()}, but classes 0, 1, ... are needed, -1 where "
            "unknown, and at least one known class."
        )
    return codes


def decode_classes(classes: np.ndarray, codes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the classes of codes, and -1 where they are unknown.

    Unknown strings become "-1", which `encode_classes` rejects as a class. Booleans become 1 and 0.
    """
    labels = classes[codes]
    if known.all():
        return labels
    if classes.dtype.kind in "US":
        return np.where(known, labels, np.array("-1", dtype=classes.dtype.kind))
    if classes.dtype.kind == "b":
        labels = labels.astype(np.int64)
    elif classes.dtype.kind not in "iuf":
        labels = labels.astype(object)
    return np.where(known, labels, np.int8(-1) if labels.dtype != object else -1)


def frequencies(codes: np.ndarray) -> np.ndarray:
    """Frequency of each class among the labels."""
    counts = np.bincount(codes[codes >= 0])
    return counts / counts.sum()


def warn_unreached(reached: np.ndarray, default: str) -> None:
    """Warn about training points that no label reaches; ``default`` describes what they get instead."""
    if reached.all():
        return
    missed = np.flatnonzero(~reached)
    warn_user(
        f"no label reaches {len(missed):,} of {len(reached):,} points (the first is {missed[0]}); they get "
        f"{default}. Label a point in each component of the graph, or connect the components with "
        "Graph.connect() or graph='disjoint_mst', which is always connected.",
    )


def warn_unknown(known: np.ndarray, target: str, marker: str, reason: str) -> None:
    """Warn about new points whose ``target`` is unknown and marked by ``marker``."""
    if not known.all():
        missed = np.flatnonzero(~known)
        warn_user(
            f"the {target} of {len(missed):,} of {len(known):,} points is unknown ({marker}), the first is "
            f"X[{missed[0]}]: {reason}.",
        )


def count_points(X: Any) -> int:
    """Number of rows of a table or nodes of a graph, before anything is built."""
    from sklearn.utils.validation import _num_samples

    from vicinal.graphs.graph import Graph

    return X.n_nodes if isinstance(X, Graph) else _num_samples(X)
