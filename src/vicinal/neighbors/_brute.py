"""Exact neighbours by blocked matrix products, for dimensions in which a tree no longer prunes.

Products in single precision are used as a filter. Each point keeps a few more candidates than it needs.
Their squared distances are then summed directly in double precision, which is accurate for near-duplicates.
A bound on the rounding error decides whether a discarded point could be a neighbour. The rare rows for which
this is possible (ties, tight clusters far apart) are searched exhaustively, in double precision. The
candidates may depend on the order in which threads finish; the result does not.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal._core.rescale import power_of_two
from vicinal.neighbors._brute_kernels import recheck, sort_lists
from vicinal.neighbors._kdtree import SLOW_SEARCH
from vicinal.neighbors._product_kernels import fill_empty, refine, scan

# Points per block, and the shape of a product: the lists of its columns stay in the second-level cache.
BLOCK_ROWS, STRIP_ROWS, STRIP_COLUMNS = 4096, 1024, 512
# Up to this dimension, reading products takes much of the time. Those of half as many columns stay in the
# cache, which is faster, although large products are computed at a higher rate.
FEW_FEATURES = 48
QUERIES_PER_TASK = 512
Lists = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Rescaling(NamedTuple):
    """Shift and scale that reduce rounding errors: coordinates near the origin, below 1.

    ``exact`` lists the dtypes in which all products of the data are exact (small integers).
    """

    center: np.ndarray
    scale: float
    exact: tuple[type, ...]

    def transform(self, X: np.ndarray, dtype: type) -> np.ndarray:
        """Rescale points."""
        rescaled: np.ndarray = np.empty(X.shape, dtype)
        for a, b in blocks(len(X), max(1, 2**13 // X.shape[1])):
            rescaled[a:b] = (X[a:b] - self.center) * self.scale
        return rescaled


class RescaledPoints(NamedTuple):
    """Rescaled points in single precision, and half their squared norms in double precision."""

    points: np.ndarray
    half_norms: np.ndarray


def nearest_others(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other points of every point, sorted by (distance, index).

    Each pair of blocks is multiplied once, for the rows of both blocks.
    """
    n = len(X)
    rescaling = fit_rescaling(X)
    rescaled = rescale(X, rescaling)
    lists = empty_lists(n, k, rescaled.half_norms, np.arange(n, dtype=np.int32))
    spans = blocks(n, BLOCK_ROWS)
    locks = [Lock() for _ in spans]

    def join(pair: tuple[int, int]) -> None:
        i, j = pair
        if i == j:
            first, last = spans[i]
            parts = [(first + a, first + b) for a, b in blocks(last - first, STRIP_COLUMNS)]
            with locks[i]:
                for a, b in tournament_pairs(len(parts)):
                    multiply(rescaled.points, parts[a], parts[b], lists, lists, both=a != b)
        else:
            with locks[i], locks[j]:
                multiply(rescaled.points, spans[i], spans[j], lists, lists, both=True)

    with one_blas_thread():
        map_threads(
            join,
            tournament_pairs(len(spans)),
            title="neighbours",
            long_work=SLOW_SEARCH,
        )
        return refine_candidates(X, X, rescaling, rescaled, lists, k, exclude_self=True)


def nearest_to(
    X: np.ndarray,
    queries: np.ndarray,
    k: int,
    *,
    prepared: PreparedPoints | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k points of X nearest to each query, sorted by (distance, index)."""
    rescaling, points = for_queries(X, queries, prepared)
    targets = rescale(queries, rescaling)
    lists = empty_lists(len(queries), k, targets.half_norms, np.full(len(queries), -1, np.int32))
    columns = passive_lists(points.half_norms, np.arange(len(X), dtype=np.int32))

    def search(span: tuple[int, int]) -> None:
        multiply(targets.points, span, (0, len(X)), lists, columns, both=False, other=points.points)

    with one_blas_thread():
        map_threads(
            search,
            blocks(len(queries), QUERIES_PER_TASK),
            title="neighbours",
            long_work=SLOW_SEARCH,
        )
        return refine_candidates(queries, X, rescaling, targets, lists, k, exclude_self=False)


class PreparedPoints(NamedTuple):
    """Points that were rescaled without queries, for many searches with few queries each."""

    rescaling: Rescaling
    points: RescaledPoints
    extent: Extent


class Extent(NamedTuple):
    """Largest absolute coordinate of points around a centre, and whether all of them are integers."""

    magnitude: float
    integral: bool


def prepare(X: np.ndarray) -> PreparedPoints:
    """Rescale points once."""
    center = _center(X)
    extent = _extent(X, center)
    rescaling = _rescaling(center, extent)
    return PreparedPoints(rescaling, rescale(X, rescaling), extent)


def fit_rescaling(X: np.ndarray, queries: np.ndarray | None = None) -> Rescaling:
    """Centre on the median, which is robust to outliers, and scale by a power of two."""
    center = _center(X)
    extent = _extent(X, center)
    if queries is not None:
        extent = _union(extent, _extent(queries, center))
    return _rescaling(center, extent)


def _center(X: np.ndarray) -> np.ndarray:
    sample = X[:: max(1, len(X) // 1000)]
    # An element of each column, not the mean of two, so that integers stay integers.
    return np.sort(sample, axis=0)[len(sample) // 2].astype(np.float64)


def _extent(points: np.ndarray, center: np.ndarray) -> Extent:
    magnitude, integral = 0.0, True
    for a, b in blocks(len(points), max(1, 2**15 // points.shape[1])):
        shifted = points[a:b] - center
        magnitude = max(magnitude, float(np.abs(shifted).max()))
        integral = integral and bool((np.rint(shifted) == shifted).all())
    return Extent(magnitude, integral)


def _union(first: Extent, second: Extent) -> Extent:
    return Extent(max(first.magnitude, second.magnitude), first.integral and second.integral)


def _rescaling(center: np.ndarray, extent: Extent) -> Rescaling:
    bits = np.log2(8.0 * len(center)) + 2 * np.log2(max(extent.magnitude, 1.0))
    significands = (np.float32, 24), (np.float64, 53)
    exact = tuple(dtype for dtype, n_bits in significands if extent.integral and bits <= n_bits)
    return Rescaling(center, 1.0 / power_of_two(2.0 * extent.magnitude), exact)


def for_queries(
    X: np.ndarray, queries: np.ndarray, prepared: PreparedPoints | None
) -> tuple[Rescaling, RescaledPoints]:
    """The rescaling of points and queries, and the rescaled points; prepared ones if the scale is equal."""
    if prepared is None:
        rescaling = fit_rescaling(X, queries)
        return rescaling, rescale(X, rescaling)
    extent = _union(prepared.extent, _extent(queries, prepared.rescaling.center))
    rescaling = _rescaling(prepared.rescaling.center, extent)
    if rescaling.scale == prepared.rescaling.scale:
        return rescaling, prepared.points
    return rescaling, rescale(X, rescaling)


def rescale(X: np.ndarray, rescaling: Rescaling) -> RescaledPoints:
    """Rescale points to single precision, and compute half their squared norms."""
    rescaled = RescaledPoints(np.empty(X.shape, np.float32), np.empty(len(X)))

    def fill(span: tuple[int, int]) -> None:
        a, b = span
        rescaled.points[a:b] = rescaling.transform(X[a:b], np.float32)
        rescaled.half_norms[a:b] = half_squares(rescaled.points[a:b])

    map_threads(fill, blocks(len(X), 1024))
    return rescaled


def rescaled_magnitude(X: np.ndarray, rescaling: Rescaling) -> float:
    """Largest absolute coordinate of X after rescaling; below 1 for the points that were fitted."""
    spans = blocks(len(X), 4096)
    return max(float(np.abs(X[a:b] - rescaling.center).max()) for a, b in spans) * rescaling.scale


def half_squares(points: np.ndarray) -> np.ndarray:
    """Half the squared norm of each point."""
    return np.square(points, dtype=np.float64).sum(axis=1) / 2


def empty_lists(n: int, k: int, half_norms: np.ndarray, point_ids: np.ndarray) -> Lists:
    """Empty candidate lists, slightly longer than k, so that few rows need an exhaustive search."""
    length = k + max(8, k // 4)
    return (
        half_norms.astype(np.float32),
        np.full(n, np.inf, np.float32),
        np.full((n, length), np.inf, np.float32),
        np.full((n, length), -1, np.int32),
        point_ids,
    )


def passive_lists(half_norms: np.ndarray, point_ids: np.ndarray) -> Lists:
    """Lists of length 0, for points that are candidates only."""
    n = len(half_norms)
    empty = np.empty((n, 0), np.float32), np.empty((n, 0), np.int32)
    return half_norms.astype(np.float32), np.full(n, -np.inf, np.float32), *empty, point_ids


def multiply(
    points: np.ndarray,
    rows: tuple[int, int],
    columns: tuple[int, int],
    row_lists: Lists,
    col_lists: Lists,
    *,
    both: bool,
    other: np.ndarray | None = None,
) -> None:
    """Multiply two ranges of points, strip by strip, and push each product into the lists."""
    other = points if other is None else other
    n_columns = STRIP_COLUMNS // 2 if points.shape[1] <= FEW_FEATURES else STRIP_COLUMNS
    n_products = min(rows[1] - rows[0], STRIP_ROWS) * min(columns[1] - columns[0], n_columns)
    buffer = np.empty(n_products, np.float32)
    no_reach = np.full(STRIP_COLUMNS, -np.inf, np.float32)
    for c in range(columns[0], columns[1], n_columns):
        d = min(c + n_columns, columns[1])
        half, reach, keys, ids, point_ids = col_lists
        col_reach = reach[c:d] if both else no_reach[: d - c]
        strip = half[c:d], col_reach, keys[c:d], ids[c:d], point_ids[c:d]
        for a in range(rows[0], rows[1], STRIP_ROWS):
            b = min(a + STRIP_ROWS, rows[1])
            products = buffer[: (b - a) * (d - c)].reshape(b - a, d - c)
            np.matmul(points[a:b], other[c:d].T, out=products)
            # One column may be the point itself.
            is_first = not both and bool((row_lists[1][a:b] == np.inf).all())
            fill = fill_empty if is_first and d - c > row_lists[2].shape[1] else scan
            fill(products, np.arange(a, b), row_lists, strip)


def tournament_pairs(n_blocks: int) -> list[tuple[int, int]]:
    """All pairs of blocks in the order of a round-robin tournament: pairs of a round share no block."""
    pairs = [(i, i) for i in range(n_blocks)]
    players = list(range(n_blocks + n_blocks % 2))
    for _ in range(len(players) - 1):
        for i, j in zip(players[: len(players) // 2], reversed(players), strict=False):
            if max(i, j) < n_blocks:
                pairs.append((min(i, j), max(i, j)))
        players.insert(1, players.pop())
    return pairs


def refine_candidates(
    queries: np.ndarray,
    X: np.ndarray,
    rescaling: Rescaling,
    targets: RescaledPoints,
    lists: Lists,
    k: int,
    *,
    exclude_self: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Measure the candidates, and search rows exhaustively where these are not certain to suffice."""
    n = len(queries)
    indices, squares = np.empty((n, k), np.int64), np.empty((n, k))
    certain = np.empty(n, np.bool_)
    _, _, keys, ids, _ = lists
    unit, exact = 2.0**-24, np.float32 in rescaling.exact

    def measure(span: tuple[int, int]) -> None:
        a, b = span
        refine(
            queries, X, targets.half_norms, rescaling.scale, unit, exact, keys[a:b], ids[a:b], a,
            indices, squares, certain,
        )  # fmt: skip

    map_threads(measure, blocks(n, 1024))
    uncertain = np.flatnonzero(~certain)

    def search(span: tuple[int, int]) -> None:
        rows = uncertain[span[0] : span[1]]
        search_exhaustively(queries, X, rescaling, rows, indices, squares, exclude_self)

    map_threads(search, blocks(len(uncertain), QUERIES_PER_TASK))
    return indices, np.sqrt(squares, out=squares)


def search_exhaustively(
    queries: np.ndarray,
    X: np.ndarray,
    rescaling: Rescaling,
    rows: np.ndarray,
    indices: np.ndarray,
    squares: np.ndarray,
    exclude_self: bool,
) -> None:
    """Find the neighbours of ``rows``, measuring every pair that the products cannot rule out."""
    if not len(rows):
        return
    dtype: Any = np.float32 if np.float32 in rescaling.exact else np.float64
    exact, unit = bool(rescaling.exact), 2.0**-53
    targets = rescaling.transform(queries[rows], dtype)
    row_half = half_squares(targets)
    self_ids = rows if exclude_self else np.full(len(rows), -1)
    # Start above the best known k-th square and above all ids, so that every tie is accepted.
    worst = np.nextafter(squares[rows, -1], np.inf)
    keys = np.repeat(worst[:, None], squares.shape[1], axis=1)
    ids = np.full(keys.shape, len(X), np.int64)
    for a, b in blocks(len(X), STRIP_COLUMNS):
        rescaled = rescaling.transform(X[a:b], dtype)
        half = half_squares(rescaled)
        products = np.matmul(targets, rescaled.T).astype(np.float64, copy=False)
        recheck(
            products,
            queries,
            X,
            rows,
            row_half,
            half,
            a,
            self_ids,
            rescaling.scale,
            unit,
            exact,
            keys,
            ids,
        )
    sort_lists(keys, ids)
    indices[rows], squares[rows] = ids, keys
