"""Eigenpairs of largest modulus, including negative (oscillating) ones.

The spectrum of a bipartite graph, such as a tree, is symmetric, so its lower half follows from the upper one.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal.operators._components import AffinityStructure, affinity_structure
from vicinal.operators._eigen.solvers import (
    ACCURACY_PER_TOLERANCE,
    DENSE_MAX_NODES,
    FALLBACK_MAX_NODES,
    SHIFT,
    EigenpairsNotConverged,
    band_solver,
    dense_eigenpairs,
    largest,
)
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.eigenpairs import Eigenpairs, normalized_pairs, signed, with_residuals
from vicinal.operators.laplacians import normalized_affinity

# Tolerance of the first estimate of the lowest eigenvalue, which decides whether it is needed.
ESTIMATE_TOLERANCE = 1e-2
# Eigenvalues below the negative of this are computed from the lower end of the spectrum.
ZERO_EIGENVALUE = 1e-8


def eigenpairs_by_modulus(
    weights: sparse.csr_array,
    n_pairs: int,
    *,
    structure: AffinityStructure | None = None,
    tolerance: float = 1e-9,
    random_state: int = 0,
) -> Eigenpairs:
    """Eigenpairs of largest modulus of the normalised affinity of a connected graph; 1 comes first.

    Parameters
    ----------
    weights : csr_array (n, n)
        Symmetric affinities of a connected graph.
    n_pairs : int
        Number of eigenpairs.
    structure : AffinityStructure, optional
        Degrees and components, if they are known already.
    tolerance : float, default=1e-9
        As for `leading_eigenpairs`.
    random_state : int, default=0
        Seed of the start vector.
    """
    n = weights.shape[0]
    all_pairs = n <= DENSE_MAX_NODES or n_pairs > n // 4
    structure = affinity_structure(weights) if structure is None else structure
    n_upper = n if all_pairs else n_pairs
    upper = normalized_pairs(weights, structure, n_upper, tolerance, random_state)
    parts = [upper]
    if not all_pairs:
        matrix = normalized_affinity(weights, structure.degrees)
        sides = bipartition(matrix)
        lower: Eigenpairs | None
        if sides is not None:
            lower = _mirrored(upper, sides)
        else:
            min_modulus = max(float(upper.values.min()), 0.0)
            lower = _lowest(matrix, n_pairs, min_modulus, tolerance, random_state)
        if lower is not None:
            above, below = upper.values > -ZERO_EIGENVALUE, lower.values < -ZERO_EIGENVALUE
            parts = [_select(upper, above), _select(lower, below)]
    values, residuals = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
    # For a bipartite graph, both ends of the spectrum have modulus 1, up to rounding.
    order = np.concatenate([[0], 1 + np.argsort(-np.abs(values[1:]), kind="stable")])[:n_pairs]
    vectors = np.hstack([part.vectors for part in parts])[:, order]
    return Eigenpairs(values[order], vectors, residuals[order])


def bipartition(matrix: sparse.csr_array) -> np.ndarray | None:
    """Side of each node of a connected bipartite graph, 1 or -1; None for other graphs."""
    from vicinal.operators._matmul_kernels import hops_from

    hops = np.empty(matrix.shape[0], np.int64)
    hops_from(0, matrix.indptr, matrix.indices, hops)
    sides = np.where(hops % 2 == 0, 1.0, -1.0)
    rows = np.repeat(sides, np.diff(matrix.indptr))
    return None if (rows == sides[matrix.indices]).any() else sides


def _mirrored(upper: Eigenpairs, sides: np.ndarray) -> Eigenpairs:
    return Eigenpairs(-upper.values, signed(upper.vectors * sides[:, None]), upper.residuals)


def _select(pairs: Eigenpairs, mask: np.ndarray) -> Eigenpairs:
    return Eigenpairs(pairs.values[mask], pairs.vectors[:, mask], pairs.residuals[mask])


def _lowest(
    matrix: sparse.csr_array,
    n_pairs: int,
    min_modulus: float,
    tolerance: float,
    seed: int,
) -> Eigenpairs | None:
    """The lowest eigenpairs, ascending; None if none of them exceeds ``min_modulus`` in modulus."""
    # They are the largest of the Laplacian, from 0 to 2; a tolerance relative to 0 could not be reached.
    laplacian = ThreadedSparseOperator(sparse.csr_array(sparse.eye_array(matrix.shape[0]) - matrix))
    try:
        lowest = 1.0 - float(largest(laplacian, 1, ESTIMATE_TOLERANCE, seed)[0][0])
        if 2 * ESTIMATE_TOLERANCE - lowest < min_modulus:
            return None
        pairs = with_residuals(laplacian, *largest(laplacian, n_pairs, tolerance / 2, seed))
    except EigenpairsNotConverged:
        if matrix.shape[0] <= FALLBACK_MAX_NODES:
            pairs = with_residuals(laplacian, *dense_eigenpairs(laplacian, n_pairs))
        else:
            pairs = _by_inverse(matrix, laplacian, n_pairs, tolerance, seed)
    return Eigenpairs(1.0 - pairs.values, pairs.vectors, pairs.residuals)


def _by_inverse(
    matrix: sparse.csr_array,
    laplacian: ThreadedSparseOperator,
    n_pairs: int,
    tolerance: float,
    seed: int,
) -> Eigenpairs:
    """Largest eigenpairs of the Laplacian I - S from those of (S + shift)^-1, which has larger gaps.

    Lanczos is slow at the lower end for long, almost bipartite graphs, which have a narrow band.
    """
    n = matrix.shape[0]
    solve = band_solver(-matrix, SHIFT)
    if solve is not None:
        inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
        with suppress(EigenpairsNotConverged):
            vectors = largest(inverse, n_pairs, tolerance, seed)[1]
            values = np.einsum("ij,ij->j", vectors, laplacian @ vectors)
            pairs = with_residuals(laplacian, values, vectors)
            if pairs.residuals.max() <= ACCURACY_PER_TOLERANCE * tolerance:
                return pairs
    raise EigenpairsNotConverged(
        n_pairs,
        tolerance,
        "use fewer pairs, or make the walk lazy: with each node's degree added to its diagonal entry, no "
        "eigenvalue is negative.",
    )
