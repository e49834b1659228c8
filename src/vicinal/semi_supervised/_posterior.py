"""Posterior variance of a graph prior.

The penalties of `graph_prior` are the negative logarithm of a Gaussian density of f, in units of the variance
of the noise of the labels: the posterior covariance is noise variance times A^-1, with
A = S + ridge I + smoothness L. Its diagonal would need one solve per node. Random right-hand sides with
covariance A give samples of the posterior, also one solve each, and a few of them suffice.

References
----------
Papandreou and Yuille, "Gaussian sampling by local perturbations", NIPS 2010.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal.operators.laplacians import degrees
from vicinal.semi_supervised.graph_prior import minimize

# Up to this number of nodes, variances are exact, by one solve per node.
MAX_EXACT_NODES = 256
# Standard deviations from this number of samples have a relative error below 1 / sqrt(2 * 64), 9 %.
N_SAMPLES = 64


def relative_variances(
    weights: sparse.csr_array,
    labelled: np.ndarray,
    ridge: float,
    smoothness: float,
    seed: int,
) -> np.ndarray:
    """Diagonal of (S + ridge I + smoothness L)^-1: variances in units of that of the label noise.

    Exact for few nodes, otherwise estimated from samples. Meaningless where no label reaches.
    """
    n = len(labelled)
    if n <= MAX_EXACT_NODES:
        return np.diagonal(minimize(weights, labelled, np.eye(n), ridge, smoothness)[0]).copy()
    right_sides = _samples_with_covariance(weights, labelled, ridge, smoothness, seed)
    samples = minimize(weights, labelled, right_sides, ridge, smoothness)[0]
    # The mean of the conditional variance and the variance of the conditional mean, given all other nodes,
    # vary less between samples than the squares of the samples themselves.
    diagonal = labelled + ridge + smoothness * (degrees(weights) - weights.diagonal())
    inverse = np.divide(1.0, diagonal, out=np.zeros(n), where=diagonal > 0)
    means = samples - right_sides * inverse[:, None]
    return inverse + np.square(means).mean(axis=1)


def _samples_with_covariance(
    weights: sparse.csr_array, labelled: np.ndarray, ridge: float, smoothness: float, seed: int
) -> np.ndarray:
    """Columns of Gaussian noise with covariance S + ridge I + smoothness L."""
    rng = np.random.default_rng(seed)
    n = len(labelled)
    edges = sparse.triu(weights, 1).tocoo()
    roots = np.sqrt(smoothness * edges.data)
    rows, positions = np.r_[edges.row, edges.col], np.tile(np.arange(edges.nnz), 2)
    incidence = sparse.csr_array(
        (np.r_[roots, -roots], (rows, positions)), shape=(n, max(edges.nnz, 1))
    )
    columns = np.sqrt(labelled + ridge)[:, None] * rng.standard_normal((n, N_SAMPLES))
    for k in range(N_SAMPLES):
        # One column at a time: there are many more edges than nodes.
        columns[:, k] += incidence @ rng.standard_normal(incidence.shape[1])
    return columns


def noise_variance(values: np.ndarray, fitted: np.ndarray, n_free: int) -> np.ndarray:
    """Variance of the label noise per column, by restricted maximum likelihood.

    Parameters
    ----------
    values, fitted : ndarray of shape (n_labels, n_columns)
        Labels, and the fitted values at the same nodes.
    n_free : int
        Number of constants that the prior leaves free: components with labels, if there is no ridge.

    Returns
    -------
    ndarray of shape (n_columns,)
        NaN unless there are more labels than free constants.
    """
    n_left = len(values) - n_free
    if n_left < 1:
        return np.full(values.shape[1], np.nan)
    # At its minimum, the sum of all penalties is y'(y - f). Rounding may make it slightly negative.
    centered = values - values.mean(axis=0)
    residuals = values - fitted
    total = centered * residuals if n_free else values * residuals
    return np.clip(total.sum(axis=0), 0.0, None) / n_left
