"""Perturbed replicates of a data set: perturbed points, or distances if there are no points to move."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from vicinal._core.memory import require_memory
from vicinal._core.parallel import n_threads
from vicinal.neighbors.metric import PRECOMPUTED, Metric, as_metric
from vicinal.neighbors.search import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike, RandomStateLike


class Replicates(NamedTuple):
    """``make(i)`` returns replicate i of ``original``; ``metric`` is the metric of both."""

    make: Callable[[int], np.ndarray]
    original: np.ndarray
    metric: Metric


def perturbed_replicates(
    X: np.ndarray | sparse.csr_array,
    metric: MetricLike | Metric,
    n_replicates: int,
    noise: float,
    k: int,
    random_state: RandomStateLike,
    n_jobs: int | None = -1,
) -> Replicates:
    """Replicates under uniform zero-mean noise that moves point i by about ``noise * d_i``.

    d_i is the mean distance of point i to its k nearest neighbours; see `axis_fraction` for the size.
    Each replicate has its own generator, so that results depend neither on threads nor on the order.
    """
    perturb: Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray] = _perturb_points
    metric, (n, n_features) = as_metric(metric), X.shape
    if not metric.is_minkowski:
        require_memory(
            24.0 * n**2 * min(n_threads(n_jobs), n_replicates),
            f"Perturbing the distances of {n:,} points",
            "Use metric='euclidean', which perturbs the points, or a smaller n_jobs.",
        )
        X = metric.distance_matrix(X, n_jobs)
        perturb, metric = _perturb_distances, PRECOMPUTED
    elif not isinstance(X, np.ndarray):
        require_memory(
            8.0 * n * n_features * (1 + 2 * min(n_threads(n_jobs), n_replicates)),
            f"Perturbing {n:,} points of {n_features:,} features, which makes them dense,",
            "Reduce them to fewer columns, for instance by TruncatedSVD.",
        )
        X = X.toarray()
    _, distances = NeighborSearch(X, metric=metric.name, n_jobs=n_jobs).nearest(k)
    spread = noise * distances[:, 1:].mean(axis=1)
    if metric.is_minkowski:
        spread *= axis_fraction(n_features, metric.power)
    seeds = np.random.SeedSequence(_entropy(random_state)).spawn(n_replicates)
    return Replicates(lambda i: perturb(X, spread, np.random.default_rng(seeds[i])), X, metric)


def axis_fraction(n_features: int, power: int) -> float:
    """Standard deviation along each axis, in units of ``noise * d_i``: min(1, (2 / D)^(1/p)).

    With the same noise along each of D axes, a displacement is D^(1/p) times as long as along one axis in
    the metric of power p, and soon exceeds the distance to the neighbours. So its length is kept as in the
    plane: a root mean square of sqrt(2) noise d_i for Euclidean distances.
    """
    return float(min(1.0, (2.0 / n_features) ** (1.0 / power)))


def _entropy(random_state: RandomStateLike) -> int:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    # One draw for every kind of seed; None uses fresh entropy.
    if random_state is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    return int(check_random_state(random_state).randint(2**31))


def _perturb_points(X: np.ndarray, spread: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add uniform noise from a ball: a normal direction, and a radius that makes the density uniform.

    A uniform ball of radius R in D dimensions has variance R^2 / (D + 2) along each axis.
    """
    n, d = X.shape
    steps = rng.standard_normal((n, d))
    radius = np.sqrt(d + 2.0) * spread * rng.random(n) ** (1.0 / d)
    steps *= (radius / np.sqrt(np.einsum("ij,ij->i", steps, steps)))[:, None]
    steps += X
    return steps


def _perturb_distances(D: np.ndarray, spread: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add uniform noise with the standard deviation of a distance whose ends move; clipped at 0."""
    perturbed = np.triu(rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), D.shape), 1)
    perturbed += perturbed.T
    perturbed *= np.hypot(spread[:, None], spread)
    perturbed += D
    np.fill_diagonal(perturbed, 0.0)
    return np.maximum(perturbed, 0.0, out=perturbed)
