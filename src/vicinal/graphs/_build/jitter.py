"""Perturbed replicates of a data set: perturbed points, or distances if there are no points to move."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from vicinal._core.memory import require_memory
from vicinal._core.parallel import n_threads
from vicinal.graphs._build._noise_kernels import perturb_rows
from vicinal.graphs._build.neighbor_span import axis_fraction, perturb_in_span
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
    *,
    is_aligned: bool = False,
) -> Replicates:
    """Replicates under uniform zero-mean noise that moves point i by about ``noise * d_i``.

    d_i is the mean distance of point i to its k nearest neighbours; see `axis_fraction` for the size.
    Euclidean points of more than k features move within the span of the offsets to these neighbours, and with
    ``is_aligned`` those of any number of features, by noise with the covariance of the offsets.
    Each replicate has its own seed, so that results depend neither on threads nor on the order.
    """
    perturb: Callable[[np.ndarray, np.ndarray, np.uint64], np.ndarray] = _perturb_all
    metric, (n, n_features) = as_metric(metric), X.shape
    if not metric.is_minkowski:
        require_memory(
            24.0 * n**2 * min(n_threads(), n_replicates),
            f"Perturbing the distances of {n:,} points",
            "Use metric='euclidean', which perturbs the points, or a smaller n_jobs.",
        )
        X = metric.distance_matrix(X)
        perturb, metric = _perturb_distances, PRECOMPUTED
    elif not isinstance(X, np.ndarray):
        require_memory(
            8.0 * n * n_features * (1 + 2 * min(n_threads(), n_replicates)),
            f"Perturbing {n:,} points of {n_features:,} features, which makes them dense,",
            "Reduce them to fewer columns, for instance by TruncatedSVD.",
        )
        X = X.toarray()
    indices, distances = NeighborSearch(X, metric=metric.name).nearest(k)
    spread = noise * distances[:, 1:].mean(axis=1)
    seeds = replicate_seeds(seed_of(random_state), n_replicates)
    if is_aligned or (metric.is_euclidean and n_features > k):
        rows, neighbors = np.arange(n), indices[:, 1:]
        return Replicates(
            lambda i: perturb_in_span(
                X, X, neighbors, spread, seeds[i], rows, is_aligned=is_aligned
            ),
            X,
            metric,
        )
    if metric.is_minkowski:
        spread *= float(axis_fraction(n_features, metric.power))
    return Replicates(lambda i: perturb(X, spread, seeds[i]), X, metric)


def replicate_seeds(seed: int, n_replicates: int) -> list[np.uint64]:
    """Seed of each replicate."""
    children = np.random.SeedSequence(seed).spawn(n_replicates)
    return [child.generate_state(1, np.uint64)[0] for child in children]


def seed_of(random_state: RandomStateLike) -> int:
    """Seed of all replicates."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    # One draw for every kind of seed; None uses fresh entropy.
    if random_state is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    return int(check_random_state(random_state).randint(2**31))


def perturbed_points(
    X: np.ndarray, spread: np.ndarray, seed: np.uint64, rows: np.ndarray
) -> np.ndarray:
    """Points of these rows, moved by uniform noise from a ball; ``spread`` is its deviation along each axis.

    The noise of a row depends on the seed and its number only.
    """
    moved = np.empty(X.shape)
    perturb_rows(X, spread, seed, rows, moved)
    return moved


def _perturb_all(X: np.ndarray, spread: np.ndarray, seed: np.uint64) -> np.ndarray:
    return perturbed_points(X, spread, seed, np.arange(len(X)))


def _perturb_distances(D: np.ndarray, spread: np.ndarray, seed: np.uint64) -> np.ndarray:
    """Add uniform noise with the standard deviation of a distance whose ends move; clipped at 0."""
    rng = np.random.default_rng(seed)
    perturbed = np.triu(rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), D.shape), 1)
    perturbed += perturbed.T
    perturbed *= np.hypot(spread[:, None], spread)
    perturbed += D
    np.fill_diagonal(perturbed, 0.0)
    return np.maximum(perturbed, 0.0, out=perturbed)
