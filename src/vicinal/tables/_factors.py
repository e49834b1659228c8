"""Factors that the columns of a table share.

If rows come in groups and columns depend on nothing else, the correlations between different columns have as
many factors as there are groups, less one. What a single column has beyond them says nothing about groups.
Factors are found as in joint correspondence analysis (Greenacre 1988): by principal axes of the correlations
between the indicators of different columns, without those within a column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

# Eigenvalues count if they exceed those of independently permuted columns by this factor (parallel analysis).
N_PERMUTATIONS, MARGIN = 10, 1.05
MAX_FACTORS = 30
# Smaller tables have no factors that could be told from chance.
MIN_ROWS = 20
# Rows that factors are estimated from, evenly spaced, and entries of their indicators.
MAX_ROWS, MAX_ENTRIES = 20_000, 20_000_000
# A column shares at most this much of its standard deviation with others, so that none determines a factor.
MAX_LOADING = 0.95
N_ITERATIONS = 20
# Larger matrices have only their leading eigenpairs computed.
DENSE_MAX_SIZE = 400


def shared_factors(indicators: Sequence[np.ndarray], known: np.ndarray) -> np.ndarray:
    """Loadings (n_indicators, n_factors) of the significant factors that columns share.

    Parameters
    ----------
    indicators : list of ndarray (n, q)
        Uncorrelated indicators of each column with mean 0 and variance 1; 0 where a value is missing.
    known : ndarray of bool (n, n_columns)
        Where values are not missing.
    """
    sizes = [block.shape[1] for block in indicators]
    n, total = len(known), sum(sizes)
    if n < MIN_ROWS or np.count_nonzero(sizes) < 2:
        return np.empty((total, 0))
    n_used = min(n, MAX_ROWS, max(MAX_ENTRIES // total, MIN_ROWS))
    used = np.linspace(0, n - 1, n_used).astype(np.int64)
    blocks = [block[used] for block in indicators]
    column_of = np.repeat(np.arange(len(sizes)), sizes)
    correlations = _between_columns(blocks, known[used], column_of)
    values = _leading(correlations, MAX_FACTORS)[0]
    n_factors = int(np.count_nonzero(values > MARGIN * _largest_by_chance(blocks, known[used])))
    return np.ascontiguousarray(_loadings(correlations, column_of, n_factors))


def _between_columns(
    blocks: Sequence[np.ndarray], known: np.ndarray, column_of: np.ndarray
) -> np.ndarray:
    """Correlations of indicators over the rows that have both columns; 0 within a column."""
    rows = np.hstack(blocks)
    present = known.astype(np.float64)
    counts = np.maximum(present.T @ present, 1.0)[np.ix_(column_of, column_of)]
    return np.where(column_of[:, None] == column_of, 0.0, rows.T @ rows / counts)


def _largest_by_chance(blocks: Sequence[np.ndarray], known: np.ndarray) -> float:
    """Largest eigenvalue after permuting each column by itself."""
    rng = np.random.default_rng(0)
    column_of = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    largest = 0.0
    for _ in range(N_PERMUTATIONS):
        orders = [rng.permutation(len(known)) for _ in blocks]
        permuted = [block[order] for block, order in zip(blocks, orders, strict=True)]
        present = np.column_stack([known[order, j] for j, order in enumerate(orders)])
        values = _leading(_between_columns(permuted, present, column_of), 1)[0]
        largest = max(largest, float(values[0]))
    return largest


def _loadings(correlations: np.ndarray, column_of: np.ndarray, n_factors: int) -> np.ndarray:
    """Principal axes of the correlations, completed within columns by what the axes themselves explain."""
    loadings = np.empty((len(correlations), n_factors))
    if not n_factors:
        return loadings
    completed = correlations.copy()
    columns = [np.flatnonzero(column_of == j) for j in np.unique(column_of)]
    for _ in range(N_ITERATIONS):
        values, vectors = _leading(completed, n_factors)
        loadings = vectors * np.sqrt(np.maximum(values, 0.0))
        for own in columns:
            left, strengths, right = np.linalg.svd(loadings[own], full_matrices=False)
            loadings[own] = left * np.minimum(strengths, MAX_LOADING) @ right
            completed[np.ix_(own, own)] = loadings[own] @ loadings[own].T
    return loadings


def _leading(matrix: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues, descending, and their vectors."""
    n = len(matrix)
    k = min(k, n)
    if n > DENSE_MAX_SIZE and k < n // 4:
        # A fixed start makes the result reproducible.
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(matrix, k, which="LA", v0=start)
        order = np.argsort(-values)
        return values[order], vectors[:, order]
    values, vectors = eigh(matrix, subset_by_index=[n - k, n - 1])
    return values[::-1], vectors[:, ::-1]
