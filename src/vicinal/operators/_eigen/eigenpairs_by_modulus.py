"""Eigenpairs of a walk from both ends of its spectrum: what lasts longest, be it by swinging to and fro.

A negative eigenvalue is a direction in which a walk changes sides at each step. Of a bipartite graph,
such as a tree, the spectrum is symmetric, and the lower half of it follows from the upper one.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal.operators._components import AffinityStructure, affinity_structure
from vicinal.operators._eigen.solvers import (
    ACCURACY,
    DENSE,
    LAST_RESORT,
    SHIFT,
    NotConverged,
    band_solver,
    dense_eigenpairs,
    largest,
)
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.eigenpairs import Eigenpairs, normalized_pairs, signed, with_residuals
from vicinal.operators.laplacians import normalized_affinity

# Accuracy to which the lowest eigenvalue is found, from above, to see whether it matters.
ROUGH = 1e-2
# Eigenvalues below its opposite belong to the lower end, all others to the upper one.
NOTHING = 1e-8


def eigenpairs_by_modulus(
    weights: sparse.csr_array,
    n_pairs: int,
    *,
    structure: AffinityStructure | None = None,
    tolerance: float = 1e-9,
    random_state: int = 0,
    n_jobs: int | None = -1,
) -> Eigenpairs:
    """Eigenpairs of largest modulus of the normalised affinity of a connected graph, 1 before all others.

    Parameters
    ----------
    weights : csr_array (n, n)
        Symmetric affinities of a connected graph.
    structure : AffinityStructure, optional
        Degrees and components, if they are known already.
    n_pairs, tolerance, random_state, n_jobs :
        As for `leading_eigenpairs`.
    """
    n = weights.shape[0]
    every = n <= DENSE or n_pairs > n // 4
    structure = affinity_structure(weights) if structure is None else structure
    wanted = n if every else n_pairs
    upper = normalized_pairs(weights, structure, wanted, tolerance, random_state, n_jobs)
    parts = [upper]
    if not every:
        matrix = normalized_affinity(weights, structure.degrees)
        sides = two_sides(matrix)
        lower: Eigenpairs | None
        if sides is not None:
            lower = _mirrored(upper, sides)
        else:
            least = max(float(upper.values.min()), 0.0)
            lower = _lowest(matrix, n_pairs, least, tolerance, random_state, n_jobs)
        if lower is not None:
            above, below = upper.values > -NOTHING, lower.values < -NOTHING
            parts = [_chosen(upper, above), _chosen(lower, below)]
    values, residuals = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
    # Of a bipartite graph both ends have the modulus 1, up to rounding.
    order = np.concatenate([[0], 1 + np.argsort(-np.abs(values[1:]), kind="stable")])[:n_pairs]
    vectors = np.hstack([part.vectors for part in parts])[:, order]
    return Eigenpairs(values[order], vectors, residuals[order])


def two_sides(matrix: sparse.csr_array) -> np.ndarray | None:
    """1 or -1 for the side of each node of a connected bipartite graph; None of any other graph."""
    from vicinal.operators._matmul_kernels import hops_from

    hops = hops_from(0, matrix.indptr, matrix.indices)
    sides = np.where(hops % 2 == 0, 1.0, -1.0)
    rows = np.repeat(sides, np.diff(matrix.indptr))
    return None if (rows == sides[matrix.indices]).any() else sides


def _mirrored(upper: Eigenpairs, sides: np.ndarray) -> Eigenpairs:
    return Eigenpairs(-upper.values, signed(upper.vectors * sides[:, None]), upper.residuals)


def _chosen(pairs: Eigenpairs, chosen: np.ndarray) -> Eigenpairs:
    return Eigenpairs(pairs.values[chosen], pairs.vectors[:, chosen], pairs.residuals[chosen])


def _lowest(
    matrix: sparse.csr_array,
    n_pairs: int,
    least: float,
    tolerance: float,
    seed: int,
    n_jobs: int | None,
) -> Eigenpairs | None:
    """The lowest eigenpairs, the lowest first; None if none of them is larger in modulus than ``least``."""
    # Of the Laplacian they are the largest, from 0 to 2: a tolerance relative to 0 could not be met.
    laplacian = ThreadedSparseOperator(
        sparse.csr_array(sparse.eye_array(matrix.shape[0]) - matrix), n_jobs
    )
    try:
        lowest = 1.0 - float(largest(laplacian, 1, ROUGH, seed)[0][0])
        if 2 * ROUGH - lowest < least:
            return None
        found = with_residuals(laplacian, *largest(laplacian, n_pairs, tolerance / 2, seed))
    except NotConverged:
        if matrix.shape[0] <= LAST_RESORT:
            found = with_residuals(laplacian, *dense_eigenpairs(laplacian, n_pairs))
        else:
            found = _by_inverse(matrix, laplacian, n_pairs, tolerance, seed)
    return Eigenpairs(1.0 - found.values, found.vectors, found.residuals)


def _by_inverse(
    matrix: sparse.csr_array,
    laplacian: ThreadedSparseOperator,
    n_pairs: int,
    tolerance: float,
    seed: int,
) -> Eigenpairs:
    """Largest eigenpairs of the Laplacian I - S from those of (S + shift)^-1, whose gaps are wide.

    Lanczos crawls at the lower end of long graphs that are all but bipartite, and these have narrow bands.
    """
    n = matrix.shape[0]
    solve = band_solver(-matrix, SHIFT)
    if solve is not None:
        inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
        with suppress(NotConverged):
            vectors = largest(inverse, n_pairs, tolerance, seed)[1]
            values = np.einsum("ij,ij->j", vectors, laplacian @ vectors)
            found = with_residuals(laplacian, values, vectors)
            if found.residuals.max() <= ACCURACY * tolerance:
                return found
    raise NotConverged(
        n_pairs,
        tolerance,
        "ask for fewer, or make the walk lazy: with each node's degree added to its diagonal entry no "
        "eigenvalue is negative.",
    )
