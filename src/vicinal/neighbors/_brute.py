"""Exact neighbours by blocked matrix products, for dimensions in which a tree no longer prunes.

Products in single precision only filter. Each point keeps a few more candidates than it needs; their
squared distances are then summed directly in double precision, which keeps near-duplicates accurate, and a
bound on the rounding error decides whether a point left out could belong into the answer. The rare rows
for which it could (ties, tight far-apart clusters) are searched completely, in double precision. What is
kept by the filter may depend on the order in which threads finish; the answer cannot.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal._core.rescale import power_of_two
from vicinal.neighbors._brute_kernels import recheck, refine, scan, sort_lists

# Points of a block that a task owns, and the part of a product that stays in the second-level cache.
BLOCK, STRIP_ROWS, STRIP_COLUMNS = 4096, 512, 1024
Lists = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Frame(NamedTuple):
    """Coordinates in which rounding hurts least: near the origin, of size about one.

    ``exact`` holds the precisions in which all products of the data are exact (small integers).
    """

    centre: np.ndarray
    scale: float
    exact: tuple[type, ...]

    def place(self, X: np.ndarray, dtype: type) -> np.ndarray:
        """X in this frame."""
        placed: np.ndarray = np.empty(X.shape, dtype)
        for a, b in blocks(len(X), max(1, 2**13 // X.shape[1])):
            placed[a:b] = (X[a:b] - self.centre) * self.scale
        return placed


class Placed(NamedTuple):
    """Points in a frame, in single precision, and half their squared norms in double."""

    points: np.ndarray
    half: np.ndarray


def nearest_others(
    X: np.ndarray, k: int, *, n_jobs: int | None = -1, progress: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other points of every point, sorted by (distance, index).

    Each pair of blocks is multiplied once and serves both sides.
    """
    n = len(X)
    frame = find_frame(X)
    placed = place(X, frame, n_jobs)
    lists = new_lists(n, k, placed.half, np.arange(n, dtype=np.int32))
    spans = blocks(n, BLOCK)
    locks = [Lock() for _ in spans]

    def join(pair: tuple[int, int]) -> None:
        i, j = pair
        if i == j:
            with locks[i]:
                multiply(placed.points, spans[i], spans[i], lists, lists, both=False)
        else:
            with locks[i], locks[j]:
                multiply(placed.points, spans[i], spans[j], lists, lists, both=True)

    with one_blas_thread():
        map_threads(join, rounds(len(spans)), n_jobs, progress=progress)
        return finish(X, X, frame, placed, placed, lists, k, exclude_self=True, n_jobs=n_jobs)


def nearest_to(
    X: np.ndarray,
    queries: np.ndarray,
    k: int,
    *,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k points of X nearest to each query, sorted by (distance, index)."""
    frame = find_frame(X, queries)
    points, asked = place(X, frame, n_jobs), place(queries, frame, n_jobs)
    lists = new_lists(len(queries), k, asked.half, np.full(len(queries), -1, np.int32))
    names = np.arange(len(X), dtype=np.int32)
    columns = silent_lists(points.half, names)

    def ask(span: tuple[int, int]) -> None:
        multiply(asked.points, span, (0, len(X)), lists, columns, both=False, other=points.points)

    with one_blas_thread():
        map_threads(ask, blocks(len(queries), STRIP_ROWS), n_jobs, progress=progress)
        return finish(queries, X, frame, asked, points, lists, k, exclude_self=False, n_jobs=n_jobs)


def find_frame(X: np.ndarray, queries: np.ndarray | None = None) -> Frame:
    """Centre on a median, which far outliers do not move, and scale by a power of two."""
    sample = X[:: max(1, len(X) // 1000)]
    # An entry of each column, not a mean of two: whole numbers stay whole.
    centre = np.sort(sample, axis=0)[len(sample) // 2].astype(np.float64)
    size, whole = 0.0, True
    for points in (X,) if queries is None else (X, queries):
        for a, b in blocks(len(points), max(1, 2**15 // X.shape[1])):
            moved = points[a:b] - centre
            size = max(size, np.abs(moved).max())
            whole = whole and bool((np.rint(moved) == moved).all())
    bits = np.log2(8.0 * X.shape[1]) + 2 * np.log2(max(size, 1.0))
    exact = tuple(t for t, room in ((np.float32, 24), (np.float64, 53)) if whole and bits <= room)
    return Frame(centre, 1.0 / power_of_two(2.0 * size), exact)


def place(X: np.ndarray, frame: Frame, n_jobs: int | None = -1) -> Placed:
    """X in single precision, with half its squared norms."""
    placed = Placed(np.empty(X.shape, np.float32), np.empty(len(X)))

    def fill(span: tuple[int, int]) -> None:
        a, b = span
        placed.points[a:b] = frame.place(X[a:b], np.float32)
        placed.half[a:b] = half_squares(placed.points[a:b])

    map_threads(fill, blocks(len(X), 1024), n_jobs)
    return placed


def size_in_frame(X: np.ndarray, frame: Frame) -> float:
    """Largest coordinate of X in a frame in which those of the points it was found for are below 1."""
    spans = blocks(len(X), 4096)
    return max(float(np.abs(X[a:b] - frame.centre).max()) for a, b in spans) * frame.scale


def half_squares(points: np.ndarray) -> np.ndarray:
    """Half the squared norm of each point."""
    return np.square(points, dtype=np.float64).sum(axis=1) / 2


def new_lists(n: int, k: int, half: np.ndarray, names: np.ndarray) -> Lists:
    """Empty candidate lists, a little longer than k so that almost every row can be certified."""
    length = k + max(8, k // 4)
    return (
        half.astype(np.float32),
        np.full(n, np.inf, np.float32),
        np.full((n, length), np.inf, np.float32),
        np.full((n, length), -1, np.int32),
        names,
    )


def silent_lists(half: np.ndarray, names: np.ndarray) -> Lists:
    """The side of points that are candidates only and collect nothing themselves."""
    n = len(half)
    nothing = np.empty((n, 0), np.float32), np.empty((n, 0), np.int32)
    return half.astype(np.float32), np.full(n, -np.inf, np.float32), *nothing, names


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
    """Products of two ranges of points, strip by strip, each offered to the lists at once."""
    other = points if other is None else other
    buffer = np.empty(STRIP_ROWS * STRIP_COLUMNS, np.float32)
    silent = np.full(STRIP_COLUMNS, -np.inf, np.float32)
    for c in range(columns[0], columns[1], STRIP_COLUMNS):
        d = min(c + STRIP_COLUMNS, columns[1])
        half, reach, keys, ids, names = col_lists
        side = (half[c:d], reach[c:d] if both else silent[: d - c], keys[c:d], ids[c:d], names[c:d])
        for a in range(rows[0], rows[1], STRIP_ROWS):
            b = min(a + STRIP_ROWS, rows[1])
            products = buffer[: (b - a) * (d - c)].reshape(b - a, d - c)
            np.matmul(points[a:b], other[c:d].T, out=products)
            scan(products, np.arange(a, b), row_lists, side)


def rounds(n_blocks: int) -> list[tuple[int, int]]:
    """All pairs of blocks, ordered as a tournament: neighbours in the list share no block."""
    pairs = [(i, i) for i in range(n_blocks)]
    seats = list(range(n_blocks + n_blocks % 2))
    for _ in range(len(seats) - 1):
        for i, j in zip(seats[: len(seats) // 2], reversed(seats), strict=False):
            if max(i, j) < n_blocks:
                pairs.append((min(i, j), max(i, j)))
        seats.insert(1, seats.pop())
    return pairs


def finish(
    queries: np.ndarray,
    X: np.ndarray,
    frame: Frame,
    asked: Placed,
    points: Placed,
    lists: Lists,
    k: int,
    *,
    exclude_self: bool,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Measure the candidates, and search completely for the rows they do not settle."""
    n = len(queries)
    indices, squares = np.empty((n, k), np.int64), np.empty((n, k))
    certain = np.empty(n, np.bool_)
    _, _, keys, ids, _ = lists
    unit, exact = 2.0**-24, np.float32 in frame.exact

    def settle(span: tuple[int, int]) -> None:
        a, b = span
        refine(
            queries, X, asked.half, frame.scale, unit, exact, keys[a:b], ids[a:b], a,
            indices, squares, certain,
        )  # fmt: skip

    map_threads(settle, blocks(n, 1024), n_jobs)
    unsettled = np.flatnonzero(~certain)

    def search(span: tuple[int, int]) -> None:
        rows = unsettled[span[0] : span[1]]
        search_completely(queries, X, frame, points, rows, indices, squares, exclude_self)

    map_threads(search, blocks(len(unsettled), STRIP_ROWS), n_jobs)
    return indices, np.sqrt(squares, out=squares)


def search_completely(
    queries: np.ndarray,
    X: np.ndarray,
    frame: Frame,
    points: Placed,
    rows: np.ndarray,
    indices: np.ndarray,
    squares: np.ndarray,
    exclude_self: bool,
) -> None:
    """Final neighbours of ``rows``, from products whose every doubtful entry is measured."""
    if not len(rows):
        return
    single = np.float32 in frame.exact
    dtype: Any = np.float32 if single else np.float64
    exact, unit = bool(frame.exact), 2.0**-53
    asked = frame.place(queries[rows], dtype)
    row_half = half_squares(asked)
    myself = rows if exclude_self else np.full(len(rows), -1)
    # Starting above the best known k-th square, with an id above all others, lets every tie in.
    worst = np.nextafter(squares[rows, -1], np.inf)
    keys = np.repeat(worst[:, None], squares.shape[1], axis=1)
    ids = np.full(keys.shape, len(X), np.int64)
    for a, b in blocks(len(X), STRIP_COLUMNS):
        placed = points.points[a:b] if single else frame.place(X[a:b], dtype)
        half = half_squares(placed)
        products = np.matmul(asked, placed.T).astype(np.float64, copy=False)
        recheck(
            products,
            queries,
            X,
            rows,
            row_half,
            half,
            a,
            myself,
            frame.scale,
            unit,
            exact,
            keys,
            ids,
        )
    sort_lists(keys, ids)
    indices[rows], squares[rows] = ids, keys
