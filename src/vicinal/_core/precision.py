"""Transformers that return float32 for float32 input, as scikit-learn expects.

Computations use double precision, so results agree with those for the same values in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags


class PreservesPrecision:
    """Mixin for transformers whose output is float32 for float32 input."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def like_input(values: np.ndarray, X: Any) -> np.ndarray:
    """Convert values to float32 if all of X is float32."""
    return values.astype(np.float32) if is_single(X) else values


def is_single(X: Any) -> bool:
    """Whether all values of an array, a sparse matrix or a DataFrame are float32."""
    dtypes = [X.dtype] if hasattr(X, "dtype") else list(getattr(X, "dtypes", []))
    return bool(dtypes) and all(dtype == np.float32 for dtype in dtypes)
