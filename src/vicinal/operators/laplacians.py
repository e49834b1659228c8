"""Random walk and Laplacians of an affinity.

The random walk never leaves an isolated node: its transition probability to itself is 1, and its row of every
Laplacian is 0. Hence every component, also an isolated node, has a vector in the null space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal._core.matrix_checks import check_affinity
from vicinal._core.scalar_checks import check_choice
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.types import LaplacianKind, MatrixLike
    from vicinal.graphs.graph import Graph

KINDS = ("combinatorial", "symmetric", "random_walk")
# Products of two numbers up to this do not overflow.
MAX_SAFE_FACTOR = 1e150
# Factor for weights whose sum overflows: an exact power of two, below the inverse of any row length.
SCALE_DOWN = 2.0**-64
# Below the exponent of any ratio of doubles.
MIN_EXPONENT = -5000


def transition(affinity: Graph | MatrixLike) -> sparse.csr_array:
    """Compute the transition probabilities P = D^-1 W of the random walk, D being the row sums of W.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights, symmetric or not; for a graph, its `Graph.affinity`.

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
    walk, isolated = walk_matrix(as_affinity(affinity, symmetric=False))
    if not isolated.any():
        return walk
    return walk + sparse.diags_array(isolated.astype(np.float64), format="csr")


def walk_matrix(weights: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
    """Transition probabilities, with empty rows for nodes without edges, and a mask of these rows."""
    counts, values, sums = np.diff(weights.indptr), weights.data, _row_sums(weights)
    if not np.isfinite(sums).all():
        values = values * np.repeat(np.where(np.isfinite(sums), 1.0, SCALE_DOWN), counts)
        sums = _row_sums(_with_values(weights, values))
    isolated = sums == 0
    # Divide, because the inverse of a very small sum overflows.
    values = values / np.repeat(np.where(isolated, 1.0, sums), counts)
    walk = sparse.csr_array((values, weights.indices.copy(), weights.indptr.copy()), weights.shape)
    walk.eliminate_zeros()
    return walk, isolated


def laplacian(
    affinity: Graph | MatrixLike | LinearOperator, kind: LaplacianKind = "combinatorial"
) -> sparse.csr_array | LinearOperator:
    """Compute a Laplacian of an affinity W with degrees D.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix, or LinearOperator, of shape (n, n)
        Symmetric nonnegative weights. The Laplacian of an operator is an operator, and no matrix is formed,
        for instance for the sum of a sparse and a low-rank affinity.
    kind : {"combinatorial", "symmetric", "random_walk"}, default="combinatorial"
        D - W, I - D^-1/2 W D^-1/2, or I - D^-1 W.

    Returns
    -------
    csr_array or LinearOperator of shape (n, n)
        The Laplacian; an operator if the affinity is one.

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
    if kind == "combinatorial":
        return sparse.csr_array(sparse.diags_array(degrees(weights)) - weights)
    if kind == "random_walk":
        walk, isolated = walk_matrix(weights)
        return sparse.csr_array(sparse.diags_array((~isolated).astype(np.float64)) - walk)
    if not np.isfinite(_row_sums(weights)).all():
        weights = _with_values(weights, weights.data * SCALE_DOWN)
    sums = degrees(weights)
    diagonal = sparse.diags_array((sums > 0).astype(np.float64))
    return sparse.csr_array(diagonal - normalized_affinity(weights, sums))


def normalized_affinity(weights: sparse.csr_array, sums: np.ndarray) -> sparse.csr_array:
    """D^-1/2 W D^-1/2, exactly symmetric; rows of isolated nodes are 0."""
    roots = np.divide(1.0, np.sqrt(sums), out=np.zeros_like(sums), where=sums > 0)
    counts = np.diff(weights.indptr)
    if roots.max(initial=0.0) < MAX_SAFE_FACTOR:
        # The product of the roots first, which is the same for (i, j) and (j, i).
        values = np.repeat(roots, counts)
        values *= roots[weights.indices]
        values *= weights.data
    else:  # the product might overflow
        mantissas, exponents = np.frexp(roots)
        values = np.repeat(mantissas, counts) * mantissas[weights.indices]
        values *= np.ldexp(weights.data, np.repeat(exponents, counts) + exponents[weights.indices])
    return _with_values(weights, values)


def normalize_by_mass(weights: sparse.csr_array, masses: np.ndarray) -> sparse.csr_array:
    """Divide weights by the masses of their columns, if positive, and normalise rows to sum 1."""
    mantissas, exponents = np.frexp(weights.data)
    mass_mantissas, mass_exponents = np.frexp(np.where(masses > 0, masses, 1.0)[weights.indices])
    # Scale the largest of each row to about 1, so that none overflows and not all underflow.
    exponents = np.where(mantissas > 0, exponents - mass_exponents, MIN_EXPONENT)
    counts = np.diff(weights.indptr)
    filled = counts > 0
    largest = np.maximum.reduceat(exponents, weights.indptr[:-1][filled])
    exponents -= np.repeat(largest, counts[filled])
    return walk_matrix(_with_values(weights, np.ldexp(mantissas / mass_mantissas, exponents)))[0]


def degrees(weights: sparse.csr_array) -> np.ndarray:
    """Sum of each row; raises an error if one overflows."""
    sums = _row_sums(weights)
    if not np.isfinite(sums).all():
        raise InvalidValueError(
            f"the affinities of node {int(np.argmin(np.isfinite(sums)))} have a sum beyond "
            f"{np.finfo(np.float64).max:.1e}, the largest float; divide all affinities by the largest one."
        )
    return sums


def as_affinity(
    affinity: Any, *, symmetric: bool = True, name: str = "affinity"
) -> sparse.csr_array:
    """Compute the affinity of a graph, or check a matrix of affinities."""
    from vicinal.graphs._checks import check_has_nodes
    from vicinal.graphs.graph import Graph

    if not isinstance(affinity, Graph):
        return check_affinity(affinity, name=name, symmetric=symmetric)
    check_has_nodes(affinity, name)
    if symmetric and affinity.directed:
        raise InvalidValueError(
            "the graph is directed, but a symmetric affinity is needed; "
            "use graph.symmetrize('union'), 'mean' or 'intersection'."
        )
    return affinity.affinity()


def _row_sums(weights: sparse.csr_array) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(weights.sum(axis=1)).ravel()


def _with_values(weights: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)


def _laplacian_operator(weights: LinearOperator, kind: str) -> LinearOperator:
    if weights.shape[0] != weights.shape[1]:
        raise InvalidValueError(
            f"affinity has shape {weights.shape}, but a square operator is needed."
        )
    n = weights.shape[0]
    sums = np.asarray(weights @ np.ones(n), dtype=np.float64)
    if not (np.isfinite(sums).all() and (sums >= 0).all()):
        raise InvalidValueError(
            "affinity is an operator with negative or undefined row sums, but a Laplacian needs "
            "nonnegative weights."
        )
    left = right = None
    diagonal = sums
    if kind != "combinatorial":
        diagonal = (sums > 0).astype(np.float64)
        # Divisors, because the inverse of a very small sum overflows.
        left = np.where(sums > 0, sums, np.inf)
        if kind == "symmetric":
            left = right = np.sqrt(left)

    def apply(x: np.ndarray) -> np.ndarray:
        flow = weights @ (x if right is None else _divide_rows(x, right))
        scaled = diagonal * x if x.ndim == 1 else diagonal[:, None] * x
        return scaled - (flow if left is None else _divide_rows(flow, left))

    symmetric = kind != "random_walk"
    return LinearOperator(
        (n, n),
        matvec=apply,
        matmat=apply,
        rmatvec=apply if symmetric else None,
        dtype=np.float64,
    )


def _divide_rows(x: np.ndarray, divisors: np.ndarray) -> np.ndarray:
    return x / (divisors if x.ndim == 1 else divisors[:, None])
