"""Kernels of new points in contexts: which contexts of training points a new point enters."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.graphs._contextual_kernels import (
    coding_lengths_by_features,
    coding_lengths_by_members,
)
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
def list_contexts(nearest, distances, members, lengths, n, contexts, places, steps, coincides):
    """Contexts of new points, which are numbered from ``n``, and those that they enter; returns their number.

    A new point enters the context of a candidate in place of the farthest member. Rows of ``contexts`` are
    the point or the candidate, and the other members from near to far; the new point comes last in a context
    that it enters. Rows of ``places`` are the number of the new point, and the column of the candidate or -1
    for its own context. Without ``lengths`` of the members of candidates, no contexts are entered.

    New points that equal a training point, or all if contexts contain all ``n`` training points, have no
    contexts: ``coincides`` marks them, and their ``steps`` lead to the nearest training point.
    """
    k = contexts.shape[1] - 1
    order = np.empty(k, np.int64)
    count = 0
    for i in range(len(nearest)):
        coincides[i] = distances[i, 0] == 0 or k >= n - 1
        if coincides[i]:
            steps[i, 0] = 1.0
            continue
        contexts[count, 0] = n + i
        for j in range(k):
            contexts[count, j + 1] = nearest[i, j]
        places[count, 0], places[count, 1] = i, -1
        count += 1
        for c in range(lengths.shape[1]):
            farthest = -np.inf
            for j in range(k):
                farthest = max(farthest, lengths[i, c, j])
            if not distances[i, c] < farthest:
                continue
            for j in range(k):
                at = j
                while at > 0 and lengths[i, c, order[at - 1]] > lengths[i, c, j]:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = j
            contexts[count, 0], contexts[count, k] = nearest[i, c], n + i
            for j in range(k - 1):
                contexts[count, j + 1] = members[nearest[i, c], order[j]]
            places[count, 0], places[count, 1] = i, c
            count += 1
    return count


@jit(allocates=False)
def copy_members(points, new, contexts, data):
    """Copy the points of contexts to the rows of ``data``; new points are numbered after the others."""
    row = 0
    for i in range(len(contexts)):
        for j in range(contexts.shape[1]):
            number = contexts[i, j]
            if number < len(points):
                for d in range(points.shape[1]):
                    data[row, d] = points[number, d]
            else:
                for d in range(points.shape[1]):
                    data[row, d] = new[number - len(points), d]
            row += 1


@jit(error_model="numpy")
def step_probabilities(distances, sigma, places, steps, entered):
    """Formula (3): Gaussian weights of the contextual distances to the other members; they sum to 1.

    Of the contexts that new points enter, see `list_contexts`, only the probability of the new point is kept.
    """
    k = distances.shape[1] - 1
    weights = np.empty(k)
    for i in range(len(distances)):
        smallest = np.inf
        for j in range(k):
            scaled = distances[i, j + 1] / sigma
            weights[j] = scaled * scaled
            smallest = min(smallest, weights[j])
        total = 0.0
        for j in range(k):
            # Relative to the smallest, so that a context far from all others does not underflow to zeros.
            weights[j] = np.exp(smallest - weights[j])
            total += weights[j]
        point, column = places[i, 0], places[i, 1]
        if column < 0:
            for j in range(k):
                steps[point, j] = weights[j] / total
        else:
            entered[point, column] = weights[k - 1] / total


@jit
def coded_steps_by_features(known, coding, new, lists, steps, entered, coincides):
    """Steps of new points and steps to them, if contexts are described by coding lengths.

    ``known`` are the points, the points of the search, their factor and the members of contexts; ``coding``
    the distortion, the `coding_scratch` and sigma; ``lists`` the nearest points and their distances. Returns
    whether coding lengths are accurate. `coded_steps_by_members` gives the same and is faster if there are
    more features than members.
    """
    places, data, rows, lengths = _gathered(known, new, lists, steps, coincides)
    epsilon, scratch, sigma = coding
    dim = data.shape[1]
    if coding_lengths_by_features(data, rows, dim, epsilon, scratch, 0, len(rows), lengths):
        return False
    return _finite_steps(lengths, sigma, places, steps, entered)


@jit
def coded_steps_by_members(known, coding, new, lists, steps, entered, coincides):
    """`coded_steps_by_features` from products of members."""
    places, data, rows, lengths = _gathered(known, new, lists, steps, coincides)
    epsilon, scratch, sigma = coding
    dim = data.shape[1]
    if coding_lengths_by_members(data, rows, dim, epsilon, scratch, 0, len(rows), lengths):
        return False
    return _finite_steps(lengths, sigma, places, steps, entered)


@jit
def _gathered(known, new, lists, steps, coincides):
    """Places of the contexts of new points and those that they enter, their members, and room for lengths."""
    points, scaled, factor, members = known
    nearest, distances = lists
    (m, c), k = nearest.shape, members.shape[1]
    lengths = np.empty((m, c, k))
    member_lengths(scaled, factor, nearest, members, lengths)
    contexts, places = np.empty((m + m * c, k + 1), np.int64), np.empty((m + m * c, 2), np.int64)
    size = list_contexts(
        nearest, distances, members, lengths, len(points), contexts, places, steps, coincides
    )
    contexts, rows = contexts[:size], np.empty((size, k + 1), np.int64)
    data = np.empty((contexts.size, points.shape[1]))
    copy_members(points, new, contexts, data)
    for i in range(size):
        for j in range(k + 1):
            rows[i, j] = i * (k + 1) + j
    return places, data, rows, np.empty((size, k + 1))


@jit
def _finite_steps(lengths, sigma, places, steps, entered):
    """`step_probabilities`; returns whether all lengths are finite."""
    step_probabilities(lengths, sigma, places, steps, entered)
    for i in range(len(lengths)):
        for j in range(lengths.shape[1]):
            if not np.isfinite(lengths[i, j]):
                return False
    return True


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
