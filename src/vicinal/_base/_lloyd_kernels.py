"""Kernels of k-means: k-means++ centres, and Lloyd's iteration.

The rows are given as columns, and processed in batches, so that the inner loops run over contiguous numbers.
Loops are written out: functions of numpy, such as matrix products, would take seconds to compile. Kernels
that are called in one place are inlined there, so that they are not compiled by themselves as well.
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
    nearest, trial, best = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        nearest[i] = np.inf
    center = np.empty(len(columns))
    total = 0.0
    for c in range(len(centers)):
        smallest = np.inf
        for t in range(uniforms.shape[1] if c > 0 else 1):
            candidate = first
            if c > 0:
                candidate = _candidate(nearest, uniforms[c - 1, t] * total)
            potential = _reduce(columns, candidate, center, nearest, trial)
            if t == 0 or potential < smallest:
                smallest = potential
                trial, best = best, trial
                for f in range(len(center)):
                    centers[c, f] = center[f]
        nearest, best = best, nearest
        total = smallest


@jit(inline="always")
def _candidate(nearest, threshold):
    """First row at which the sum of the squared distances reaches a threshold."""
    total = 0.0
    for i in range(len(nearest)):
        total += nearest[i]
        if total >= threshold:
            return i
    return len(nearest) - 1


@jit(inline="always")
def _reduce(columns, row, center, nearest, out):
    """Squared distances to the nearest of the former centres and a row, the new centre; returns their sum."""
    d, n = columns.shape
    squares = np.empty(ROWS_PER_BATCH)
    total = 0.0
    for start in range(0, n, ROWS_PER_BATCH):
        size = min(ROWS_PER_BATCH, n - start)
        for b in range(size):
            squares[b] = 0.0
        for f in range(d):
            center[f] = value = columns[f, row]
            column = columns[f, start : start + size]
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
    for i in range(n):
        labels[i] = -1
    old, counts, squares = np.empty((k, d)), np.empty(k, np.int64), np.empty(n)
    settled = False
    for step in range(max_iter + 1):
        n_changed = label_rows(columns, centers, labels)
        if n_changed == 0 or settled or step == max_iter:
            break
        for c in range(k):
            counts[c] = 0
            for f in range(d):
                old[c, f] = centers[c, f]
                centers[c, f] = 0.0
        for i in range(n):
            counts[labels[i]] += 1
        for f in range(d):
            column = columns[f]
            for i in range(n):
                centers[labels[i], f] += column[i]
        _fill_empty(columns, old, centers, counts, labels, squares)
        shift = 0.0
        for c in range(k):
            for f in range(d):
                if counts[c] > 0:
                    centers[c, f] /= counts[c]
                difference = centers[c, f] - old[c, f]
                shift += difference * difference
        settled = shift <= tolerance
    return squared_distances(columns, centers, labels, squares)


@jit(inline="always")
def label_rows(columns, centers, labels):
    """Set the labels to the nearest centres; returns the number of labels that changed."""
    d, n = columns.shape
    scores, best = np.empty(ROWS_PER_BATCH), np.empty(ROWS_PER_BATCH)
    winners = np.empty(ROWS_PER_BATCH, np.int64)
    n_changed = 0
    for start in range(0, n, ROWS_PER_BATCH):
        size = min(ROWS_PER_BATCH, n - start)
        stop = start + size
        for c in range(len(centers)):
            # |row - centre|^2 / 2 without |row|^2 / 2, which is the same for all centres.
            half = 0.0
            for f in range(d):
                half += 0.5 * centers[c, f] * centers[c, f]
            for b in range(size):
                scores[b] = half
            # Four columns at a time, so that scores are loaded and stored less often.
            for f in range(0, d - d % 4, 4):
                u, v = centers[c, f], centers[c, f + 1]
                w, z = centers[c, f + 2], centers[c, f + 3]
                first, second = columns[f, start:stop], columns[f + 1, start:stop]
                third, fourth = columns[f + 2, start:stop], columns[f + 3, start:stop]
                for b in range(size):
                    scores[b] -= u * first[b] + v * second[b] + w * third[b] + z * fourth[b]
            for f in range(d - d % 4, d):
                value, column = centers[c, f], columns[f, start:stop]
                for b in range(size):
                    scores[b] -= value * column[b]
            for b in range(size):
                nearer = c == 0 or scores[b] < best[b]
                best[b] = scores[b] if nearer else best[b]
                winners[b] = c if nearer else winners[b]
        for b in range(size):
            n_changed += labels[start + b] != winners[b]
            labels[start + b] = winners[b]
    return n_changed


@jit
def squared_distances(columns, centers, labels, squares):
    """Squared distance of each row to the centre of its cluster; returns their sum."""
    d, n = columns.shape
    for i in range(n):
        squares[i] = 0.0
    for f in range(d):
        column = columns[f]
        for i in range(n):
            difference = column[i] - centers[labels[i], f]
            squares[i] += difference * difference
    total = 0.0
    for i in range(n):
        total += squares[i]
    return total


@jit(inline="always")
def _fill_empty(columns, old, sums, counts, labels, squares):
    """Move the rows farthest from their centres to empty clusters, in the sums and the counts."""
    measured = False
    for c in range(len(counts)):
        if counts[c] > 0:
            continue
        if not measured:
            squared_distances(columns, old, labels, squares)
            measured = True
        farthest = 0
        for i in range(len(squares)):
            if squares[i] > squares[farthest]:
                farthest = i
        if squares[farthest] <= 0.0:
            return  # fewer distinct rows than clusters
        squares[farthest] = -1.0
        source = labels[farthest]
        counts[source] -= 1
        counts[c] = 1
        for f in range(len(columns)):
            sums[source, f] -= columns[f, farthest]
            sums[c, f] = columns[f, farthest]
