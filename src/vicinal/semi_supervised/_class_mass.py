"""Class proportions among the unlabelled nodes, and class probabilities that agree with them.

The labels of a class define a density over the nodes, whose total grows with their number. Scaled to equal
totals, the densities are the components of a mixture. Its maximum likelihood proportions for the unlabelled
nodes solve a concave problem, by expectation maximisation.

References
----------
Saerens, Latinne and Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities: a
simple procedure", Neural Computation 14, 2002.
Zhu, Ghahramani and Lafferty, "Semi-supervised learning using Gaussian fields and harmonic functions",
ICML 2003, for the proportions of a fair sample.
"""

from __future__ import annotations

import numpy as np

# The proportions of the labels are used unless a test at this level rejects them.
SIGNIFICANCE_LEVEL = 0.05
MAX_ITER, TOLERANCE = 1000, 1e-7


def rescale_by_mass(
    values: np.ndarray, unlabelled: np.ndarray, mass: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Class probabilities of the unlabelled nodes, with class proportions that fit them.

    Parameters
    ----------
    values : ndarray of shape (n, n_classes)
        Class probabilities of each node.
    unlabelled : ndarray of bool of shape (n,)
        Mask of the unlabelled nodes.
    mass : ndarray of shape (n_classes,)
        Total of each class over all nodes, before rows were normalised.
    counts : ndarray of int of shape (n_classes,)
        Number of labels of each class.

    Returns
    -------
    ndarray of shape (n_unlabelled, n_classes)
        Rows sum to 1.
    """
    densities = np.divide(
        values[unlabelled], mass, out=np.zeros((int(unlabelled.sum()), len(mass))), where=mass > 0
    )
    densities /= densities.max(axis=1, keepdims=True)
    proportions = mixture_proportions(densities)
    if have_same_proportions(counts, len(densities) * proportions):
        proportions = (counts + 1.0) / (counts + 1.0).sum()
    scaled = densities * proportions
    return scaled / scaled.sum(axis=1, keepdims=True)


def mixture_proportions(densities: np.ndarray) -> np.ndarray:
    """Maximum likelihood proportions of mixture components with known densities.

    1 is added to each count, so that few rows give nearly equal proportions.
    """
    n_rows, n_classes = densities.shape
    proportions = np.full(n_classes, 1.0 / n_classes)
    for _ in range(MAX_ITER):
        posterior = densities * proportions
        posterior /= posterior.sum(axis=1, keepdims=True)
        previous, proportions = proportions, (posterior.sum(axis=0) + 1.0) / (n_rows + n_classes)
        if np.abs(proportions - previous).max() < TOLERANCE:
            break
    return proportions


def have_same_proportions(counts: np.ndarray, other: np.ndarray) -> bool:
    """Whether two rows of counts are consistent with the same proportions (likelihood-ratio test)."""
    from scipy.special import chdtrc, xlogy

    table = np.stack([counts, other])
    table = table[:, table.any(axis=0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return bool(
        chdtrc(table.shape[1] - 1, 2.0 * xlogy(table, table / expected).sum()) > SIGNIFICANCE_LEVEL
    )
