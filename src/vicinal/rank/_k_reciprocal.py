"""k-reciprocal re-ranking (Zhong et al. 2017) on neighbour lists."""

from __future__ import annotations

import numpy as np
from scipy import sparse

# k1, k2 and lambda of the reference.
N_RECIPROCAL, N_EXPANDED, ORIGINAL_WEIGHT = 20, 6, 0.3


class ReciprocalEncoding:
    """Encodings of gallery items by their k-reciprocal neighbours, compared by Jaccard distances."""

    def __init__(self, indices: np.ndarray, distances: np.ndarray) -> None:
        self.indices, self.distances = indices, distances
        self.k = min(N_RECIPROCAL, indices.shape[1])
        n = len(indices)
        self.unit = float(np.mean(distances[:, self.k - 1])) or 1.0
        rows = [self._encode(indices[i], distances[i], item=i) for i in range(n)]
        encoded = _stack(rows, n)
        expanded = sparse.csr_array(_averaging(indices[:, : N_EXPANDED - 1]) @ encoded)
        self.encoded = expanded
        self.sums = np.asarray(expanded.sum(axis=1)).ravel()
        self.columns = sparse.csc_array(expanded)

    def rank(
        self, indices: np.ndarray, distances: np.ndarray, item: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Candidates of a query and final distances, given its neighbours and, if it is one, its item."""
        if item is None:
            near, weights = self._encode(indices, distances, item=None)
            rows = indices[: N_EXPANDED - 1]
            own = sparse.csr_array((weights, near, [0, len(near)]), shape=(1, len(self.indices)))
            total = sparse.csr_array((own + self.encoded[rows].sum(axis=0)[None]) / (len(rows) + 1))
        else:
            total = self.encoded[[item]]
        shared = np.zeros(len(self.indices))
        columns = self.columns
        for at, weight in zip(total.indices, total.data, strict=True):
            span = slice(columns.indptr[at], columns.indptr[at + 1])
            np.add.at(shared, columns.indices[span], np.minimum(columns.data[span], weight))
        ids = np.union1d(np.flatnonzero(shared), indices)
        jaccard = 1.0 - shared[ids] / (self.sums[ids] + total.sum() - shared[ids])
        original = np.full(len(ids), distances[-1])
        original[np.searchsorted(ids, indices)] = distances
        final = (1 - ORIGINAL_WEIGHT) * jaccard + ORIGINAL_WEIGHT * original / self.unit
        return ids, final

    def distances_of_others(self, distances: np.ndarray) -> np.ndarray:
        """Final distances of items that share no neighbour with a query at these distances."""
        return (1 - ORIGINAL_WEIGHT) + ORIGINAL_WEIGHT * distances / self.unit

    def _encode(
        self, indices: np.ndarray, distances: np.ndarray, item: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Expanded k-reciprocal neighbours of a query, and their weights."""
        reciprocal = self._reciprocal(indices, distances, self.k, item)
        core = set(reciprocal.tolist())
        members = set(core)
        for other in reciprocal.tolist():
            theirs = self._reciprocal(
                self.indices[other], self.distances[other], self.k // 2, other
            ).tolist()
            if 3 * len(core.intersection(theirs)) >= 2 * len(theirs):
                members.update(theirs)
        near = np.array(sorted(members), np.int64)
        lengths = dict(zip(indices.tolist(), distances.tolist(), strict=True))
        if item is not None:
            lengths[item] = 0.0
        farthest = float(distances[-1])
        own = np.array([lengths.get(j, farthest) for j in near.tolist()])
        weights = np.exp(-own / self.unit)
        return near, weights / max(weights.sum(), 1e-300)

    def _reciprocal(
        self, indices: np.ndarray, distances: np.ndarray, k: int, item: int | None
    ) -> np.ndarray:
        """Neighbours among the k nearest whose own k nearest reach the query, and the query itself."""
        k = max(1, k)
        near = indices[:k]
        mutual = near[distances[:k] <= self.distances[near, k - 1]]
        return mutual if item is None else np.append(mutual, item)


def _averaging(indices: np.ndarray) -> sparse.csr_array:
    """Mean over each item and its first neighbours."""
    n, k = indices.shape
    columns = np.column_stack([np.arange(n), indices])
    weights = np.full(columns.size, 1.0 / (k + 1))
    return sparse.csr_array(
        (weights, columns.ravel(), np.arange(0, columns.size + 1, k + 1)), shape=(n, n)
    )


def _stack(rows: list[tuple[np.ndarray, np.ndarray]], n: int) -> sparse.csr_array:
    indptr = np.concatenate([[0], np.cumsum([len(near) for near, _ in rows])])
    near = np.concatenate([near for near, _ in rows])
    weights = np.concatenate([weights for _, weights in rows])
    return sparse.csr_array((weights, near, indptr), shape=(n, n))
