"""From scores to decisions: which rows are outliers, and how often that is wrong."""

from __future__ import annotations

import numpy as np

# False discovery rate of the automatic threshold, if the tail of the scores is exponential or lighter.
AUTO_RATE = 0.1


def tail_threshold(scores: np.ndarray) -> float:
    """Score beyond which rows are outliers, if inliers fall off beyond the median as fast as up to the
    upper quartile.

    Under this exponential tail, a score s has the p-value ``exp(-(s - median) log 2 / (quartile -
    median)) / 2``, and the procedure of Benjamini and Hochberg rejects the rows above the threshold.
    """
    middle, upper = np.quantile(scores, [0.5, 0.75])
    # Where a quarter of the rows or more share the median, the range of all is the unit.
    unit = float(upper - middle) or float(scores.max() - middle)
    n = len(scores)
    with np.errstate(divide="ignore", over="ignore"):
        beyond = (np.sort(scores)[::-1] - middle) / unit if unit > 0 else np.zeros(n)
        p_values = 0.5 * np.exp2(-beyond)
    n_rejected = np.flatnonzero(p_values <= AUTO_RATE * np.arange(1, n + 1) / n)
    level = AUTO_RATE * (n_rejected[-1] + 1 if len(n_rejected) else 1) / n
    return float(middle - unit * np.log2(2.0 * level))


def conformal_p_values(calibration: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Fraction of the calibration rows, and the row itself, with at least this score (``calibration``
    ascends)."""
    n = len(calibration)
    return (1.0 + n - np.searchsorted(calibration, scores, side="left")) / (n + 1.0)


def rejected(p_values: np.ndarray, rate: float) -> np.ndarray:
    """Rows that Benjamini and Hochberg reject at a false discovery rate."""
    ordered = np.sort(p_values)
    n = len(ordered)
    passed = np.flatnonzero(ordered <= rate * np.arange(1, n + 1) / n)
    return p_values <= (ordered[passed[-1]] if len(passed) else -1.0)
