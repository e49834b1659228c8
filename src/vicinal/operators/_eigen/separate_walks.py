"""Eigenpairs of a walk on a digraph whose components are connected only by teleport.

The square roots of the stationary distribution, restricted to a component, are almost an eigenvector with
eigenvalue 1. There are as many eigenvalues near 1 as components, closer to each other than any tolerance.
They are found first, from a small dense eigenproblem, and then deflated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, null_space
from scipy.sparse.csgraph import connected_components

from vicinal._core.parallel import one_blas_thread
from vicinal.operators._eigen.block_davidson import block_eigenpairs
from vicinal.operators._eigen.multilevel import CoarseningStalled
from vicinal.operators._eigen.solvers import (
    DENSE_MAX_NODES,
    MISSED_MARGIN,
    Deflated,
    EigenpairsNotConverged,
    connected_pairs,
    fallback_pairs,
    has_large_diameter,
    largest,
    multilevel_pairs,
    with_missed_pairs,
)

# A component vector is used if its Rayleigh quotient differs from 1 by less than this.
MAX_DISTANCE_TO_ONE = 0.1
# Entries of the walk below this vanish in rounding.
NEGLIGIBLE = 1e-15
# Maximum number of component vectors in a block; further ones are used by the preconditioner.
MAX_BLOCK_WIDTH = 100
# With an eigengap after the components, about ten iterations suffice; without, multilevel is better.
MAX_ITER = 150


def walk_pairs(
    walk: Any, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs of a `SymmetricWalk` or `AlignedWalk`, without the trivial one."""
    n = walk.shape[0]
    indicators = component_vectors(walk)
    matrix, known = walk.sparse_part, walk.trivial_vector
    if n <= DENSE_MAX_NODES or n_pairs > n // 4 or indicators.shape[1] <= 1:
        return connected_pairs(matrix, known, n_pairs, tolerance, seed, operator=walk)
    largest_component = int(np.argmax(np.diff(indicators.indptr)))
    wide = has_large_diameter(matrix, int(indicators.indices[indicators.indptr[largest_component]]))
    for use_multilevel in (wide, not wide):
        try:
            if use_multilevel:
                return multilevel_pairs(matrix, known, n_pairs, tolerance, seed, walk)
            with one_blas_thread():
                return _separate_pairs(walk, indicators, n_pairs, tolerance, seed)
        except (CoarseningStalled, EigenpairsNotConverged):
            continue
    return fallback_pairs(Deflated(walk, known), matrix, n_pairs, tolerance, seed)


def component_vectors(walk: Any) -> sparse.csc_array:
    """Square roots of the stationary distribution, restricted to each component and normalised.

    Components that the walk leaves immediately, such as isolated nodes, are omitted.
    """
    part = walk.sparse_part.tocoo()
    relevant = np.abs(part.data) > NEGLIGIBLE
    links = sparse.coo_array(
        (np.ones(int(relevant.sum())), (part.row[relevant], part.col[relevant])), shape=part.shape
    )
    labels = connected_components(links, directed=False)[1]
    lengths = np.sqrt(np.bincount(labels, walk.trivial_vector**2))
    vectors = sparse.csc_array(
        (walk.trivial_vector / lengths[labels], (np.arange(len(labels)), labels)),
        shape=(len(labels), len(lengths)),
    )
    is_slow = (vectors * (walk.sparse_part @ vectors)).sum(axis=0) > 1.0 - MAX_DISTANCE_TO_ONE
    return vectors[:, np.flatnonzero(is_slow)]


def _separate_pairs(
    walk: Any,
    indicators: sparse.csc_array,
    n_pairs: int,
    tolerance: float,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    deflated = Deflated(walk, walk.trivial_vector)
    slow = _slow_pairs(walk, deflated, indicators, n_pairs, tolerance)
    n_slow = len(slow[0])
    if n_slow == n_pairs:
        return with_missed_pairs(deflated, *slow, tolerance, seed)
    others = Deflated(walk, np.column_stack([walk.trivial_vector, slow[1]]))
    values, vectors = largest(others, n_pairs - n_slow, tolerance, seed)
    if values[0] > slow[0][-1]:  # some other eigenvalues are larger than those of components
        values, vectors = largest(others, n_pairs, tolerance, seed)
    values, vectors = np.concatenate([slow[0], values]), np.hstack([slow[1], vectors])
    order = np.argsort(-values, kind="stable")[:n_pairs]
    return values[order], vectors[:, order]


def _slow_pairs(
    walk: Any,
    deflated: Deflated,
    indicators: sparse.csc_array,
    n_pairs: int,
    tolerance: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs near 1, starting from combinations of component vectors."""
    # Combinations that are orthogonal to the trivial vector.
    trivial = indicators.T @ walk.trivial_vector
    free = null_space(trivial[None, :])
    between = indicators.T @ (walk.sparse_part @ indicators).toarray()
    if hasattr(walk, "left"):
        outer = np.outer(indicators.T @ walk.left, indicators.T @ walk.right)
        between = between + 0.5 * (outer + outer.T)
    values, combinations = eigh(free.T @ between @ free)
    values, combinations = values[::-1], free @ combinations[:, ::-1]
    n_slow = min(n_pairs, len(values))
    width = min(len(values), max(2 * n_slow, MAX_BLOCK_WIDTH))

    def precondition(residuals: np.ndarray, at: np.ndarray) -> np.ndarray:
        # Combinations beyond the width of the block are treated as eigenvectors.
        coefficients = combinations[:, width:].T @ (indicators.T @ residuals)
        coefficients /= np.minimum(values[width:, None] - at, -tolerance)
        return np.hstack([residuals, indicators @ (combinations[:, width:] @ coefficients)])

    slow_values, slow_vectors, errors = block_eigenpairs(
        deflated,
        indicators @ combinations[:, :width],
        n_slow,
        # They are deflated, so their errors affect the other eigenpairs.
        0.1 * tolerance,
        max_iter=MAX_ITER,
        precondition=precondition if width < len(values) else None,
    )
    if errors.max() > MISSED_MARGIN * tolerance:
        raise EigenpairsNotConverged(n_slow, tolerance)
    return slow_values, slow_vectors
