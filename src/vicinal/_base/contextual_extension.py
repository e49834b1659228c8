"""Out-of-sample extension of a contextual digraph: edges from new points, and edges to them.

Whether a point is noise depends on the edges that lead to it, so its own context is not enough: the contexts
of training points that a new point would enter are needed too.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from vicinal._base._context_kernels import (
    coded_steps_by_features,
    coded_steps_by_members,
    copy_members,
    list_contexts,
    member_lengths,
    step_probabilities,
    theta_rows,
)
from vicinal._base.neighbor_weights import NeighborWeights
from vicinal._core.chunked import in_memory
from vicinal._core.parallel import blocks
from vicinal._core.scalar_checks import check_real
from vicinal.graphs._contributions import coding_scratch, default_epsilon, distances_in_contexts
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points as SearchedPoints
from vicinal.neighbors._exact import nearest_to_new, prepared_points
from vicinal.neighbors.metric import EUCLIDEAN
from vicinal.neighbors.search import NeighborSearch

# The contexts that a new point enters are searched among those of its CANDIDATE_FACTOR * k nearest training
# points. Other contexts belong to points in sparse regions, which random walks rarely visit.
CANDIDATE_FACTOR = 4
# New points, and coordinates of members of contexts, that are processed at a time.
POINTS_PER_BLOCK, ENTRIES_PER_BLOCK = 1 << 10, 1 << 23
NO_MEMBERS = np.empty((0, 0), np.int64)
Points: TypeAlias = np.ndarray | sparse.csr_array


class NewContexts(NamedTuple):
    """Contexts of new points.

    Attributes
    ----------
    steps : NeighborWeights
        Transition probabilities from new points to the k training points of their contexts.
    coincides : ndarray of bool (m,)
        Which new points equal a training point.
    entered : NeighborWeights
        Probabilities of a step to new points from the training points next to them, of which those in
        ``steps`` are the first; None if they were not computed.
    """

    steps: NeighborWeights
    coincides: np.ndarray
    entered: NeighborWeights | None = None


class TrainingContexts(NamedTuple):
    """Distinct training points, a search among them, and the contexts of their digraph.

    Contexts have ``k`` members, and the weights of formula (3) have the scale ``sigma``. Their ``members``
    (n, k) are only needed for the contexts that new points enter.
    """

    points: Points
    search: NeighborSearch
    k: int
    sigma: float | None
    descriptor: dict[str, Any]
    members: np.ndarray | None = None

    @classmethod
    def of_graph(cls, graph: Graph, **descriptor: Any) -> TrainingContexts:
        points = in_memory(
            graph.points,
            "The contexts of new points among all training points",
            "Fit the model on fewer points.",
        )
        members = graph.indices.reshape(graph.n_nodes, -1)
        k, sigma = max(members.shape[1], 1), graph.metadata.get("sigma")
        return cls(points, graph._search(), k, sigma, descriptor, members)


def new_contexts(known: TrainingContexts, X: Points, *, entered: bool = False) -> NewContexts:
    """Contexts of new points: their nearest training points, with the weights of formula (3).

    A new point that equals a training point leads to that point only. If contexts contain all training
    points, they do not depend on the new point, and each new point leads to its nearest training point.

    With ``entered``, also the contexts that new points enter: a new point enters the context of a training
    point if it is nearer to it than the farthest member, which it replaces.
    """
    if X.shape[0] <= POINTS_PER_BLOCK:
        return _contexts_of(known, X, entered)
    parts = [_contexts_of(known, X[a:b], entered) for a, b in blocks(X.shape[0], POINTS_PER_BLOCK)]
    steps, coincides, arriving = zip(*parts, strict=True)
    return NewContexts(
        NeighborWeights.concatenate(steps),
        np.concatenate(coincides),
        NeighborWeights.concatenate(arriving) if entered else None,
    )


def _contexts_of(known: TrainingContexts, X: Points, entered: bool) -> NewContexts:
    m, n, k = X.shape[0], known.points.shape[0], known.k
    n_candidates = min(CANDIDATE_FACTOR * k, n) if entered else k
    nearest, distances = nearest_to_new(known.search, X, n_candidates)
    steps, arriving, coincides = np.zeros((m, k)), np.zeros((m, n_candidates)), np.empty(m, bool)
    result = NewContexts(
        NeighborWeights(np.ascontiguousarray(nearest[:, :k]), steps),
        coincides,
        NeighborWeights(nearest, arriving) if entered else None,
    )
    if m == 1 and entered and _contexts_of_one(known, X, distances, result):
        return result
    members = NO_MEMBERS if known.members is None else known.members
    lengths = _member_lengths(known, nearest) if entered else np.empty((m, 0, k))
    size = m * (1 + lengths.shape[1])
    contexts, places = np.empty((size, k + 1), np.int64), np.empty((size, 2), np.int64)
    lists = nearest, distances, members, lengths
    size = list_contexts(*lists, n, contexts, places, steps, coincides)
    if size:
        found = _distances(known, X, contexts[:size])
        step_probabilities(found, known.sigma, places, steps, arriving)
    return result


def _contexts_of_one(
    known: TrainingContexts, X: Points, distances: np.ndarray, result: NewContexts
) -> bool:
    """Fill the contexts of one new point, and those that it enters, by a single kernel.

    For one point, the calls of several kernels would take longer than their work. Returns False if the
    descriptor or the points need other functions, or coding lengths are inaccurate.
    """
    assert result.entered is not None
    searched = prepared_points(known.search)
    (n, dim), k = known.points.shape, known.k
    if searched is None or known.descriptor.get("descriptor") != "coding_length" or k >= n - 1:
        return False
    epsilon = known.descriptor.get("epsilon")
    if epsilon is None:
        epsilon = default_epsilon(dim, k)
    else:
        epsilon = check_real(epsilon, "epsilon", low=0.0, open_low=True)
    fill = coded_steps_by_features if dim < k else coded_steps_by_members
    return fill(
        (known.points, searched.X, searched.factor, known.members),
        (epsilon, coding_scratch(k + 1, dim), known.sigma),
        np.array(X, order="C"),
        (result.entered.indices, distances),
        result.steps.values,
        result.entered.values,
        result.coincides,
    )


def _member_lengths(known: TrainingContexts, nearest: np.ndarray) -> np.ndarray:
    """Distances from the training points ``nearest`` (m, c) to the members of their contexts (m, c, k)."""
    assert known.members is not None
    members, k = known.members, known.members.shape[1]
    lengths = np.empty((*nearest.shape, k))
    if sparse.issparse(known.points):
        candidates, position = np.unique(nearest, return_inverse=True)
        edges = np.column_stack([np.repeat(candidates, k), members[candidates].ravel()])
        rows, pairs = np.unique(edges, return_inverse=True)
        found = EUCLIDEAN.pair_distances(known.points[rows], pairs.reshape(edges.shape))
        lengths[:] = found.reshape(-1, k)[position.reshape(nearest.shape)]
    else:
        searched = prepared_points(known.search)
        if searched is None:  # of points in chunks
            searched = SearchedPoints(known.points, EUCLIDEAN)
        member_lengths(searched.X, searched.factor, nearest, members, lengths)
    return lengths


def symmetric_rows(
    contexts: NewContexts, masses: np.ndarray, beta: float, total: float | None = None
) -> NeighborWeights:
    """Rows of Theta, formula (10), for new points; the masses of training points are kept.

    The mass of a new point is the probability that one step, teleports included, leads there from the
    stationary distribution of the training points. These rows extend the trivial eigenvector, the square
    roots of the masses, to the square roots of the new masses. The row of a point that equals a training
    point leads to that point only. The ``total`` of the masses can be given if it is known.
    """
    steps, coincides, entered = contexts
    assert entered is not None
    rows = np.empty(entered.values.shape)
    total = float(masses.sum()) if total is None else total
    theta_rows(steps.values, *entered, coincides, masses, total, beta, rows)
    return NeighborWeights(entered.indices, rows)


def _distances(known: TrainingContexts, X: Points, contexts: np.ndarray) -> np.ndarray:
    """Contextual distances from the first member of each context to all its members.

    New points are numbered after the points.
    """
    size = max(1, ENTRIES_PER_BLOCK // (contexts.shape[1] * X.shape[1]))
    parts = [
        distances_in_contexts(*_members(known.points, X, contexts[a:b]), **known.descriptor)
        for a, b in blocks(len(contexts), size)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _members(points: Points, X: Points, contexts: np.ndarray) -> tuple[Points, np.ndarray]:
    """Members of contexts, and contexts as rows of them; a copy of all points would cost more."""
    if sparse.issparse(points):
        n = points.shape[0]
        rows, members = np.unique(contexts, return_inverse=True)
        n_old = int(np.searchsorted(rows, n))
        new = sparse.csr_array(X[rows[n_old:] - n])
        stacked = sparse.csr_array(sparse.vstack([points[rows[:n_old]], new]))
        return stacked, members.reshape(contexts.shape)
    data = np.empty((contexts.size, points.shape[1]))
    # A copy, because kernels are compiled again for arrays that are read-only or in another order.
    copy_members(points, np.array(X, order="C"), contexts, data)
    return data, np.arange(contexts.size).reshape(contexts.shape)
