"""Kernel that ranks the gallery for queries, from the lists of the items near them."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.similarity.smoothing._selection_kernels import sort_descending


@jit
def rank_queries(starts, weights, near, own, items, similarities, keep_nearest, start, stop, out):
    """Best items for queries ``start`` to ``stop``.

    The score of item j is sum_a w_a c(a, j) over the items a near a query, divided by the length of the
    query. Items near a query that no list contains follow by distance, with score 0.
    """
    indices, scores, counts = out
    n, size = len(items), indices.shape[1]
    capacity = min(n, starts.shape[1] * items.shape[1])
    sums, sorted_sums, touched = np.zeros(n), np.empty(capacity), np.empty(capacity, np.int64)
    for q in range(start, stop):
        n_touched = 0
        for e in range(starts.shape[1]):
            a, weight = starts[q, e], weights[q, e]
            for f in range(items.shape[1]):
                value = weight * similarities[a, f]
                if value > 0.0:
                    j = items[a, f]
                    if sums[j] == 0.0:
                        touched[n_touched] = j
                        n_touched += 1
                    sums[j] += value
        squared = 0.0
        for e in range(starts.shape[1]):
            squared += weights[q, e] * sums[starts[q, e]]
        length = np.sqrt(squared) if squared > 0.0 else 1.0
        for e in range(n_touched):
            sorted_sums[e] = sums[touched[e]]
        sort_descending(sorted_sums, touched, n_touched)
        nearest = -1
        for e in range(near.shape[1]):
            if near[q, e] != own[q]:
                nearest = near[q, e]
                break
        n_ranked = 0
        if keep_nearest and nearest >= 0:
            indices[q, 0] = nearest
            # Not below the others, so that scores descend.
            best = 0.0
            for e in range(min(n_touched, 2)):
                if touched[e] != own[q]:
                    best = max(best, sums[touched[e]])
            scores[q, 0] = min(1.0, best / length)
            n_ranked = 1
        else:
            nearest = -1
        for e in range(n_touched):
            j = touched[e]
            if n_ranked < size and j != own[q] and j != nearest:
                indices[q, n_ranked], scores[q, n_ranked] = j, min(1.0, sums[j] / length)
                n_ranked += 1
        for e in range(near.shape[1]):
            j = near[q, e]
            if n_ranked < size and j != own[q] and j != nearest and sums[j] == 0.0:
                indices[q, n_ranked], scores[q, n_ranked] = j, 0.0
                n_ranked += 1
        counts[q] = n_ranked
        for e in range(n_touched):
            sums[touched[e]] = 0.0
