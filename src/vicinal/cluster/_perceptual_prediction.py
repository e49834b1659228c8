"""Clusters, memberships and noise scores of the points of a perceptual clustering, and of new points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from vicinal._base.chunked_fit import by_chunks, rows_by_chunks
from vicinal._base.perceptual_estimator import PerceptualEstimator
from vicinal._base.row_assignment import nearest_center, unit_rows
from vicinal._core.fitted import check_is_fitted
from vicinal.cluster._automatic import membership
from vicinal.cluster._ids import LastingIds
from vicinal.cluster._noise_score import noise_scores
from vicinal.cluster._perceptual_kernels import decide_noise
from vicinal.cluster.subspaces import nearest_subspace

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, SparseMatrix


class PerceptualPrediction(LastingIds, PerceptualEstimator):
    """Base class with what follows from fitted clusters of the contextual digraph."""

    assign: Literal["subspaces", "kmeans", "discretize"]
    noise: float | Literal["auto"]
    noise_threshold_: float
    eigenvalues_: np.ndarray
    embedding_: np.ndarray
    # Eigenvectors of the norms, and the eigenvalues of those of the embedding.
    _directions: np.ndarray
    _embedding_values: np.ndarray
    _centers: np.ndarray
    _is_by_evidence: bool
    _noise_score: np.ndarray | None
    _noise_probability: np.ndarray | None

    @by_chunks()
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the clusters of new points by the walk from their contexts.

        If the labels are communities, it is the cluster that one step most likely leads to.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points.

        Returns
        -------
        ndarray of int of shape (m,)
            Clusters, -1 for noise. Training points keep their clusters.
        """
        contexts = self._new_contexts(X, entered=True)
        weights = self._symmetric_rows(contexts)
        rows = self._rows_of_nodes(weights).extend(
            contexts.coincides, self.embedding_, self._embedding_values
        )
        next_rows, numbers = self._rows_of_nodes(contexts.steps), self._numbers_of(self.labels_)
        if self._is_by_evidence:
            # Noise is no cluster; where a step leads to noise only, any cluster will do.
            labels = np.maximum(next_rows.only(numbers >= 0).labels(numbers), 0)
        elif self.assign == "subspaces":
            labels = nearest_subspace(rows, self._centers)
        else:
            labels = nearest_center(unit_rows(rows), self._centers, self.assign)
        if self.noise_threshold_ > 0:
            values = self.eigenvalues_[: self._directions.shape[1]]
            extended = weights.extend(contexts.coincides, self._directions, values)
            labels[np.linalg.norm(extended, axis=1) < self.noise_threshold_] = -1
        # Noise by density has no threshold on the norms: the points one step away decide.
        by_steps = isinstance(self.noise, str)
        decide_noise(*next_rows, numbers, contexts.coincides, by_steps, labels)
        return self._ids_of(labels)

    @property
    @rows_by_chunks
    def noise_score_(self) -> np.ndarray:
        check_is_fitted(self)
        # Computed at the first access, because many fits need only labels.
        if self._noise_score is None:
            is_noise = self._of_nodes(self.labels_) < 0
            scores = noise_scores(self.graph_, self._masses, is_noise, self.n_jobs)
            self._noise_score = self._of_rows(scores)
        return self._noise_score

    @property
    @rows_by_chunks
    def probabilities_(self) -> np.ndarray:
        check_is_fitted(self)
        labels, noise = self._of_nodes(self._numbers_of(self.labels_)), self._noise_probability
        if noise is not None and not np.array_equal(noise > 0.5, labels < 0):
            noise = None  # constraints have decided otherwise
        return self._of_rows(membership(self._mutual_steps(), labels, self.n_clusters_, noise))

    @by_chunks(lambda model: model.n_clusters_ + 1)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the membership of new points in each cluster and, in the last column, in the noise.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points.

        Returns
        -------
        ndarray of shape (m, n_clusters + 1)
            Means of ``probabilities_`` over the points one step of the walk away; rows sum to 1.
        """
        check_is_fitted(self)
        steps = self._new_contexts(X).steps
        return self._rows_of_nodes(steps).means(self.probabilities_)

    def _mutual_steps(self) -> SparseMatrix:
        """Strengths of the digraph, summed over both directions."""
        steps = self.graph_.to_scipy("strengths")
        return steps + steps.T
