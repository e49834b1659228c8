"""Kernels of k-means: k-means++ centres, and Lloyd's iteration.

The rows are given as columns, and processed in batches, so that the inner loops run over contiguous numbers.
Kernels compile fast if they allocate nothing, call no functions and take no slices: loops are written out.
Rows are counted by unsigned integers, because loops over indices that might be negative are not vectorised.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

ROWS_PER_BATCH = np.uint64(256)


@jit(allocates=False)
def spread_centers(columns, first, uniforms, centers, nearest, trial, best, squares):
    """Choose centres far apart by k-means++, from random numbers given in advance.

    ``uniforms`` has one row per centre after the first, with one number for each candidate; the candidate
    that reduces the sum of squared distances most becomes the centre. The last four arrays are memory; the
    squared distances to the nearest centre, in ``nearest``, are infinite before.
    """
    n = np.uint64(columns.shape[1])
    row, total = np.uint64(first), 0.0
    for c in range(centers.shape[0]):
        smallest = np.inf
        for t in range(uniforms.shape[1]):
            if c > 0:
                # First row at which the sum of the squared distances reaches a threshold.
                threshold, partial = uniforms[c - 1, t] * total, 0.0
                for i in range(n):
                    partial += nearest[i]
                    row = i
                    if partial >= threshold:
                        break
            potential = 0.0
            for start in range(np.uint64(0), n, ROWS_PER_BATCH):
                size = ROWS_PER_BATCH
                if n - start < size:
                    size = n - start
                for b in range(size):
                    squares[b] = 0.0
                for f in range(columns.shape[0]):
                    value = columns[f, row]
                    for b in range(size):
                        difference = columns[f, start + b] - value
                        squares[b] += difference * difference
                for b in range(size):
                    square = squares[b]
                    if nearest[start + b] < square:
                        square = nearest[start + b]
                    trial[start + b] = square
                    potential += square
            if t == 0 or potential < smallest:
                smallest = potential
                trial, best = best, trial
                for f in range(columns.shape[0]):
                    centers[c, f] = columns[f, row]
            if c == 0:
                break
        nearest, best = best, nearest
        total = smallest


@jit(allocates=False)
def lloyd(
    columns, centers, counts, old, max_iter, tolerance, labels, squares, scores, best, winners
):
    """Iterate until the labels or, within ``tolerance``, the centres stay the same, or a cluster is empty.

    Returns the number of iterations that are left for another call, -1 if there are none. ``centers`` and
    ``counts`` are the sums and the numbers of the rows of each cluster, and ``old`` the centres before.
    The squared distance of each row to the old centre of its cluster is added to ``squares``; the last
    three arrays are memory.
    """
    k, d = centers.shape
    n = np.uint64(columns.shape[1])
    n_left = max_iter
    while n_left >= 0:
        shift = 0.0
        for c in range(k):
            for f in range(d):
                if counts[c] > 0:
                    centers[c, f] /= counts[c]
                difference = centers[c, f] - old[c, f]
                shift += difference * difference
                old[c, f] = centers[c, f]
        n_changed = 0
        for start in range(np.uint64(0), n, ROWS_PER_BATCH):
            size = ROWS_PER_BATCH
            if n - start < size:
                size = n - start
            for c in range(k):
                # |row - centre|^2 / 2 without |row|^2 / 2, which is the same for all centres.
                half = 0.0
                for f in range(d):
                    half += 0.5 * centers[c, f] * centers[c, f]
                for b in range(size):
                    scores[b] = half
                # Four columns at a time, so that scores are loaded and stored less often.
                f = 0
                while f + 4 <= d:
                    u, v = centers[c, f], centers[c, f + 1]
                    w, z = centers[c, f + 2], centers[c, f + 3]
                    for b in range(size):
                        i = start + b
                        scores[b] -= (
                            u * columns[f, i]
                            + v * columns[f + 1, i]
                            + w * columns[f + 2, i]
                            + z * columns[f + 3, i]
                        )
                    f += 4
                while f < d:
                    u = centers[c, f]
                    for b in range(size):
                        scores[b] -= u * columns[f, start + b]
                    f += 1
                for b in range(size):
                    nearer = c == 0 or scores[b] < best[b]
                    best[b] = scores[b] if nearer else best[b]
                    winners[b] = c if nearer else winners[b]
            for b in range(size):
                n_changed += labels[start + b] != winners[b]
                labels[start + b] = winners[b]
        n_left -= 1
        if n_changed == 0 or shift <= tolerance:
            n_left = -1
        if n_left < 0:
            break
        for c in range(k):
            counts[c] = 0
            for f in range(d):
                centers[c, f] = 0.0
        for i in range(n):
            counts[labels[i]] += 1
        for f in range(d):
            for i in range(n):
                centers[labels[i], f] += columns[f, i]
        has_empty = False
        for c in range(k):
            has_empty |= counts[c] == 0
        if has_empty:
            break
    for f in range(d):
        for i in range(n):
            difference = columns[f, i] - old[labels[i], f]
            squares[i] += difference * difference
    return n_left
