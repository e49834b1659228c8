"""Kernel of the distances to a centre along given axes."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def distances_along_axes(points, center, axes, start, stop, out):
    """Lengths of ``(x - center) @ axes`` of rows ``start`` to ``stop``.

    A matrix product would round a row differently alone and among others.
    """
    n_columns, n_axes = axes.shape
    sums = np.empty(n_axes)
    for i in range(start, stop):
        sums[:] = 0.0
        for c in range(n_columns):
            offset = points[i, c] - center[c]
            for a in range(n_axes):
                sums[a] += offset * axes[c, a]
        total = 0.0
        for a in range(n_axes):
            total += sums[a] * sums[a]
        out[i] = np.sqrt(total)
