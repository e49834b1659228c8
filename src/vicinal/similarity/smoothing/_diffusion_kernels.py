"""Kernels for lists of similar walks, from pruned powers of a transition matrix."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.similarity.smoothing._selection_kernels import sort_descending

# Smaller cosines are rounding errors of the powers, which order nothing.
ROUNDING = 1e-9


@jit
def squared_lengths(items, values, counts, sums, start, stop, out):
    """d_i sum_j P[i, j]^2 / d_j of rows ``start`` to ``stop``: the diagonal of the square of P."""
    for i in range(start, stop):
        total = 0.0
        for e in range(counts[i]):
            value = np.float64(values[i, e])
            total += value * value / sums[items[i, e]]
        out[i] = total * sums[i]


@jit
def most_similar(
    candidates,
    n_candidates,
    items,
    values,
    counts,
    norms,
    sums,
    start,
    stop,
    ids,
    out_items,
    out_cosines,
):
    """Cosines of the rows of a power with those of candidates: the largest of rows ``start`` to ``stop``.

    Cosines near 1 are compared by differences that single precision would lose, so they are summed in double
    precision over the rows of both items: errors of the entries then matter to second order only. Node i of
    the power is item ``ids[i]``.
    """
    n_listed, row = out_items.shape[1] - 1, np.zeros(len(sums))
    others, cosines = np.empty(candidates.shape[1], np.int64), np.empty(candidates.shape[1])
    for i in range(start, stop):
        for e in range(counts[i]):
            k = items[i, e]
            row[k] = np.float64(values[i, e]) / (sums[k] * norms[i])
        n_found = 0
        for e in range(n_candidates[i]):
            j = np.int64(candidates[i, e])
            if j == i:
                continue
            total = 0.0
            for f in range(counts[j]):
                total += row[items[j, f]] * values[j, f]
            cosine = min(1.0, total / norms[j])
            if cosine > ROUNDING:
                others[n_found], cosines[n_found] = ids[j], cosine
                n_found += 1
        sort_descending(cosines, others, n_found)
        item = ids[i]
        out_items[item, 0], out_cosines[item, 0] = item, 1.0
        for e in range(min(n_found, n_listed)):
            out_items[item, e + 1], out_cosines[item, e + 1] = others[e], cosines[e]
        for e in range(counts[i]):
            row[items[i, e]] = 0.0
