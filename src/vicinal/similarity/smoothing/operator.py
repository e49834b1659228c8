"""The self-smoothing operator: a similarity improved by diffusion along itself.

W_t = W P^t with P = D^-1 W equals D P^(t+1); for symmetric W it also equals D^1/2 S^(t+1) D^1/2 with the
normalised affinity S. The cheapest form is computed.

References
----------
[2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from vicinal._core.array_checks import check_points, real_array
from vicinal._core.matrix_checks import check_affinity
from vicinal._core.memory import require_memory
from vicinal._core.options import checked
from vicinal._core.scalar_checks import check_count, check_real
from vicinal._core.symmetry import rounding_tolerance
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing._dense import in_range, smooth_asymmetric, smooth_symmetric

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike

POSITIVE_DIAGONAL = (
    "Self-similarities must be positive: set the diagonal of the given similarities (W, X or sources), "
    "e.g. numpy.fill_diagonal(W, 1)."
)

# For larger t, powers of an eigenvalue 1 with its rounding error are noise.
MAX_STEPS = 1e12


@checked
def self_smooth(
    W: MatrixLike, t: float, *, normalize: bool = True, psd: bool = False, rank: int | None = None
) -> np.ndarray:
    """Similarity after t steps of self-smoothing, exact.

    Parameters
    ----------
    W : array or sparse matrix of shape (n, n)
        Similarities >= 0, symmetric or not. A row of zeros remains zero.
    t : float
        Number of steps, >= 0. For a fractional t, the real part of the fractional power is used, as in
        the reference.
    normalize : bool, default=True
        Whether to divide each row by its diagonal entry, so that self-similarities are 1, and clip entries
        above 1. The result is then asymmetric.
    psd : bool, default=False
        Whether to project the symmetric part of the result to the nearest positive semi-definite matrix, as
        kernel methods need.
    rank : int, optional
        Largest rank of this projection.

    Returns
    -------
    ndarray of shape (n, n)
        The smoothed similarity.

    See Also
    --------
    vicinal.similarity.SelfSmoothing : Sweeps over t, neighbours, new points, and large sparse matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.similarity import self_smooth
    >>> W = np.array([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]])
    >>> round(float(self_smooth(W, 1, normalize=False)[0, 2]), 3)
    0.289
    >>> self_smooth(W, 5).round(2)
    array([[1.  , 1.  , 0.93],
           [0.68, 1.  , 0.68],
           [0.93, 1.  , 1.  ]])
    """
    t = check_steps(t)
    if rank is not None and not psd:
        raise InvalidValueError(f"rank={rank!r} needs psd=True.")
    weights, symmetric = check_similarity(W)
    if sparse.issparse(weights):
        n = weights.shape[0]
        require_memory(
            32.0 * n * n, f"The smoothed similarity of {n:,} items", "Use SelfSmoothing."
        )
        weights = weights.toarray()
    weights, exponent = in_range(weights)
    smoothed = (smooth_symmetric if symmetric else smooth_asymmetric)(weights, t)
    if normalize:
        smoothed = self_normalize(smoothed, remedy=f"{POSITIVE_DIAGONAL} Or use normalize=False.")
    elif exponent:
        smoothed = np.ldexp(smoothed, exponent)
    return project_psd(smoothed, rank) if psd else smoothed


def self_normalize(
    smoothed: np.ndarray, items: np.ndarray | None = None, remedy: str = POSITIVE_DIAGONAL
) -> np.ndarray:
    """Rows divided by their diagonal entry and clipped at 1 (step 3)."""
    normalized = divide_by_diagonal(smoothed, items, remedy)
    return np.minimum(normalized, 1.0, out=normalized)


def divide_by_diagonal(
    smoothed: np.ndarray, items: np.ndarray | None = None, remedy: str = POSITIVE_DIAGONAL
) -> np.ndarray:
    """Rows divided by their diagonal entry: unclipped, so that items can be ranked without ties."""
    diagonal = np.diagonal(smoothed)
    check_self_similarity(diagonal, items, remedy)
    return smoothed / diagonal[:, None]


def check_self_similarity(
    diagonal: np.ndarray, items: np.ndarray | None = None, remedy: str = POSITIVE_DIAGONAL
) -> None:
    """Raise an error unless all self-similarities are positive and finite.

    Parameters
    ----------
    diagonal : ndarray (m,)
        Self-similarities.
    items : ndarray of int (m,), optional
        Their items, by default the first m.
    remedy : str
        What to do, appended to the message.
    """
    bad = ~((diagonal > 0) & np.isfinite(diagonal))
    if bad.any():
        first = int(np.argmax(bad))
        item = first if items is None else int(items[first])
        raise InvalidValueError(
            f"cannot self-normalise: after smoothing, {int(bad.sum())} item(s) have no positive "
            f"self-similarity, the first is {item} with {diagonal[first]:g}. {remedy}"
        )


def project_psd(matrix: np.ndarray, rank: int | None = None) -> np.ndarray:
    """Nearest positive semi-definite matrix to the symmetric part of a matrix (step 4), of limited rank."""
    values, vectors = positive_part(matrix, rank)
    factors = vectors * np.sqrt(values)
    return factors @ factors.T


def positive_part(matrix: np.ndarray, rank: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Positive eigenvalues of the symmetric part of a matrix, at most ``rank``, and their eigenvectors."""
    n = len(matrix)
    subset = None
    if rank is not None:
        rank = check_count(rank, "rank", high=n)
        subset = (n - rank, n - 1)
    symmetric = matrix / 2
    symmetric = symmetric + symmetric.T
    values, vectors = eigh(symmetric, overwrite_a=True, check_finite=False, subset_by_index=subset)
    positive = values > 0
    return values[positive], vectors[:, positive]


def check_steps(t: Any, name: str = "t") -> float:
    """A number of steps, >= 0."""
    remedy = "Smoothing cannot be inverted; t=0 leaves the input unchanged."
    return check_real(t, name, low=0.0, high=MAX_STEPS, remedy=remedy)


def check_similarity(W: Any, name: str = "W") -> tuple[Any, bool]:
    """Similarities as a finite nonnegative array or `csr_array`, and whether they are symmetric.

    Asymmetry due to rounding is removed by averaging.
    """
    if sparse.issparse(W):
        matrix = check_affinity(W, name=name, symmetric=False)
        difference = abs(matrix - matrix.T)
        worst = difference.max() if difference.nnz else 0.0
        largest = matrix.data.max() if matrix.nnz else 0.0
    else:
        W = real_array(W, name)
        shape = W.shape
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
            raise InvalidValueError(
                f"{name} has shape {shape}, but a square matrix of similarities is needed; "
                "smoothing_kernel computes one from distances."
            )
        matrix = check_points(W, name=name)
        if matrix.min() < 0:
            i, j = np.unravel_index(np.argmin(matrix), matrix.shape)
            raise InvalidValueError(
                f"{name}[{i}, {j}] = {matrix[i, j]:g} is negative, but similarities must be >= 0; shift "
                "them, or convert distances to similarities with smoothing_kernel."
            )
        _reject_distances(matrix, name)
        worst, largest = _asymmetry(matrix), matrix.max()
    if worst > rounding_tolerance(W.dtype) * largest:
        return matrix, False
    return ((matrix + matrix.T) / 2 if worst > 0 else matrix), True


def _reject_distances(matrix: np.ndarray, name: str) -> None:
    """Raise an error if the matrix is 0 on the diagonal and nowhere else: these must be distances."""
    n = len(matrix)
    if n > 2 and not np.diagonal(matrix).any() and np.count_nonzero(matrix) == n * (n - 1):
        raise InvalidValueError(
            f"{name} is 0 on the diagonal and nowhere else, like distances, but similarities are needed, "
            "which are largest there. For distances, use SelfSmoothing(metric='precomputed') or convert "
            "them with smoothing_kernel; for similarities, set the diagonal: "
            f"numpy.fill_diagonal({name}, 1)."
        )


def _asymmetry(matrix: np.ndarray, block: int = 1024) -> float:
    """Largest difference between an entry and its transposed entry."""
    worst = 0.0
    for start in range(0, len(matrix), block):
        strip = slice(start, start + block)
        worst = max(worst, float(np.abs(matrix[strip] - matrix[:, strip].T).max()))
    return worst
