"""The number of clusters, read off the spectrum."""

from __future__ import annotations

import numpy as np

# One cluster shows gaps too, the largest where it is long and thin: a circle 1.7, a rolled strip 2.4.
CLEAR = 2.5
# Eigenvalues this far below the largest known one are as good as 0.
FLOOR = 1e-4
# Above this the eigenvalues of a Laplacian crowd below 1 whatever the data: Weyl's law ends.
CROWDED = 0.6


def relative_gaps(eigenvalues: np.ndarray) -> np.ndarray:
    """How clearly the spectrum speaks for 1, 2, ... clusters.

    With mu_k = 1 - value_k, the k-th eigenvalue of the normalised Laplacian, a graph of k clusters has
    mu_k near 0 and mu_{k+1} far from it. What counts as far depends on the data: the eigenvalues of one
    smooth cluster of dimension d grow as k^(2/d) (Weyl's law), so a gap is the ratio mu_{k+1} / mu_k
    over the growth that the upper half of the spectrum shows, where it is not crowded.

    Parameters
    ----------
    eigenvalues : ndarray (m,)
        Largest eigenvalues of the normalised affinity, descending.

    Returns
    -------
    ndarray (m - 1,)
        Entry k - 1 is the gap of k clusters; the first is `CLEAR`, what others have to exceed.
    """
    mu = np.maximum(1.0 - np.asarray(eigenvalues, dtype=np.float64), 0.0)
    mu = np.maximum(mu, FLOOR * max(mu[-1], np.finfo(float).tiny))
    gaps = np.full(max(len(mu) - 1, 0), CLEAR)
    if len(mu) < 3:
        return gaps
    ks = np.arange(1, len(mu))
    free = ks[mu[ks] < CROWDED]
    # So few tell no growth: clear clusters, and nothing between 0 and the crowd.
    free = free if len(free) > 3 else ks
    upper = free[len(free) // 2 :]
    growth = 0.0
    if len(upper) > 1:
        growth = max(0.0, np.polyfit(np.log(upper), np.log(mu[upper]), 1)[0])
    gaps[1:] = mu[2:] / mu[1:-1] / (ks[1:] / ks[:-1]) ** growth
    return gaps


def n_clusters_by_gap(gaps: np.ndarray) -> int:
    """The number of clusters with the largest gap, the smallest such number at a tie."""
    return int(np.argmax(gaps)) + 1 if len(gaps) else 1
