"""What codes are computed from: points scaled to length 1, or to lengths near 1."""

from __future__ import annotations

import numpy as np

from vicinal._core.rescale import binary_exponent, normalize_magnitude
from vicinal.exceptions import InvalidValueError

# Points shorter than this times the longest count as zero.
ZERO_LENGTH = 1e-140


def code_points(points: np.ndarray, normalize: bool) -> tuple[np.ndarray, float]:
    """Points scaled to lengths near 1, or to length 1 if ``normalize``, and the scaling factor."""
    magnitude = float(np.abs(points).max(initial=0.0))
    check_no_zeros(zero_rows(points, normalize, magnitude))
    return code_directions(points, normalize, magnitude), code_unit(magnitude, normalize)


def zero_rows(points: np.ndarray, normalize: bool, magnitude: float) -> np.ndarray:
    """Rows without a direction; ``magnitude`` is the largest absolute value of all points."""
    largest = np.abs(points).max(axis=1, initial=0.0)
    return np.flatnonzero(largest <= (0.0 if normalize else ZERO_LENGTH * magnitude))


def check_no_zeros(rows: np.ndarray) -> None:
    """Reject rows without a direction."""
    if len(rows):
        row_list = ", ".join(map(str, rows[:10])) + (", ..." if len(rows) > 10 else "")
        raise InvalidValueError(
            f"X has {len(rows)} row(s) of zeros, row(s) {row_list}, but a point needs a direction to be "
            "represented by others; drop them, or shift the data."
        )


def code_directions(points: np.ndarray, normalize: bool, magnitude: float) -> np.ndarray:
    """Points as `code_points` scales them."""
    # Scaling by a power of two is exact, and squares neither overflow nor underflow.
    if normalize:
        scaled, _ = normalize_magnitude(points, axis=1)
        return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.ldexp(points, -binary_exponent(magnitude))


def code_unit(magnitude: float, normalize: bool) -> float:
    """Factor by which `code_points` scales all points."""
    return 1.0 if normalize else float(np.ldexp(1.0, -binary_exponent(magnitude)))
