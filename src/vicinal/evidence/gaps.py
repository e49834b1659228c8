"""The number of clusters, and the clusters, from the gaps between the eigenvalues of a graph."""

from __future__ import annotations

import numpy as np

from vicinal.evidence.constants import MIN_GAP

# Laplacian eigenvalues below this fraction of the largest known one count as 0.
ZERO_FRACTION = 1e-4
# Laplacian eigenvalues above this accumulate near 1 for any data, and Weyl's law no longer holds.
MAX_WEYL_EIGENVALUE = 0.6


def relative_gaps(eigenvalues: np.ndarray) -> np.ndarray:
    """Evidence of the spectrum for 1, 2, ... clusters.

    With mu_k = 1 - value_k, the k-th eigenvalue of the normalised Laplacian, a graph of k clusters has
    mu_k near 0 and a much larger mu_{k+1}. The eigenvalues of a single smooth cluster of dimension d grow
    as k^(2/d) (Weyl's law), so the gap is the ratio mu_{k+1} / mu_k divided by this growth, which is fitted
    to the upper half of the eigenvalues below `MAX_WEYL_EIGENVALUE`.

    Parameters
    ----------
    eigenvalues : ndarray (m,)
        Largest eigenvalues of the normalised affinity, descending.

    Returns
    -------
    ndarray (m - 1,)
        Entry k - 1 is the gap of k clusters. The first is `MIN_GAP`, which the others have to exceed.
    """
    mu = np.maximum(1.0 - np.asarray(eigenvalues, dtype=np.float64), 0.0)
    mu = np.maximum(mu, ZERO_FRACTION * max(mu[-1], np.finfo(float).tiny))
    gaps = np.full(max(len(mu) - 1, 0), MIN_GAP)
    if len(mu) < 3:
        return gaps
    ks = np.arange(1, len(mu))
    usable = ks[mu[ks] < MAX_WEYL_EIGENVALUE]
    # Three or fewer are not enough for a fit; then the clusters are well separated.
    usable = usable if len(usable) > 3 else ks
    upper = usable[len(usable) // 2 :]
    growth = 0.0
    if len(upper) > 1:
        growth = max(0.0, np.polyfit(np.log(upper), np.log(mu[upper]), 1)[0])
    gaps[1:] = mu[2:] / mu[1:-1] / (ks[1:] / ks[:-1]) ** growth
    return gaps


def n_clusters_by_gap(gaps: np.ndarray) -> int:
    """Number of clusters with the largest gap; ties go to the smaller number."""
    return int(np.argmax(gaps)) + 1 if len(gaps) else 1
