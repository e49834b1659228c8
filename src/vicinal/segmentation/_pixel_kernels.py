"""Kernels for affinities between pixels."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def count_neighbors(height, width, offsets, start, stop, counts):
    """Number of neighbours inside the image, for pixels of rows ``start`` to ``stop``."""
    for y in range(start, stop):
        for x in range(width):
            inside = 0
            for o in range(len(offsets)):
                v, u = y + offsets[o, 0], x + offsets[o, 1]
                if 0 <= v < height and 0 <= u < width:
                    inside += 1
            counts[y * width + x] = inside


@jit
def fill_neighbors(
    values, scale, offsets, proximity, min_affinity, indptr, start, stop, indices, weights
):
    """Affinities of these pixels: Gaussian of the difference times the spatial proximity."""
    height, width, n_channels = values.shape
    for y in range(start, stop):
        for x in range(width):
            e = indptr[y * width + x]
            for o in range(len(offsets)):
                v, u = y + offsets[o, 0], x + offsets[o, 1]
                if not (0 <= v < height and 0 <= u < width):
                    continue
                square = 0.0
                for c in range(n_channels):
                    difference = (values[y, x, c] - values[v, u, c]) / scale
                    square += difference * difference
                indices[e] = v * width + u
                weights[e] = max(min_affinity, np.exp(-0.5 * square)) * proximity[o]
                e += 1
