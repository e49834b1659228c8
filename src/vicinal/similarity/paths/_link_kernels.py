"""Kernels of new points: their best steps to the tree, and the extension of eigenvectors along them."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit(allocates=False, error_model="numpy")
def cheapest_steps(rows, indices, distances, sigma, log_weights, ends, costs, same):
    """Cheapest step of each of the rows to one of its neighbours; returns the number of open rows.

    These are moved to the front: their next neighbour may be cheaper, because a step costs at least half the
    square of its length. ``same`` is the first neighbour if it is at the same position, otherwise -1.
    """
    n_open = 0
    for i in range(len(rows)):
        best, bound = np.inf, 0.0
        end = indices[i, 0]
        for c in range(indices.shape[1]):
            length = distances[i, c] / sigma
            bound = length * length / 2
            cost = bound - log_weights[indices[i, c]]
            if cost < best:
                best, end = cost, indices[i, c]
        row = rows[i]
        ends[row], costs[row] = end, best
        same[row] = indices[i, 0] if distances[i, 0] == 0 else -1
        if bound < best:
            rows[n_open] = row
            n_open += 1
    return n_open


@jit(allocates=False, error_model="numpy")
def walk_steps(products, eigenvalues, same, vectors, out):
    """Products with vectors, relative to those with ones (last), over the eigenvalues; 0 where these are not
    positive. Points that equal known ones have their entries. Returns whether any product with ones is 0.
    """
    last = products.shape[1] - 1
    any_zero = False
    for i in range(len(products)):
        any_zero |= products[i, last] == 0
        for q in range(last):
            if same[i] >= 0:
                out[i, q] = vectors[same[i], q]
            elif eigenvalues[q] > 0:
                out[i, q] = products[i, q] / products[i, last] / eigenvalues[q]
            else:
                out[i, q] = 0.0
    return any_zero
