"""Out-of-sample extension of a contextual digraph: edges from new points, and edges to them.

Whether a point is noise depends on the edges that lead to it, so its own context is not enough: the contexts
of training points that a new point would enter are needed too.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from vicinal._base.neighbor_weights import NeighborWeights
from vicinal._core.chunked import in_memory
from vicinal._core.parallel import blocks
from vicinal.graphs._contributions import distances_in_contexts
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points as SearchedPoints
from vicinal.neighbors._exact import prepared_points
from vicinal.neighbors.metric import EUCLIDEAN
from vicinal.neighbors.search import NeighborSearch

# The contexts that a new point enters are searched among those of its CANDIDATE_FACTOR * k nearest training
# points. Other contexts belong to points in sparse regions, which random walks rarely visit.
CANDIDATE_FACTOR = 4
# New points, and coordinates of members of contexts, that are processed at a time.
POINTS_PER_BLOCK, ENTRIES_PER_BLOCK = 1 << 10, 1 << 23
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
    def of_graph(cls, graph: Graph, n_jobs: int | None, **descriptor: Any) -> TrainingContexts:
        points = in_memory(
            graph.points,
            "The contexts of new points among all training points",
            "Fit the model on fewer points.",
        )
        members = graph.indices.reshape(graph.n_nodes, -1)
        k, sigma = max(members.shape[1], 1), graph.metadata.get("sigma")
        return cls(points, graph._search(n_jobs), k, sigma, descriptor, members)


def new_contexts(
    known: TrainingContexts, X: Points, n_jobs: int | None, *, entered: bool = False
) -> NewContexts:
    """Contexts of new points: their nearest training points, with the weights of formula (3).

    A new point that equals a training point leads to that point only. If contexts contain all training
    points, they do not depend on the new point, and each new point leads to its nearest training point.

    With ``entered``, also the contexts that new points enter: a new point enters the context of a training
    point if it is nearer to it than the farthest member, which it replaces.
    """
    parts = [
        _contexts_of(known, X[a:b], n_jobs, entered)
        for a, b in blocks(X.shape[0], POINTS_PER_BLOCK)
    ]
    if len(parts) == 1:
        return parts[0]
    steps, coincides, arriving = zip(*parts, strict=True)
    return NewContexts(
        NeighborWeights.concatenate(steps),
        np.concatenate(coincides),
        NeighborWeights.concatenate(arriving) if entered else None,
    )


def _contexts_of(
    known: TrainingContexts, X: Points, n_jobs: int | None, entered: bool
) -> NewContexts:
    m, n, k = X.shape[0], known.points.shape[0], known.k
    n_candidates = min(CANDIDATE_FACTOR * k, n) if entered else k
    nearest, distances = known.search.nearest(n_candidates, queries=X)
    coincides = distances[:, 0] == 0
    if k >= n - 1:
        coincides[:] = True
    steps, arriving = np.zeros((m, k)), np.zeros((m, n_candidates))
    steps[coincides, 0] = 1.0
    new = np.flatnonzero(~coincides)
    if len(new):
        contexts = np.empty((len(new), k + 1), np.int64)
        contexts[:, 0], contexts[:, 1:] = n + new, nearest[new, :k]
        if entered:
            into, where = _entered(known, nearest[new], distances[new])
            where[:, 0] = new[where[:, 0]]
            into[:, -1] = n + where[:, 0]
            contexts = np.concatenate([contexts, into])
        probabilities = _probabilities(known, X, contexts, n_jobs)
        steps[new] = probabilities[: len(new)]
        if entered:
            arriving[where[:, 0], where[:, 1]] = probabilities[len(new) :, -1]
    return NewContexts(
        NeighborWeights(np.ascontiguousarray(nearest[:, :k]), steps),
        coincides,
        NeighborWeights(nearest, arriving) if entered else None,
    )


def _entered(
    known: TrainingContexts, nearest: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Contexts that new points enter, and which points and columns of ``nearest`` they are of.

    The last member of each, the new point, is left open.
    """
    from vicinal._base._context_kernels import enter_contexts, member_lengths

    assert known.members is not None
    members, (m, c) = known.members, nearest.shape
    k = members.shape[1]
    lengths = np.empty((m, c, k))
    if sparse.issparse(known.points):
        candidates, position = np.unique(nearest, return_inverse=True)
        edges = np.column_stack([np.repeat(candidates, k), members[candidates].ravel()])
        rows, pairs = np.unique(edges, return_inverse=True)
        found = EUCLIDEAN.pair_distances(known.points[rows], pairs.reshape(edges.shape))
        lengths[:] = found.reshape(-1, k)[position.reshape(nearest.shape)]
    else:
        searched = prepared_points(known.search)
        if searched is None:  # of points in chunks
            searched = SearchedPoints(known.points, EUCLIDEAN, 1)
        member_lengths(searched.X, searched.factor, nearest, members, lengths)
    contexts, where = np.empty((m * c, k + 1), np.int64), np.empty((m * c, 2), np.int64)
    count = enter_contexts(nearest, distances, members, lengths, contexts, where)
    return contexts[:count], where[:count]


def symmetric_rows(contexts: NewContexts, masses: np.ndarray, beta: float) -> NeighborWeights:
    """Rows of Theta, formula (10), for new points; the masses of training points are kept.

    The mass of a new point is the probability that one step, teleports included, leads there from the
    stationary distribution of the training points. These rows extend the trivial eigenvector, the square
    roots of the masses, to the square roots of the new masses. The row of a point that equals a training
    point leads to that point only.
    """
    from vicinal._base._context_kernels import theta_rows

    steps, coincides, entered = contexts
    assert entered is not None
    rows, total = np.empty(entered.values.shape), masses.sum()
    theta_rows(steps.values, *entered, coincides, masses, total, beta, rows)
    return NeighborWeights(entered.indices, rows)


def _probabilities(
    known: TrainingContexts, X: Points, contexts: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """Transition probabilities from the first member of each context to the others.

    New points are numbered after the points.
    """
    from vicinal._base._context_kernels import step_probabilities

    distances = np.empty(contexts.shape)
    size = max(1, ENTRIES_PER_BLOCK // (contexts.shape[1] * X.shape[1]))
    for a, b in blocks(len(contexts), size):
        data, members = _members(known.points, X, contexts[a:b])
        distances[a:b] = distances_in_contexts(data, members, n_jobs=n_jobs, **known.descriptor)
    probabilities = np.empty((len(contexts), contexts.shape[1] - 1))
    step_probabilities(distances, known.sigma, probabilities)
    return probabilities


def _members(points: Points, X: Points, contexts: np.ndarray) -> tuple[Points, np.ndarray]:
    """Members of contexts, and contexts as rows of them; a copy of all points would cost more."""
    n = points.shape[0]
    if sparse.issparse(points):
        rows, members = np.unique(contexts, return_inverse=True)
        n_old = int(np.searchsorted(rows, n))
        new = sparse.csr_array(X[rows[n_old:] - n])
        stacked = sparse.csr_array(sparse.vstack([points[rows[:n_old]], new]))
        return stacked, members.reshape(contexts.shape)
    numbers = contexts.ravel()
    is_new = numbers >= n
    data = points[np.where(is_new, 0, numbers)]
    data[is_new] = X[numbers[is_new] - n]
    return data, np.arange(len(numbers)).reshape(contexts.shape)
