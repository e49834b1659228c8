"""Points that are hard to search exactly."""

import numpy as np

RNG = np.random.default_rng(0)


def curved(n, d=16, n_clusters=6, seed=0):
    """Clusters along arcs in d dimensions."""
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(n_clusters, 2, d))
    label, angle = rng.integers(0, n_clusters, n), rng.uniform(0, 2, n)
    arc = np.stack([np.cos(angle), np.sin(angle)], 1)
    points = (
        np.einsum("ia,iac->ic", arc, basis[label]) + 8 * rng.normal(size=(n_clusters, d))[label]
    )
    return points + 0.05 * rng.normal(size=(n, d))


N = 600
HARD = {
    "normal": RNG.normal(size=(N, 3)),
    "curved": curved(N),
    "float32": RNG.normal(size=(N, 5)).astype(np.float32),
    "grid": np.stack(np.meshgrid(np.arange(24.0), np.arange(25.0)), -1).reshape(-1, 2),
    "duplicates": RNG.normal(size=(40, 3))[RNG.integers(0, 40, N)],
    "one place": np.ones((80, 2)),
    "huge": 1e200 * RNG.normal(size=(N, 3)),
    "tiny": 1e-200 * RNG.normal(size=(N, 3)),
    "mixed units": RNG.normal(size=(N, 3)) * [1e-8, 1.0, 1e8],
    "far from the origin": 1e9 + RNG.normal(size=(N, 3)),
    "underflow": np.concatenate([1e-165 * RNG.normal(size=(N - 1, 4)), np.ones((1, 4))]),
    "integers": RNG.integers(0, 6, (N, 4)),
    "many dimensions": RNG.normal(size=(200, 70)),
    "two points": np.array([[0.0], [1.0]]),
}
