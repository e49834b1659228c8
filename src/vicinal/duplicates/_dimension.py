"""The dimension of the data around each row, from the distances to its neighbours."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

# Rows at a time: lists of a million rows take as much memory as the rows, so copies of them are avoided.
ROWS_PER_BLOCK = 1 << 14


def inverse_dimensions(radii: np.ndarray, counts: np.ndarray, first: int) -> np.ndarray:
    """Inverse of the dimension m around each row.

    For a Poisson process, log(r_K / r_j) has the expectation (1 / j + ... + 1 / (K - 1)) / m. The sum is
    digamma(K) - digamma(j).

    Parameters
    ----------
    radii : ndarray (n, length)
        Distances to the nearest neighbours of each row.
    counts : ndarray (length,) or (n, length)
        Expected number of ordinary rows up to each neighbour, which may be a duplicate.
    first : int
        Neighbours before this number of ordinary rows are not used, because they may be duplicates.
    """
    logs = np.log(np.maximum(radii, 1e-300))
    weights = np.diff(counts, axis=-1, prepend=0.0) * (counts >= first - 0.5)
    expected = digamma(counts[..., -1:]) - digamma(np.maximum(counts, 0.5))
    total = (weights * expected).sum(axis=-1)
    return np.asarray((weights * (logs[:, -1:] - logs)).sum(axis=1) / total)
