"""Kernel of sampled neighbours: distances from points to the nearest member of small samples."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def mean_nearest(queries, samples, start, stop, out):
    """Mean over samples of the distance to the nearest member that is not at the query itself.

    A sample all of whose members are at the query counts as distance 0.
    """
    n_samples, size, n_features = samples.shape
    for i in range(start, stop):
        total = 0.0
        for b in range(n_samples):
            nearest = np.inf
            for j in range(size):
                square = 0.0
                for f in range(n_features):
                    step = queries[i, f] - samples[b, j, f]
                    square += step * step
                    if square >= nearest:
                        break
                if 0.0 < square < nearest:
                    nearest = square
            if nearest < np.inf:
                total += np.sqrt(nearest)
        out[i] = total / n_samples
