"""`SelfSmoothing`: a better similarity from the one there is, for full matrices and for many points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._base.graph_estimator import reset_feature_attributes
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.memory import require_memory
from vicinal._core.options import seed_from
from vicinal._core.precision import PreservesPrecision, is_single, like_input
from vicinal._core.scalar_checks import check_count, check_list
from vicinal.exceptions import InvalidValueError
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
from vicinal.similarity.smoothing._out_of_sample import check_new, extended_blocks, is_given
from vicinal.similarity.smoothing._sweeps import nearest_in, sweep_nearest
from vicinal.similarity.smoothing._walks import (
    DenseWalk,
    SparseWalk,
    largest_in_rows,
    walk_steps,
)
from vicinal.similarity.smoothing.operator import check_similarity, check_steps, divide_by_diagonal


class SelfSmoothing(
    PreservesPrecision,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    FitCallbacks,
    BaseEstimator,
):
    """Similarity improved by a diffusion along itself.

    Parameters
    ----------
    t : float or "auto", default="auto"
        Number of steps. "auto" takes the one at which the probability of a walk to be back at its start
        does not depend on the density there, see ``t_curve_``.
    bandwidth, n_neighbors, width :
        Of the kernel that makes similarities from distances, see `smoothing_kernel`.
    metric : str, default="euclidean"
        As for `vicinal.graphs.knn`; "precomputed" if X holds distances, "similarity" if it holds
        similarities.
    method : {"auto", "dense", "sparse"}, default="auto"
        Hold all pairs, or only those of near points. "auto" holds all up to 5,000 points; similarities
        and distances that are given stay as they are, but sparse ones of few items become full.
    random_state : int, RandomState or None
        Seed of the points that are looked at where all would take too long.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
    verbose : int, default=0
        Above 0, long work shows a progress bar.

    Attributes
    ----------
    similarity_ : ndarray (n, n), or SmoothedSimilarity
        After ``t_`` steps, self-normalised: 1 on the diagonal, not symmetric. For sparse similarities an
        object that computes the rows that are asked for.
    t_ : float
        Number of steps.
    t_curve_ : ndarray (m, 2) or None
        With "auto", numbers of steps and at each the rank correlation of return probability and degree,
        which is -1 at first and rises; ``t_`` is where it passes 0.
    affinity_ : ndarray or csr_array
        The similarity that was smoothed. Not after a fusion other than "before".

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

    def __init__(
        self,
        t: Any = "auto",
        *,
        bandwidth: float = 0.1,
        n_neighbors: int = 30,
        width: str = "pair",
        metric: Any = "euclidean",
        method: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.t = t
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.width = width
        self.metric = metric
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = is_given(self.metric)
        return tags

    def fit(self, X: Any, y: Any = None) -> SelfSmoothing:
        """Smooth the similarity of points, or the one that distances or similarities give.

        Parameters
        ----------
        X : array (n, n_features), or array or sparse matrix (n, n)
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self)
        weights, symmetric, self._kernel = read_input(self, X)
        self._smooth(weights, symmetric)
        if isinstance(self.similarity_, np.ndarray):
            self.similarity_ = like_input(self.similarity_, X)
        return self

    def fuse(self, sources: Any, how: str = "before", weights: Any = None) -> SelfSmoothing:
        """Smooth several similarities of the same items into one.

        Parameters
        ----------
        sources : list of arrays or sparse matrices (n, n)
            Similarities; distances with ``metric="precomputed"``, as for `fit`. An item that a source
            does not know is a row and a column of NaN; for each pair the sources that know it count.
        how : {"before", "after", "cross"}, default="before"
            Average, then smooth; smooth each, then average; or spread the similarity of the other
            sources along each source and average that.
        weights : list of float, optional
            How much each source counts, equally by default.

        Returns
        -------
        self
        """
        check_parameters(self)
        check_fusion(how)
        checked, shares = check_sources(sources, weights, fusion_kernel(self))
        n = int(max(source.known.max() for source in checked)) + 1
        mean = mean_similarity(checked, shares, n)
        reset_feature_attributes(self)
        self._kernel, self.n_features_in_ = None, n
        if how == "before":
            return self._smooth(*check_similarity(mean, "sources"))
        walk = DenseWalk(*check_similarity(mean.toarray() if sparse.issparse(mean) else mean))
        self._choose(walk)
        self._walk: Any = FusedWalk(checked, shares, how, n)
        # Of an earlier fit: here there is no one similarity that was smoothed.
        self.__dict__.pop("affinity_", None)
        self._set_ranked(self._walk.smoothed(self.t_))
        return self

    def at(self, t: float) -> Any:
        """The similarity after another number of steps.

        Parameters
        ----------
        t : float

        Returns
        -------
        ndarray or SmoothedSimilarity
        """
        check_is_fitted(self, "similarity_")
        return self._at(self._check_steps(t))

    def sweep(self, ts: Iterable[float]) -> Iterator[tuple[float, Any]]:
        """The similarity after each of many numbers of steps, from one decomposition.

        Parameters
        ----------
        ts : iterable of float

        Yields
        ------
        t : float
        similarity : ndarray or SmoothedSimilarity
            One at a time, so that only one is held.
        """
        check_is_fitted(self, "similarity_")
        steps = [
            self._check_steps(t, "ts holds t") for t in check_list(ts, "ts", "numbers of steps")
        ]
        return self._sweep(steps)

    def sweep_neighbors(
        self, ts: Iterable[float], n_neighbors: int = 10
    ) -> Iterator[tuple[float, tuple[np.ndarray, np.ndarray]]]:
        """The most similar others of all items after each of many numbers of steps.

        Parameters
        ----------
        ts : iterable of float
        n_neighbors : int, default=10

        Yields
        ------
        t : float
        (similarities, indices) : ndarrays (n, n_neighbors)
            As `kneighbors` gives them; those of many items after whole steps to about five digits, so that
            the order of closer ones may differ.
        """
        check_is_fitted(self, "similarity_")
        steps = [
            self._check_steps(t, "ts holds t") for t in check_list(ts, "ts", "numbers of steps")
        ]
        return self._sweep_neighbors(steps, self._check_neighbors(n_neighbors, self.n_items_ - 1))

    def kneighbors(self, X: Any = None, n_neighbors: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The most similar items.

        Parameters
        ----------
        X : array, optional
            New points, as for `transform`. By default the neighbours of each fitted item, itself left out.
        n_neighbors : int, default=10

        Returns
        -------
        similarities, indices : ndarray (m, n_neighbors)
            The most similar first. Similarities that clamping makes equal keep their order.
        """
        check_is_fitted(self, "similarity_")
        k = self._check_neighbors(n_neighbors, self.n_items_ - (X is None))
        if X is not None:
            new = check_new(self, X)
            similarities, indices = np.empty((new.shape[0], k)), np.empty((new.shape[0], k), int)
            for span, rows in extended_blocks(self, new):
                indices[span] = largest_in_rows(rows, k)
                similarities[span] = np.take_along_axis(rows, indices[span], axis=1)
            return np.minimum(similarities, 1.0), indices
        if isinstance(self.similarity_, SmoothedSimilarity):
            return self.similarity_.nearest(k)
        return nearest_in(self._ranked.copy(), k, self.n_jobs)

    def transform(self, X: Any) -> np.ndarray:
        """Similarities of new points to the fitted ones, through the Nystrom extension.

        Parameters
        ----------
        X : array (m, n_features)
            New points; their distances (m, n) with ``metric="precomputed"``, their similarities (m, n)
            with ``metric="similarity"``, dense or sparse: a distance of 0 must be stored, other pairs that
            are not have no similarity. Similarities that are not symmetric cannot be extended.

        Returns
        -------
        ndarray (m, n)
            Fitted points keep their rows (nearly so, if similarities are sparse). After no steps, t = 0,
            they are the kernel as it is; after some, a point far from everything still goes to the nearest.
        """
        check_is_fitted(self, "similarity_")
        new = check_new(self, X)
        m, n = new.shape[0], self.n_items_
        require_memory(
            8.0 * m * n, f"The similarities of {m:,} points to {n:,}", "Ask for kneighbors."
        )
        similarities = np.empty((m, n), np.float32 if is_single(X) else np.float64)
        for span, rows in extended_blocks(self, new):
            similarities[span] = np.minimum(rows, 1.0)
        return similarities

    @property
    def _n_features_out(self) -> int:
        """Columns of what `transform` gives, by which scikit-learn names them: one a fitted item."""
        return self.n_items_

    def _smooth(self, weights: Any, symmetric: bool) -> SelfSmoothing:
        self.affinity_ = as_dense_or_sparse(weights, self.method)
        self._walk = make_walk(self.affinity_, symmetric, self.n_jobs)
        self._choose(self._walk)
        self.n_items_ = weights.shape[0]
        if isinstance(self._walk, SparseWalk):
            self._check_steps(self.t_)
            self.__dict__.pop("_ranked", None)
            self.similarity_ = self._at(self.t_)
        else:
            self._set_ranked(divide_by_diagonal(self._walk.smoothed(self.t_)))
        return self

    def _choose(self, walk: Any) -> None:
        if self.t != "auto":
            self.t_, self.t_curve_ = check_steps(self.t), None
            return
        seed = seed_from(self.random_state)
        self.t_, self.t_curve_ = walk_steps(walk, seed)

    def _set_ranked(self, ranked: np.ndarray) -> None:
        self._ranked, self.n_items_ = ranked, len(ranked)
        # One array serves both where clamping changes nothing.
        self.similarity_ = np.minimum(ranked, 1.0) if ranked.max() > 1.0 else ranked

    def _at(self, t: float) -> Any:
        if isinstance(self._walk, SparseWalk):
            return SmoothedSimilarity(self._walk, int(t), self.verbose)
        return np.minimum(divide_by_diagonal(self._walk.smoothed(t)), 1.0)

    def _sweep(self, steps: list[float]) -> Iterator[tuple[float, Any]]:
        if not isinstance(self._walk, DenseWalk):
            yield from ((t, self._at(t)) for t in steps)
            return
        self._walk.prepare(steps)
        swept, self._walk.swept = self._walk.swept, None
        for t in steps:
            # Only the sweep goes by its decomposition, not what is asked for between its steps.
            self._walk.swept = swept
            try:
                similarity = self._at(t)
            finally:
                self._walk.swept = None
            yield t, similarity

    def _sweep_neighbors(self, steps: list[float], k: int) -> Iterator[tuple[float, Any]]:
        if isinstance(self._walk, DenseWalk):
            try:
                yield from sweep_nearest(self._walk, steps, k, self.n_jobs)
            finally:
                self._walk.swept = None
            return
        for t in steps:
            if isinstance(self._walk, SparseWalk):
                yield t, self._at(t).nearest(k)
            else:
                yield t, nearest_in(self._walk.smoothed(t), k, self.n_jobs)

    def _check_neighbors(self, n_neighbors: Any, most: int) -> int:
        remedy = f"There are {self.n_items_} items."
        return check_count(n_neighbors, "n_neighbors", high=most, remedy=remedy)

    def _check_steps(self, t: Any, name: str = "t") -> float:
        t = check_steps(t, name)
        if isinstance(self._walk, SparseWalk) and t != int(t):
            raise InvalidValueError(
                f"{name}={t}, but steps along a sparse similarity are whole; round it, or give "
                "method='dense'."
            )
        return t
