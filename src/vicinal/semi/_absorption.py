"""The linear system behind graph priors and label propagation.

(diag(pull) + L) f = targets reads as a random walk that ends at node i with a chance that grows with
``pull[i]``: f is the mean of what it finds where it ends. A walk that has to cross a link 1e11 times
weaker than those it moves among does so too late for double precision, and the equations would answer
with noise. So every node pulls a little, towards nothing, and what is left of the labels at a node,
its evidence, tells whether they reach it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.operators.conjugate_gradients import solve_positive_definite
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
    n_jobs: int | None = None,
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
    pull = np.maximum(pull, LEAK * outward)
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
