"""Zero vectors, which have no cosine distance to others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal.exceptions import InvalidValueError


def largest_magnitudes(X: Any, name: str) -> np.ndarray:
    """Largest absolute value in each row of points, dense or sparse; raises for zero vectors."""
    if sparse.issparse(X):
        largest = np.asarray(abs(X).max(axis=1).toarray()).ravel()
    else:
        largest = np.maximum(X.max(axis=1), -X.min(axis=1)).astype(np.float64)
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        raise InvalidValueError(
            f"metric='cosine', but {len(zero)} row(s) of {name} are zero vectors, which have no "
            f"direction, the first at {zero[:5].tolist()}; drop these rows or use metric='euclidean'."
        )
    return largest
