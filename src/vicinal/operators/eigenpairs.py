"""Leading eigenpairs of symmetric operators: the eigensolver of all spectral methods.

A normalised affinity has the eigenvalue 1 once per component of its graph, with a known eigenvector: the
square roots of the degrees. Components are therefore solved one by one, with this trivial vector removed,
which avoids a multiple eigenvalue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal._core.options import entry
from vicinal._core.parallel import blocks
from vicinal._core.scalar_checks import check_count, check_real
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.operators._components import AffinityStructure, affinity_structure
from vicinal.operators._eigen.separate_walks import walk_pairs
from vicinal.operators._eigen.solvers import connected_pairs, largest
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.laplacians import as_affinity, normalized_affinity

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs
    from vicinal.graphs.graph import Graph

# The Nyström extension does not divide by smaller eigenvalues, which would amplify noise.
MIN_NYSTROM_EIGENVALUE = 0.1
# Largest difference between a symmetric matrix and its transpose, relative to the largest entry.
MAX_ASYMMETRY = 1e-10
# Vectors that are multiplied at a time, and the number of their entries.
MIN_COLUMNS, MAX_ENTRIES = 4, 1 << 23


class Eigenpairs(NamedTuple):
    """Eigenvalues in descending order, their eigenvectors as columns, and residuals ||A v - value v||."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray


@entry(blas_threads=1)
def leading_eigenpairs(
    operator: Graph | MatrixLike | LinearOperator,
    n_pairs: int,
    *,
    normalized: bool = True,
    tolerance: float = 1e-9,
    random_state: int | None = None,
    n_jobs: NJobs = -1,
) -> Eigenpairs:
    """Compute the largest eigenvalues and eigenvectors of a normalised affinity or a symmetric operator.

    Parameters
    ----------
    operator : Graph, sparse or dense matrix, or LinearOperator, of shape (n, n)
        With ``normalized``, a graph or a symmetric matrix of affinities W; otherwise any symmetric matrix or
        operator.
    n_pairs : int
        Number of eigenpairs, at most n.
    normalized : bool, default=True
        Whether to normalise W to D^-1/2 W D^-1/2. Its largest eigenvalue is 1, once per component of the
        graph; an isolated node is a component too. The vectors of components come first, that of the largest
        component before the others.
    tolerance : float, default=1e-9
        Largest residual ||A v - value v||, relative to the largest eigenvalue. On graphs of large diameter,
        where eigengaps are too small for a residual to bound the error of a vector, the error in energy is at
        most 100 times this, or 0.001 if that is smaller.
    random_state : int, optional
        Seed of the start vector. The result depends on it only within the tolerance.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    Eigenpairs
        ``values`` (n_pairs,), ``vectors`` (n, n_pairs) of unit length, and ``residuals`` (n_pairs,). The
        entry of each vector with the largest modulus is positive.

    Examples
    --------
    >>> from vicinal import Graph
    >>> from vicinal.operators import leading_eigenpairs
    >>> square = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3], [3, 0]], lengths=[1.0] * 4)
    >>> leading_eigenpairs(square, 4).values.round(6) + 0.0
    array([ 1.,  0.,  0., -1.])
    """
    tolerance = check_real(tolerance, "tolerance", low=0.0, open_low=True)
    seed = 0 if random_state is None else random_state
    if normalized:
        weights = as_affinity(operator, name="operator")
        n_pairs = _check_pairs(n_pairs, weights.shape[0])
        structure = affinity_structure(weights)
        pairs = normalized_pairs(weights, structure, n_pairs, tolerance, seed)
    else:
        operator = _symmetric_operator(operator)
        n_pairs = _check_pairs(n_pairs, operator.shape[0])
        pairs = with_residuals(operator, *largest(operator, n_pairs, tolerance, seed))
    return pairs


def walk_eigenpairs(
    walk: Any, n_pairs: int, *, tolerance: float = 1e-9, random_state: int = 0
) -> Eigenpairs:
    """Compute eigenpairs of the symmetric walk on a digraph, without the trivial one.

    Parameters
    ----------
    walk : SymmetricWalk or AlignedWalk
        Random walk.
    n_pairs : int
        Number of eigenpairs, at most n - 1.
    tolerance : float, default=1e-9
        As for `leading_eigenpairs`.
    random_state : int, default=0
        Seed of the start vector.
    """
    values, vectors = walk_pairs(walk, n_pairs, tolerance, random_state)
    return with_residuals(walk, values, vectors)


def nystrom(steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Extend eigenvectors of the random walk to new points: one step, divided by the eigenvalue.

    Parameters
    ----------
    steps : ndarray (m, q)
        Mean of each eigenvector over the neighbours of each new point.
    values : ndarray (q,)
        Eigenvalues of the random walk.
    """
    return steps / np.where(np.abs(values) > MIN_NYSTROM_EIGENVALUE, values, 1.0)


def random_walk_eigenvectors(vectors: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Compute eigenvectors D^-1/2 u of the random walk, which solve W v = value D v.

    Parameters
    ----------
    vectors : ndarray (n, q)
        Eigenvectors u of D^-1/2 W D^-1/2.
    sums : ndarray (n,)
        Degrees; the entries of isolated nodes are unchanged.

    Returns
    -------
    ndarray (n, q)
        Contiguous rows, because methods for new points read the rows of a few neighbours.
    """
    roots = np.sqrt(np.where(sums > 0, sums, 1.0))
    return np.divide(vectors, roots[:, None], order="C")


def _check_pairs(n_pairs: Any, n: int) -> int:
    return check_count(n_pairs, "n_pairs", high=n, remedy="There are only as many pairs as points.")


def _symmetric_operator(operator: Any) -> Any:
    from vicinal.graphs.graph import Graph

    if isinstance(operator, Graph):
        return ThreadedSparseOperator(as_affinity(operator))
    if not isinstance(operator, LinearOperator) and not sparse.issparse(operator):
        operator = np.asarray(operator)
    if operator.ndim != 2 or operator.shape[0] != operator.shape[1]:
        raise InvalidValueError(f"operator has shape {operator.shape}, but a square one is needed.")
    if isinstance(operator, LinearOperator):
        return operator
    if operator.dtype.kind not in "buif":
        raise InvalidTypeError(f"operator has dtype {operator.dtype}, but real numbers are needed.")
    if sparse.issparse(operator):
        operator = checked_csr(operator, "operator", np.float64)
    else:
        operator = operator.astype(np.float64)
    values = operator.data if sparse.issparse(operator) else operator
    if not np.isfinite(values).all():
        raise InvalidValueError(
            "operator contains NaN or infinite values, but finite values are needed."
        )
    difference = float(abs(operator - operator.T).max()) if values.size else 0.0
    if difference > MAX_ASYMMETRY * float(np.abs(values).max(initial=0.0)):
        raise InvalidValueError(
            f"operator differs from its transpose by up to {difference:g}, but a symmetric one is needed; "
            "for a digraph, use digraph_laplacian."
        )
    return ThreadedSparseOperator(operator) if sparse.issparse(operator) else operator


class _Pair(NamedTuple):
    """An eigenpair of one component; its vector is 0 at all other nodes."""

    value: float
    nodes: np.ndarray
    entries: np.ndarray


def normalized_pairs(
    weights: sparse.csr_array,
    structure: AffinityStructure,
    n_pairs: int,
    tolerance: float,
    seed: int,
) -> Eigenpairs:
    """Like `leading_eigenpairs` with ``normalized``, for checked weights of known structure."""
    n, sums = weights.shape[0], structure.degrees
    matrix = normalized_affinity(weights, sums)
    components = _nodes_by_component(structure.components)[:n_pairs]
    trivial, others = [], []
    for nodes in components:
        trivial_vector = np.sqrt(sums[nodes]) if sums[nodes[0]] > 0 else np.ones(1)
        trivial_vector /= np.linalg.norm(trivial_vector)
        trivial.append(_Pair(1.0, nodes, trivial_vector))
        n_others = min(n_pairs - len(components), len(nodes) - 1)
        if n_others > 0:
            block = matrix if len(nodes) == n else matrix[nodes][:, nodes]
            values, vectors = connected_pairs(block, trivial_vector, n_others, tolerance, seed)
            others += [
                _Pair(value, nodes, column) for value, column in zip(values, vectors.T, strict=True)
            ]
    others.sort(key=lambda pair: -pair.value)
    pairs = [*trivial, *others][:n_pairs]
    vectors = np.zeros((n, n_pairs), order="F")
    for column, pair in enumerate(pairs):
        vectors[pair.nodes, column] = pair.entries
    values = np.array([pair.value for pair in pairs])
    return with_residuals(ThreadedSparseOperator(matrix), values, vectors, isolated=sums == 0)


def _nodes_by_component(labels: np.ndarray) -> list[np.ndarray]:
    """Nodes of each component, the largest component first."""
    sizes = np.bincount(labels)
    groups = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    return [groups[c] for c in np.argsort(-sizes, kind="stable")]


def with_residuals(
    operator: Any, values: np.ndarray, vectors: np.ndarray, isolated: np.ndarray | None = None
) -> Eigenpairs:
    vectors, residuals = signed(vectors), np.empty(len(values))
    # The rows of neighbours are read in any order, so a few columns that fit into memory are faster than all.
    width = max(MIN_COLUMNS, MAX_ENTRIES // len(vectors))
    for a, b in blocks(len(values), width):
        difference = operator @ vectors[:, a:b]
        difference -= vectors[:, a:b] * values[a:b]
        if isolated is not None:
            # Their vectors count as eigenvectors, although their rows are empty.
            difference[isolated] = 0.0
        residuals[a:b] = np.linalg.norm(difference, axis=0)
    return Eigenpairs(values, vectors, residuals)


def signed(vectors: np.ndarray) -> np.ndarray:
    """Flip signs so that the entry of each vector with the largest modulus is positive."""
    # By columns, without an array of all moduli.
    columns = vectors.T
    signs = np.array([np.sign(column[np.argmax(np.abs(column))]) for column in columns])
    return vectors * np.where(signs == 0, 1.0, signs)
