"""Scores of unusual rows from 0 to 1, in units of a boxplot of log distances, so that data sets compare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Fence of a boxplot, 1.5 interquartile ranges above the upper quartile, measured from the median.
FENCE = 2.0


def score_of(unusual: np.ndarray, is_labeled: np.ndarray) -> np.ndarray:
    """Scores in (0, 1) of rows whose log distances are this many interquartile ranges above the median.

    Scores are above 0.5 for labelled rows (noise or outliers) and below it for all others. At the fence of
    the boxplot the score is 0.25, or 0.75 for a labelled row.
    """
    beyond = unusual - FENCE
    # Strictly between 0 and 1, so that even the farthest points are ordered.
    return (0.5 + 0.5 * beyond / (1.0 + np.abs(beyond)) + is_labeled) / 2.0


class BoxplotScale(NamedTuple):
    """Median and interquartile range of the logarithms of nonnegative values.

    Zeros are replaced by ``lowest``, the smallest positive value.
    """

    lowest: float
    middle: float
    unit: float

    def units(self, values: np.ndarray) -> np.ndarray:
        """Logarithms minus the median, in interquartile ranges; 0 if all values are equal."""
        if self.unit == 0:
            return np.zeros(len(values))
        return (np.log(np.where(values > 0, values, self.lowest)) - self.middle) / self.unit


def fit_boxplot(values: np.ndarray) -> BoxplotScale:
    """Compute the scale of nonnegative values."""
    positive = values > 0
    if not positive.any():
        return BoxplotScale(1.0, 0.0, 0.0)
    lowest = values[positive].min()
    logs = np.log(np.where(positive, values, lowest))
    low, middle, high = np.quantile(logs, [0.25, 0.5, 0.75])
    unit = high - low
    # On a lattice, more than half of the values are equal: the range of all values is the unit.
    unit = unit if unit > 0 else np.ptp(logs)
    return BoxplotScale(float(lowest), float(middle), float(unit))


def boxplot_units(values: np.ndarray) -> np.ndarray:
    """Logarithms of nonnegative values minus their median, in units of the interquartile range."""
    return fit_boxplot(values).units(values)
