"""Kernels of new points in contexts: which contexts of training points a new point enters."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.neighbors._brute_kernels import squared_distance


@jit(allocates=False)
def member_lengths(points, factor, nearest, members, lengths):
    """Distances from each candidate to the members of its context; points were multiplied by ``factor``."""
    for i in range(nearest.shape[0]):
        for c in range(nearest.shape[1]):
            candidate = nearest[i, c]
            for j in range(members.shape[1]):
                square = squared_distance(points, candidate, points, members[candidate, j])
                lengths[i, c, j] = np.sqrt(square) / factor


@jit
def enter_contexts(nearest, distances, members, lengths, contexts, entered):
    """Contexts that new points enter, in place of the farthest member; returns their number.

    Rows of ``contexts`` are the candidate and the remaining members from near to far; the last column is left
    for the new point. Rows of ``entered`` are the number of the new point and the column of the candidate.
    """
    k = members.shape[1]
    order = np.empty(k, np.int64)
    count = 0
    for i in range(nearest.shape[0]):
        for c in range(nearest.shape[1]):
            for j in range(k):
                at = j
                while at > 0 and lengths[i, c, order[at - 1]] > lengths[i, c, j]:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = j
            if not distances[i, c] < lengths[i, c, order[k - 1]]:
                continue
            contexts[count, 0] = nearest[i, c]
            for j in range(k - 1):
                contexts[count, j + 1] = members[nearest[i, c], order[j]]
            entered[count, 0], entered[count, 1] = i, c
            count += 1
    return count


@jit(allocates=False, error_model="numpy")
def step_probabilities(distances, sigma, out):
    """Formula (3): Gaussian weights of the contextual distances to the other members; rows sum to 1."""
    k = out.shape[1]
    for i in range(len(distances)):
        smallest = np.inf
        for j in range(k):
            out[i, j] = (distances[i, j + 1] / sigma) ** 2
            smallest = min(smallest, out[i, j])
        total = 0.0
        for j in range(k):
            # Relative to the smallest, so that a context far from all others does not underflow to zeros.
            out[i, j] = np.exp(smallest - out[i, j])
            total += out[i, j]
        for j in range(k):
            out[i, j] /= total


@jit(allocates=False)
def theta_rows(steps, indices, entered, coincides, masses, total, beta, out):
    """Rows of Theta, see `contextual_extension.symmetric_rows`; ``total`` is the sum of the masses."""
    k = steps.shape[1]
    for i in range(len(indices)):
        mass = 0.0
        for c in range(indices.shape[1]):
            mass += entered[i, c] * masses[indices[i, c]]
        new_root = np.sqrt(beta * mass + (1.0 - beta) * total / (len(masses) + 1))
        for c in range(indices.shape[1]):
            step = steps[i, c] if c < k else 0.0
            root = np.sqrt(masses[indices[i, c]])
            forward = step * new_root / root if root > 0 else 0.0
            backward = entered[i, c] * root / new_root if new_root > 0 else 0.0
            out[i, c] = step if coincides[i] else 0.5 * beta * (forward + backward)
