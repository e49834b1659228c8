"""Rows of length 1: their squared Euclidean distances are twice the cosine distances of the rows."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from scipy import sparse

from vicinal.neighbors._exact import unit_vectors
from vicinal.neighbors._sparse_points import SparsePoints
from vicinal.neighbors.metric import as_metric

Rows = TypeVar("Rows", np.ndarray, sparse.csr_array)


def as_directions(X: Rows, name: str = "X") -> Rows:
    """Checked points, dense or sparse, scaled to length 1; raises for zero vectors."""
    if sparse.issparse(X):
        return SparsePoints(X, as_metric("cosine")).X
    return unit_vectors(X, name)
