"""Neighbours from the definition: every distance, fully sorted."""

import numpy as np


def costs_between(A, B, p=2):
    """Squared (p = 2) or Manhattan (p = 1) distances, summed feature by feature, in order."""
    total = np.zeros((len(A), len(B)))
    for c in range(A.shape[1]):
        gap = A[:, c].astype(float)[:, None] - B[:, c].astype(float)[None, :]
        total += np.abs(gap) if p == 1 else gap * gap
    return total


def distances_between(A, B, p=2):
    """All distances."""
    costs = costs_between(A, B, p)
    return costs if p == 1 else np.sqrt(costs)


def nearest_points(A, B, k, p=2, exclude_self=False):
    """The k points of B nearest to each of A: squares decide, as roots may tie where they do not."""
    indices, costs = nearest(costs_between(A, B, p), k, exclude_self)
    return indices, costs if p == 1 else np.sqrt(costs)


def nearest(distances, k, exclude_self=False):
    """The first k of each sorted row by (distance, index), the diagonal left out with ``exclude_self``."""
    distances = distances.copy()
    if exclude_self:
        np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def within(distances, radius, exclude_self=False):
    """For each row the pairs (index, distance) that are at most ``radius`` away."""
    return [
        [(j, d) for j, d in enumerate(row) if d <= radius and not (exclude_self and i == j)]
        for i, row in enumerate(distances)
    ]


def shapes(n, d, seed=0):
    """Data sets that are difficult in different ways, by name."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, d))
    return {
        "random": base,
        "single precision": base.astype(np.float32),
        "grid": rng.integers(0, 4, size=(n, d)).astype(float),
        "binary": rng.integers(0, 2, size=(n, d)).astype(float),
        "two values": rng.choice([0.1, 0.7], size=(n, d)),
        "duplicates": np.repeat(base[: n // 20], 20, axis=0),
        "constant": np.ones((n, d)),
        "collinear": np.arange(n)[:, None] * np.ones((1, d)),
        "tight clusters": base * 1e-5 + 10.0 * rng.integers(0, 3, size=(n, 1)),
        "outlier": np.vstack([base[:-1], base[:1] * 1e9]),
        "far away": base + 1e6,
        "near duplicates": np.repeat(base[: n // 2], 2, axis=0) * (1 + 1e-9 * rng.random((n, 1))),
    }
