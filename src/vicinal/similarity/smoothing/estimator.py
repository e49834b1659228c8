"""`SelfSmoothing`: similarities improved by diffusion, for dense matrices and for many points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._base.chunked_fit import by_chunks, chunked_fit, in_chunks_of, pair_by_chunks
from vicinal._base.graph_source import reset_feature_attributes
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.chunked import is_chunked
from vicinal._core.memory import require_memory
from vicinal._core.options import seed_from
from vicinal._core.precision import PreservesPrecision, is_single, like_input
from vicinal._core.scalar_checks import check_count, check_list
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing._auto_t import MAX_FACTOR, walk_steps
from vicinal.similarity.smoothing._fused_items import Fusion, fused_blocks, read_fused_rows
from vicinal.similarity.smoothing._fusion import (
    FusedWalk,
    check_fusion,
    check_sources,
    mean_similarity,
)
from vicinal.similarity.smoothing._inputs import (
    as_dense_or_sparse,
    check_parameters,
    fusion_kernel,
    make_walk,
    read_input,
)
from vicinal.similarity.smoothing._lazy_similarity import SmoothedSimilarity
from vicinal.similarity.smoothing._out_of_sample import (
    accepts_sparse,
    check_new,
    extended_blocks,
    is_pairwise,
)
from vicinal.similarity.smoothing._selection import largest_in_rows
from vicinal.similarity.smoothing._sweeps import nearest_in, sweep_neighbors, sweep_similarities
from vicinal.similarity.smoothing._walks import DenseWalk, SparseWalk
from vicinal.similarity.smoothing.operator import check_similarity, check_steps, divide_by_diagonal

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, MetricLike, NJobs, RandomStateLike


class SelfSmoothing(
    PreservesPrecision,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    FitCallbacks,
    BaseEstimator,
):
    """Improve a similarity by diffusion along itself.

    Parameters
    ----------
    t : float or "auto", default="auto"
        Number of steps. "auto" chooses the number at which the return probability of a walk does not depend
        on the density at its start, or with ``n_clusters`` the number for a kernel of this many clusters; see
        ``t_curve_``. Where walks leave the items at very different rates, no number suits all of them. Then
        nothing is smoothed: ``t_`` is 0, and items rank by distance. A fusion is always smoothed.
    bandwidth : float, default=0.1
        Kernel width in units of the squared scale, see `smoothing_kernel`.
    n_neighbors : int, default=30
        Number of neighbours that determine the scale of a point, see `smoothing_kernel`.
    width : {"pair", "global"}, default="pair"
        Whether the kernel uses the mean scale of the two points, or that of all points.
    n_clusters : int, optional
        Number of clusters, if the similarity will be the kernel of `vicinal.KernelKMeans`: "auto" smooths
        until its effective rank is this number. For retrieval, that is far too many steps.
    metric : str or callable, default="euclidean"
        As for `vicinal.graphs.knn`; "precomputed" if X holds distances, "similarity" if it holds
        similarities.
    method : {"auto", "dense", "sparse"}, default="auto"
        Whether to store all pairs or only those of neighbours. "auto" stores all pairs of up to 5,000
        points. Given distances or similarities keep their form, but sparse ones of up to 5,000 items
        become dense.
    random_state : int, RandomState or None, default=None
        Seed of the sample of points that chooses t for large data.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Attributes
    ----------
    similarity_ : ndarray of shape (n, n), or SmoothedSimilarity
        Similarity after ``t_`` steps, self-normalised: 1 on the diagonal, not symmetric. For sparse
        similarities, an object that computes rows on demand.
    t_ : float
        Number of steps.
    t_curve_ : ndarray of shape (m, 2) or None
        With "auto", numbers of steps, and at each the rank correlation between return probability and
        degree, which rises from -1; ``t_`` is where it crosses 0, or earlier, where half of the return
        probability is that of infinitely many steps. With ``n_clusters``, at each the effective
        rank (trace P^(t+1))^2 / trace P^(2(t+1)); ``t_`` is where it falls to ``n_clusters``.
    rate_factor_ : float or None
        With "auto" for retrieval, the typical factor by which walks leave an item faster or slower than
        the average one. If it is above 8, ``t_`` is 0.
    affinity_ : ndarray or csr_array
        The similarity before smoothing. Not set by a fusion with ``how="after"`` or ``"cross"``.

    References
    ----------
    [2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.similarity import SelfSmoothing
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SelfSmoothing().fit(X)
    >>> model.similarity_.shape
    (150, 150)
    >>> similarities, neighbors = model.kneighbors(n_neighbors=5)
    >>> float((y[neighbors] == y[:, None]).mean()) > 0.9
    True
    """

    similarity_: Any
    # What `fuse` combined; None after `fit`.
    _fusion: Fusion | None = None

    def __init__(
        self,
        t: float | Literal["auto"] = "auto",
        *,
        bandwidth: float = 0.1,
        n_neighbors: int = 30,
        width: Literal["pair", "global"] = "pair",
        n_clusters: int | None = None,
        metric: MetricLike = "euclidean",
        method: Literal["auto", "dense", "sparse"] = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.t = t
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.width = width
        self.n_clusters = n_clusters
        self.metric = metric
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_pairwise(self.metric)
        tags.input_tags.sparse = accepts_sparse(self.metric)
        return tags

    @chunked_fit
    def fit(self, X: MatrixLike, y: object = None) -> SelfSmoothing:
        """Smooth the similarity of points, given by coordinates, distances or similarities.

        Parameters
        ----------
        X : array of shape (n, n_features), or array or sparse matrix of shape (n, n)
            Points (sparse if the metric is Euclidean or cosine); distances with
            ``metric="precomputed"``, similarities with ``metric="similarity"``. A dask array of points is
            always smoothed with ``method="sparse"``.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        read = read_input(self, X)
        self._kernel, self._fusion = read.kernel, None
        method = "sparse" if is_chunked(X) else self.method
        self._smooth(read.weights, read.symmetric, method, read.rate_factor)
        if isinstance(self.similarity_, np.ndarray):
            self.similarity_ = like_input(self.similarity_, X)
        return self

    def fuse(
        self,
        sources: Sequence[MatrixLike],
        how: Literal["before", "after", "cross"] = "before",
        weights: ArrayLike | None = None,
    ) -> SelfSmoothing:
        """Fuse several similarities of the same items into one smoothed similarity.

        Parameters
        ----------
        sources : list of arrays or sparse matrices of shape (n, n)
            Similarities; distances with ``metric="precomputed"``. An item that is missing in a source is a
            row and a column of NaN there; each pair is averaged over the sources that contain it.
        how : {"before", "after", "cross"}, default="before"
            Average, then smooth; smooth each source, then average; or smooth the mean of the other sources
            along each source, then average.
        weights : list of float, optional
            Weight of each source; equal by default.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        check_fusion(how)
        checked, source_weights = check_sources(sources, weights, fusion_kernel(self))
        n = int(max(source.known.max() for source in checked)) + 1
        mean = mean_similarity(checked, source_weights, n)
        reset_feature_attributes(self)
        self._kernel, self.n_features_in_ = None, n
        self._fusion = Fusion(checked, source_weights, how, n)
        if how == "before":
            return self._smooth(*check_similarity(mean, "sources"), self.method)
        walk = DenseWalk(*check_similarity(mean.toarray() if sparse.issparse(mean) else mean))
        self._choose(walk)
        self._walk: Any = FusedWalk(checked, source_weights, how, n)
        # Left from an earlier fit; here no single similarity is smoothed.
        self.__dict__.pop("affinity_", None)
        self._set_ranked(self._walk.smoothed(self.t_))
        return self

    def at(self, t: float) -> Any:
        """Compute the similarity after another number of steps.

        Parameters
        ----------
        t : float
            Number of steps, >= 0; an integer if the similarity is sparse.

        Returns
        -------
        ndarray or SmoothedSimilarity
            The similarity, as ``similarity_``.
        """
        check_is_fitted(self, "similarity_")
        return self._at(self._check_steps(t))

    def sweep(self, ts: Iterable[float]) -> Iterator[tuple[float, Any]]:
        """Compute the similarity after each of many numbers of steps, from one decomposition.

        Parameters
        ----------
        ts : iterable of float
            Numbers of steps.

        Returns
        -------
        iterator of (float, ndarray or SmoothedSimilarity)
            Each number of steps and its similarity, computed one at a time to save memory.
        """
        check_is_fitted(self, "similarity_")
        return sweep_similarities(self._walk, self._check_sweep(ts), self._at)

    def sweep_neighbors(
        self, ts: Iterable[float], n_neighbors: int = 10
    ) -> Iterator[tuple[float, tuple[np.ndarray, np.ndarray]]]:
        """Find the most similar items after each of many numbers of steps.

        Parameters
        ----------
        ts : iterable of float
            Numbers of steps.
        n_neighbors : int, default=10
            Number of neighbours.

        Returns
        -------
        iterator of (float, (ndarray, ndarray))
            Each number of steps, with similarities and indices as from `kneighbors`. For many items and
            integer steps, similarities are accurate to about five digits, so nearly equal ones may swap.
        """
        check_is_fitted(self, "similarity_")
        steps = self._check_sweep(ts)
        k = self._check_neighbors(n_neighbors, self.n_items_ - 1)
        return sweep_neighbors(self._walk, steps, k, self._at, self.n_jobs)

    def kneighbors(
        self, X: MatrixLike | None = None, n_neighbors: int = 10
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the most similar items.

        Parameters
        ----------
        X : array or sparse matrix, optional
            New points, as for `transform`. By default, the neighbours of each fitted item, excluding itself.
            Results for a dask array, or for the items of one, are dask arrays in its chunks.
        n_neighbors : int, default=10
            Number of neighbours.

        Returns
        -------
        similarities : ndarray of shape (m, n_neighbors)
            Similarities in descending order; those clipped to 1 keep their order.
        indices : ndarray of int of shape (m, n_neighbors)
            The similar items.
        """
        check_is_fitted(self, "similarity_")
        k = self._check_neighbors(n_neighbors, self.n_items_ - (X is None))
        if is_chunked(X):
            return pair_by_chunks(
                X, lambda block: self.kneighbors(block, k), k, (np.float64, np.int64)
            )
        if X is not None:
            n_new, extended = self._extended(X)
            similarities, indices = np.empty((n_new, k)), np.empty((n_new, k), int)
            for span, rows in extended:
                indices[span] = largest_in_rows(rows, k)
                similarities[span] = np.take_along_axis(rows, indices[span], axis=1)
            return np.minimum(similarities, 1.0), indices
        if isinstance(self.similarity_, SmoothedSimilarity):
            similarities, indices = self.similarity_.nearest(k)
            return in_chunks_of(self, similarities), in_chunks_of(self, indices)
        return nearest_in(self._ranked.copy(), k, self.n_jobs)

    @by_chunks(lambda model: model.n_items_)
    def transform(self, X: MatrixLike) -> np.ndarray:
        """Similarities of new points to the fitted points, by the Nystrom extension.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, n_features)
            New points; their distances (m, n) with ``metric="precomputed"``, their similarities (m, n)
            with ``metric="similarity"``. After `fuse`, a list with one such matrix per source, in which an
            item that a source does not contain is a row of NaN; not for ``how="cross"``. In a sparse
            matrix, a distance of 0 must be stored; pairs that are not stored have similarity 0.
            Asymmetric similarities cannot be extended.

        Returns
        -------
        ndarray of shape (m, n)
            Fitted points keep their rows (approximately, if similarities are sparse). For t = 0, the
            kernel itself; for t > 0, a point far from all others is similar to the nearest.
        """
        check_is_fitted(self, "similarity_")
        m, extended = self._extended(X)
        n = self.n_items_
        require_memory(8.0 * m * n, f"The similarities of {m:,} points to {n:,}", "Use kneighbors.")
        similarities = np.empty((m, n), np.float32 if is_single(X) else np.float64)
        for span, rows in extended:
            similarities[span] = np.minimum(rows, 1.0)
        return similarities

    def _extended(self, X: Any) -> tuple[int, Iterator[tuple[slice, np.ndarray]]]:
        """Number of new points, and their similarities to fitted points, in blocks."""
        if self._fusion is None:
            new = check_new(self, X)
            return new.shape[0], extended_blocks(self, new)
        rows = read_fused_rows(self._fusion, X)
        if self._fusion.how == "after":
            return rows.shape[0], fused_blocks(rows, self.t_)
        return rows.shape[0], extended_blocks(self, rows.mean())

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`, which scikit-learn names: one per fitted item."""
        return self.n_items_

    def _smooth(
        self, weights: Any, symmetric: bool, method: str, rate_factor: float | None = None
    ) -> SelfSmoothing:
        self.affinity_ = as_dense_or_sparse(weights, method)
        self._walk = make_walk(self.affinity_, symmetric, self.n_jobs)
        self._choose(self._walk, rate_factor)
        self.n_items_ = weights.shape[0]
        if isinstance(self._walk, SparseWalk):
            self._check_steps(self.t_)
            self.__dict__.pop("_ranked", None)
            self.similarity_ = self._at(self.t_)
        else:
            self._set_ranked(divide_by_diagonal(self._walk.smoothed(self.t_)))
        return self

    def _choose(self, walk: Any, rate_factor: float | None = None) -> None:
        self.rate_factor_ = rate_factor
        if rate_factor is not None and rate_factor > MAX_FACTOR:
            self.t_, self.t_curve_ = 0.0, None
            return
        if self.t != "auto":
            self.t_, self.t_curve_ = check_steps(self.t), None
            return
        seed = seed_from(self.random_state)
        self.t_, self.t_curve_ = walk_steps(walk, seed, self.n_clusters)

    def _set_ranked(self, ranked: np.ndarray) -> None:
        self._ranked, self.n_items_ = ranked, len(ranked)
        # The same array serves both if clipping changes nothing.
        self.similarity_ = np.minimum(ranked, 1.0) if ranked.max() > 1.0 else ranked

    def _at(self, t: float) -> Any:
        if isinstance(self._walk, SparseWalk):
            return SmoothedSimilarity(self._walk, int(t), self.verbose)
        return np.minimum(divide_by_diagonal(self._walk.smoothed(t)), 1.0)

    def _check_neighbors(self, n_neighbors: Any, largest: int) -> int:
        remedy = f"There are {self.n_items_} items."
        return check_count(n_neighbors, "n_neighbors", high=largest, remedy=remedy)

    def _check_sweep(self, ts: Iterable[float]) -> list[float]:
        steps = check_list(ts, "ts", "numbers of steps")
        return [self._check_steps(t, "ts holds t") for t in steps]

    def _check_steps(self, t: Any, name: str = "t") -> float:
        t = check_steps(t, name)
        if isinstance(self._walk, SparseWalk) and t != int(t):
            raise InvalidValueError(
                f"{name}={t}, but a sparse similarity needs an integer number of steps; round it, or use "
                "method='dense'."
            )
        return t
