"""Gower distances: the weighted mean of the differences of the columns that two rows both have (Gower 1971).

Numbers and dates differ by their distance in units of the range, ordered categories by their ranks, other
categories by 0 or 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors import NeighborSearch
from vicinal.tables._codes import CategoryCode, NumberCode, RankCode
from vicinal.tables._constants import MAX_LEVELS
from vicinal.tables._kinds import TypedColumn

# Distances that a block holds at once.
BLOCK_ENTRIES = 4_000_000
# Farther coordinates are no distances within a range that anything else can be compared with.
MAX_COORDINATE = 1e150


class GowerDistance:
    """Gower distance of two encoded rows, in which NaN marks missing values.

    Parameters
    ----------
    weights : ndarray (n_columns,)
        Weight of each column; coordinates are already scaled by its share of all weights.
    column_of : ndarray of int (n_coordinates,)
        Column that each coordinate belongs to.
    nominal : ndarray of bool (n_coordinates,)
        Which coordinates are those of a category.
    """

    def __init__(self, weights: np.ndarray, column_of: np.ndarray, nominal: np.ndarray) -> None:
        self.weights, self.column_of, self.nominal = weights, column_of, nominal
        self._first = np.flatnonzero(np.diff(column_of, prepend=-1))

    def __call__(self, a: np.ndarray, b: np.ndarray) -> float:
        """Distance of two rows; infinite if no column is present in both."""
        return float(self.matrix(np.asarray(a)[None], np.asarray(b)[None])[0, 0])

    def matrix(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """All distances between the rows of two tables."""
        require_memory(
            24.0 * len(A) * len(B),
            f"the distances of {len(A):,} and {len(B):,} rows",
            "Use nearest, or pass fewer rows at a time.",
        )
        known, other_known = ~np.isnan(A), ~np.isnan(B)
        A, B = np.where(known, A, 0.0), np.where(other_known, B, 0.0)
        sums = np.zeros((len(A), len(B)))
        for j in np.flatnonzero(~self.nominal):
            shared = known[:, j, None] & other_known[:, j]
            sums += np.abs(A[:, j, None] - B[:, j]) * shared
        if self.nominal.any():
            # Two rows differ in twice the size of a category, or not at all.
            sums += A[:, self.nominal] @ other_known[:, self.nominal].T
            sums += known[:, self.nominal] @ B[:, self.nominal].T
            size = 0.5 * (self.weights / self.weights.sum())[self.column_of[self.nominal]]
            sums -= 2.0 * (A[:, self.nominal] / size) @ B[:, self.nominal].T
        sums = np.maximum(sums, 0.0)
        if known.all() and other_known.all():
            return sums
        present = other_known[:, self._first].astype(np.float64)
        both = (known[:, self._first] * self.weights) @ present.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(both > 0, sums * (self.weights.sum() / both), np.inf)

    def nearest(
        self, queries: np.ndarray, rows: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances (m, k) of the nearest rows of each query, nearest first."""
        if not np.isnan(queries).any() and not np.isnan(rows).any():
            return NeighborSearch(rows, metric="manhattan").nearest(k, queries=queries)

        def task(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            distances = self.matrix(queries[slice(*span)], rows)
            near = np.argpartition(distances, k - 1, axis=1)[:, :k]
            near = np.sort(near, axis=1)  # so that ties go to the earlier row
            own = np.take_along_axis(distances, near, axis=1)
            order = np.argsort(own, axis=1, kind="stable")
            return np.take_along_axis(near, order, axis=1), np.take_along_axis(own, order, axis=1)

        with one_blas_thread():
            size = max(BLOCK_ENTRIES // len(rows), 1)
            parts = map_threads(task, blocks(len(queries), size), -1)
        indices, distances = zip(*parts, strict=True)
        return np.concatenate(indices), np.concatenate(distances)


GowerCode = NumberCode | RankCode | CategoryCode


class GowerEncoding(NamedTuple):
    """Columns, without values, what makes coordinates of them, and the distance of these."""

    columns: list[TypedColumn]
    codes: list[GowerCode]
    distance: GowerDistance

    def points(self, typed: Sequence[TypedColumn]) -> np.ndarray:
        """Coordinates of rows whose Manhattan distances are Gower's; NaN where a value is missing."""
        parts = [code.encode(column) for code, column in zip(self.codes, typed, strict=True)]
        weights, column_of = self.distance.weights, self.distance.column_of
        points = np.hstack(parts) * (weights / weights.sum())[column_of]
        farthest = np.nanmax(np.abs(points), axis=0, initial=0.0)
        if farthest.max() > MAX_COORDINATE:
            raise InvalidValueError(
                f"column {typed[column_of[farthest.argmax()]].name!r} of X contains a number more than "
                f"{MAX_COORDINATE:g} times as far from the others as they are from each other; correct it, "
                "or leave it out as None."
            )
        return points

    @property
    def names(self) -> list[str]:
        """Names of the coordinates."""
        pairs = zip(self.columns, self.codes, strict=True)
        return [f"{column.name} {part}".rstrip() for column, code in pairs for part in code.names]


def fit_gower(columns: Sequence[TypedColumn], given: Mapping[str, float]) -> GowerEncoding:
    """The encoding of columns, whose weight is 1 where none is given."""
    codes = [_code(column) for column in columns]
    sizes = [len(code.names) for code in codes]
    nominal = np.repeat([isinstance(code, CategoryCode) for code in codes], sizes)
    weights = np.array([given.get(column.name, 1.0) for column in columns])
    distance = GowerDistance(weights, np.repeat(np.arange(len(codes)), sizes), nominal)
    return GowerEncoding(
        [column._replace(numbers=None, words=None) for column in columns], codes, distance
    )


def _code(column: TypedColumn) -> GowerCode:
    if column.numbers is not None:
        known = column.numbers[~column.missing]
        size = float(np.abs(known).max())
        known = known / size
        unit = min(float(np.ptp(known)) * size, float(np.finfo(np.float64).max)) or 1.0
        return NumberCode(float(np.median(known)) * size, unit, straight=False)
    assert column.words is not None
    counts = Counter(word for word in column.words.tolist() if word is not None)
    if column.kind == "ordinal":
        assert column.levels is not None
        rows = np.array([counts.get(level, 0) for level in column.levels], dtype=np.float64)
        middles = (np.cumsum(rows) - rows / 2) / rows.sum()
        return RankCode(tuple(column.levels), tuple(middles.tolist()), (1.0,))
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    kept = ordered if len(ordered) <= MAX_LEVELS else ordered[: MAX_LEVELS - 1]
    n = len(kept) + (len(kept) < len(ordered))
    # A category is 1/2 away from none, so that two of them differ by 1.
    return CategoryCode(tuple(sorted(kept)), tuple(ordered[len(kept) :]), (0.0,) * n, (2.0,) * n)
