"""The random walk on an affinity, and its Laplacians.

A node without any affinity stays where it is: its transition probability to itself is 1 and its row
of every Laplacian is 0. So each component, also a single node, has a constant vector in the kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal._validation import check_affinity, check_choice

KINDS = ("combinatorial", "symmetric", "random_walk")
# Numbers up to this have products.
LARGE = 1e150


def transition(affinity: Any) -> sparse.csr_array:
    """Transition probabilities P = D^-1 W of the random walk, D the sums of the rows of W.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights, symmetric or not; of a graph its `Graph.affinity`.

    Returns
    -------
    csr_array of shape (n, n)
        Rows sum to 1.

    Examples
    --------
    >>> from vicinal.operators import transition
    >>> transition([[0, 3, 1], [3, 0, 0], [1, 0, 0]]).toarray()
    array([[0.  , 0.75, 0.25],
           [1.  , 0.  , 0.  ],
           [1.  , 0.  , 0.  ]])
    """
    weights = as_affinity(affinity, symmetric=False)
    sums = degrees(weights)
    walk = _scaled_rows(weights, _inverse(sums))
    stuck = (sums == 0).astype(np.float64)
    return walk + sparse.diags_array(stuck, format="csr") if stuck.any() else walk


def laplacian(affinity: Any, kind: str = "combinatorial") -> sparse.csr_array | LinearOperator:
    """Laplacian of an affinity W with degrees D.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix, or LinearOperator, of shape (n, n)
        Symmetric nonnegative weights. The Laplacian of an operator is an operator: nothing is
        formed, which is what a sum of a sparse and a low-rank affinity needs.
    kind : {"combinatorial", "symmetric", "random_walk"}, default="combinatorial"
        D - W, I - D^-1/2 W D^-1/2, or I - D^-1 W.

    Returns
    -------
    csr_array or LinearOperator of shape (n, n)

    Examples
    --------
    >>> from vicinal.operators import laplacian
    >>> laplacian([[0, 3, 1], [3, 0, 0], [1, 0, 0]]).toarray()
    array([[ 4., -3., -1.],
           [-3.,  3.,  0.],
           [-1.,  0.,  1.]])
    """
    check_choice(kind, "kind", KINDS)
    if isinstance(affinity, LinearOperator):
        return _laplacian_operator(affinity, kind)
    weights = as_affinity(affinity)
    sums = degrees(weights)
    if kind == "combinatorial":
        return sparse.csr_array(sparse.diags_array(sums) - weights)
    diagonal = sparse.diags_array((sums > 0).astype(np.float64))
    if kind == "random_walk":
        return sparse.csr_array(diagonal - _scaled_rows(weights, _inverse(sums)))
    return sparse.csr_array(diagonal - normalized_affinity(weights, sums))


def normalized_affinity(weights: sparse.csr_array, sums: np.ndarray) -> sparse.csr_array:
    """D^-1/2 W D^-1/2, symmetric bit for bit; 0 in the rows of nodes without affinity."""
    roots = _inverse(np.sqrt(sums))
    counts = np.diff(weights.indptr)
    if roots.max(initial=0.0) < LARGE:
        # The product of the roots first, in one order for (i, j) and (j, i).
        values = np.repeat(roots, counts)
        values *= roots[weights.indices]
        values *= weights.data
    else:  # it might overflow
        digits, exponents = np.frexp(roots)
        values = np.repeat(digits, counts) * digits[weights.indices]
        values *= np.ldexp(weights.data, np.repeat(exponents, counts) + exponents[weights.indices])
    return sparse.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)


def shares_over(weights: sparse.csr_array, masses: np.ndarray) -> sparse.csr_array:
    """Weights over the masses of their columns, a mass of 0 left out of this; rows sum to 1."""
    values = weights.data / np.where(masses > 0, masses, 1.0)[weights.indices]
    shares = sparse.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
    shares.data /= np.repeat(degrees(shares), np.diff(shares.indptr))
    return shares


def degrees(weights: sparse.csr_array) -> np.ndarray:
    """Sum of each row."""
    return np.asarray(weights.sum(axis=1)).ravel()


def as_affinity(affinity: Any, *, symmetric: bool = True) -> sparse.csr_array:
    """The affinity of a graph, or a checked matrix of affinities."""
    from vicinal.graphs.graph import Graph

    if not isinstance(affinity, Graph):
        return check_affinity(affinity, symmetric=symmetric)
    if symmetric and affinity.directed:
        raise ValueError(
            "the graph is directed, but a symmetric affinity is needed; "
            "graph.symmetrize('union'), 'mean' or 'intersection' makes it so."
        )
    return affinity.affinity()


def _scaled_rows(weights: sparse.csr_array, factors: np.ndarray) -> sparse.csr_array:
    values = weights.data * np.repeat(factors, np.diff(weights.indptr))
    return sparse.csr_array(
        (values, weights.indices.copy(), weights.indptr.copy()), shape=weights.shape
    )


def _laplacian_operator(weights: LinearOperator, kind: str) -> LinearOperator:
    if weights.shape[0] != weights.shape[1]:
        raise ValueError(f"affinity has shape {weights.shape}, but a square operator is needed.")
    n = weights.shape[0]
    sums = np.asarray(weights @ np.ones(n), dtype=np.float64)
    if not (np.isfinite(sums).all() and (sums >= 0).all()):
        raise ValueError(
            "affinity is an operator with negative or undefined row sums, but a Laplacian needs "
            "nonnegative weights."
        )
    left = right = None
    diagonal = sums
    if kind != "combinatorial":
        diagonal = (sums > 0).astype(np.float64)
        left = _inverse(sums)
        if kind == "symmetric":
            left = right = np.sqrt(left)

    def apply(x: np.ndarray) -> np.ndarray:
        flow = weights @ (x if right is None else _times(right, x))
        return _times(diagonal, x) - (flow if left is None else _times(left, flow))

    symmetric = kind != "random_walk"
    return LinearOperator(
        (n, n),
        matvec=apply,
        matmat=apply,
        rmatvec=apply if symmetric else None,
        dtype=np.float64,
    )


def _times(factors: np.ndarray, x: np.ndarray) -> np.ndarray:
    return factors * x if x.ndim == 1 else factors[:, None] * x


def _inverse(values: np.ndarray) -> np.ndarray:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
