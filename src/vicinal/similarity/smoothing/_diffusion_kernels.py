"""Kernels for lists of similar walks, from pruned powers of a transition matrix."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


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
    positions,
    out_items,
    out_cosines,
):
    """Cosines of the rows of a power with those of candidates: the largest of rows ``start`` to ``stop``.

    Cosines near 1 are compared by differences that single precision would lose, so they are summed in double
    precision over the rows of both items: errors of the entries then matter to second order only. Node i of
    the power is item ``ids[i]``, and item j is node ``positions[j]``.
    """
    n_listed = out_items.shape[1] - 1
    row, found = np.zeros(len(sums)), np.empty(candidates.shape[1], np.int64)
    for i in range(start, stop):
        for e in range(counts[i]):
            k = items[i, e]
            row[k] = np.float64(values[i, e]) / (sums[k] * norms[i])
        n_found = 0
        for e in range(n_candidates[i]):
            j = np.int64(candidates[i, e])
            if j != i:
                found[n_found] = ids[j]
                n_found += 1
        others = np.sort(found[:n_found])
        cosines = np.zeros(n_found)
        for c in range(n_found):
            j = positions[others[c]]
            total = 0.0
            for e in range(counts[j]):
                total += row[items[j, e]] * values[j, e]
            cosines[c] = min(1.0, total / norms[j]) if total > 0.0 else 0.0
        order = np.argsort(-cosines, kind="mergesort")
        item = ids[i]
        out_items[item, 0], out_cosines[item, 0] = item, 1.0
        for e in range(min(n_found, n_listed)):
            if cosines[order[e]] > 0.0:
                out_items[item, e + 1] = others[order[e]]
                out_cosines[item, e + 1] = cosines[order[e]]
        for e in range(counts[i]):
            row[items[i, e]] = 0.0
