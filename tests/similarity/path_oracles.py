"""Path-based similarities from their formulas, pair by pair and path by path."""

import numpy as np


def distances_of(X):
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))


def step_weights(distances, sigma, robust, n_neighbors=10):
    """Weights of formulas (1), (3) and (4): the similarity of each step of a path."""
    n = len(distances)
    w = np.exp(-(distances**2) / (2 * sigma**2))
    if robust:
        alpha = np.empty(n)
        for i in range(n):
            others = np.delete(distances[i], i)
            near = np.sort(others)[:n_neighbors]
            alpha[i] = np.exp(-(near**2) / (2 * sigma**2)).sum()
        alpha /= alpha.max()
        w = alpha[:, None] * alpha[None] * w
    np.fill_diagonal(w, 0.0)
    return w


def best_paths(w):
    """Max over paths of the min over steps (Floyd and Warshall); the diagonal is the largest entry."""
    s = w.copy()
    for k in range(len(s)):
        s = np.maximum(s, np.minimum(s[:, k, None], s[None, k]))
    off = ~np.eye(len(s), dtype=bool)
    np.fill_diagonal(s, s[off].max() if off.any() else 1.0)
    return s


def dense_paths(X, sigma, robust=True, n_neighbors=10):
    return best_paths(step_weights(distances_of(X), sigma, robust, n_neighbors))
