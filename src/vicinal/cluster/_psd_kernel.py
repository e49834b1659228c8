"""Kernel matrices: checking that they are positive semi-definite, and projection to the nearest that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky
from scipy.sparse.linalg import eigsh

from vicinal._core.memory import require_memory
from vicinal._core.warn import warn_user
from vicinal.cluster._kernel_kmeans import FactoredKernel, FullKernel, Kernel, SparseKernel
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing.operator import positive_part

if TYPE_CHECKING:
    from vicinal._core.types import SparseMatrix

# Negative eigenvalues up to this fraction of the largest diagonal entry count as rounding errors.
ROUNDING = 1e-8
# Effective rank per cluster above which k-means missed most clusters in nearly all similarities that were
# smoothed for retrieval.
MAX_RANK_RATIO = 5.0


def positive_kernel(
    matrix: np.ndarray | SparseMatrix, psd: str, n_clusters: int
) -> tuple[Kernel, np.ndarray | None]:
    """Check a kernel matrix, or project it to the nearest PSD matrix; also returns the projection basis."""
    n = matrix.shape[0]
    if psd == "project":
        require_memory(
            32.0 * n * n,
            f"The projection of {n:,} items",
            "Pass a positive semi-definite kernel with psd='check'.",
        )
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        values, vectors = positive_part(dense)
        _warn_if_spread(values, n_clusters)
        factors = vectors * np.sqrt(values)
        if 4 * factors.shape[1] < n:
            return FactoredKernel(factors), vectors
        return FullKernel(factors @ factors.T), vectors
    difference = abs(matrix - matrix.T)
    if difference.max() > 1e-10 * abs(matrix).max():
        raise InvalidValueError(
            "X is not symmetric, so it is not a kernel; for a self-smoothed similarity use psd='project', "
            "which takes the kernel nearest to its symmetric part."
        )
    smallest = _negative_eigenvalue(matrix)
    if smallest is not None:
        raise InvalidValueError(
            f"X has the eigenvalue {smallest:.3g}, so it is not positive semi-definite and k-means may not "
            "converge; psd='project' uses the nearest kernel that is."
        )
    if sparse.issparse(matrix):
        return SparseKernel(sparse.csr_array(matrix)), None
    return FullKernel(np.ascontiguousarray(matrix)), None


def _warn_if_spread(values: np.ndarray, n_clusters: int) -> None:
    """Warn if the effective rank of a kernel is far larger than the number of clusters."""
    squares = float(np.square(values).sum())
    rank = float(values.sum()) ** 2 / squares if squares > 0 else 0.0
    if rank > MAX_RANK_RATIO * n_clusters:
        warn_user(
            f"the kernel has an effective rank of about {rank:.0f}, far more than n_clusters={n_clusters}, "
            "so k-means may miss the clusters. If it is a smoothed similarity, smooth it for clusters: "
            f"SelfSmoothing(n_clusters={n_clusters})."
        )


def _negative_eigenvalue(matrix: np.ndarray | SparseMatrix) -> float | None:
    """Approximate smallest eigenvalue of a symmetric matrix if it is clearly negative, otherwise None."""
    n = matrix.shape[0]
    allowed = ROUNDING * float(np.abs(matrix.diagonal()).max())
    is_sparse = not isinstance(matrix, np.ndarray)
    if is_sparse and abs(matrix).max() == 0:
        return None
    if is_sparse and n > 100:
        start = np.random.default_rng(0).standard_normal(n)
        smallest = float(
            eigsh(matrix, 1, which="SA", v0=start, tol=1e-4, return_eigenvectors=False)[0]
        )
        return smallest if smallest < -max(allowed, ROUNDING * abs(matrix).max()) else None
    dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    # Much cheaper than eigenvalues: a matrix with a Cholesky factor is positive definite.
    shifted = dense.copy()
    shifted[np.diag_indices(n)] += max(allowed, np.finfo(float).tiny)
    try:
        cholesky(shifted, overwrite_a=True, check_finite=False)
        return None
    except LinAlgError:
        return float(np.linalg.eigvalsh(dense)[0])
