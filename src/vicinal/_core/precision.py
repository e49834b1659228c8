"""Single precision in, single precision out: what scikit-learn expects of transformers.

Results are computed in double precision, so they agree with those of the same values in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags


class PreservesPrecision:
    """Mixin of transformers whose output is float32 for float32 input."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def like_input(values: np.ndarray, X: Any) -> np.ndarray:
    """`values` in float32 if all of X is float32, otherwise as they are."""
    return values.astype(np.float32) if is_single(X) else values


def is_single(X: Any) -> bool:
    """Whether X, an array, a sparse matrix or a DataFrame, holds float32 only."""
    kinds = [X.dtype] if hasattr(X, "dtype") else list(getattr(X, "dtypes", []))
    return bool(kinds) and all(kind == np.float32 for kind in kinds)
