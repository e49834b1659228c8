"""Shared by all rankings: parsing of queries, and the methods `rank` and `scores`."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._base.chunked_fit import pair_by_chunks
from vicinal._core.array_checks import read_array
from vicinal._core.chunked import is_chunked
from vicinal._core.fitted import check_is_fitted
from vicinal._core.memory import require_memory
from vicinal._core.options import checked
from vicinal._core.scalar_checks import MAX_INT64, check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.operators.laplacians import normalize_by_mass
from vicinal.rank._scores import Resolvent, all_scores, best_scores

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs


class RankingMixin:
    """`rank` and `scores` of estimators that have fitted a ``_resolvent``.

    Subclasses have ``n_jobs`` and ``verbose``, and compute the start vectors of new points by
    ``_start_vectors_of_new``.
    """

    n_jobs: NJobs
    verbose: int
    _resolvent: Resolvent
    # Function from indicators of labelled rows to rows that are ranked before all others, or None.
    _rank_first: Callable[[sparse.csr_array], sparse.csr_array] | None = None

    @checked
    def rank(
        self, queries: MatrixLike, k: int, *, include_queries: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best-ranked training points of each query.

        Parameters
        ----------
        queries : int, array of int, list of lists of int, or table of new points
            Row numbers of training points, each a query; or a list of lists of row numbers, each list
            the labelled points of one query; or new points, an array (m, n_features) of any number
            type. A list of lists of integers is always interpreted as row numbers. A dask array of new
            points is ranked lazily, chunk by chunk.
        k : int
            Number of results per query.
        include_queries : bool, default=False
            Whether the results of a query may contain its own labelled points, as some evaluation measures
            require. They are not always first: with alpha close to 1, a hub near the query may score higher.

        Returns
        -------
        indices : ndarray of int of shape (m, k)
            Rows of training points by descending score; ties by row number.
        scores : ndarray of shape (m, k)
            Nonnegative. With alpha above 0.5, scores below 1e-11 of a query's largest score are set to 0.
        """
        if is_chunked(queries):
            check_is_fitted(self)
            k = check_count(k, "k", high=self._resolvent.n_nodes)
            return pair_by_chunks(
                queries, lambda block: self.rank(block, k), k, (np.int64, np.float64)
            )
        sets, n = self._read(queries)
        excluded = None
        if sets is None or include_queries:
            k = check_count(k, "k", high=n, remedy=f"There are {n} training points.")
        else:
            excluded = sets
            n_labelled = int(np.diff(sets.indptr).max())
            k = check_count(
                k,
                "k",
                high=n - n_labelled,
                remedy=f"There are {n} training points, and the {n_labelled} of a query are excluded "
                "(include_queries=True keeps them).",
            )
        m = _n_points(queries) if sets is None else sets.shape[0]
        # Checked before the neighbours of new points are searched.
        require_memory(16.0 * m * k, f"The results of {m:,} queries", "Use a smaller k.")
        starts = self._start_vectors_of_new(queries) if sets is None else sets
        rank_first = None if sets is None else self._rank_first
        return best_scores(
            self._resolvent, starts, k, excluded, self.n_jobs, self._progress(), rank_first
        )

    def scores(self, queries: MatrixLike) -> np.ndarray:
        """Compute the scores of all training points for each query.

        Parameters
        ----------
        queries : int, array of int, list of lists of int, or table of new points
            As for `rank`.

        Returns
        -------
        ndarray of shape (m, n)
            Scores of m queries, nonnegative.
        """
        sets, n = self._read(queries)
        m = _n_points(queries) if sets is None else sets.shape[0]
        require_memory(
            8.0 * m * n,
            f"Scores of {n:,} points for {m:,} queries",
            "Pass fewer queries at once, or use rank, which keeps only the best scores.",
        )
        starts = self._start_vectors_of_new(queries) if sets is None else sets
        return all_scores(self._resolvent, starts, self.n_jobs, self._progress())

    def _read(self, queries: Any) -> tuple[sparse.csr_array | None, int]:
        """Indicators of query rows, None if queries are new points, and the number of training points."""
        check_is_fitted(self)
        n = self._resolvent.n_nodes
        return parse_queries(queries, n), n

    def _start_vectors_of_new(self, X: Any) -> sparse.csr_array:
        raise NotImplementedError

    def _progress(self) -> str | None:
        return "ranking" if self.verbose > 0 else None


def _n_points(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def check_alpha(alpha: Any) -> float:
    """`alpha` in [0, 1)."""
    remedy = "alpha must be less than 1, where scores no longer depend on the query."
    alpha = check_real(alpha, "alpha", low=0.0, high=1.0, remedy=remedy)
    if alpha == 1:
        raise InvalidValueError(f"alpha=1.0, but {remedy}")
    return alpha


def scaled_starts(weights: sparse.csr_array, masses: np.ndarray) -> sparse.csr_array:
    """Start vectors of new points, from their steps to training points of given masses.

    Add a new point as a node and leave the training points unchanged. Up to a factor, its column of Theta
    is its steps p_j over the root of the mass m_j (stationary probability or degree), and the scores of the
    enlarged system on the training points are those of this column as v. This is exact if no walk leads to
    the new point, and if walks to it balance those from it; otherwise its effect on the others is of the
    order of one point's mass. Rows sum to 1, so a new point at the position of a training point has its
    scores.
    """
    # Nodes of mass 0 have no edges, so v spreads to no other node from there.
    return normalize_by_mass(weights, np.sqrt(masses))


def absorbing_starts(
    links: sparse.csr_array, coincides: np.ndarray, degrees: np.ndarray
) -> sparse.csr_array:
    """Probability that the next step of each training point leads to the new point that ``links`` joins.

    A new point that ``coincides`` marks is a training point: only that point absorbs walks.
    """
    # Lists with fewer neighbours than others are padded with repeated entries of weight 0.
    links.sum_duplicates()
    counts = np.diff(links.indptr)
    affinity = links.data / np.repeat(links.max(axis=1).toarray().ravel(), counts)
    absorbed = np.nan_to_num(affinity / (affinity + degrees[links.indices]), nan=0.0)
    absorbed = np.where(np.repeat(coincides, counts), links.data > 0, absorbed)
    return sparse.csr_array((absorbed, links.indices, links.indptr), shape=links.shape)


def parse_queries(queries: Any, n: int) -> sparse.csr_array | None:
    """Indicators of each query's rows, of shape (m, n); None if the queries are a table of points."""
    sets = _row_sets(queries)
    if sets is None:
        return None
    rows = np.concatenate(sets)
    owners = np.repeat(np.arange(len(sets)), [len(part) for part in sets])
    unknown = (rows < 0) | (rows >= n)
    if unknown.any():
        raise InvalidValueError(
            f"queries contain row {int(rows[np.argmax(unknown)])}, but the training points are rows 0 to "
            f"{n - 1}; pass new points as a table of their features."
        )
    table = sparse.csr_array((np.ones(len(rows)), (owners, rows)), shape=(len(sets), n))
    # A row that occurs twice in a query is labelled once.
    table.data[:] = 1.0
    return table


def _row_sets(queries: Any) -> list[np.ndarray] | None:
    if isinstance(queries, numbers.Integral) and not isinstance(queries, bool):
        return [np.array([check_count(queries, "queries", low=-MAX_INT64)])]
    if not isinstance(queries, (list, tuple)):
        if len(np.shape(queries)) == 2:
            return None
        queries = read_array(queries, "queries")
        if queries.ndim == 1 and queries.dtype.kind in "iu" and len(queries):
            return list(queries.astype(np.int64)[:, None])
        if queries.dtype != object or queries.ndim != 1:
            raise _not_queries(f"an array of shape {queries.shape} and dtype {queries.dtype}")
        queries = list(queries)
    if any(isinstance(part, str) for part in queries):
        raise _not_queries(f"a list that starts with {queries[0]!r}")
    parts = [np.atleast_1d(read_array(part, "queries")) for part in queries]
    if not parts or not all(len(part) for part in parts):
        raise _not_queries("empty" if not parts else "a list with an empty query")
    if all(part.ndim == 1 and part.dtype.kind in "iu" for part in parts):
        return [part.astype(np.int64) for part in parts]
    if any(np.ndim(part) == 0 for part in queries):
        raise _not_queries(f"a list that starts with {queries[0]!r}")
    return None


def _not_queries(what: str) -> Exception:
    return InvalidValueError(
        f"queries are {what}, but row numbers (integers), lists of row numbers, or a table of new "
        "points (m, n_features) are needed; X.reshape(1, -1) makes a table of one point."
    )
