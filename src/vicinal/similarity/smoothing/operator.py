"""The self-smoothing operator: a similarity improved by a diffusion along itself.

W_t = W P^t with P = D^-1 W is D P^(t+1), and for symmetric W it is D^1/2 S^(t+1) D^1/2 with the
normalised affinity S: which of them is computed, and how, is a matter of cost.

References
----------
[2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011.
"""

from __future__ import annotations

from typing import Any

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

SELF = "A thing is similar to itself: set the diagonal to 1 or another positive number."

# Beyond, the powers of what rounding leaves of an eigenvalue 1 are noise.
MAX_STEPS = 1e12


@checked
def self_smooth(
    W: Any, t: float, *, normalize: bool = True, psd: bool = False, rank: int | None = None
) -> np.ndarray:
    """Similarity after t steps of self-smoothing, exact.

    Parameters
    ----------
    W : array or sparse matrix of shape (n, n)
        Similarities >= 0, symmetric or not. A row of zeros stays one.
    t : float
        Number of steps, >= 0. A fractional one takes the real part of the fractional power, as the
        reference does.
    normalize : bool, default=True
        Divide each row by its diagonal entry, so that self-similarity is 1, and clamp what is above 1.
        This makes the result asymmetric.
    psd : bool, default=False
        Project the symmetric part of the result to the nearest positive semi-definite matrix, as a
        kernel method needs it.
    rank : int, optional
        Keep at most so many eigenvalues in this projection.

    Returns
    -------
    ndarray of shape (n, n)

    See Also
    --------
    SelfSmoothing : many t at once, neighbours, new points, and matrices that do not fit into memory.

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
        raise InvalidValueError(f"rank={rank!r} only means something with psd=True.")
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
        smoothed = self_normalize(smoothed, remedy=f"{SELF} Or give normalize=False.")
    elif exponent:
        smoothed = np.ldexp(smoothed, exponent)
    return project_psd(smoothed, rank) if psd else smoothed


def self_normalize(
    smoothed: np.ndarray, items: np.ndarray | None = None, remedy: str = SELF
) -> np.ndarray:
    """Rows divided by their diagonal entry, and clamped at 1 (step 3)."""
    normalized = divide_by_diagonal(smoothed, items, remedy)
    return np.minimum(normalized, 1.0, out=normalized)


def divide_by_diagonal(
    smoothed: np.ndarray, items: np.ndarray | None = None, remedy: str = SELF
) -> np.ndarray:
    """Rows divided by their diagonal entry: what ranks items where clamping makes ties."""
    own = np.diagonal(smoothed)
    check_self_similarity(own, items, remedy)
    return smoothed / own[:, None]


def check_self_similarity(
    own: np.ndarray, items: np.ndarray | None = None, remedy: str = SELF
) -> None:
    """Refuse self-similarities by which nothing can be divided.

    Parameters
    ----------
    own : ndarray (m,)
    items : ndarray of int (m,), optional
        Whose they are, by default those of the first m.
    remedy : str
        What to do about it.
    """
    bad = ~((own > 0) & np.isfinite(own))
    if bad.any():
        first = int(np.argmax(bad))
        item = first if items is None else int(items[first])
        raise InvalidValueError(
            f"self-normalisation is undefined: after smoothing, {int(bad.sum())} item(s) have no "
            f"similarity to themselves, the first is {item} with {own[first]:g}. {remedy}"
        )


def project_psd(matrix: np.ndarray, rank: int | None = None) -> np.ndarray:
    """The nearest positive semi-definite matrix to the symmetric part of a matrix (step 4).

    Parameters
    ----------
    matrix : ndarray (n, n)
    rank : int, optional
        Keep at most so many eigenvalues, the largest.
    """
    values, vectors = positive_part(matrix, rank)
    factors = vectors * np.sqrt(values)
    return factors @ factors.T


def positive_part(matrix: np.ndarray, rank: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues above 0 of the symmetric part of a matrix, at most ``rank``, and their vectors."""
    n = len(matrix)
    part = None
    if rank is not None:
        rank = check_count(rank, "rank", high=n)
        part = (n - rank, n - 1)
    symmetric = matrix / 2
    symmetric = symmetric + symmetric.T
    values, vectors = eigh(symmetric, overwrite_a=True, check_finite=False, subset_by_index=part)
    keep = values > 0
    return values[keep], vectors[:, keep]


def check_steps(t: Any, name: str = "t") -> float:
    """A number of steps, >= 0."""
    remedy = "Smoothing cannot be undone; 0 leaves the input as it is."
    return check_real(t, name, low=0.0, high=MAX_STEPS, remedy=remedy)


def check_similarity(W: Any, name: str = "W") -> tuple[Any, bool]:
    """Similarities as a finite nonnegative array or `csr_array`, and whether they are symmetric.

    Asymmetry by rounding only is averaged away.
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
                "smoothing_kernel makes one from distances."
            )
        matrix = check_points(W, name=name)
        if matrix.min() < 0:
            i, j = np.unravel_index(np.argmin(matrix), matrix.shape)
            raise InvalidValueError(
                f"{name}[{i}, {j}] = {matrix[i, j]:g} is negative, but similarities must be >= 0; shift "
                "them, or turn distances into similarities by smoothing_kernel."
            )
        _refuse_distances(matrix, name)
        worst, largest = _asymmetry(matrix), matrix.max()
    if worst > rounding_tolerance(W.dtype) * largest:
        return matrix, False
    return ((matrix + matrix.T) / 2 if worst > 0 else matrix), True


def _refuse_distances(matrix: np.ndarray, name: str) -> None:
    """Raise an error on what can only be distances: 0 on the diagonal, and nowhere else."""
    n = len(matrix)
    if n > 2 and not np.diagonal(matrix).any() and np.count_nonzero(matrix) == n * (n - 1):
        raise InvalidValueError(
            f"{name} is 0 on the diagonal and nowhere else, as distances are, but similarities are needed, "
            "which are largest there; SelfSmoothing(metric='precomputed') takes distances, and "
            "smoothing_kernel turns them into similarities. If these are similarities, set the diagonal: "
            f"numpy.fill_diagonal({name}, 1)."
        )


def _asymmetry(matrix: np.ndarray, block: int = 1024) -> float:
    """Largest difference of an entry and its mirror image."""
    worst = 0.0
    for start in range(0, len(matrix), block):
        strip = slice(start, start + block)
        worst = max(worst, float(np.abs(matrix[strip] - matrix[:, strip].T).max()))
    return worst
