"""`near_duplicates`: all pairs of rows within a distance that is read off the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points
from vicinal._core.matrix_checks import check_distances
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.duplicates._search import Lists, Pairs
from vicinal.duplicates._threshold import LIST_LENGTH, Threshold, automatic_threshold
from vicinal.duplicates.result import Linkage, NearDuplicates
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.duplicates import Duplicates, find_duplicates
from vicinal.neighbors._approximate import MAX_DOUBLE_BYTES
from vicinal.neighbors._exact import release_copies
from vicinal.neighbors._zero_vectors import largest_magnitudes
from vicinal.neighbors.metric import Metric, as_metric
from vicinal.neighbors.search import METHODS, NeighborSearch, nearest_others

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, MetricLike, NJobs, RandomStateLike, SearchMethod

# With method="auto", larger tables are searched approximately.
EXACT_MAX_ROWS = 100_000
# Neighbours and distances of a row, and what the automatic threshold computes from them.
BYTES_PER_LIST = 1000.0
# Smaller cosine distances are rounding errors.
MIN_COSINE_DISTANCE = 4 * np.finfo(np.float64).eps


@entry
def near_duplicates(
    X: MatrixLike,
    *,
    metric: MetricLike = "euclidean",
    threshold: float | Literal["auto"] = "auto",
    against: MatrixLike | None = None,
    linkage: Linkage = "connected",
    method: SearchMethod = "auto",
    recall: float = 0.99,
    max_pairs: int | None = None,
    random_state: RandomStateLike = 0,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> NearDuplicates:
    """Find all pairs of rows that are almost equal, and the groups that they form.

    The automatic threshold compares each pair with the pairs that are expected by chance, given the density
    and dimension around both rows. It maximises the estimated F1 score of the pairs. Without a significant
    excess of close pairs, only equal rows are duplicates, and the threshold is 0.

    Parameters
    ----------
    X : array or sparse matrix (n, n_features), or distance matrix (n, n)
        Rows to compare, or their distances with ``metric="precomputed"``. Sparse rows need a Euclidean or
        cosine metric.
    metric : str or callable, default="euclidean"
        Metric, as for `NeighborSearch`. Use "cosine" for embeddings of texts.
    threshold : "auto" or float, default="auto"
        Largest distance of a near-duplicate. 0 finds equal rows only.
    against : array or sparse matrix (m, n_features), optional
        A second table. Only pairs between X and this table count, for instance between training and test
        data.
    linkage : {"connected", "complete"}, default="connected"
        "connected" groups rows that a chain of pairs connects. In groups by "complete" linkage every pair of
        rows is a near-duplicate; it is not available with ``against``.
    method : {"auto", "exact", "approximate"}, default="auto"
        How to search. "auto" is exact up to 100,000 distinct rows, and approximate above if
        the metric is Euclidean or cosine and the rows are dense.
    recall : float, default=0.99
        Fraction of the true neighbours that an approximate search must find.
    max_pairs : int, optional
        A given threshold that accepts more pairs of distinct rows than this is rejected before they are
        listed. The default is 100 per row, or half of all pairs if that is less, but at least 1,000.
    random_state : int, Generator or None, default=0
        Seed of the approximate search.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long searches show a progress bar.

    Returns
    -------
    NearDuplicates
        Pairs, groups, representatives, the threshold and its curve.

    Notes
    -----
    Groups of more than 20 almost equal rows look like dense clusters to the automatic threshold; pass a
    threshold to find them.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import near_duplicates
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 16))
    >>> X[200:220] = X[:20] + 0.01 * rng.normal(size=(20, 16))
    >>> result = near_duplicates(X)
    >>> len(result.groups), result.groups[0]
    (20, array([  0, 200]))
    >>> X[result.keep].shape
    (280, 16)
    """
    measure = as_metric(metric)
    check_choice(linkage, "linkage", ("connected", "complete"))
    check_choice(method, "method", METHODS)
    if max_pairs is not None:
        max_pairs = check_count(max_pairs, "max_pairs")
    if isinstance(threshold, str):
        check_choice(threshold, "threshold", ("auto",))
    else:
        threshold = check_real(threshold, "threshold", low=0.0)
    points, n_rows, n_against = _validate(X, against, measure, linkage)
    copies = _find_copies(points, measure)
    rows = copies.representative
    lists = _nearest(points, rows, measure, method, recall, random_state)
    automatic = Threshold(0.0, np.empty((0, 4)))
    if lists is not None:
        automatic = _automatic(lists, measure)
    value = automatic.value if isinstance(threshold, str) else threshold
    if lists is None:
        found = Pairs(np.empty((0, 2), np.int64), np.empty(0), np.inf, 1.0)
    else:
        if not isinstance(threshold, str):
            lists.require_few_pairs(threshold, max_pairs)
        found = lists.pairs_within(value)
    return NearDuplicates(
        found,
        copies,
        threshold=value,
        curve=automatic.curve,
        n_rows=n_rows,
        n_against=n_against,
        linkage=linkage,
    )


def _validate(X: Any, against: Any, metric: Metric, linkage: str) -> tuple[Any, int, int | None]:
    """Rows of both tables, and the number of rows of each."""
    if metric.is_precomputed:
        if against is not None:
            raise InvalidValueError(
                "metric='precomputed' with against: pass points, or the distances between all rows of both "
                "tables as X."
            )
        matrix = check_distances(X)
        if sparse.issparse(matrix):
            raise InvalidTypeError(
                "X is a sparse matrix of distances, but near_duplicates needs all of them; pass X.toarray()."
            )
        return matrix, len(matrix), None
    points = _check_rows(X, "X", metric)
    if metric.is_cosine:
        # Before equal rows are dropped and tables are joined, which changes row numbers.
        largest_magnitudes(points, "X")
    if against is None:
        return points, points.shape[0], None
    if linkage == "complete":
        raise InvalidValueError(
            "linkage='complete' with against: rows of one table are not compared with each other, so groups "
            "cannot be complete; use linkage='connected'."
        )
    others = _check_rows(against, "against", metric)
    if metric.is_cosine:
        largest_magnitudes(others, "against")
    if points.shape[1] != others.shape[1]:
        raise InvalidValueError(
            f"X has {points.shape[1]} feature(s) and against has {others.shape[1]}; both need the same."
        )
    if sparse.issparse(points) or sparse.issparse(others):
        both = sparse.csr_array(sparse.vstack([sparse.csr_array(points), sparse.csr_array(others)]))
    else:
        both = np.concatenate([points, others])
    return both, points.shape[0], others.shape[0]


def _check_rows(X: Any, name: str, metric: Metric) -> Any:
    if not sparse.issparse(X):
        return check_points(X, name=name, dtype=None)
    from vicinal.neighbors._sparse_points import check_sparse_points

    if not metric.accepts_sparse:
        raise InvalidTypeError(
            f"{name} is a sparse matrix, but metric={metric.name!r} needs dense points: pass "
            f"{name}.toarray(), or use metric='euclidean' or 'cosine'."
        )
    return check_sparse_points(X, name)


def _find_copies(points: Any, metric: Metric) -> Duplicates:
    if metric.is_precomputed:
        return Duplicates(np.arange(len(points)), np.arange(len(points)))
    return find_duplicates(points)


def _nearest(
    points: Any,
    rows: np.ndarray,
    metric: Metric,
    method: str,
    recall: float,
    random_state: RandomStateLike,
) -> Lists | None:
    """Lists of the nearest distinct rows, of which ``rows`` are the first; None if there is only one."""
    n = len(rows)
    if n > EXACT_MAX_ROWS and method == "auto" and not sparse.issparse(points):
        method = "approximate" if metric.is_compiled and metric.power == 2 else "exact"
    _require_search(points, n, metric, method)
    search = NeighborSearch(
        points if n == points.shape[0] else points[rows],
        metric=metric.name,
        method=method,  # type: ignore[arg-type]
        recall=recall,
        random_state=random_state,
    )
    if n == 1:
        return None
    lists = nearest_others(search, min(LIST_LENGTH, n - 1))
    release_copies(search)  # before the threshold is chosen, which takes as much memory
    return Lists(search, points, rows, *lists)


def _require_search(points: Any, n: int, metric: Metric, method: str) -> None:
    """Raise an error if a search among n distinct rows does not fit into memory."""
    n_bytes = BYTES_PER_LIST * n
    if metric.is_compiled and not sparse.issparse(points):
        size = n * points.shape[1]
        single = method == "approximate" and 8 * size > MAX_DOUBLE_BYTES
        # The distinct rows, or their unit vectors, and the same rescaled to single precision.
        n_bytes += size * (4 + (8 if metric.is_cosine and not single else points.itemsize))
    require_memory(
        n_bytes,
        f"The search for near-duplicates among {n:,} distinct rows",
        "Pass rows in single precision (float32), with fewer columns, for instance from PCA, or fewer rows.",
    )


def _automatic(lists: Lists, metric: Metric) -> Threshold:
    """The automatic threshold in the metric; the model needs lengths, not their squares."""
    if not metric.is_cosine:
        return automatic_threshold(lists.indices, lists.distances)
    lengths = 2.0 * lists.distances
    value, curve = automatic_threshold(lists.indices, np.sqrt(lengths, out=lengths))
    curve[:, 0] = np.square(curve[:, 0]) / 2.0
    return Threshold(max(value**2 / 2.0, MIN_COSINE_DISTANCE) if value > 0 else 0.0, curve)
