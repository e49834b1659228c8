"""Kernel of sampled neighbours: distances from points to the nearest member of small samples."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def mean_nearest(queries, columns, start, stop, out):
    """Mean over samples of the distance to the nearest member that is not at the query itself.

    ``columns`` has the shape (n_samples, n_features, size), so that the inner loop runs over the members of a
    sample. A sample all of whose members are at the query counts as distance 0.
    """
    n_samples, n_features, size = columns.shape
    squares = np.empty(size)
    for i in range(start, stop):
        total = 0.0
        for b in range(n_samples):
            for j in range(size):
                squares[j] = 0.0
            for f in range(n_features):
                value = queries[i, f]
                for j in range(size):
                    step = value - columns[b, f, j]
                    squares[j] += step * step
            nearest = np.inf
            for j in range(size):
                if 0.0 < squares[j] < nearest:
                    nearest = squares[j]
            if nearest < np.inf:
                total += np.sqrt(nearest)
        out[i] = total / n_samples
