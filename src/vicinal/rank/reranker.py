"""`Reranker`: search results re-ranked by the neighbourhood structure of the gallery."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from vicinal._core.array_checks import check_points, read_array, real_array, validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.memory import require_memory
from vicinal._core.options import check_options, checked
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors._exact import prepare_for_few
from vicinal.neighbors._precomputed import check_row_numbers
from vicinal.neighbors.search import NeighborSearch
from vicinal.rank._k_reciprocal import ReciprocalEncoding
from vicinal.rank._list_ranking import (
    distance_matrix,
    diversified,
    nearest_along,
    rank_by_lists,
    similarities_between,
)
from vicinal.rank._queries import parse_queries
from vicinal.similarity.smoothing._diffusion_lists import diffusion_lists
from vicinal.similarity.smoothing.kernel import kernel_and_scales

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, MetricLike, NJobs
if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NeighborArrays

METHODS = ("smoothed", "k_reciprocal", "query_expansion", "distance")
# Items averaged with the query, by the reference of query expansion.
N_AVERAGED = 10
# Width of the kernel, as in `SelfSmoothing`.
BANDWIDTH = 0.1
# Candidates per result among which diverse results are chosen.
CANDIDATES_PER_RESULT = 5
# What led to a result, in the type of an array.
SOURCE = "<U15"
# Three powers with twice as many entries while the lists are computed, and the lists.
BYTES_PER_ENTRY = 60.0


class RankedItems(tuple[np.ndarray, np.ndarray]):
    """Items and scores, a pair; ``reached`` says what led to each item."""

    reached: np.ndarray

    def __new__(cls, indices: np.ndarray, scores: np.ndarray, reached: np.ndarray) -> RankedItems:
        pair = super().__new__(cls, (indices, scores))
        pair.reached = reached
        return pair

    def __getnewargs__(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return *self, self.reached


class Reranker(FitCallbacks, BaseEstimator):
    """Re-rank search results by how the items of the gallery are connected with each other.

    The default compares items by their random walks along the similarities of the gallery, as
    self-smoothing does: W_t[i, j] / sqrt(W_t[i, i] W_t[j, j]), the cosine of diffusion coordinates. Hubs
    have no advantage by this, and the number of steps t is chosen from the gallery. A query that is not in
    the gallery is inserted by its similarities to its neighbours. The nearest item keeps the first place.

    The gallery is given by points, or by the neighbour lists that any search index returns.

    Parameters
    ----------
    method : {"smoothed", "k_reciprocal", "query_expansion", "distance"}, default="smoothed"
        Self-smoothed similarity; Jaccard distances of k-reciprocal neighbours; the mean of the query and its
        neighbours as a new query, which needs points; or no re-ranking.
    n_neighbors : int, default=30
        Length of the neighbour lists, at most n - 1. Given lists may be shorter or longer.
    list_size : int, default=100
        Number of items that are kept for each item, which are compared by the structure of the gallery;
        further results follow by distance. Memory grows with it.
    keep_nearest : bool, default=True
        With "smoothed", whether the nearest item by distance is always the first result. The first result
        is then never worse than without re-ranking.
    metric : str or callable, default="euclidean"
        Metric of points, as for `NeighborSearch`.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Attributes
    ----------
    t_ : int
        With "smoothed", number of steps; t + 1 is a power of 2, and 0 means that nothing is smoothed.
    t_curve_ : ndarray of shape (m, 2)
        With "smoothed", numbers of steps, and at each the rank correlation between return probability and
        degree. ``t_`` is where it is nearest to 0, unless walks leave the lists before.
    rate_factor_ : float
        With "smoothed", the typical factor by which walks leave an item faster or slower than the average
        one. If it is above 8, no number of steps suits all items: ``t_`` is 0, and items rank by distance.
    n_items_ : int
        Number of items of the gallery.

    References
    ----------
    [2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011.
    Zhong, Zheng, Cao and Li, "Re-ranking person re-identification with k-reciprocal encoding", CVPR 2017.
    Chum, Philbin, Sivic, Isard and Zisserman, "Total recall: automatic query expansion with a generative
    feature model for object retrieval", ICCV 2007.
    Carbonell and Goldstein, "The use of MMR, diversity-based reranking for reordering documents and
    producing summaries", SIGIR 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import Reranker
    >>> X, y = load_digits(return_X_y=True)
    >>> gallery, queries = X[:1500], X[1500:]
    >>> def precision(method):
    ...     indices, scores = Reranker(method).fit(gallery).rank(queries, 10)
    ...     return float((y[indices] == y[1500:, None]).mean())
    >>> round(precision("smoothed"), 2), round(precision("distance"), 2)
    (0.93, 0.92)
    """

    def __init__(
        self,
        method: Literal["smoothed", "k_reciprocal", "query_expansion", "distance"] = "smoothed",
        *,
        n_neighbors: int = 30,
        list_size: int = 100,
        keep_nearest: bool = True,
        metric: MetricLike = "euclidean",
        n_jobs: NJobs = -1,
    ) -> None:
        self.method = method
        self.n_neighbors = n_neighbors
        self.list_size = list_size
        self.keep_nearest = keep_nearest
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike | tuple[ArrayLike, ArrayLike], y: object = None) -> Reranker:
        """Prepare the gallery.

        Parameters
        ----------
        X : array of shape (n, n_features), or a pair (indices, distances)
            Points of the gallery; or the nearest other items of each item, nearest first, and their
            distances, two arrays of shape (n, k), as search indexes return them.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_options(self)
        check_choice(self.method, "method", METHODS)
        n_neighbors = check_count(self.n_neighbors, "n_neighbors")
        check_count(self.list_size, "list_size")
        self._points = self._listed = None
        if isinstance(X, tuple):
            if self.method == "query_expansion":
                raise InvalidValueError(
                    "method='query_expansion' averages points, but X holds neighbour lists; pass points, or "
                    "use another method."
                )
            self._search = NeighborSearch(X)
            self._lists = without_self(np.asarray(X[0]), np.asarray(X[1], np.float64))
        else:
            self._points = validate_input(
                self, X, dtype=(np.float64, np.float32), ensure_min_samples=2
            )
            self._search = NeighborSearch(self._points, metric=self.metric, n_jobs=self.n_jobs)
            indices, distances = self._search.nearest(min(n_neighbors, len(self._points) - 1))
            self._lists = indices[:, 1:], distances[:, 1:]
            prepare_for_few(self._search, self._lists[0].shape[1])
        self.n_items_ = len(self._lists[0])
        if self.method == "smoothed":
            self._smooth()
        elif self.method == "k_reciprocal":
            self._reciprocal = ReciprocalEncoding(*self._lists)
        return self

    @checked
    def rank(
        self,
        queries: MatrixLike | tuple[ArrayLike, ArrayLike],
        k: int = 10,
        *,
        diversity: float = 0.0,
    ) -> RankedItems:
        """Find the k best items of the gallery for each query.

        Parameters
        ----------
        queries : int, array of int, table of new points, or a pair (indices, distances)
            Items of the gallery, which are not among their own results; new points; or the results of a
            search index for each query, as two arrays of shape (m, n_found).
        k : int, default=10
            Number of results, up to the whole gallery. Items that the method does not lead to follow the
            others by distance from the query; where it is unknown, because the gallery or the query was
            given by lists, by the length of a path along the lists, and last by row number.
        diversity : float in [0, 1), default=0.0
            With "smoothed", weight of the similarity to better results against relevance; 0 ranks by
            relevance alone. With 0.5, an item that equals a better result is never worth more than a new
            one.

        Returns
        -------
        indices : ndarray of int of shape (m, k)
            Items by descending score.
        scores : ndarray of shape (m, k)
            Scores: smoothed similarities in [0, 1], or negative distances. An item that keeps the first
            place has at least the score of the second. Items that follow by distance or path have a
            smoothed similarity of 0, or a Jaccard distance of 1; those that follow by row number have 0
            or -inf. The pair also has an attribute ``reached``, an array of the same shape that says what
            led to each item: the method, "distance", "path" or "row number".
        """
        check_is_fitted(self, "n_items_")
        diversity = check_real(diversity, "diversity", low=0.0, high=1.0)
        if diversity == 1.0 or (diversity > 0 and self.method != "smoothed"):
            raise InvalidValueError(
                f"diversity={diversity:g} with method={self.method!r}, but it must be below 1, and 0 unless "
                "method='smoothed'."
            )
        items, points, near, distances = self._read(queries)
        others = self.n_items_ - (items is not None)
        k = check_count(
            k, "k", high=others, remedy=f"The gallery has {others:,} items for a query."
        )
        m = len(near)
        require_memory(64.0 * m * k, f"The results of {m:,} queries", "Use a smaller k.")
        size = k if diversity == 0 else min(CANDIDATES_PER_RESULT * k, others)
        read = items, points, near, distances
        if self.method == "smoothed" and self.t_ > 0:
            found = self._rank_smoothed(*read, size)
        else:
            found = self._rank_each(*read, size)
        return found if diversity == 0 else self._diversified(found, k, diversity)

    def _rank_smoothed(
        self,
        items: np.ndarray | None,
        points: np.ndarray | None,
        near: np.ndarray,
        distances: np.ndarray,
        k: int,
    ) -> RankedItems:
        if items is None:
            starts, own = near, np.full(len(near), -1)
            weights = self._weights(near, distances)
        else:
            starts, own, weights = items[:, None], items, np.ones((len(items), 1))
        rank = partial(
            rank_by_lists,
            self._similar,
            size=k,
            keep_nearest=bool(self.keep_nearest),
            n_jobs=self.n_jobs,
        )
        found = rank(starts, weights, near, own)
        reached = np.where(found.scores > 0, "smoothed", "distance")
        if self.keep_nearest:
            reached[:, :1] = "distance"
        few = np.flatnonzero(found.counts < k)
        if len(few):
            # Walks from these queries reach few items; the others follow by distance, or along the lists.
            further = self._further(
                near[few], distances[few], own[few], None if points is None else points[few], k
            )
            longer = np.array([ids for ids, _, _ in further])
            for target, values in zip(
                found, rank(starts[few], weights[few], longer, own[few]), strict=True
            ):
                target[few] = values
            for q, (ids, _, by) in zip(few.tolist(), further, strict=True):
                source = dict(zip(ids.tolist(), by.tolist(), strict=True))
                reached[q] = [
                    "smoothed" if score > 0 else source[i]
                    for i, score in zip(found.indices[q].tolist(), found.scores[q], strict=True)
                ]
                if self.keep_nearest:
                    reached[q, 0] = "distance"
        return RankedItems(found.indices, found.scores, reached)

    def _rank_each(
        self,
        items: np.ndarray | None,
        points: np.ndarray | None,
        near: np.ndarray,
        distances: np.ndarray,
        k: int,
    ) -> RankedItems:
        m = len(near)
        indices, scores = np.empty((m, k), np.int64), np.empty((m, k))
        reached = np.empty((m, k), SOURCE)
        for q in range(m):
            item = -1 if items is None else int(items[q])
            point = None if points is None else points[q : q + 1]
            ids, values, by = self._candidates(near[q], distances[q], item, point, k)
            # Later candidates follow equal ones in their own order.
            order = np.lexsort([np.arange(len(ids)), -values])[:k]
            indices[q], scores[q], reached[q] = ids[order], values[order], by[order]
        return RankedItems(indices, scores, reached)

    def _diversified(self, found: RankedItems, k: int, diversity: float) -> RankedItems:
        indices, scores = found
        m, unit = len(indices), float(self._lists[1].mean()) or 1.0
        chosen = np.empty((m, k), np.int64)
        for q in range(m):
            # Distances become similarities on the scale of the gallery.
            values = scores[q] if self.t_ > 0 else np.exp(scores[q] / unit)
            relevance = values / values[0] if values[0] > 0 else np.ones(len(values))
            similarity = similarities_between(self._similar, indices[q])
            chosen[q] = diversified(relevance, similarity, k, diversity)
        return RankedItems(
            *(np.take_along_axis(part, chosen, axis=1) for part in (indices, scores, found.reached))
        )

    def _candidates(
        self,
        near: np.ndarray,
        distances: np.ndarray,
        item: int,
        point: np.ndarray | None,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """At least k candidates of one query without its own item (-1: none), scores, what led to them."""
        if self.method == "query_expansion":
            assert self._points is not None  # checked by fit
            averaged = self._points[near[:N_AVERAGED]]
            if point is not None:
                averaged = np.vstack([point, averaged])
            found, lengths = self._nearest_to(averaged.mean(axis=0)[None], max(self.list_size, k))
            ids, final = found[0], lengths[0]
        elif self.method == "k_reciprocal":
            ids, final = self._reciprocal.rank(near, distances, None if item < 0 else item)
        else:
            ids, final = near, distances
        others = ids != item
        ids, final = ids[others], final[others]
        order = np.lexsort([ids, final])
        ids, final = ids[order], final[order]
        by_method = "distance" if self.method == "smoothed" else self.method
        by = np.full(len(ids), by_method, SOURCE)
        if len(ids) >= k:
            return ids, -final, by
        (further, lengths, how), *_ = self._further(
            near[None], distances[None], np.array([item]), point, k
        )
        new = ~np.isin(further, ids)
        beyond = lengths[new]
        if self.method == "k_reciprocal":
            beyond = self._reciprocal.distances_of_others(beyond)
        if point is None:
            # A path may be shorter than the distance to the last item of a list.
            beyond = np.maximum(beyond, final.max(initial=0.0))
        return np.append(ids, further[new]), -np.append(final, beyond), np.append(by, how[new])

    def _further(
        self,
        near: np.ndarray,
        distances: np.ndarray,
        own: np.ndarray,
        points: np.ndarray | None,
        k: int,
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each query the k nearest other items, their distances, and how they were reached.

        Where points are unknown, they are the nearest along the lists, then those of the lowest row numbers.
        """
        if points is not None:
            found, lengths = self._nearest_to(points, k)
            by = np.full(k, "distance", SOURCE)
            kept = (ids != item for ids, item in zip(found, own, strict=True))
            return [
                (ids[others][:k], values[others][:k], by)
                for ids, values, others in zip(found, lengths, kept, strict=True)
            ]
        if self._listed is None:
            self._listed = distance_matrix(*self._lists)
        further = []
        for listed, values, item in zip(near, distances, own.tolist(), strict=True):
            ids, lengths = nearest_along(self._listed, listed, values, item, k)
            by = np.where(np.isfinite(lengths), "path", "row number").astype(SOURCE)
            by[np.isin(ids, listed)] = "distance"
            further.append((ids, lengths, by))
        return further

    def _nearest_to(self, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest items of points, and one more, because a point may be an item itself."""
        return self._search.nearest(min(k + 1, self.n_items_), points)

    def _smooth(self) -> None:
        n = self.n_items_
        k = min(self.list_size, n - 1)
        require_memory(
            BYTES_PER_ENTRY * n * k,
            f"Lists of {k} items for each of {n:,} items",
            "Use a smaller list_size.",
        )
        weights, self._scales = kernel_and_scales(
            distance_matrix(*self._lists), BANDWIDTH, self._lists[0].shape[1], "pair"
        )
        self._similar = diffusion_lists(weights, k, self.n_jobs)
        self.rate_factor_ = self._similar.rate_factor
        self.t_, curve = self._similar.n_steps - 1, self._similar.curve
        self.t_curve_ = curve - [1, 0]

    def _weights(self, near: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Weights of the coordinates of near items, whose sum are those of new queries."""
        scale = distances.mean(axis=1, keepdims=True) / 2 + self._scales[near] / 2
        # Items at distance 0 of a query without scale are as similar as can be.
        exponent = np.square(np.divide(distances, scale, out=np.zeros(near.shape), where=scale > 0))
        first_step = np.exp((exponent.min(axis=1, keepdims=True) - exponent) / BANDWIDTH)
        return first_step / first_step.sum(axis=1, keepdims=True) * self._similar.norms[near]

    def _read(
        self, queries: Any
    ) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray, np.ndarray]:
        """Gallery items of the queries, if they are, their points, if known, and their neighbours."""
        if isinstance(queries, tuple) and len(queries) == 2 and is_table(queries[0]):
            return None, None, *check_results(*queries, self.n_items_)
        sets = parse_queries(queries, self.n_items_)
        if sets is not None:
            if (np.diff(sets.indptr) != 1).any():
                raise InvalidValueError(
                    "queries contain a list of several rows, but each query must be one row; "
                    "pass an array of row numbers."
                )
            items = sets.indices.astype(np.int64)
            points = None if self._points is None else self._points[items]
            return items, points, self._lists[0][items], self._lists[1][items]
        if self._points is None:
            raise InvalidValueError(
                "queries are points, but the gallery was given by neighbour lists; pass the results of "
                "the index, a pair (indices, distances), or row numbers."
            )
        new = validate_input(self, queries, reset=False, dtype=(np.float64, np.float32))
        size = min(max(self._lists[0].shape[1], 1), self.n_items_)
        new = check_points(new, name="queries", dtype=None)
        return None, new, *self._search.nearest(size, new)


def without_self(indices: np.ndarray, distances: np.ndarray) -> NeighborArrays:
    """Lists by distance, without each item itself; where a duplicate displaced it, without the last
    entry."""
    n, k = indices.shape
    indices, distances = _by_distance(indices, distances)
    own = indices == np.arange(n)[:, None]
    if not own.any() or k == 1:
        return indices, distances
    is_farthest = own[:, -1] & (distances[:, 0] < distances[:, -1])
    if k > 2 and is_farthest.sum() > own[:, 0].sum():
        raise InvalidValueError(
            "X lists most items as the farthest of their own neighbours, so its second array seems to "
            "contain similarities; convert them to distances, for instance 1 - similarity for cosines."
        )
    dropped = np.where(own.any(axis=1), own.argmax(axis=1), k - 1)
    kept = np.arange(k) != dropped[:, None]
    return indices[kept].reshape(n, k - 1), distances[kept].reshape(n, k - 1)


def is_table(values: Any) -> bool:
    """Whether values have rows, possibly of different lengths."""
    try:
        return np.ndim(values) == 2
    except ValueError:
        return True


def check_results(
    indices: ArrayLike, distances: ArrayLike, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Results of a search index: ids within the gallery, each once per query, with distances."""
    ids = read_array(indices, "queries[0]")
    lengths = real_array(distances, "queries[1]").astype(np.float64)
    check_row_numbers(ids, "queries")
    if ids.shape != lengths.shape or ids.dtype.kind not in "iu" or ids.size == 0:
        raise InvalidValueError(
            f"queries are a pair of shapes {ids.shape} and {lengths.shape}, but integer ids and distances of "
            "the same shape (m, n_found) are needed."
        )
    if ids.min() < 0 or ids.max() >= n:
        raise InvalidValueError(
            f"queries contain ids from {ids.min()} to {ids.max()}, but the gallery has items 0 to {n - 1}; "
            "drop results that the index did not find."
        )
    if not ((lengths >= 0) & np.isfinite(lengths)).all():
        raise InvalidValueError(
            "queries contain distances that are negative, NaN or infinite; convert similarities to "
            "distances, and drop results that the index did not find."
        )
    ordered = np.sort(ids, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if repeated.any():
        raise InvalidValueError(
            f"queries[{int(repeated.argmax())}] contains an id more than once; drop repeated results."
        )
    return _by_distance(ids, lengths)


def _by_distance(ids: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists sorted by distance; equal distances stay in their order."""
    if (distances[:, 1:] >= distances[:, :-1]).all():
        return ids, distances
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(ids, order, 1), np.take_along_axis(distances, order, 1)
