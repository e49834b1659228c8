"""New points on a contextual digraph: where they lead to, and whose contexts they would enter.

A point's distance from the origin comes from the contexts that lead to it, so its own context alone cannot
tell whether it is noise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal.graphs._contextual_distance import distances_in_contexts
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import EUCLIDEAN

# Contexts that a point enters are looked for among those of so many times k nearest training points: others
# are of points in sparse regions, which walks hardly visit.
REACH = 4


class NewContexts(NamedTuple):
    """Steps from new points to training points, rows that sum to 1, and which points are in their places."""

    steps: sparse.csr_array
    known: np.ndarray


def new_contexts(graph: Graph, X: np.ndarray, n_jobs: int | None, **descriptor: Any) -> NewContexts:
    """The contexts of new points: their nearest training points, with the weights of formula (3).

    A point that coincides with a training point is known and goes there only; so does every point to
    its nearest one if contexts hold all training points, and so tell no place.
    """
    points, n = np.asarray(graph.points), graph.n_nodes
    k = max(int(graph.degrees[0]), 1)
    nearest, lengths = graph._search(n_jobs).nearest(k, queries=X)
    known = lengths[:, 0] == 0
    if k >= n - 1:
        known[:] = True
        steps = np.zeros(nearest.shape)
    else:
        contexts = np.column_stack([n + np.arange(len(X)), nearest])
        steps = _steps(
            np.concatenate([points, X]), contexts, graph.metadata["sigma"], n_jobs, **descriptor
        )
    steps[known] = np.arange(k) == 0
    ends = np.arange(len(X) + 1) * k
    return NewContexts(
        sparse.csr_array((steps.ravel(), nearest.ravel(), ends), shape=(len(X), n)), known
    )


def reverse_context_probabilities(
    graph: Graph, X: np.ndarray, n_jobs: int | None, **descriptor: Any
) -> sparse.csr_array:
    """Probability of a step to each new point (rows) from each training point (columns).

    A new point enters the context of a training point that it is nearer to than the last member,
    whose place it takes.
    """
    points, n = np.asarray(graph.points), graph.n_nodes
    k = int(graph.degrees[0])
    members = graph.indices.reshape(n, k).astype(np.int64)
    edges = np.column_stack([np.repeat(np.arange(n), k), members.ravel()])
    lengths = EUCLIDEAN.pair_distances(points, edges).reshape(n, k)
    order = np.argsort(lengths, axis=1, kind="stable")
    radius = np.take_along_axis(lengths, order[:, -1:], axis=1)[:, 0]
    nearest, gaps = graph._search(n_jobs).nearest(min(REACH * k, n), queries=X)
    new, at = np.nonzero((gaps < radius[nearest]) & (gaps[:, :1] > 0))
    seeing = nearest[new, at]
    stay = np.take_along_axis(members[seeing], order[seeing, :-1], axis=1)
    contexts = np.column_stack([seeing, stay, n + new])
    steps = _steps(
        np.concatenate([points, X]), contexts, graph.metadata["sigma"], n_jobs, **descriptor
    )
    return sparse.csr_array((steps[:, -1], (new, seeing)), shape=(len(X), n))


def symmetric_rows(
    steps: sparse.csr_array, entered: sparse.csr_array, masses: np.ndarray, beta: float
) -> sparse.csr_array:
    """Rows of Theta, formula (10), of new points: the training points keep their masses.

    The mass of a new point is what walks bring there from training points, teleport included. Of the
    known eigenvector, the roots of the masses, these rows make the roots of the new masses.
    """
    mass = beta * (entered @ masses) + (1.0 - beta) * masses.sum() / (len(masses) + 1)
    roots, root = np.sqrt(masses), np.sqrt(mass)
    out = sparse.diags_array(root) @ steps @ sparse.diags_array(_inverse(roots))
    into = sparse.diags_array(_inverse(root)) @ entered @ sparse.diags_array(roots)
    return sparse.csr_array(0.5 * beta * (out + into))


def _steps(
    data: np.ndarray,
    contexts: np.ndarray,
    sigma: float | None,
    n_jobs: int | None,
    **descriptor: Any,
) -> np.ndarray:
    """Probabilities of the steps from the first member of each context to the others."""
    distances = distances_in_contexts(data, contexts, n_jobs=n_jobs, **descriptor)[:, 1:]
    squares = np.square(distances / sigma)
    # Relative to the likest: a context unlike all others still leads somewhere.
    with np.errstate(under="ignore"):
        weights = np.exp(squares.min(axis=1, keepdims=True) - squares)
    return weights / weights.sum(axis=1, keepdims=True)


def _inverse(values: np.ndarray) -> np.ndarray:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
