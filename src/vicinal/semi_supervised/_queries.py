"""Which node to label next: uncertain nodes in dense regions that no other choice covers.

The gain of a node is its density times the uncertainty that random walks from it meet, outside the regions
that earlier choices cover. The density is the degree, at most the median: only outliers are less dense.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal.operators.laplacians import degrees, transition

# Length of the walks, the best of 3, 8, 20 and 40 on digits and MNIST together.
N_STEPS = 40


def uncertainties(probabilities: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """1 minus the difference of the two largest probabilities; 1 for nodes that no label reaches."""
    if probabilities.shape[1] == 1:
        return np.where(reached, 0.0, 1.0)
    best = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.where(reached, 1.0 - (best[:, 1] - best[:, 0]), 1.0)


def choose_queries(
    weights: sparse.csr_array, uncertainty: np.ndarray, labelled: np.ndarray, n_queries: int
) -> np.ndarray:
    """Choose nodes to label, one after the other, as if each had already received its label.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric and nonnegative.
    uncertainty : ndarray of shape (n,)
        Between 0 and 1.
    labelled : ndarray of bool of shape (n,)
        Nodes that are labelled already.
    n_queries : int
        At most the number of unlabelled nodes.

    Returns
    -------
    ndarray of int of shape (n_queries,)
        Nodes, the most useful first.
    """
    walk = transition(weights)
    available = ~labelled
    # Positive, so that certain nodes are chosen by coverage too.
    remaining = np.maximum(uncertainty, np.finfo(np.float64).eps)
    sums = degrees(weights)
    density = np.minimum(sums, np.median(sums))
    queries = np.empty(n_queries, dtype=np.int64)
    for k in range(n_queries):
        gain = density * _sum_over_steps(walk, remaining)
        queries[k] = np.argmax(np.where(available, gain, -1.0))
        available[queries[k]] = False
        start = np.zeros(len(uncertainty))
        start[queries[k]] = 1.0
        covered = _sum_over_steps(walk, start)
        remaining *= 1.0 - covered / covered.max()
    return queries


def _sum_over_steps(walk: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    """Sum of the expected values after 0, 1, ..., N_STEPS steps."""
    total = values.copy()
    for _ in range(N_STEPS):
        values = walk @ values
        total += values
    return total
