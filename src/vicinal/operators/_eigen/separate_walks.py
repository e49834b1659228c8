"""Eigenpairs of a walk on a digraph of several components, which only teleport ties together.

Each component has a vector that is all but an eigenvector of value 1: the roots of the stationary
distribution, restricted to it. So there are as many eigenvalues next to 1 as components, closer to
each other than any tolerance, and what teleport makes of them is a small problem of its own. They are
solved first and together, then moved out of the way of the others.
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
    DENSE,
    MISSED,
    Deflated,
    NotConverged,
    by_levels,
    connected_pairs,
    is_far,
    largest,
    stubborn_pairs,
    with_missed,
)

# How near to 1 the Rayleigh quotient of a component is for its vector to be all but an eigenvector.
NEAR = 0.1
# Entries of the walk that rounding hides.
NEGLIGIBLE = 1e-15
# Vectors of components in a block at most; more of them stay combined, and correct the block.
WIDEST = 100
# A gap behind them makes some ten steps suffice; without one, levels are the better method.
STEPS = 150


def walk_pairs(
    walk: Any, n_pairs: int, tolerance: float, seed: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs, after the known one, of a `SymmetricWalk` or an `AlignedWalk`."""
    n = walk.shape[0]
    indicators = component_vectors(walk)
    matrix, known = walk.sparse_part, walk.known
    if n <= DENSE or n_pairs > n // 4 or indicators.shape[1] <= 1:
        return connected_pairs(matrix, known, n_pairs, tolerance, seed, n_jobs, operator=walk)
    largest_component = int(np.argmax(np.diff(indicators.indptr)))
    far = is_far(matrix, int(indicators.indices[indicators.indptr[largest_component]]))
    for by_hops in (far, not far):
        try:
            if by_hops:
                return by_levels(matrix, known, n_pairs, tolerance, seed, walk, n_jobs)
            with one_blas_thread():
                return _separate_pairs(walk, indicators, n_pairs, tolerance, seed, n_jobs)
        except (CoarseningStalled, NotConverged):
            continue
    return stubborn_pairs(Deflated(walk, known), matrix, n_pairs, tolerance, seed, n_jobs)


def component_vectors(walk: Any) -> sparse.csc_array:
    """Unit vectors, one per component, of the roots of the stationary distribution.

    Components that a walk leaves at once, such as a node without edges, are not among them.
    """
    part = walk.sparse_part.tocoo()
    felt = np.abs(part.data) > NEGLIGIBLE
    links = sparse.coo_array(
        (np.ones(int(felt.sum())), (part.row[felt], part.col[felt])), shape=part.shape
    )
    labels = connected_components(links, directed=False)[1]
    lengths = np.sqrt(np.bincount(labels, walk.known**2))
    vectors = sparse.csc_array(
        (walk.known / lengths[labels], (np.arange(len(labels)), labels)),
        shape=(len(labels), len(lengths)),
    )
    stays = (vectors * (walk.sparse_part @ vectors)).sum(axis=0) > 1.0 - NEAR
    return vectors[:, np.flatnonzero(stays)]


def _separate_pairs(
    walk: Any,
    indicators: sparse.csc_array,
    n_pairs: int,
    tolerance: float,
    seed: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    deflated = Deflated(walk, walk.known)
    slow = _slow_pairs(walk, deflated, indicators, n_pairs, tolerance, n_jobs)
    n_slow = len(slow[0])
    if n_slow == n_pairs:
        return with_missed(deflated, *slow, tolerance, seed)
    others = Deflated(walk, np.column_stack([walk.known, slow[1]]))
    values, vectors = largest(others, n_pairs - n_slow, tolerance, seed)
    if values[0] > slow[0][-1]:  # slower than some component: then the last ones may be others
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
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs next to 1: combinations of the vectors of components, and a little more."""
    # Combinations that are orthogonal to the known vector.
    known = indicators.T @ walk.known
    free = null_space(known[None, :])
    between = indicators.T @ (walk.sparse_part @ indicators).toarray()
    if hasattr(walk, "left"):
        outer = np.outer(indicators.T @ walk.left, indicators.T @ walk.right)
        between = between + 0.5 * (outer + outer.T)
    values, mix = eigh(free.T @ between @ free)
    values, mix = values[::-1], free @ mix[:, ::-1]
    n_slow = min(n_pairs, len(values))
    width = min(len(values), max(2 * n_slow, WIDEST))

    def correct(residuals: np.ndarray, at: np.ndarray) -> np.ndarray:
        # Combinations that the block has no room for are corrected as if they were eigenvectors.
        inside = mix[:, width:].T @ (indicators.T @ residuals)
        inside /= np.minimum(values[width:, None] - at, -tolerance)
        return np.hstack([residuals, indicators @ (mix[:, width:] @ inside)])

    found = block_eigenpairs(
        deflated,
        indicators @ mix[:, :width],
        n_slow,
        # They are taken out of the operator, so what they lack is what others get too much of.
        0.1 * tolerance,
        max_steps=STEPS,
        precondition=correct if width < len(values) else None,
        n_jobs=n_jobs,
    )
    if found[2].max() > MISSED * tolerance:
        raise NotConverged(n_slow, tolerance)
    return found[0], found[1]
