"""Kernels of new points: weights of their neighbours, and means over these."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit(allocates=False, error_model="numpy")
def gaussian_weights(indices, distances, scale, local, ratio, weights):
    """Gaussian weights of neighbours; rows sum to 1.

    The scale of a row is ``scale``, or the mean of its finite distances divided by ``ratio`` if that is
    larger; ``ratio`` is infinite if it must not be. With ``local`` scales of the training points, it is the
    geometric mean of those of the neighbour and of the nearest neighbour. If a new point equals training
    points, only these have a weight.
    """
    k = distances.shape[1]
    for i in range(len(distances)):
        if distances[i, 0] == 0:
            for c in range(k):
                weights[i, c] = 1.0 if distances[i, c] == 0 else 0.0
        else:
            total, n_finite = 0.0, 0
            for c in range(k):
                if np.isfinite(distances[i, c]):
                    total += distances[i, c]
                    n_finite += 1
            width = max(total / max(n_finite, 1) / ratio, scale)
            smallest = np.inf
            for c in range(k):
                if len(local):
                    width = np.sqrt(local[indices[i, c]]) * np.sqrt(local[indices[i, 0]])
                scaled = distances[i, c] / width
                weights[i, c] = scaled * scaled
                smallest = min(smallest, weights[i, c])
            for c in range(k):
                # Relative to the nearest neighbour, so that weights of far points do not all underflow.
                excess = weights[i, c] - smallest
                weights[i, c] = np.exp(-0.5 * excess) if excess > 0 else 1.0
        total = 0.0
        for c in range(k):
            total += weights[i, c]
        for c in range(k):
            weights[i, c] /= total


@jit(allocates=False)
def weighted_means(indices, weights, vectors, means):
    """Means of the rows of ``vectors`` over the neighbours of each new point."""
    for i in range(indices.shape[0]):
        for q in range(vectors.shape[1]):
            total = 0.0
            for c in range(indices.shape[1]):
                if weights[i, c] > 0:  # values of others may be NaN
                    total += weights[i, c] * vectors[indices[i, c], q]
            means[i, q] = total


@jit(allocates=False, error_model="numpy")
def extended_vectors(indices, weights, coincides, vectors, values, smallest, out):
    """`weighted_means` of eigenvectors, divided by their ``values`` except where a point ``coincides``.

    Means are not divided by values whose modulus is not above ``smallest``.
    """
    for i in range(indices.shape[0]):
        for q in range(vectors.shape[1]):
            total = 0.0
            for c in range(indices.shape[1]):
                if weights[i, c] > 0:
                    total += weights[i, c] * vectors[indices[i, c], q]
            if not coincides[i] and (values[q] > smallest or values[q] < -smallest):
                total /= values[q]
            out[i, q] = total


@jit(allocates=False)
def heaviest_labels(indices, weights, labels, out):
    """Label with the largest total weight among the neighbours of each new point; ties go to the smallest."""
    k = indices.shape[1]
    for i in range(len(indices)):
        best = -1.0
        for c in range(k):
            label, total = labels[indices[i, c]], 0.0
            for other in range(k):
                if labels[indices[i, other]] == label:
                    total += weights[i, other]
            if total > best or (total == best and label < out[i]):
                best, out[i] = total, label
