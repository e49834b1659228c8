"""The dimension of the data around each row, from the distances to its neighbours."""

from __future__ import annotations

import numpy as np


def inverse_dimensions(log_radii: np.ndarray, first: int) -> np.ndarray:
    """Inverse of the dimension m around each row.

    For a Poisson process, log(r_K / r_j) has the expectation (1 / j + ... + 1 / (K - 1)) / m.

    Parameters
    ----------
    log_radii : ndarray (n, K)
        Logarithms of the distances to the K nearest neighbours of each row.
    first : int
        Neighbours before this one (counted from 1) are not used, because they may be duplicates.
    """
    harmonic = np.cumsum((1.0 / np.arange(1, log_radii.shape[1]))[::-1])[::-1][first - 1 :]
    return (log_radii[:, -1:] - log_radii[:, first - 1 : -1]).sum(axis=1) / harmonic.sum()
