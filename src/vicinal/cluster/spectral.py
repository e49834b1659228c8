"""`SpectralClustering`: clusters of a graph from its leading eigenvectors."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin

from vicinal._base.affinity_operator import SpectralAffinity
from vicinal._base.chunked_fit import by_chunks, chunked_fit, rows_by_chunks
from vicinal._base.graph_estimator import GraphEstimator, warn_disconnected
from vicinal._base.row_assignment import assign_rows, nearest_center, unit_rows
from vicinal._core.fitted import check_is_fitted
from vicinal._core.parallel import one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.cluster._automatic import (
    AutomaticClusters,
    check_max_clusters,
    is_evidence_better,
    membership,
    points_to_choose_by,
)
from vicinal.cluster._constrained import ConstrainedClusters
from vicinal.cluster._ids import LastingIds
from vicinal.cluster._spectral_labels import METHODS, TOLERANCE, resolve_assign
from vicinal.evidence.gaps import n_clusters_by_gap, relative_gaps
from vicinal.exceptions import InvalidValueError
from vicinal.operators.eigenpairs import Eigenpairs, random_walk_eigenvectors
from vicinal.similarity.paths.similarity import path_similarity

if TYPE_CHECKING:
    from vicinal._base.affinity_operator import AffinityOperator
    from vicinal._core.types import ArrayLike, MatrixLike, NJobs, RandomStateLike, ScaleLike
    from vicinal.evidence.result import ClusterEvidence
    from vicinal.graphs.graph import Graph


class SpectralClustering(
    LastingIds, ConstrainedClusters, AutomaticClusters, ClusterMixin, GraphEstimator
):
    """Cluster points by the leading eigenvectors of their graph.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" is the answer of `vicinal.cluster.estimate_clusters`, which looks
        for a gap of the neighbour graph, valleys of the density and communities that one cluster
        does not have, and may give 1. All pairs of Euclidean distances give the
        answer of their points. For graphs without points, other metrics, and fewer than 40 distinct points
        it uses the eigengap alone, see ``evidence_left_out_``. Path similarities need a number, because
        their kernel is too wide for an eigengap.
    method : {"njw", "ncut"}, default="njw"
        "njw": eigenvectors of D^-1/2 W D^-1/2 with rows of unit length (Ng, Jordan and Weiss).
        "ncut": generalised eigenvectors of the normalised cut (Shi and Malik).
    assign : {"auto", "kmeans", "discretize"}, default="auto"
        How rows are assigned to clusters; "auto" is k-means for "njw" and discretize (Yu and Shi) for
        "ncut".
    min_cluster_size : int, optional
        Smaller clusters are dissolved, the smallest first: their points get the next best cluster, and there
        are fewer clusters.
    max_cluster_size : int, optional
        From larger clusters, the points that fit other clusters best are moved there. With
        ``n_clusters="auto"``, there are enough clusters for all points.
    disconnected : {"merge", "raise"}, default="merge"
        If the graph has more components than clusters: merge the nearest components, or raise an error.
    max_clusters : int or "auto", default="auto"
        Maximum number of clusters by the eigengap. "auto" is the number of clusters by the evidence or,
        without points, the number of communities of the graph, but at least 20.
    graph : str or callable, default="knn"
        Name of a function in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" if X is an affinity matrix ("precomputed" means the same, as in
        scikit-learn), or "precomputed_distances" if X holds distances: a dense matrix of all pairs, which
        has the graph "knn" of its points, or a sparse matrix of neighbours as returned by `KNNTransformer`
        and scikit-learn's `KNeighborsTransformer` and `RadiusNeighborsTransformer`, whose entries are the
        edges. "path_similarity", or the function,
        gives robust path-based spectral clustering (Chang and Yeung) in O(n), although every pair has
        an affinity; if X is a `Graph`, paths follow its edges. Otherwise a `Graph` as X is used as it
        is, and so is a `PathSimilarity`.
    graph_params : dict, optional
        Parameters of that function, for instance ``{"n_neighbors": 15}``.
    scale : float, "auto" or "local", default="auto"
        Scale of the affinity, as for `Graph.affinity`.
    random_state : int, RandomState or None, default=None
        Seed of the graph, if it is random, and of the assignment to a given number of clusters.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar for long computations if greater than 0.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each point, numbered by first occurrence. With "auto" on points, clusters by eigenvectors
        are compared with those of the evidence, and the labels have the larger modularity in the graph.
    n_clusters_ : int
        Number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised affinity, descending.
    eigengaps_ : ndarray
        With "auto", entry k - 1 is the evidence for k clusters; the first entry is the threshold for the
        others (see `vicinal.evidence.gaps`). For more than 10,000 points, it is that of a sample.
    n_clusters_candidates_ : list of (int, float)
        With "auto" on points, candidate numbers of clusters with their scores: first ``n_clusters_``, then
        the others, the best first. A score above 1 is significant. A number that only the eigengap proposed
        has its entry of ``eigengaps_`` relative to the first; this is below 1 if the clusters were found
        within others, or in another graph than ``graph_``.
    cluster_evidence_ : ClusterEvidence
        With "auto" on points, the evidence for the number (see `vicinal.cluster.estimate_clusters`).
    cluster_layers_ : list of Layer
        With "auto" on points, nested clusters from coarse to fine, each with its persistence.
    evidence_left_out_ : tuple of str
        With "auto", the measurements that X does not allow: ("density", "communities") where the eigengap
        decided alone, otherwise empty.
    probabilities_ : ndarray of shape (n, n_clusters + 1)
        Membership of each point in each cluster, smoothed over its neighbours. The last column is the
        probability of background noise, 0 unless the number was chosen from points. Rows sum to 1.
    embedding_ : ndarray of shape (n, n_clusters)
        The rows assigned to clusters; not set if components were merged.
    graph_ : Graph or None
        The graph; None if X is an affinity matrix or path similarities are used.
    affinity_ : csr_array or PathSimilarity
        Affinities of the points.
    scale_ : float, ndarray or None
        Scale of the affinities, or the sigma of path similarities.

    References
    ----------
    Ng, Jordan and Weiss, "On spectral clustering", NIPS 2001. Shi and Malik, "Normalized cuts and image
    segmentation", PAMI 2000. Yu and Shi, "Multiclass spectral clustering", ICCV 2003. Chang and Yeung,
    "Robust path-based spectral clustering", Pattern Recognition 2008.

    Examples
    --------
    >>> from vicinal import SpectralClustering
    >>> from vicinal.datasets import make_two_moons
    >>> X, truth = make_two_moons(200, noise=0.05, random_state=0)
    >>> SpectralClustering().fit(X).n_clusters_
    2
    """

    _operator_builders = MappingProxyType({"path_similarity": path_similarity})
    _accepts_chunks = True
    n_clusters_: int
    labels_: np.ndarray
    eigenvalues_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        method: Literal["njw", "ncut"] = "njw",
        assign: Literal["auto", "kmeans", "discretize"] = "auto",
        min_cluster_size: int | None = None,
        max_cluster_size: int | None = None,
        disconnected: Literal["merge", "raise"] = "merge",
        max_clusters: int | Literal["auto"] = "auto",
        graph: str | Callable[..., Graph | AffinityOperator] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.assign = assign
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.disconnected = disconnected
        self.max_clusters = max_clusters
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @chunked_fit
    @one_blas_thread()
    def fit(
        self,
        X: MatrixLike | Graph | AffinityOperator,
        y: object = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> SpectralClustering:
        """Cluster points, the nodes of a `Graph`, or with ``graph="precomputed"`` an affinity.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, PathSimilarity, or affinity of shape (n, n)
            Points, a graph, or affinities. For a dask array of points and ``graph="knn"``, results with one
            row per point are dask arrays in its chunks.
        y : None
            Ignored.
        must_link : array-like of int of shape (m, 2), optional
            Pairs of rows that get the same cluster.
        cannot_link : array-like of int of shape (m, 2), optional
            Pairs of rows that get different clusters. With ``n_clusters="auto"``, there are as many
            clusters as they need. Constraints that contradict each other are an error.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._given_pairs = must_link, cannot_link
        self._fit_labels(X)
        if self._constraints is not None:
            rows = getattr(self, "embedding_", np.eye(self.n_clusters_)[self.labels_])
            self.labels_ = self._constrained(self.labels_, rows)
        self._given_pairs = None, None
        self._reset_ids()
        return self

    def _clustered_points(self) -> Any:
        return None if self.graph_ is None else self.graph_.points

    def _fit_labels(self, X: MatrixLike | Graph | AffinityOperator) -> None:
        """Cluster without constraints, into enough clusters for them."""
        check_choice(self.method, "method", METHODS)
        assign = resolve_assign(self.method, self.assign)
        check_choice(self.disconnected, "disconnected", ("merge", "raise"))
        if isinstance(self.n_clusters, str):
            check_choice(self.n_clusters, "n_clusters", ("auto",))
        else:
            check_count(self.n_clusters, "n_clusters")
        check_max_clusters(self.max_clusters)

        affinity = self._build_spectral_affinity(X)
        n_components = int(affinity.components().max()) + 1
        pairs = self._spectrum(affinity, n_components)
        self.eigenvalues_ = pairs.values
        self._assign = assign
        self._warn_disconnected(n_components)
        self._is_by_evidence = False
        if n_components > self.n_clusters_:
            self._merge(affinity, n_components)
            return
        rows = pairs.vectors[:, : self.n_clusters_]
        self._walk_vectors = random_walk_eigenvectors(rows, affinity.degrees())
        self.embedding_ = unit_rows(rows) if self.method == "njw" else self._walk_vectors
        self.labels_, self._centers = assign_rows(
            self.embedding_, self.n_clusters_, assign, self._assignment_seed()
        )
        evidence: ClusterEvidence | None = getattr(self, "cluster_evidence_", None)
        if evidence and is_evidence_better(evidence, self.labels_, self.affinity_):
            self._is_by_evidence, self.labels_ = True, evidence.labels

    @by_chunks()
    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the clusters of new points with the Nystrom extension of the eigenvectors.

        If the labels are communities or merged components, which eigenvectors do not determine, new points
        get the label with the largest weight among their neighbours.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points; distances or affinities to the training points if the model was fitted on these. A
            dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of int of shape (m,)
            Training points keep their clusters.
        """
        check_is_fitted(self)
        # Merged components have no eigenvectors, and communities no centres.
        if self._is_by_evidence or not hasattr(self, "embedding_"):
            return self._ids_of(self._extend_labels(X, self._numbers_of(self.labels_)))
        n_vectors = self._walk_vectors.shape[1]
        rows = self._extend(X, self._walk_vectors, self.eigenvalues_[:n_vectors])
        if self.method == "njw":
            rows = unit_rows(rows)
        return self._ids_of(nearest_center(rows, self._centers, self._assign))

    @property
    @rows_by_chunks
    def probabilities_(self) -> np.ndarray:
        check_is_fitted(self)
        weights = self.affinity_ if sparse.issparse(self.affinity_) else None
        evidence = getattr(self, "cluster_evidence_", None)
        noise = evidence.noise.score if evidence else None
        return membership(weights, self._numbers_of(self.labels_), self.n_clusters_, noise)

    @by_chunks(lambda model: model.n_clusters_ + 1)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict the membership of new points in each cluster and, in the last column, in the noise.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points, as for `predict`.

        Returns
        -------
        ndarray of shape (m, n_clusters + 1)
            Means of ``probabilities_`` over the nearest training points, weighted by affinity; rows sum to 1.
            For path similarities, the cluster of `predict` has probability 1.
        """
        check_is_fitted(self)
        if not sparse.issparse(self.affinity_):
            return np.eye(self.n_clusters_ + 1)[self._numbers_of(self.predict(X))]
        return self._weights_of(X) @ self.probabilities_

    def _spectrum(self, affinity: SpectralAffinity, n_components: int) -> Eigenpairs:
        """Compute the eigenpairs and set ``n_clusters_``."""
        n = len(affinity.components())
        self._read_constraints(np.ones(n, np.int64))
        if not isinstance(self.n_clusters, str):
            self._without_evidence()
            self.n_clusters_ = self.n_clusters
            return self._eigenpairs(affinity, self.n_clusters)
        if not affinity.has_eigengap:
            raise InvalidValueError(
                f"n_clusters='auto' needs an eigengap, but the spectrum of {self.affinity_!r} has none "
                "even if the clusters are well separated; pass the number of clusters."
            )
        points = None if self.graph_ is None else points_to_choose_by(self.graph_)
        evidence = self._estimate(points, self.n_jobs)
        if evidence:
            self.eigengaps_ = evidence.gaps
            self.n_clusters_ = min(max(evidence.n_clusters, self._min_clusters), n)
            return self._eigenpairs(affinity, self.n_clusters_)
        weights = self.affinity_ if sparse.issparse(self.affinity_) else None
        limit = max(self._max_candidates(weights), self._min_clusters)
        pairs = self._eigenpairs(affinity, min(max(limit, n_components) + 1, n))
        self.eigengaps_ = relative_gaps(pairs.values)
        number = n_clusters_by_gap(self.eigengaps_)
        self.n_clusters_ = min(max(number, self._min_clusters), n)
        return pairs

    def _eigenpairs(self, affinity: SpectralAffinity, n_pairs: int) -> Eigenpairs:
        n = len(affinity.components())
        if n_pairs > n:
            raise InvalidValueError(f"n_clusters={n_pairs}, but there are n_samples={n} points.")
        return affinity.eigenpairs(
            n_pairs,
            tolerance=TOLERANCE,
            random_state=self._assignment_seed(),
        )

    def _warn_disconnected(self, n_components: int) -> None:
        if n_components > self.n_clusters_:
            if self.disconnected == "merge":
                warn_disconnected(n_components, "the nearest components are merged into clusters")
        elif n_components > 1:
            warn_disconnected(n_components, "no cluster spans two components")

    def _merge(self, affinity: SpectralAffinity, n_components: int) -> None:
        if self.disconnected == "raise":
            raise InvalidValueError(
                f"there are {n_components} components, more than n_clusters={self.n_clusters_}; use "
                "more clusters, connect the graph, or set disconnected='merge'."
            )
        self.labels_ = affinity.merge(self.n_clusters_)
        # Merged components have no embedding; drop that of an earlier fit.
        self.__dict__.pop("embedding_", None)
