"""Ranking from lists: smoothed similarities at several scales, and results that differ from each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse


class SimilarityLists(NamedTuple):
    """Most similar items of each gallery item at one scale, itself included, in single precision."""

    indices: np.ndarray
    similarities: np.ndarray

    def combine(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted sum of the similarities of some items: candidates, ascending, and their values."""
        ids, inverse = np.unique(self.indices[rows], return_inverse=True)
        values = self.similarities[rows] * weights[:, None]
        return ids, np.bincount(inverse.ravel(), values.ravel(), len(ids))

    def between(self, rows: np.ndarray) -> np.ndarray:
        """Similarities between the given items, 0 for those that are not in the lists."""
        order = np.argsort(rows)
        at = order[np.minimum(np.searchsorted(rows[order], self.indices[rows]), len(rows) - 1)]
        known = rows[at] == self.indices[rows]
        matrix = np.zeros((len(rows), len(rows)))
        i = np.nonzero(known)[0]
        matrix[i, at[known]] = self.similarities[rows][known]
        return np.maximum(matrix, matrix.T)


def with_self(similarities: np.ndarray, indices: np.ndarray) -> SimilarityLists:
    """Add each item, similarity 1, to the list of its neighbours."""
    n = len(indices)
    return SimilarityLists(
        np.column_stack([np.arange(n), indices]).astype(np.int32),
        np.column_stack([np.ones(n), similarities]).astype(np.float32),
    )


def mean_log_similarity(
    scales: list[SimilarityLists], rows: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Candidates, and the mean over scales of the logarithm of their combined similarity.

    A long walk finds the members of a cluster, a short one orders the nearest. Candidates that are missing at
    a scale count as half as similar as the least similar one that is listed.
    """
    parts = [scale.combine(rows, weights) for scale in scales]
    ids = np.unique(np.concatenate([part[0] for part in parts]))
    total = np.zeros(len(ids))
    for candidates, values in parts:
        positive = values > 0
        least = values[positive].min() if positive.any() else 1.0
        logs = np.full(len(ids), np.log(least / 2))
        logs[np.searchsorted(ids, candidates[positive])] = np.log(values[positive])
        total += logs
    return ids, total / len(scales)


def distance_matrix(indices: np.ndarray, distances: np.ndarray) -> sparse.csr_array:
    """Symmetric sparse distances from neighbour lists; the smaller of two distances of a pair."""
    n, k = indices.shape
    rows = np.repeat(np.arange(n), k)
    i, j = np.append(rows, indices.ravel()), np.append(indices.ravel(), rows)
    lengths = np.tile(distances.ravel(), 2)
    order = np.lexsort([lengths, j, i])
    i, j, lengths = i[order], j[order], lengths[order]
    first = np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1])) & (i != j)
    return sparse.csr_array((lengths[first], (i[first], j[first])), shape=(n, n))


def diversified(
    relevance: np.ndarray, similarity: np.ndarray, k: int, diversity: float
) -> np.ndarray:
    """Positions of k candidates by maximal marginal relevance, given relevance and similarity in [0, 1].

    Each next one maximizes (1 - diversity) relevance - diversity (largest similarity to those before it).
    """
    chosen: list[int] = []
    largest, open_ = np.zeros(len(relevance)), np.ones(len(relevance), np.bool_)
    for _ in range(k):
        merit = np.where(open_, (1 - diversity) * relevance - diversity * largest, -np.inf)
        best = int(merit.argmax())
        chosen.append(best)
        open_[best] = False
        largest = np.maximum(largest, similarity[best])
    return np.array(chosen, np.int64)
