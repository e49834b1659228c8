"""One normal distribution, or a mixture of two, fitted to numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._kmeans_1d import kmeans_labels

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
