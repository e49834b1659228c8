"""Columns as indicators: one per category, or one per stretch of numbers, which overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.tables._association import MIN_COUNT

# Numbers become piecewise linear functions of this many quantiles.
N_KNOTS = 5
# Indicators of rarer categories are pooled.
MAX_INDICATORS = 12
# Combinations of indicators that vary less, relative to the most variable one, are left out.
MIN_VARIANCE = 1e-3
# Knots closer than this fraction of their range are one.
MIN_GAP = 1e-15


class Indicators(NamedTuple):
    """Uncorrelated indicators of a column, with mean 0 and variance 1.

    Attributes
    ----------
    knots : ndarray or None
        Coordinates of the quantiles of a column of numbers.
    pooling : ndarray (n_categories, c) or None
        Indicators of the categories of a nominal column.
    mean : ndarray (c,)
        Mean of the indicators.
    whitening : ndarray (c, q)
        From indicators to uncorrelated ones.
    back : ndarray (q, c)
        From uncorrelated ones to indicators.
    """

    knots: np.ndarray | None
    pooling: np.ndarray | None
    mean: np.ndarray
    whitening: np.ndarray
    back: np.ndarray

    def encode(self, coordinates: np.ndarray) -> np.ndarray:
        """Uncorrelated indicators (n, q) of coordinates in units of the column; 0 where they are missing."""
        centered = self._raw(coordinates) - self.mean
        centered[np.isnan(coordinates[:, 0])] = 0.0
        return row_products(centered, self.whitening)

    def _raw(self, coordinates: np.ndarray) -> np.ndarray:
        if self.pooling is not None:
            return self.pooling[np.argmax(coordinates, axis=1)]
        assert self.knots is not None
        heights = np.eye(len(self.knots))
        return np.column_stack([np.interp(coordinates[:, 0], self.knots, h) for h in heights])


def row_products(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Rows times a matrix. Equal rows get equal bits, which a product of matrices does not guarantee."""
    return np.einsum("ij,jk->ik", rows, matrix, optimize=False)


def fit_indicators(coordinates: np.ndarray, is_nominal: bool) -> Indicators:
    """Indicators of a column, from its coordinates in units of the column; NaN where they are missing."""
    known = coordinates[~np.isnan(coordinates[:, 0])]
    knots, pooling = None, None
    if is_nominal:
        pooling = _pooling(np.count_nonzero(known, axis=0))
        width = pooling.shape[1]
    else:
        knots = np.unique(np.quantile(known[:, 0], np.linspace(0.0, 1.0, N_KNOTS)))
        # Interpolation between knots that coincide, compared with their range, would overflow.
        knots = knots[np.append(True, np.diff(knots) > MIN_GAP * np.ptp(knots))]
        width = len(knots)
    plain = Indicators(knots, pooling, np.zeros(width), np.eye(width), np.eye(width))
    raw = plain._raw(known)
    mean = raw.mean(axis=0)
    values, vectors = np.linalg.eigh((raw - mean).T @ (raw - mean) / len(raw))
    kept = values > max(MIN_VARIANCE * values.max(), 1e-12)
    scales = np.sqrt(values[kept])
    # In row order, so that sums have the same bits after the arrays were saved and read.
    return plain._replace(
        mean=mean,
        whitening=np.ascontiguousarray(vectors[:, kept] / scales),
        back=np.ascontiguousarray((vectors[:, kept] * scales).T),
    )


def _pooling(counts: np.ndarray) -> np.ndarray:
    """One indicator per frequent category, and one for all others."""
    order = np.argsort(-counts, kind="stable")
    frequent = order[: MAX_INDICATORS - 1]
    frequent = frequent[counts[frequent] >= MIN_COUNT]
    group = np.full(len(counts), len(frequent))
    group[frequent] = np.arange(len(frequent))
    return np.eye(len(frequent) + 1)[group]
