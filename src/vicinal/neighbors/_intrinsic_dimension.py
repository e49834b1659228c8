"""Intrinsic dimension of points, estimated from distances to their neighbours."""

from __future__ import annotations

import numpy as np


def maximum_likelihood_dimension(distances: np.ndarray) -> float:
    """Maximum likelihood estimate of the dimension from distances to the k nearest neighbours.

    The estimate of a row is the inverse mean of log(T_k / T_j) (Levina and Bickel 2004); the inverses
    are averaged over rows (MacKay and Ghahramani 2005). NaN without rows.
    """
    if len(distances) == 0 or distances.shape[1] < 2:
        return float("nan")
    mean = np.log(distances[:, -1:] / distances[:, :-1]).mean()
    return float(1.0 / mean) if mean > 0 else float("nan")


def two_nearest_dimension(distances: np.ndarray) -> float:
    """TwoNN estimate of the dimension from the ratio of the second to the first neighbour distance.

    The logarithm of the ratio is exponential with rate d (Facco et al. 2017); the largest tenth of the
    ratios, which outliers dominate, is ignored.
    """
    if len(distances) < 10:
        return float("nan")
    logs = np.sort(np.log(distances[:, 1] / distances[:, 0]))
    if logs[len(logs) // 2] == 0:
        return float("nan")
    n_used = int(0.9 * len(logs))
    quantiles = -np.log1p(-np.arange(1, n_used + 1) / len(logs))
    squared_norm = float(logs[:n_used] @ logs[:n_used])
    return float(logs[:n_used] @ quantiles / squared_norm) if squared_norm > 0 else float("nan")
