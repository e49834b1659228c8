"""How frequent the classes are among the unlabelled, and scores that agree with it.

The labels of a class make up a density over the nodes, whose total grows with their number. Scaled to the
same total, the densities are those of a mixture, and the class proportions that make the unlabelled nodes
most likely are a concave problem, which expectation maximisation solves.

References
----------
Saerens, Latinne and Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities: a
simple procedure", Neural Computation 14, 2002.
Zhu, Ghahramani and Lafferty, "Semi-supervised learning using Gaussian fields and harmonic functions",
ICML 2003, for the proportions of a fair sample.
"""

from __future__ import annotations

import numpy as np

# Labels have the proportions of the unlabelled unless a test at this level says otherwise.
LEVEL = 0.05
MAX_ITER, TOLERANCE = 1000, 1e-7


def rescale_by_mass(
    values: np.ndarray, unlabelled: np.ndarray, mass: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Class probabilities of the unlabelled at class proportions that fit them.

    Parameters
    ----------
    values : ndarray of shape (n, n_classes)
        Class probabilities of each node.
    unlabelled : ndarray of bool of shape (n,)
    mass : ndarray of shape (n_classes,)
        Total of each class over all nodes, before rows were made to sum to 1.
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
    if are_alike(counts, len(densities) * proportions):
        proportions = (counts + 1.0) / (counts + 1.0).sum()
    scaled = densities * proportions
    return scaled / scaled.sum(axis=1, keepdims=True)


def mixture_proportions(densities: np.ndarray) -> np.ndarray:
    """Proportions of components with known densities, the most likely ones.

    One is added to the count of each: the fewer rows, the nearer they are to equal proportions.
    """
    n_rows, n_classes = densities.shape
    proportions = np.full(n_classes, 1.0 / n_classes)
    for _ in range(MAX_ITER):
        shares = densities * proportions
        shares /= shares.sum(axis=1, keepdims=True)
        last, proportions = proportions, (shares.sum(axis=0) + 1.0) / (n_rows + n_classes)
        if np.abs(proportions - last).max() < TOLERANCE:
            break
    return proportions


def are_alike(counts: np.ndarray, other: np.ndarray) -> bool:
    """Whether two rows of counts may have the same proportions (likelihood ratio test)."""
    from scipy.special import chdtrc, xlogy

    table = np.stack([counts, other])
    table = table[:, table.any(axis=0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return bool(chdtrc(table.shape[1] - 1, 2.0 * xlogy(table, table / expected).sum()) > LEVEL)
