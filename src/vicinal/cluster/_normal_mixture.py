"""One normal distribution, or a mixture of two, fitted to numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._base.row_assignment import KMEANS_MAX_ITER, centered_columns, kmeans_starts

# As in scikit-learn's GaussianMixture: iterations, the mean gain in log-likelihood that ends them, and the
# variance that is added to each component.
MAX_ITER, TOLERANCE, MIN_VARIANCE = 100, 1e-3, 1e-6


class NormalMixture(NamedTuple):
    """Weights, means and variances of the components."""

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def log_joint(self, values: np.ndarray) -> np.ndarray:
        """Logarithm of weight times density, of each value (rows) and component (columns)."""
        distances = (values[:, None] - self.means) ** 2 / self.variances
        return np.log(self.weights) - 0.5 * (np.log(2 * np.pi * self.variances) + distances)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Logarithm of the density at each value."""
        return np.asarray(np.logaddexp.reduce(self.log_joint(values), axis=1))

    def probabilities(self, values: np.ndarray) -> np.ndarray:
        """Probability of each component, given the value."""
        joint = self.log_joint(values)
        return np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))

    def bic(self, values: np.ndarray) -> float:
        """Bayesian information criterion; smaller is better."""
        n_parameters = 3 * len(self.means) - 1
        return float(n_parameters * np.log(len(values)) - 2 * self.log_density(values).sum())


def normal_mixture(
    values: np.ndarray, n_components: int, *, n_init: int = 1, seed: int = 0
) -> NormalMixture:
    """Fit by expectation maximisation, from the best of several runs of k-means.

    The fit is that of scikit-learn's GaussianMixture, without its fixed costs.
    """
    if n_components == 1:
        return _maximise(values, np.ones((len(values), 1)))
    best, highest = None, -np.inf
    for labels in kmeans_labels(values, n_components, seed, n_init):
        mixture, bound = _maximise(values, np.eye(n_components)[labels]), -np.inf
        for _ in range(MAX_ITER):
            joint = mixture.log_joint(values)
            density = np.logaddexp.reduce(joint, axis=1)
            mixture = _maximise(values, np.exp(joint - density[:, None]))
            previous, bound = bound, float(density.mean())
            if abs(bound - previous) < TOLERANCE:
                break
        if best is None or bound > highest:
            best, highest = mixture, bound
    assert best is not None
    return best


def _maximise(values: np.ndarray, memberships: np.ndarray) -> NormalMixture:
    """The mixture that is most likely, given the membership of each value in each component."""
    counts = memberships.sum(axis=0) + 10 * np.finfo(float).eps
    means = values @ memberships / counts
    variances = np.einsum("ij,ij->j", memberships, (values[:, None] - means) ** 2) / counts
    return NormalMixture(counts / counts.sum(), means, variances + MIN_VARIANCE)


def kmeans_labels(values: np.ndarray, n_clusters: int, seed: int, n_init: int) -> list[np.ndarray]:
    """Labels of independent runs, bit for bit those of `kmeans_runs` on one column."""
    (centered,), _, tolerance = centered_columns(values[:, None])
    return [
        _iterate(centered, _spread_centers(centered, *start), tolerance)
        for start in kmeans_starts(len(values), n_clusters, seed, n_init)
    ]


def _spread_centers(values: np.ndarray, first: int, uniforms: np.ndarray) -> np.ndarray:
    """Centres far apart by k-means++; see `_lloyd_kernels.spread_centers`."""
    centers = [values[first]]
    nearest = (values - values[first]) ** 2
    for numbers in uniforms:
        # A cumulative sum adds in order, as the kernels do.
        cumulative = np.cumsum(nearest)
        candidates = np.searchsorted(cumulative, numbers * cumulative[-1])
        candidates = np.minimum(candidates, len(values) - 1)
        trials = np.minimum(nearest, (values - values[candidates, None]) ** 2)
        best = int(np.argmin(np.cumsum(trials, axis=1)[:, -1]))
        centers.append(values[candidates[best]])
        nearest = trials[best]
    return np.array(centers)


def _iterate(values: np.ndarray, centers: np.ndarray, tolerance: float) -> np.ndarray:
    """Labels after Lloyd's iteration; see `_lloyd_kernels.lloyd`."""
    labels, is_settled = np.full(len(values), -1), False
    for step in range(KMEANS_MAX_ITER + 1):
        scores = (0.5 * centers * centers)[:, None] - centers[:, None] * values
        previous, labels = labels, np.argmin(scores, axis=0)
        if is_settled or step == KMEANS_MAX_ITER or np.array_equal(labels, previous):
            break
        counts = np.bincount(labels, minlength=len(centers))
        sums = np.bincount(labels, values, minlength=len(centers))
        _fill_empty(values, centers, labels, counts, sums)
        means = np.divide(sums, counts, out=sums, where=counts > 0)
        is_settled = bool(np.cumsum((means - centers) ** 2)[-1] <= tolerance)
        centers = means
    return labels


def _fill_empty(
    values: np.ndarray,
    centers: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Move the values farthest from their centres to empty clusters, in the sums and the counts."""
    squares = (values - centers[labels]) ** 2
    for empty in np.flatnonzero(counts == 0):
        farthest = int(np.argmax(squares))
        if squares[farthest] <= 0:
            return  # fewer distinct values than clusters
        squares[farthest] = -1.0
        source = labels[farthest]
        counts[source] -= 1
        counts[empty] = 1
        sums[source] -= values[farthest]
        sums[empty] = values[farthest]
