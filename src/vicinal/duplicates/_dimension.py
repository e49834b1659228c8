"""The dimension of the data around each row, from the distances to its neighbours."""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks

# Rows at a time: lists of a million rows take as much memory as the rows, so copies of them are avoided.
ROWS_PER_BLOCK = 1 << 14


def inverse_dimensions(radii: np.ndarray, first: int) -> np.ndarray:
    """Inverse of the dimension m around each row.

    For a Poisson process, log(r_K / r_j) has the expectation (1 / j + ... + 1 / (K - 1)) / m.

    Parameters
    ----------
    radii : ndarray (n, K)
        Distances to the K nearest neighbours of each row.
    first : int
        Neighbours before this one (counted from 1) are not used, because they may be duplicates.
    """
    harmonic = np.cumsum((1.0 / np.arange(1, radii.shape[1]))[::-1])[::-1][first - 1 :]
    inverse = np.empty(len(radii))
    for a, b in blocks(len(radii), ROWS_PER_BLOCK):
        logs = np.log(np.maximum(radii[a:b, first - 1 :], 1e-300))
        inverse[a:b] = (logs[:, -1:] - logs[:, :-1]).sum(axis=1) / harmonic.sum()
    return inverse
