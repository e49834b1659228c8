"""Kernels of k-means: k-means++ centres, and Lloyd's iteration.

The rows are given as columns, and processed in batches, so that the inner loops run over contiguous numbers.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

ROWS_PER_BATCH = 256


@jit
def spread_centers(columns, first, uniforms, centers):
    """Choose centres far apart by k-means++, from random numbers given in advance.

    ``uniforms`` has one row per centre after the first, with one number for each candidate; the candidate
    that reduces the sum of squared distances most becomes the centre.
    """
    n = columns.shape[1]
    nearest, trial, best = np.full(n, np.inf), np.empty(n), np.empty(n)
    total = _reduce(columns, columns[:, first].copy(), nearest, nearest)
    centers[0] = columns[:, first]
    for c in range(1, len(centers)):
        chosen, smallest = 0, np.inf
        sums = np.cumsum(nearest)
        for t in range(uniforms.shape[1]):
            candidate = min(np.searchsorted(sums, uniforms[c - 1, t] * total), n - 1)
            potential = _reduce(columns, columns[:, candidate].copy(), nearest, trial)
            if t == 0 or potential < smallest:
                chosen, smallest = candidate, potential
                trial, best = best, trial
        nearest, best = best, nearest
        total = smallest
        centers[c] = columns[:, chosen]


@jit
def _reduce(columns, center, nearest, out):
    """Squared distances to the nearest of the former centres and a new one; returns their sum."""
    d, n = columns.shape
    squares = np.empty(ROWS_PER_BATCH)
    total = 0.0
    for start in range(0, n, ROWS_PER_BATCH):
        size = min(ROWS_PER_BATCH, n - start)
        squares[:] = 0.0
        for f in range(d):
            value, column = center[f], columns[f, start : start + size]
            for b in range(size):
                difference = column[b] - value
                squares[b] += difference * difference
        for b in range(size):
            out[start + b] = min(nearest[start + b], squares[b])
            total += out[start + b]
    return total


@jit
def lloyd(columns, centers, max_iter, tolerance, labels):
    """Iterate until the labels or, within ``tolerance``, the centres stay the same; returns the inertia.

    An empty cluster takes the row that is farthest from its centre.
    """
    d, n = columns.shape
    k = len(centers)
    labels[:] = -1
    old, counts = np.empty_like(centers), np.empty(k, np.int64)
    for _ in range(max_iter):
        if label_rows(columns, centers, labels) == 0:
            break
        old[:] = centers
        counts[:] = 0
        centers[:] = 0.0
        for i in range(n):
            counts[labels[i]] += 1
        for f in range(d):
            column = columns[f]
            for i in range(n):
                centers[labels[i], f] += column[i]
        if counts.min() == 0:
            _fill_empty(columns, old, centers, counts, labels)
        shift = 0.0
        for c in range(k):
            for f in range(d):
                if counts[c] > 0:
                    centers[c, f] /= counts[c]
                difference = centers[c, f] - old[c, f]
                shift += difference * difference
        if shift <= tolerance:
            label_rows(columns, centers, labels)
            break
    return squared_distances(columns, centers, labels).sum()


@jit
def label_rows(columns, centers, labels):
    """Set the labels to the nearest centres; returns the number of labels that changed."""
    n = columns.shape[1]
    # |row - centre|^2 / 2 without |row|^2 / 2, which is the same for all centres.
    halves = 0.5 * (centers * centers).sum(axis=1)
    best, winners = np.empty(ROWS_PER_BATCH), np.empty(ROWS_PER_BATCH, np.int64)
    n_changed = 0
    for start in range(0, n, ROWS_PER_BATCH):
        stop = min(start + ROWS_PER_BATCH, n)
        products = np.dot(centers, columns[:, start:stop].copy())
        best[:], winners[:] = np.inf, 0
        for c in range(len(centers)):
            half, product = halves[c], products[c]
            for b in range(stop - start):
                score = half - product[b]
                nearer = score < best[b]
                best[b] = score if nearer else best[b]
                winners[b] = c if nearer else winners[b]
        for b in range(stop - start):
            n_changed += labels[start + b] != winners[b]
            labels[start + b] = winners[b]
    return n_changed


@jit
def squared_distances(columns, centers, labels):
    """Squared distance of each row to the centre of its cluster."""
    d, n = columns.shape
    squares = np.zeros(n)
    for f in range(d):
        column = columns[f]
        for i in range(n):
            difference = column[i] - centers[labels[i], f]
            squares[i] += difference * difference
    return squares


@jit
def _fill_empty(columns, old, sums, counts, labels):
    """Move the rows farthest from their centres to empty clusters, in the sums and the counts."""
    squares = squared_distances(columns, old, labels)
    for c in range(len(counts)):
        if counts[c] > 0:
            continue
        farthest = np.argmax(squares)
        if squares[farthest] <= 0.0:
            return  # fewer distinct rows than clusters
        squares[farthest] = -1.0
        source = labels[farthest]
        counts[source] -= 1
        counts[c] = 1
        for f in range(len(columns)):
            sums[source, f] -= columns[f, farthest]
            sums[c, f] = columns[f, farthest]
