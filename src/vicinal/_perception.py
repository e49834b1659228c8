"""What perceptual estimators share: from points to a digraph, to its walk, and new points to both."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from vicinal._estimators import draw_seed, forget_features
from vicinal._validation import check_choice, check_count, check_real, validate_input
from vicinal.graphs.context import contextual
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch
from vicinal.operators.alignment import AlignedWalk
from vicinal.operators.digraphs import SymmetricWalk
from vicinal.similarity.contextual import distances_in_contexts


class PerceptualEstimator(BaseEstimator):
    """Base of estimators on the contextual digraph.

    Subclasses have the parameters ``n_neighbors``, ``descriptor``, ``epsilon``, ``beta``, ``laplacian``,
    ``n_jobs`` and ``verbose``, and ``random_state`` where they draw a seed.
    """

    n_neighbors: int
    descriptor: Any
    epsilon: float | None
    beta: float
    laplacian: str
    random_state: Any
    n_jobs: int | None
    verbose: int
    graph_: Graph

    def _build_walk(self, X: Any) -> SymmetricWalk | AlignedWalk:
        """The symmetric walk on the digraph of X; stores ``graph_`` and ``stationary_``."""
        check_choice(self.laplacian, "laplacian", ("global", "aligned"))
        check_real(self.beta, "beta", low=0.0, high=1.0)
        if isinstance(X, Graph):
            self.graph_ = X
            forget_features(self)
        else:
            self.graph_ = self._digraph_of(X)
        kind = SymmetricWalk if self.laplacian == "global" else AlignedWalk
        walk = kind(self.graph_, self.beta, n_jobs=self.n_jobs)
        self.stationary_ = walk.stationary
        return walk

    def _digraph_of(self, X: Any) -> Graph:
        points = validate_input(self, X, dtype=np.float64)
        n = len(points)
        k = check_count(self.n_neighbors, "n_neighbors", low=2)
        if n < 3:
            raise ValueError(f"X has n_samples={n}, but a context needs 3 points or more.")
        if k >= n:
            warnings.warn(
                f"n_neighbors={k}, but X has n_samples={n}: {n - 1} neighbours are taken.",
                stacklevel=4,
            )
        return contextual(
            points,
            min(k, n - 1),
            self.descriptor,
            epsilon=self.epsilon,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _context_weights(self, X: Any) -> tuple[sparse.csr_array, np.ndarray]:
        """Where a walk goes from new points, and which of them coincide with training points.

        A new point sees its nearest training points in its own context, with the weights of
        formula (3) at the training sigma; rows sum to 1. A point that coincides with training points
        goes to these only.
        """
        check_is_fitted(self)
        points = self.graph_.points
        # A digraph may come from other points, another descriptor or distances: nothing to place by.
        if not hasattr(self, "n_features_in_"):
            raise ValueError(
                f"this {type(self).__name__} was fitted on a digraph, so new points have no context; "
                "fit it on points."
            )
        X = validate_input(self, X, reset=False, dtype=np.float64)
        n, k = len(points), int(self.graph_.degrees[0])
        nearest, lengths = NeighborSearch(points, n_jobs=self.n_jobs).nearest(k, queries=X)
        contexts = np.column_stack([n + np.arange(len(X)), nearest])
        distances = distances_in_contexts(
            np.concatenate([points, X]),
            contexts,
            self.descriptor,
            epsilon=self.epsilon,
            n_jobs=self.n_jobs,
        )[:, 1:]
        squares = np.square(distances / self.graph_.sigma)
        # Relative to the likest: a context unlike all others still leads somewhere.
        with np.errstate(under="ignore"):
            weights = np.exp(squares.min(axis=1, keepdims=True) - squares)
        here = lengths == 0
        weights = np.where(here[:, :1], here, weights)
        weights /= weights.sum(axis=1, keepdims=True)
        rows = sparse.csr_array(
            (weights.ravel(), nearest.ravel(), np.arange(len(X) + 1) * k), shape=(len(X), n)
        )
        return rows, here[:, 0]

    def _seed(self) -> int:
        return draw_seed(self.random_state)
