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

from typing import Any

import numpy as np

from vicinal._core.array_checks import real_array
from vicinal.exceptions import InvalidValueError

# Class priors that have a name.
PRIORS = ("labels", "estimate")
# Estimates replace the proportions of the labels only if a test at this level rejects those.
SIGNIFICANCE_LEVEL = 0.05
# Proportions are estimated only if densities tell this fraction of the class of a row, by its entropy: with
# few labels among many nodes, all densities are nearly constant, and one class has the largest likelihood.
MIN_INFORMATION = 0.05
# Proportions are estimated from at most this many rows; their standard error is then below 0.4 %.
MAX_ROWS = 20_000
MAX_ITER, TOLERANCE = 1000, 1e-7


def check_class_prior(prior: Any) -> None:
    """Raise unless ``prior`` is None, a name in `PRIORS` or one positive number per class."""
    if prior is None or (isinstance(prior, str) and prior in PRIORS):
        return
    if isinstance(prior, (str, bytes, bool)) or not _is_list(prior):
        raise InvalidValueError(
            f"class_prior={prior!r}, but None, 'labels', 'estimate' or one proportion per class is needed."
        )
    values = np.asarray(real_array(prior, "class_prior"), dtype=np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InvalidValueError(
            f"class_prior={prior!r}, but proportions of classes must be finite and > 0."
        )


def _is_list(values: Any) -> bool:
    try:
        return np.ndim(values) == 1
    except ValueError:  # ragged
        return False


def class_proportions(prior: Any, counts: np.ndarray, densities: np.ndarray) -> np.ndarray:
    """Proportions of the classes among the unlabelled nodes.

    Parameters
    ----------
    prior : "labels", "estimate" or array of shape (n_classes,)
        A checked class prior.
    counts : ndarray of int of shape (n_classes,)
        Number of labels of each class.
    densities : ndarray of shape (n_unlabelled, n_classes)
        Density of each class at the unlabelled nodes.

    Returns
    -------
    ndarray of shape (n_classes,)
        They sum to 1.
    """
    if not isinstance(prior, str):
        proportions = np.asarray(prior, dtype=np.float64)
        if len(proportions) != len(counts):
            raise InvalidValueError(
                f"class_prior has {len(proportions)} value(s), but the labels have {len(counts)} "
                "class(es); pass one proportion per class, in sorted order of the classes."
            )
        return proportions / proportions.sum()
    if prior == "estimate":
        densities = densities[:: -(-len(densities) // MAX_ROWS)]
        if information(densities) >= MIN_INFORMATION:
            proportions = mixture_proportions(densities)
            if not have_same_proportions(counts, len(densities) * proportions):
                return proportions
    return (counts + 1.0) / (counts + 1.0).sum()


def rescale_by_mass(
    values: np.ndarray, unlabelled: np.ndarray, mass: np.ndarray, counts: np.ndarray, prior: Any
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
    prior : "labels", "estimate" or array of shape (n_classes,)
        A checked class prior.

    Returns
    -------
    ndarray of shape (n_unlabelled, n_classes)
        Rows sum to 1.
    """
    densities = class_densities(values[unlabelled], mass)
    scaled = densities * class_proportions(prior, counts, densities)
    return scaled / scaled.sum(axis=1, keepdims=True)


def class_densities(values: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Values divided by the mass of their class; the largest in each row is 1."""
    densities = np.divide(values, mass, out=np.zeros_like(values), where=mass > 0)
    return densities / densities.max(axis=1, keepdims=True)


def information(densities: np.ndarray) -> float:
    """Fraction of the entropy of equally frequent classes that the densities of a row remove, in the mean."""
    from scipy.special import entr

    n_classes = densities.shape[1]
    if n_classes == 1:
        return 1.0
    posterior = densities / densities.sum(axis=1, keepdims=True)
    return 1.0 - float(entr(posterior).sum(axis=1).mean() / np.log(n_classes))


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
