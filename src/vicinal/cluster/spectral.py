"""`SpectralClustering`: cuts of a graph through its leading eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._base.graph_estimator import (
    GraphEstimator,
    reset_feature_attributes,
    warn_disconnected,
)
from vicinal._base.row_assignment import assign_rows, nearest_center, unit_rows
from vicinal._core.validation import check_choice, check_count, validate_input
from vicinal.cluster._components import merge_components
from vicinal.cluster._eigengap import n_clusters_by_gap, relative_gaps
from vicinal.cluster._spectral_labels import METHODS, TOLERANCE, resolve_assign
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.operators._components import affinity_components
from vicinal.operators.eigenpairs import Eigenpairs, leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import degrees
from vicinal.operators.ultrametric import normalized_ultrametric_pairs
from vicinal.similarity.paths._out_of_sample import best_links, extend_walk_vectors
from vicinal.similarity.paths.matrix import PathSimilarity
from vicinal.similarity.paths.similarity import path_similarity


class SpectralClustering(ClusterMixin, GraphEstimator):
    """Clusters of a graph: parts that a random walk seldom leaves.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" takes the one with the clearest gap in the spectrum, which may
        be 1; the curve is stored. Path similarities need a number: their kernel is so wide that the
        spectrum shows no such gap.
    method : {"njw", "ncut"}, default="njw"
        "njw": rows of the eigenvectors of D^-1/2 W D^-1/2 on the unit sphere (Ng, Jordan and Weiss).
        "ncut": generalised eigenvectors of the normalised cut (Shi and Malik).
    assign : {"auto", "kmeans", "discretize"}, default="auto"
        How rows become clusters; "auto" is k-means for "njw", discretize (Yu and Shi) for "ncut".
    disconnected : {"merge", "raise"}, default="merge"
        If the graph has more components than clusters: join the nearest components, or explain.
    max_clusters : int, default=20
        Most clusters that "auto" considers.
    graph : str or callable, default="knn"
        Name of a function of `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" if X is an affinity matrix ("precomputed" means the same, as in
        scikit-learn), or "precomputed_distances" if X holds distances: a dense matrix of all pairs, or a
        sparse one of neighbours, as `KNNTransformer` and scikit-learn's `KNeighborsTransformer` and
        `RadiusNeighborsTransformer` return. `path_similarity` itself makes it robust path-based
        spectral clustering (Chang and Yeung), at O(n) though every pair has an affinity. A `Graph`
        or a `PathSimilarity` as X is always taken as it is.
    graph_params : dict, optional
        Parameters of that function, for instance ``{"k": 15}``.
    scale : float, "auto" or "local", default="auto"
        Scale of the affinity, as for `Graph.affinity`.
    random_state : int, RandomState or None
        Seed of the graph, if it needs one, and of the assignment.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar on long work if above 0.

    Attributes
    ----------
    labels_ : ndarray of int (n,)
        Cluster of each point, numbered by their first points.
    n_clusters_ : int
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised affinity, descending.
    eigengaps_ : ndarray
        With "auto", entry k - 1 tells how clearly the spectrum speaks for k clusters; the first is
        the threshold that others had to exceed (see `vicinal.cluster._eigengap`).
    embedding_ : ndarray (n, n_clusters)
        Rows that were assigned; absent if components were merged.
    graph_ : Graph or None
    affinity_ : csr_array or PathSimilarity
    scale_ : float, ndarray or None
        Of path similarities their sigma.

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

    n_clusters_: int
    labels_: np.ndarray
    eigenvalues_: np.ndarray

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        method: str = "njw",
        assign: str = "auto",
        disconnected: str = "merge",
        max_clusters: int = 20,
        graph: Any = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.assign = assign
        self.disconnected = disconnected
        self.max_clusters = max_clusters
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Cluster points, the nodes of a `Graph`, or with ``graph="precomputed"`` an affinity.

        Parameters
        ----------
        X : array (n, n_features), Graph, PathSimilarity, or affinity (n, n)
        y : ignored

        Returns
        -------
        self
        """
        check_choice(self.method, "method", METHODS)
        assign = resolve_assign(self.method, self.assign)
        check_choice(self.disconnected, "disconnected", ("merge", "raise"))
        if isinstance(self.n_clusters, str):
            check_choice(self.n_clusters, "n_clusters", ("auto",))
        else:
            check_count(self.n_clusters, "n_clusters")
        check_count(self.max_clusters, "max_clusters")

        n_components, components, sums = self._build(X)
        pairs = self._spectrum(len(sums), n_components)
        self.eigenvalues_ = pairs.values
        self._assign = assign
        self._warn_disconnected(n_components)
        if n_components > self.n_clusters_:
            self._merge(components, n_components)
            return self
        self._walk_vectors = random_walk_eigenvectors(pairs.vectors[:, : self.n_clusters_], sums)
        rows = pairs.vectors[:, : self.n_clusters_]
        self.embedding_ = unit_rows(rows) if self.method == "njw" else self._walk_vectors
        self.labels_, self._places = assign_rows(
            self.embedding_, self.n_clusters_, assign, self._seed()
        )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Clusters of new points, through the Nystrom extension of the eigenvectors.

        Parameters
        ----------
        X : array (m, n_features)
            New points; distances to the training points if these were given as distances.

        Returns
        -------
        ndarray of int (m,)
            Training points keep their clusters.
        """
        check_is_fitted(self)
        if not hasattr(self, "embedding_"):
            # Merged components have no eigenvectors: the cluster with the most weight.
            if isinstance(self.affinity_, PathSimilarity):
                return self.labels_[best_links(self.affinity_, X, self.n_jobs).points]
            return np.argmax(self._weights_of(X) @ np.eye(self.n_clusters_)[self.labels_], axis=1)
        values = self.eigenvalues_[: self.n_clusters_]
        if isinstance(self.affinity_, PathSimilarity):
            if hasattr(self, "n_features_in_"):
                X = validate_input(self, X, reset=False, dtype=np.float64)
            rows = extend_walk_vectors(self.affinity_, X, self._walk_vectors, values, self.n_jobs)
        else:
            rows = self._extend(X, self._walk_vectors, values)
        if self.method == "njw":
            rows = unit_rows(rows)
        return nearest_center(rows, self._places, self._assign)

    def _build(self, X: Any) -> tuple[int, np.ndarray, np.ndarray]:
        """Affinities; the number of their components, the component and the degree of each point."""
        if isinstance(X, PathSimilarity) or self.graph is path_similarity:
            if isinstance(self.n_clusters, str):
                raise InvalidValueError(
                    "n_clusters='auto' looks for eigenvalues near 1, which path similarities at a wide sigma "
                    "do not have however clear their clusters are; give the number of clusters."
                )
            self.affinity_ = self._build_paths(X)
            self.graph_, self.scale_ = None, self.affinity_.sigma
            components = self.affinity_.relative.pieces()
            sums = self.affinity_.relative @ np.ones(len(components))
        else:
            weights = self._build_affinity(X)
            components, sums = affinity_components(weights), degrees(weights)
        return int(components.max()) + 1, components, sums

    def _build_paths(self, X: Any) -> PathSimilarity:
        if isinstance(X, PathSimilarity):
            reset_feature_attributes(self)
            return X
        if isinstance(X, Graph):
            reset_feature_attributes(self)
        else:
            X = validate_input(self, X, dtype=np.float64, ensure_min_samples=2)
        shared = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        return path_similarity(X, **shared | (self.graph_params or {}))

    def _spectrum(self, n: int, n_components: int) -> Eigenpairs:
        """Eigenpairs, and with them ``n_clusters_`` if it is to be found."""
        if isinstance(self.n_clusters, str):
            n_pairs = min(max(self.max_clusters, n_components) + 1, n)
        else:
            n_pairs = self.n_clusters
        if n_pairs > n:
            raise InvalidValueError(f"n_clusters={n_pairs}, but there are n_samples={n} points.")
        if isinstance(self.affinity_, PathSimilarity):
            pairs = normalized_ultrametric_pairs(self.affinity_.relative, n_pairs, self._seed())
        else:
            pairs = leading_eigenpairs(
                self.affinity_,
                n_pairs,
                tolerance=TOLERANCE,
                random_state=self._seed(),
                n_jobs=self.n_jobs,
            )
        self.n_clusters_ = n_pairs
        if isinstance(self.n_clusters, str):
            self.eigengaps_ = relative_gaps(pairs.values)
            self.n_clusters_ = n_clusters_by_gap(self.eigengaps_)
        return pairs

    def _warn_disconnected(self, n_components: int) -> None:
        if n_components > self.n_clusters_:
            if self.disconnected == "merge":
                warn_disconnected(n_components, "the nearest components are merged to clusters")
        elif n_components > 1:
            warn_disconnected(n_components, "no cluster has points of two components")

    def _merge(self, components: np.ndarray, n_components: int) -> None:
        if self.disconnected == "raise":
            raise InvalidValueError(
                f"there are {n_components} components, more than n_clusters={self.n_clusters_}; ask "
                "for more clusters, connect the graph, or give disconnected='merge'."
            )
        if (
            isinstance(self.affinity_, PathSimilarity)
            and np.isfinite(self.affinity_.tree.heights).all()
        ):
            self.labels_ = self.affinity_.clusters(n_clusters=self.n_clusters_)
        else:
            self.labels_ = merge_components(self.graph_, components, self.n_clusters_, self.n_jobs)
        # Of an earlier fit: merged components have no embedding.
        self.__dict__.pop("embedding_", None)
