"""How much the columns of a table depend on each other.

Groups of rows show as dependence between columns: a column that is independent of every other one adds the
same noise to all distances. The strength of a pair is Cramér's V, corrected for the bias of small tables
(Bergsma 2013), of categories, or of numbers in quantile bins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.stats import chi2

# Maximum number of quantile bins for numbers.
MAX_BINS = 8
# Rarer categories are compared as one.
MIN_COUNT = 5
# Probability that a column which is independent of all others looks dependent.
SIGNIFICANCE = 0.01


def quantile_codes(numbers: np.ndarray) -> np.ndarray:
    """Bins of equal counts; -1 where a number is missing."""
    known = ~np.isnan(numbers)
    n_bins = int(np.clip(np.sqrt(known.sum() / MIN_COUNT), 2, MAX_BINS))
    # Halved, because the difference of two values may overflow.
    halves = numbers / 2.0
    edges = np.unique(np.quantile(halves[known], np.arange(1, n_bins) / n_bins))
    return np.where(known, np.searchsorted(edges, halves, side="left"), -1)


def pool_rare(codes: np.ndarray) -> np.ndarray:
    """Codes in which rare categories share one; -1 stays."""
    known = codes >= 0
    counts = np.bincount(codes[known])
    rare = counts < MIN_COUNT
    order = np.cumsum(~rare) - 1
    table = np.where(rare, (~rare).sum(), order)
    return np.where(known, table[np.where(known, codes, 0)], -1)


def association_strengths(codes: Sequence[np.ndarray]) -> np.ndarray:
    """Root of the sum of squared V of each column with the others, over significant pairs only."""
    d = len(codes)
    if d < 2:
        return np.zeros(d)
    sizes = [int(column.max()) + 1 for column in codes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    indicators = [_indicators(column, size) for column, size in zip(codes, sizes, strict=True)]
    everything = sparse.hstack(indicators, format="csr")
    squared = np.zeros((d, d))
    for i in range(d - 1):
        counts = (indicators[i].T @ everything).toarray()
        for j in range(i + 1, d):
            table = counts[:, starts[j] : starts[j + 1]]
            # Each column has d - 1 chances to look dependent.
            squared[i, j] = squared[j, i] = squared_v(table, SIGNIFICANCE / (d - 1))
    return np.sqrt(squared.sum(axis=1))


def depends_on_any(codes: np.ndarray, others: Sequence[np.ndarray]) -> bool:
    """Whether a column depends significantly on another one."""
    indicators = _indicators(codes, int(codes.max(initial=0)) + 1)
    return any(
        squared_v(
            (indicators.T @ _indicators(other, int(other.max(initial=0)) + 1)).toarray(),
            SIGNIFICANCE / len(others),
        )
        > 0
        for other in others
    )


def _indicators(codes: np.ndarray, size: int) -> sparse.csr_array:
    known = np.flatnonzero(codes >= 0)
    entries = (np.ones(len(known)), (known, codes[known]))
    return sparse.csr_array(entries, shape=(len(codes), size))


def squared_v(table: np.ndarray, significance: float) -> float:
    """Squared V of a contingency table, corrected for bias; 0 if the table may be that of chance."""
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    rows, columns = table.shape
    n = table.sum()
    if min(rows, columns) < 2 or n < 2:
        return 0.0
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / n
    statistic = float(((table - expected) ** 2 / expected).sum())
    freedom = (rows - 1) * (columns - 1)
    if chi2.sf(statistic, freedom) > significance:
        return 0.0
    excess = max(statistic / n - freedom / (n - 1), 0.0)
    corrected = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)) - 1
    return min(excess / corrected, 1.0) if corrected > 0 else 0.0
