"""`ClusterPreservingEmbedding`: points connected by dense paths are close to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags

from vicinal._base.chunked_fit import by_chunks, chunked_fit
from vicinal._base.graph_source import reset_feature_attributes
from vicinal._core.array_checks import validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.chunked import is_chunked, validate_chunks
from vicinal._core.fitted import check_is_fitted
from vicinal._core.options import seed_from
from vicinal._core.parallel import one_blas_thread
from vicinal._core.precision import PreservesPrecision, like_input
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal._core.warn import warn_user
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import as_metric
from vicinal.operators.eigenpairs import random_walk_eigenvectors
from vicinal.operators.ultrametric import (
    Ultrametric,
    centered_ultrametric_pairs,
    normalized_ultrametric_pairs,
)
from vicinal.similarity.paths._out_of_sample import best_links, extend_walk_vectors
from vicinal.similarity.paths.matrix import PathSimilarity
from vicinal.similarity.paths.similarity import METRICS, path_similarity

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs, RandomStateLike

METHODS, DISSIMILARITIES = ("laplacian", "mds"), ("squared", "plain")
# Eigenvalues below this fraction of the largest are rounding errors.
MIN_EIGENVALUE = 1e-12


class ClusterPreservingEmbedding(
    PreservesPrecision,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    FitCallbacks,
    BaseEstimator,
):
    """Embed points so that robust path-based similarities, and with them clusters, are preserved.

    The similarity of two points is that of the worst step of the best path between them
    (`path_similarity`), so points connected by a chain of dense steps are close, whatever the shape of
    the cluster. The similarity matrix is never formed: products and eigenvectors cost O(n).

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    method : {"laplacian", "mds"}, default="laplacian"
        "laplacian" (CPE-Lap) takes the slowest directions of the random walk among the similarities,
        formula (9) of the reference. "mds" (CPE-MDS) takes the coordinates of classical scaling,
        whose distances are as near as possible to the dissimilarities of formula (5).
    sigma : float or "auto", default="auto"
        Kernel width, > 0; both methods depend strongly on it. "auto" chooses it from the data, see
        `path_similarity`.
    robust : bool, default=True
        Whether to weight points by the density around them, so that paths through outliers are poor.
    n_neighbors : int, default=10
        Number of nearest neighbours that determine the weight of a point.
    dissimilarity : {"squared", "plain"}, default="squared"
        Whether "mds" interprets formula (5) as squared distances, which they are in the feature space of
        the kernel, or as distances. The reference does not say.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        "cosine" compares directions only: points are scaled to length 1. "precomputed" if X is a distance
        matrix.
    between_classes : float, default=1.0
        Supervised embedding if below 1 and `fit` gets classes ``y``: steps of paths from one class to another
        are multiplied by it, and 0 cuts them, see `PathSimilarity.separate`. 1 ignores ``y``, as in pipelines
        that pass it to all steps.
    random_state : int, RandomState or None, default=None
        Seed of the start vectors; it matters only where eigenvalues are equal.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        "laplacian": solutions of S y = value D y after the constant one, with y' D y = 1. "mds":
        centred coordinates along principal axes. In both cases S is relative to its largest entry. If the
        similarities have fewer dimensions, the remaining columns are zeros and a warning is issued.
    eigenvalues_ : ndarray of shape (n_components,)
        "laplacian": the values above, descending; 1 - value solves formula (9). "mds": eigenvalues of
        the centred similarities.
    similarity_ : PathSimilarity
        Similarities of the points.
    sigma_ : float
        Kernel width.
    sigma_curve_ : SigmaCurve or None
        With ``sigma="auto"``, the mean similarity of a pair at several widths.

    Notes
    -----
    Different components of a graph have similarity 0; "laplacian" separates them first, with eigenvalue 1,
    largest components first.

    References
    ----------
    [4] Zhan and Yin, "Cluster preserving embedding", ICPR 2010. Chang and Yeung, "Robust path-based spectral
    clustering", Pattern Recognition 2008.

    Examples
    --------
    >>> from vicinal import ClusterPreservingEmbedding
    >>> from vicinal.datasets import make_helices
    >>> from vicinal.metrics import rand_index
    >>> from sklearn.cluster import KMeans
    >>> X, curve = make_helices(random_state=0)
    >>> Y = ClusterPreservingEmbedding(method="mds").fit_transform(X)
    >>> float(rand_index(curve, KMeans(3, n_init=10, random_state=0).fit_predict(Y)))
    1.0
    """

    embedding_: np.ndarray

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: Literal["laplacian", "mds"] = "laplacian",
        sigma: float | Literal["auto"] = "auto",
        robust: bool = True,
        n_neighbors: int = 10,
        dissimilarity: Literal["squared", "plain"] = "squared",
        metric: Literal["euclidean", "cosine", "precomputed"] = "euclidean",
        between_classes: float = 1.0,
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.sigma = sigma
        self.robust = robust
        self.n_neighbors = n_neighbors
        self.dissimilarity = dissimilarity
        self.metric = metric
        self.between_classes = between_classes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = as_metric(self.metric).is_precomputed
        return tags

    @chunked_fit
    @one_blas_thread()
    def fit(
        self, X: ArrayLike | Graph | PathSimilarity, y: ArrayLike | None = None
    ) -> ClusterPreservingEmbedding:
        """Embed points, given by coordinates or distances, or the nodes of a `Graph`.

        In a graph, paths follow its edges. A `PathSimilarity` is used as it is, and the parameters of the
        kernel are ignored, so several embeddings can share one.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, PathSimilarity, or distances of shape (n, n)
            Points, a graph, similarities, or distances. For a dask array of points, ``embedding_`` is a dask
            array in its chunks.
        y : array-like of shape (n,), optional
            Class of each point, -1 where unknown; used if ``between_classes`` is below 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_choice(self.method, "method", METHODS)
        check_choice(self.dissimilarity, "dissimilarity", DISSIMILARITIES)
        check_choice(self.metric, "metric", METRICS)
        check_count(self.n_components, "n_components")
        check_real(self.between_classes, "between_classes", low=0.0, high=1.0)
        data = X
        if isinstance(X, PathSimilarity):
            reset_feature_attributes(self)
            n = len(X)
        elif isinstance(X, Graph):
            reset_feature_attributes(self)
            n = X.n_nodes
        elif is_chunked(X) and not as_metric(self.metric).is_precomputed:
            data = validate_chunks(self, X)
            n = len(data)
        else:
            data = validate_input(self, X, dtype=np.float64)
            n = len(data)
        if n < 2:
            raise InvalidValueError(
                f"X has n_samples={n}, but an embedding needs at least 2 points; add rows."
            )
        check_count(
            self.n_components,
            "n_components",
            high=n - 1,
            remedy=f"X has n_samples={n}, and one direction is constant.",
        )
        self.similarity_ = data if isinstance(data, PathSimilarity) else self._similarity(data)
        if y is not None and self.between_classes < 1:
            self.similarity_ = self.similarity_.separate(y, factor=self.between_classes)
        self.sigma_, self.sigma_curve_ = self.similarity_.sigma, self.similarity_.sigma_curve
        self._operator = self._kernel()
        seed = seed_from(self.random_state)
        if self.method == "laplacian":
            self._fit_laplacian(seed)
        else:
            self._fit_scaling(seed)
        self.embedding_ = like_input(self.embedding_, X)
        self._n_features_out = self.n_components
        return self

    def fit_transform(
        self, X: ArrayLike | Graph | PathSimilarity, y: ArrayLike | None = None
    ) -> np.ndarray:
        """Fit the model and return the embedding of the points.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or Graph
            As for `fit`.
        y : array-like of shape (n,), optional
            As for `fit`.

        Returns
        -------
        ndarray of shape (n, n_components)
            The embedding.
        """
        return self.fit(X, y).embedding_

    @by_chunks(lambda model: model.n_components)
    def transform(self, X: ArrayLike) -> np.ndarray:
        """Embed new points, each attached to the tree by its best step (Nystrom extension).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points; with ``metric="precomputed"``, their distances (m, n) to the training points. A dask
            array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m, n_components)
            Training points keep their coordinates.
        """
        check_is_fitted(self)
        return like_input(self._extended(X), X)

    def _extended(self, X: ArrayLike) -> np.ndarray:
        if hasattr(self, "n_features_in_"):
            X = validate_input(self, X, reset=False, dtype=np.float64)
        if self.method == "laplacian":
            return extend_walk_vectors(self.similarity_, X, self.embedding_, self.eigenvalues_)
        links = best_links(self.similarity_, X)
        heights = np.maximum(self._transformed(links.heights) - self._operator.lowest, 0.0)
        attached = self._operator.attached_to(self.embedding_)
        steps = attached.products(links.points, heights)[:, :-1]
        with one_blas_thread():
            steps -= self._mean_row @ self.embedding_
        extended = np.divide(
            steps, self.eigenvalues_, out=np.zeros_like(steps), where=self.eigenvalues_ > 0
        )
        return np.where((links.same >= 0)[:, None], self.embedding_[links.same], extended)

    def _similarity(self, X: ArrayLike | Graph) -> PathSimilarity:
        return path_similarity(
            X,
            self.sigma,
            robust=self.robust,
            n_neighbors=self.n_neighbors,
            metric=self.metric,
        )

    def _kernel(self) -> Ultrametric:
        if self.method == "mds" and self.dissimilarity == "plain":
            # Distances 1 - s: minus their squares are s (2 - s) - 1, similarities over the same tree.
            tree = self.similarity_.tree
            return Ultrametric(tree, self._transformed(tree.heights))
        return self.similarity_.relative

    def _transformed(self, heights: np.ndarray) -> np.ndarray:
        """Heights in the embedded tree, from heights in the tree of the similarity."""
        if self.method == "laplacian" or self.dissimilarity == "squared":
            return heights
        above = np.maximum(heights + self.similarity_.log_largest, 0.0)
        with np.errstate(under="ignore"):
            return above - np.log1p(-np.expm1(-above))

    def _fit_laplacian(self, seed: int) -> None:
        pairs = normalized_ultrametric_pairs(self._operator, self.n_components + 1, seed)
        sums = self._operator @ np.ones(len(pairs.vectors))
        self.eigenvalues_, usable = self._usable(pairs.values[1:], 1.0)
        self.embedding_ = random_walk_eigenvectors(pairs.vectors[:, 1:] * usable, sums)

    def _fit_scaling(self, seed: int) -> None:
        pairs = centered_ultrametric_pairs(self._operator, self.n_components, seed)
        n = len(pairs.vectors)
        self.eigenvalues_, _ = self._usable(pairs.values, pairs.values[0])
        self.embedding_ = pairs.vectors * np.sqrt(self.eigenvalues_)
        self._mean_row = (self._operator @ np.ones(n)) / n

    def _usable(self, values: np.ndarray, largest: float) -> tuple[np.ndarray, np.ndarray]:
        usable = values > MIN_EIGENVALUE * max(largest, MIN_EIGENVALUE)
        if not usable.all():
            warn_user(
                f"n_components={self.n_components}, but the similarities have only "
                f"{np.count_nonzero(usable)} dimension(s); the other columns are zeros.",
            )
        return np.where(usable, values, 0.0), usable
