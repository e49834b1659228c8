"""Manifold ranking around single nodes: the system is solved on a ball of nodes only."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

TOLERANCE = 1e-7
MAX_STEPS = 500


@jit
def grow(indptr, indices, center, ball, position):
    """Fill the ball with nodes in breadth-first order from the centre; returns their number.

    ``position`` of a node is its index in the ball, -1 outside.
    """
    ball[0], position[center] = center, 0
    size, at = np.int64(1), np.int64(0)
    while at < size and size < len(ball):
        node = ball[at]
        at += 1
        for e in range(indptr[node], indptr[node + 1]):
            other = indices[e]
            if position[other] < 0 and size < len(ball):
                ball[size], position[other] = other, size
                size += 1
    return size


@jit
def restrict(indptr, indices, values, alpha, ball, size, position, local):
    """Rows of -alpha Theta between nodes of the ball, as (starts, columns, values)."""
    starts, columns, entries = local
    n_entries = np.int64(0)
    for i in range(size):
        starts[i] = n_entries
        for e in range(indptr[ball[i]], indptr[ball[i] + 1]):
            j = position[indices[e]]
            if j >= 0:
                columns[n_entries], entries[n_entries] = j, -alpha * values[e]
                n_entries += 1
    starts[size] = n_entries


@jit
def conjugate_gradients(size, local, x, vectors):
    """Solve (I + local) x = e_0."""
    starts, columns, entries = local
    r, p, q = vectors[0], vectors[1], vectors[2]
    for i in range(size):
        x[i] = r[i] = p[i] = 0.0
    r[0] = p[0] = 1.0
    square = 1.0
    for _ in range(MAX_STEPS):
        curvature = 0.0
        for i in range(size):
            total = p[i]
            for e in range(starts[i], starts[i + 1]):
                total += entries[e] * p[columns[e]]
            q[i] = total
            curvature += total * p[i]
        step, previous = square / curvature, square
        square = 0.0
        for i in range(size):
            x[i] += step * p[i]
            r[i] -= step * q[i]
            square += r[i] * r[i]
        if square <= TOLERANCE * TOLERANCE:
            break
        for i in range(size):
            p[i] = r[i] + square / previous * p[i]


@jit
def best_in_balls(graph, alpha, weights, nodes, ball_size, best):
    """Best ranked other nodes of some nodes, by score times weight; ties go to the nearer node."""
    indptr, indices, values = graph
    n, k = len(weights), best.shape[1]
    position = np.full(n, -1, dtype=np.int64)
    ball = np.empty(ball_size, dtype=np.int64)
    scores, vectors = np.empty(ball_size), np.empty((3, ball_size))
    for b in range(len(nodes)):
        size = grow(indptr, indices, nodes[b], ball, position)
        n_edges = np.int64(0)
        for i in range(size):
            n_edges += indptr[ball[i] + 1] - indptr[ball[i]]
        local = (
            np.empty(size + 1, dtype=np.int64),
            np.empty(n_edges, dtype=np.int64),
            np.empty(n_edges),
        )
        restrict(indptr, indices, values, alpha, ball, size, position, local)
        conjugate_gradients(size, local, scores, vectors)
        for i in range(size):
            position[ball[i]] = -1
            scores[i] *= -weights[ball[i]]
        scores[0] = np.inf
        order = np.argsort(scores[:size], kind="mergesort")
        for c in range(k):
            best[b, c] = ball[order[c]]
