"""Out-of-sample extension of a contextual digraph: edges from new points, and edges to them.

Whether a point is noise depends on the edges that lead to it, so its own context is not enough: the contexts
of training points that a new point would enter are needed too.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from vicinal._core.chunked import in_memory
from vicinal.graphs._contributions import distances_in_contexts
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import EUCLIDEAN
from vicinal.neighbors.search import NeighborSearch

# The contexts that a new point enters are searched among those of its CANDIDATE_FACTOR * k nearest training
# points. Other contexts belong to points in sparse regions, which random walks rarely visit.
CANDIDATE_FACTOR = 4
Points: TypeAlias = np.ndarray | sparse.csr_array


class NewContexts(NamedTuple):
    """Transition probabilities from new points to training points, and which new points equal one of them."""

    steps: sparse.csr_array
    coincides: np.ndarray


def new_contexts(graph: Graph, X: Points, n_jobs: int | None, **descriptor: Any) -> NewContexts:
    """Contexts of new points: their nearest training points, with the weights of formula (3).

    A new point that equals a training point leads to that point only. If contexts contain all training
    points, they do not depend on the new point, and each new point leads to its nearest training point.
    """
    k = max(int(graph.degrees[0]), 1)
    return context_steps(
        _training_points(graph),
        graph._search(n_jobs),
        k,
        graph.metadata.get("sigma"),
        X,
        n_jobs,
        **descriptor,
    )


def _training_points(graph: Graph) -> Points:
    return in_memory(
        graph.points,
        "The contexts of new points among all training points",
        "Fit the model on fewer points.",
    )


def context_steps(
    points: Points,
    search: NeighborSearch,
    k: int,
    sigma: float | None,
    X: Points,
    n_jobs: int | None,
    **descriptor: Any,
) -> NewContexts:
    """`new_contexts` for distinct points, a search among them, and the scale of their digraph."""
    n, n_new = points.shape[0], X.shape[0]
    nearest, lengths = search.nearest(k, queries=X)
    coincides = lengths[:, 0] == 0
    if k >= n - 1:
        coincides[:] = True
        steps = np.zeros(nearest.shape)
    else:
        contexts = np.column_stack([n + np.arange(n_new), nearest])
        steps = _steps(points, X, contexts, sigma, n_jobs, **descriptor)
    steps[coincides] = np.arange(k) == 0
    indptr = np.arange(n_new + 1) * k
    return NewContexts(
        sparse.csr_array((steps.ravel(), nearest.ravel(), indptr), shape=(n_new, n)), coincides
    )


def reverse_context_probabilities(
    graph: Graph, X: Points, n_jobs: int | None, **descriptor: Any
) -> sparse.csr_array:
    """Probability of a step to each new point (rows) from each training point (columns).

    A new point enters the context of a training point if it is nearer to it than the farthest member, which
    it replaces.
    """
    members = graph.indices.reshape(graph.n_nodes, -1)
    return entered_contexts(
        _training_points(graph),
        graph._search(n_jobs),
        members,
        graph.metadata.get("sigma"),
        X,
        n_jobs,
        **descriptor,
    )


def entered_contexts(
    points: Points,
    search: NeighborSearch,
    members: np.ndarray,
    sigma: float | None,
    X: Points,
    n_jobs: int | None,
    **descriptor: Any,
) -> sparse.csr_array:
    """`reverse_context_probabilities` for points whose contexts are the rows of ``members``."""
    n, k = members.shape
    nearest, distances = search.nearest(min(CANDIDATE_FACTOR * k, n), queries=X)
    candidates, position = np.unique(nearest, return_inverse=True)
    position = position.reshape(nearest.shape)
    contexts = members[candidates].astype(np.int64)
    edges = np.column_stack([np.repeat(candidates, k), contexts.ravel()])
    rows, pairs = np.unique(edges, return_inverse=True)
    lengths = EUCLIDEAN.pair_distances(points[rows], pairs.reshape(edges.shape))
    lengths = lengths.reshape(contexts.shape)
    # Nearest members first; the last one is replaced.
    order = np.argsort(lengths, axis=1, kind="stable")
    radius = np.take_along_axis(lengths, order[:, -1:], axis=1)[:, 0]
    new, column = np.nonzero((distances < radius[position]) & (distances[:, :1] > 0))
    entered, at = nearest[new, column], position[new, column]
    remaining = np.take_along_axis(contexts[at], order[at, :-1], axis=1)
    contexts = np.column_stack([entered, remaining, n + new])
    steps = _steps(points, X, contexts, sigma, n_jobs, **descriptor)
    return sparse.csr_array((steps[:, -1], (new, entered)), shape=(X.shape[0], n))


def symmetric_rows(
    steps: sparse.csr_array, reverse_steps: sparse.csr_array, masses: np.ndarray, beta: float
) -> sparse.csr_array:
    """Rows of Theta, formula (10), for new points; the masses of training points are kept.

    The mass of a new point is the probability that one step, teleports included, leads there from the
    stationary distribution of the training points. These rows extend the trivial eigenvector, the square
    roots of the masses, to the square roots of the new masses.
    """
    new_masses = beta * (reverse_steps @ masses) + (1.0 - beta) * masses.sum() / (len(masses) + 1)
    roots, new_roots = np.sqrt(masses), np.sqrt(new_masses)
    forward = _scaled(steps, new_roots, _inverse(roots))
    backward = _scaled(reverse_steps, _inverse(new_roots), roots)
    return sparse.csr_array(0.5 * beta * (forward + backward))


def _scaled(matrix: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> sparse.csr_array:
    """Product with diagonal matrices on both sides, at a cost that only depends on the entries."""
    values = np.repeat(left, np.diff(matrix.indptr)) * matrix.data * right[matrix.indices]
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _steps(
    points: Points,
    X: Points,
    contexts: np.ndarray,
    sigma: float | None,
    n_jobs: int | None,
    **descriptor: Any,
) -> np.ndarray:
    """Transition probabilities from the first member of each context to the others.

    New points are numbered after the points.
    """
    if len(contexts) == 0:
        return np.empty((0, contexts.shape[1] - 1))
    # Only members: a copy of all points would cost more than the contexts of a few.
    rows, members = np.unique(contexts, return_inverse=True)
    n_old = int(np.searchsorted(rows, points.shape[0]))
    data = _stack(points[rows[:n_old]], X[rows[n_old:] - points.shape[0]])
    distances = distances_in_contexts(
        data, members.reshape(contexts.shape), n_jobs=n_jobs, **descriptor
    )[:, 1:]
    squares = np.square(distances / sigma)
    # Relative to the smallest distance, so that a context far from all others does not underflow to zeros.
    with np.errstate(under="ignore"):
        weights = np.exp(squares.min(axis=1, keepdims=True) - squares)
    return weights / weights.sum(axis=1, keepdims=True)


def _stack(points: Points, X: Points) -> Points:
    if sparse.issparse(points):
        return sparse.csr_array(sparse.vstack([points, sparse.csr_array(X)]))
    return np.concatenate([points, X])


def _inverse(values: np.ndarray) -> np.ndarray:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
