"""The linear system of graph priors and label propagation.

(diag(absorption) + L) f = targets describes a random walk that is absorbed at node i with a probability that
grows with ``absorption[i]``; f is the mean target where it is absorbed. If labels are connected only by edges
1e11 times weaker than the others, the solution in double precision is noise. Therefore every node absorbs a
little, with target 0, and the mass of labels that remains at a node, its evidence, shows whether labels reach
it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal._core.rescale import binary_exponent
from vicinal.operators._conjugate_gradients import solve_positive_definite
from vicinal.operators.laplacians import degrees

# Smallest absorption of a node, as a fraction of its degree.
MIN_ABSORPTION = 1e-11
TOLERANCE = 1e-12
# Tolerance for ill-conditioned systems, whose weights differ by many orders of magnitude.
COARSE_TOLERANCE = 1e-8


class Spread(NamedTuple):
    """Labels spread to all nodes.

    Attributes
    ----------
    values : ndarray of shape (n,) or (n, n_columns)
        Values, or a row of class probabilities, for each node.
    reached : ndarray of bool of shape (n,)
        False for nodes that no label reaches; they get the mean of the labelled values, or the class
        frequencies of the labels.
    """

    values: np.ndarray
    reached: np.ndarray


def absorb(
    weights: sparse.csr_array,
    absorption: np.ndarray,
    targets: np.ndarray,
) -> tuple[np.ndarray, float]:
    """Solve (diag(absorption) + L) f = targets, where L is the combinatorial Laplacian of ``weights``.

    Returns
    -------
    values : ndarray of shape (n, n_columns)
        The solution f.
    error : float
        Error bound of all values, as a fraction of the largest in their column.
    """
    if weights.diagonal().any():
        # Loops do not change the Laplacian, but a large one would cancel small weights in sums.
        weights = weights.copy()
        weights.setdiag(0.0)
    outward = degrees(weights)
    # Rescaled by a power of 2, so that extreme weights neither overflow nor underflow.
    unit = -binary_exponent(max(outward.max(), absorption.max()))
    weights = sparse.csr_array(
        (np.ldexp(weights.data, unit), weights.indices, weights.indptr), shape=weights.shape
    )
    outward, targets = np.ldexp(outward, unit), np.ldexp(targets, unit)
    absorption = np.maximum(np.ldexp(absorption, unit), MIN_ABSORPTION * outward)
    # Labels do not reach a node without edges or absorption, whatever its equation.
    absorption[absorption < np.finfo(np.float64).tiny / MIN_ABSORPTION] = 1.0
    diagonal = absorption + outward
    matrix = sparse.csr_array(sparse.diags_array(diagonal) - weights)
    try:
        tolerance = TOLERANCE
        values = solve_positive_definite(matrix, targets, tolerance=tolerance).values
    except np.linalg.LinAlgError:
        tolerance = COARSE_TOLERANCE
        values = solve_positive_definite(matrix, targets, tolerance=tolerance).values
    # Rows of the matrix sum to ``absorption``, so no error exceeds the largest residual over it.
    return values, tolerance * float(np.max(diagonal / absorption))


def harmonic(
    weights: sparse.csr_array, values: np.ndarray, known: np.ndarray
) -> tuple[np.ndarray, float]:
    """Replace each unknown row by the weighted mean of its neighbours' rows.

    Returns the values and their error bound, like `absorb`.
    """
    inside, outside = np.flatnonzero(known), np.flatnonzero(~known)
    if len(outside) == 0:
        return values, 0.0
    rows = weights[outside]
    links = rows[:, inside]
    means, error = absorb(rows[:, outside], degrees(links), links @ values[inside])
    values = values.copy()
    values[outside] = means
    return values, error


def is_reached(weights: sparse.csr_array, evidence: np.ndarray, error: float) -> np.ndarray:
    """Mask of the nodes whose evidence exceeds the error of the largest in their component."""
    significant = evidence > error * evidence.max()
    if error == 0 or significant.all():
        return significant
    links = weights.copy()
    links.eliminate_zeros()
    component = connected_components(links, directed=False)[1]
    largest = np.zeros(component.max() + 1)
    np.maximum.at(largest, component, evidence)
    return evidence > error * largest[component]


def normalize_rows(
    weights: sparse.csr_array, values: np.ndarray, error: float, default: np.ndarray
) -> Spread:
    """Divide each row by its sum, the evidence, so that rows sum to 1.

    ``default`` is the row of nodes that no label reaches.
    """
    fractions = np.clip(values, 0.0, None)
    evidence = fractions.sum(axis=1)
    reached = is_reached(weights, evidence, error)
    fractions[reached] /= evidence[reached, None]
    fractions[~reached] = default
    return Spread(fractions, reached)
