"""The linear system behind graph priors and label propagation.

(diag(pull) + L) f = targets reads as a random walk that ends at node i with a chance that grows with
``pull[i]``: f is the mean of what it finds where it ends. A walk that has to cross a link 1e11 times
weaker than those it moves among does so too late for double precision, and the equations would answer
with noise. So every node pulls a little, towards nothing, and what is left of the labels at a node,
its evidence, tells whether they reach it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal._core.rescale import binary_exponent
from vicinal.operators._conjugate_gradients import solve_positive_definite
from vicinal.operators.laplacians import degrees

# Pull of a node without any, as a share of its degree.
LEAK = 1e-11
TOLERANCE = 1e-12
# From here on a solution may take long enough for a progress bar.
LONG = 20_000


class Spread(NamedTuple):
    """What labels say about every node.

    Attributes
    ----------
    values : ndarray of shape (n,) or (n, n_columns)
        Values, or a row of class probabilities, for each node.
    reached : ndarray of bool of shape (n,)
        False where no label reaches a node, so that it was given what is known without a graph: the
        mean of the labelled values, or the class frequencies of the labelled.
    """

    values: np.ndarray
    reached: np.ndarray


def absorb(
    weights: sparse.csr_array,
    pull: np.ndarray,
    targets: np.ndarray,
    *,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> tuple[np.ndarray, float]:
    """Solve (diag(pull) + L) f = targets, L the combinatorial Laplacian of ``weights``.

    Returns
    -------
    values : ndarray of shape (n, n_columns)
    error : float
        Bound of the error of every value, as a share of the largest in its column.
    """
    if weights.diagonal().any():
        # A Laplacian does not see loops, but in a sum a large one would swallow small weights.
        weights = weights.copy()
        weights.setdiag(0.0)
    outward = degrees(weights)
    # Weights as small or large as doubles can be come near 1; a power of 2 changes no digit.
    unit = -binary_exponent(max(outward.max(), pull.max()))
    weights = sparse.csr_array(
        (np.ldexp(weights.data, unit), weights.indices, weights.indptr), shape=weights.shape
    )
    outward, targets = np.ldexp(outward, unit), np.ldexp(targets, unit)
    pull = np.maximum(np.ldexp(pull, unit), LEAK * outward)
    # Nothing comes to a node without any link or pull, whatever its equation says.
    pull[pull < np.finfo(np.float64).tiny / LEAK] = 1.0
    diagonal = pull + outward
    matrix = sparse.csr_array(sparse.diags_array(diagonal) - weights)
    title = "labels" if verbose > 0 and len(pull) >= LONG else None
    found = solve_positive_definite(
        matrix, targets, tolerance=TOLERANCE, n_jobs=n_jobs, progress=title
    ).values
    # Rows of the matrix sum to ``pull``, so no error exceeds the largest residual over its pull.
    return found, TOLERANCE * float(np.max(diagonal / pull))


def harmonic(
    weights: sparse.csr_array, values: np.ndarray, known: np.ndarray, **options: Any
) -> tuple[np.ndarray, float]:
    """Each row that is not known becomes the weighted mean of its neighbours' rows.

    Returns the values and a bound of their error, as `absorb` does.
    """
    inside, outside = np.flatnonzero(known), np.flatnonzero(~known)
    if len(outside) == 0:
        return values, 0.0
    rows = weights[outside]
    links = rows[:, inside]
    found, error = absorb(rows[:, outside], degrees(links), links @ values[inside], **options)
    values = values.copy()
    values[outside] = found
    return values, error


def arrives(weights: sparse.csr_array, evidence: np.ndarray, error: float) -> np.ndarray:
    """Mask of the nodes whose evidence is more than the error of the largest in their component."""
    enough = evidence > error * evidence.max()
    if error == 0 or enough.all():
        return enough
    links = weights.copy()
    links.eliminate_zeros()
    component = connected_components(links, directed=False)[1]
    largest = np.zeros(component.max() + 1)
    np.maximum.at(largest, component, evidence)
    return evidence > error * largest[component]


def conditional(
    weights: sparse.csr_array, found: np.ndarray, error: float, default: np.ndarray
) -> Spread:
    """Shares of the columns in the sum of a row, the evidence; rows sum to 1.

    ``default`` is the row of the nodes where none arrives.
    """
    shares = np.clip(found, 0.0, None)
    evidence = shares.sum(axis=1)
    reached = arrives(weights, evidence, error)
    shares[reached] /= evidence[reached, None]
    shares[~reached] = default
    return Spread(shares, reached)
