"""`KNNTransformer`: nearest neighbours as a sparse matrix, for pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state

from vicinal._core.array_checks import validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.fitted import check_is_fitted
from vicinal._core.scalar_checks import check_count
from vicinal.neighbors.metric import as_metric
from vicinal.neighbors.search import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, MetricLike, NJobs, RandomStateLike, SearchMethod


class KNNTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, FitCallbacks, BaseEstimator
):
    """Transform a table into a sparse matrix of distances to the nearest neighbours.

    A drop-in replacement for scikit-learn's `KNeighborsTransformer` in its default mode: a row stores
    ``n_neighbors + 1`` distances, nearest first, because the point itself is included. scikit-learn's
    estimators accept the result with ``metric="precomputed"``, those of vicinal with
    ``graph="precomputed_distances"``, and scanpy accepts the transformer itself:
    ``scanpy.pp.neighbors(adata, n_neighbors=15, transformer=KNNTransformer(15))``.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours; the point itself does not count.
    metric : str or callable, default="euclidean"
        As for `NeighborSearch`; with "precomputed", X is a matrix of distances.
    method : {"auto", "exact", "approximate"}, default="auto"
        "auto" and "exact" give the exact neighbours, "approximate" may miss some.
    random_state : int, RandomState or None
        Seed of the approximate search.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of training points, the columns of the matrix.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal import KNNTransformer, SpectralClustering
    >>> from vicinal.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, noise=0.05, random_state=0)
    >>> KNNTransformer(5).fit_transform(X).shape
    (200, 200)
    >>> model = make_pipeline(KNNTransformer(10), SpectralClustering(2, graph="precomputed_distances"))
    >>> sorted(set(model.fit_predict(X).tolist()))
    [0, 1]
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        metric: MetricLike = "euclidean",
        method: SearchMethod = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._is_precomputed()
        return tags

    def fit(self, X: MatrixLike, y: Any = None) -> KNNTransformer:
        """Build the search.

        Parameters
        ----------
        X : array (n, n_features), or distances (n, n)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        KNNTransformer
            The fitted transformer.
        """
        X = self._validated(X)
        n = X.shape[0]
        check_count(self.n_neighbors, "n_neighbors")
        check_count(
            self.n_neighbors,
            "n_neighbors",
            high=max(n - 1, 1),
            remedy=f"X has n_samples={n}, and a point is not its own neighbour.",
        )
        self._search = NeighborSearch(
            X,
            metric=self.metric,
            method=self.method,
            random_state=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        self.n_samples_fit_ = self._n_features_out = n
        return self

    def transform(self, X: MatrixLike) -> sparse.csr_matrix:
        """Compute the distances to the ``n_neighbors + 1`` nearest training points.

        Parameters
        ----------
        X : array (m, n_features), or distances (m, n)
            Query points.

        Returns
        -------
        csr_matrix (m, n)
            Each row stores the nearest point first; distances of 0 are stored.
        """
        check_is_fitted(self)
        queries = self._validated(X, reset=False)
        return self._matrix(*self._search.nearest(self.n_neighbors + 1, queries))

    def fit_transform(self, X: MatrixLike, y: Any = None) -> sparse.csr_matrix:
        """Fit, and compute the distances between training points; each point is first in its row.

        Parameters
        ----------
        X : array (n, n_features), or distances (n, n)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        csr_matrix (n, n)
            Distances to the nearest neighbours.
        """
        return self.fit(X)._matrix(*self._search.nearest(self.n_neighbors))

    def _matrix(self, indices: np.ndarray, distances: np.ndarray) -> sparse.csr_matrix:
        m, k = indices.shape
        arrays = distances.ravel(), indices.ravel(), np.arange(m + 1) * k
        # Other libraries rely on the stored order, and most do not support sparse arrays.
        return sparse.csr_matrix(arrays, shape=(m, self.n_samples_fit_))

    def _validated(self, X: Any, reset: bool = True) -> Any:
        return validate_input(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if self._is_precomputed() else False,
            dtype=(np.float64, np.float32),
            ensure_min_samples=2 if reset else 1,
        )

    def _is_precomputed(self) -> bool:
        return as_metric(self.metric).is_precomputed
