"""From coded columns to points: a column counts by what other columns say about it.

Rows are placed by their numbers, weighted by the share of their variance that other columns account for, and
by what the row as a whole leads to expect of every discrete column. Two accounts of what columns share
compete: traits (a few continuous scores of a row) and classes (groups within which columns are independent).
The one that predicts a column better from the other columns is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from vicinal._core.parallel import blocks
from vicinal.exceptions import InvalidValueError
from vicinal.tables._classes import Classes, Layout, design, fit_classes, predicted, softmax
from vicinal.tables._codes import CategoryCode, Code
from vicinal.tables._constants import CLASS_ROWS, FIT_CELLS, MAX_LEVELS, MIN_COUNT, PATIENCE
from vicinal.tables._shared import (
    Axes,
    Relevance,
    complete,
    copy_groups,
    fit_axes,
    from_other_columns,
    weigh,
)

ROWS_PER_BLOCK = 8192


def row_products(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Rows times a matrix. Equal rows get equal bits, which a product of matrices does not guarantee."""
    rows, matrix = np.ascontiguousarray(rows), np.ascontiguousarray(matrix)
    return np.einsum("ij,jk->ik", rows, matrix, optimize=False)


class PointMap(NamedTuple):
    """A fixed map from coordinates of columns to points.

    Attributes
    ----------
    layout : Layout
        What the coordinates are.
    axes : Axes
        Axes of what columns share, which complete gaps.
    classes : Classes or None
        Classes of rows; None if traits account for the table.
    factors : ndarray (p,)
        What numbers are multiplied by in points; 0 for coordinates that only their expected value stands for.
    units : ndarray (p,)
        Unit of what is expected of a discrete coordinate; 0 for numbers.
    counted : ndarray (d,)
        Share of the variance of each column that counts, from 0 to 1.
    """

    layout: Layout
    axes: Axes
    classes: Classes | None
    factors: np.ndarray
    units: np.ndarray
    counted: np.ndarray

    @property
    def numbers(self) -> np.ndarray:
        """Coordinates that are part of points."""
        return np.flatnonzero(self.factors > 0)

    def points(self, Z: np.ndarray) -> np.ndarray:
        """Points (n, c) of rows, NaN where a value is missing; equal rows get equal bits."""
        numbers, narrow = self.numbers, self._narrow()
        points = np.empty((len(Z), self.n_coordinates))
        for start, stop in blocks(len(Z), ROWS_PER_BLOCK):
            C, state = self._state(Z[start:stop])
            parts = [C[:, numbers] * self.factors[numbers], row_products(state, narrow)]
            points[start:stop] = np.hstack(parts) if len(numbers) or narrow.size else 0.0
        return points

    def coordinates(self, Z: np.ndarray) -> np.ndarray:
        """The same distances in coordinates (n, 2 p) of the columns: own ones, then expected ones."""
        C, state = self._state(Z)
        return np.hstack([C * self.factors, row_products(state, self._wide())])

    def completed(self, Z: np.ndarray) -> np.ndarray:
        """Coordinates of the columns without gaps; what is known keeps its bits."""
        gap = np.isnan(Z)
        X = np.where(gap, 0.0, Z * self.layout.weight)
        return np.where(gap, complete(X, gap, self.axes, row_products) / self.layout.weight, Z)

    def shares(self, Z: np.ndarray, filled: np.ndarray) -> np.ndarray:
        """Share of the variance of each coordinate that the account leads to expect."""
        _, state = self._state(Z)
        if self.classes is None:
            expected = state @ self.axes.vectors.T
        else:
            expected = (state @ self.classes.means.T) * self.layout.weight
        total = np.maximum((filled**2).sum(axis=0), 1e-300)
        return np.clip((expected**2).sum(axis=0) / total, 0.0, 1.0)

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of points; 1, always 0, if no column counts."""
        return max(len(self.numbers) + self.n_expected, 1)

    @property
    def n_expected(self) -> int:
        """Number of coordinates of points that stand for discrete columns."""
        return self._narrow().shape[1]

    def _state(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Completed coordinates, and the scores or the probabilities of the classes of each row."""
        C = self.completed(Z)
        if self.classes is None:
            return C, row_products(C * self.layout.weight, self.axes.vectors) * self.axes.shrink
        everything = np.arange(Z.shape[1])
        coefficients = self.classes.coefficients(self.layout, everything)
        logs = row_products(design(Z, self.layout, everything), coefficients)
        return C, softmax(logs + self.classes.log_prior)[0]

    def _wide(self) -> np.ndarray:
        """What one unit of a score, or a class, leads to expect of each discrete coordinate."""
        if self.classes is None:
            return np.ascontiguousarray((self.axes.vectors * self.units[:, None]).T)
        means = (self.classes.means * (self.layout.weight * self.units)[:, None]).T
        return np.ascontiguousarray(means - means.mean(axis=0))

    def _narrow(self) -> np.ndarray:
        """The same in the fewest coordinates with the same distances."""
        left, strengths, _ = np.linalg.svd(self._wide(), full_matrices=False)
        kept = strengths > 1e-12 * max(strengths.max(initial=0.0), 1e-300)
        return np.ascontiguousarray(left[:, kept] * strengths[kept])

    def to_json(self) -> dict[str, Any]:
        """Description of the map."""
        parts = {"layout": self.layout, "axes": self.axes, "classes": self.classes}
        return {
            name: None if part is None else {k: v.tolist() for k, v in part._asdict().items()}
            for name, part in parts.items()
        } | {name: getattr(self, name).tolist() for name in ("factors", "units", "counted")}


def map_from_json(state: Mapping[str, Any], sizes: Sequence[int]) -> PointMap:
    """The map that was described, for columns of such sizes; a wrong description raises an error."""
    p, d = sum(sizes), len(sizes)
    nominal = np.array([bool(flag) for flag in state["layout"]["nominal"]])
    group = np.array(state["layout"]["group"], dtype=np.int64)
    floats = {name: _finite(state["layout"][name]) for name in ("weight", "rates", "deviations")}
    layout = Layout(np.repeat(np.arange(d), sizes), group, nominal, **floats)
    axes = Axes(_finite(state["axes"]["vectors"]).reshape(p, -1), _finite(state["axes"]["shrink"]))
    classes = None
    if state["classes"] is not None:
        classes = Classes(*(_finite(state["classes"][name]) for name in Classes._fields))
    own = [_finite(state[name]) for name in ("factors", "units", "counted")]
    k = 0 if classes is None else len(classes.log_prior)
    fits = axes.vectors.shape == (p, len(axes.shrink)) and own[2].shape == (d,)
    fits &= all(part.shape == (p,) for part in (group, nominal, *floats.values(), *own[:2]))
    fits &= classes is None or all(part.shape == (p, k) for part in classes[1:])
    if not fits or not (layout.weight > 0).all() or not (layout.deviations > 0).all():
        raise InvalidValueError("the columns and the map of a table contradict each other")
    if classes is not None and (k < 1 or not (classes.variances > 0).all()):
        raise InvalidValueError("the classes of rows contradict the columns")
    return PointMap(layout, axes, classes, *own)


def _finite(values: Any) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InvalidValueError("the map of a table has values that are not finite")
    return array


class Fitted(NamedTuple):
    """A map, which columns (d,) it is made for because they count, and the set of copies of each."""

    map: PointMap
    kept: np.ndarray
    copy_of: np.ndarray


def fit_points(
    Z: np.ndarray, codes: Sequence[Code], given: Sequence[float | None], keep_numbers: bool
) -> Fitted:
    """The map for coded rows.

    Parameters
    ----------
    Z : ndarray (n, p)
        Coordinates of all columns, NaN where a value is missing.
    codes : sequence of Code
        What made them.
    given : sequence of float or None
        Weight of each column, where the user gave one: then its own coordinates count, whatever others say.
    keep_numbers : bool
        Whether numbers count as they are.
    """
    own = np.concatenate([code.own for code in codes]).astype(bool)
    gap, kept = np.isnan(Z), np.ones(len(codes), dtype=bool)
    layout = _layout(np.where(gap, 0.0, Z), codes)
    copy_of = layout.group[np.flatnonzero(np.diff(layout.column_of, prepend=-1))]
    if own.all() and keep_numbers and not gap.any():
        # Nothing is left to learn.
        made = _map(Z, Relevance(0, kept, own), layout, codes, given, True)
        return Fitted(made, kept, copy_of)
    A = np.where(gap, 0.0, Z * layout.weight)
    relevance = weigh(A, Z, layout.column_of, layout.group, own)
    is_shared = True
    if not own.all():
        kept = _counting(relevance, own, layout.column_of, given, keep_numbers)
        is_shared = bool(kept.any())
        if not is_shared:
            # No column says anything about another, so each counts by its own values.
            kept, given = np.ones_like(kept), [1.0] * len(codes)
    of = kept[layout.column_of]
    codes = [code for code, keep in zip(codes, kept.tolist(), strict=True) if keep]
    given = [weight for weight, keep in zip(given, kept.tolist(), strict=True) if keep]
    grouped = relevance.grouped[of[own]]
    layout = Layout(
        np.unique(layout.column_of[of], return_inverse=True)[1], *(part[of] for part in layout[1:])
    )
    relevance = Relevance(relevance.n_axes, relevance.depends[kept], grouped)
    made = _map(Z[:, of], relevance, layout, codes, given, keep_numbers)
    if not is_shared:
        made = made._replace(counted=np.ones(len(codes)))
    return Fitted(made, kept, copy_of)


def _counting(
    relevance: Relevance,
    own: np.ndarray,
    column_of: np.ndarray,
    given: Sequence[float | None],
    keep_numbers: bool,
) -> np.ndarray:
    """Columns that count: those that depend on another one, form groups, or have a given weight.

    If there is none, all numbers count.
    """
    d = len(relevance.depends)
    has_numbers = np.bincount(column_of, own, d) > 0
    counts = np.bincount(column_of[own], relevance.grouped, d) > 0
    counts |= relevance.depends & (has_numbers | (relevance.n_axes > 0))
    counts |= has_numbers if keep_numbers or not counts.any() else False
    counts |= np.array([weight is not None for weight in given])
    return np.asarray(counts)


def _map(
    Z: np.ndarray,
    relevance: Relevance,
    layout: Layout,
    codes: Sequence[Code],
    given: Sequence[float | None],
    keep_numbers: bool,
) -> PointMap:
    """The map of columns that count."""
    gap = np.isnan(Z)
    A = np.where(gap, 0.0, Z * layout.weight)
    own = np.concatenate([code.own for code in codes]).astype(bool)
    scale = np.concatenate([code.scale for code in codes])
    weight_of = np.array([np.nan if w is None else w for w in given])[layout.column_of]
    fixed = ~np.isnan(weight_of)
    q = min(relevance.n_axes, len(own))
    axes = fit_axes(A, layout.group, gap, q)
    made = PointMap(
        layout=layout,
        axes=axes,
        classes=None,
        factors=np.where(own, scale if keep_numbers else 1.0, 0.0),
        units=np.where(own | fixed, 0.0, scale),
        counted=np.ones(len(codes)),
    )
    shares = np.zeros(len(own))
    if q:
        A = complete(A, gap, axes, np.matmul)
        made = made._replace(classes=_better_account(Z, A, axes, layout))
        shares = made.shares(Z, A)
        if not keep_numbers:
            made.factors[own] = np.where(relevance.grouped, 1.0, np.sqrt(shares[own]))
    counts = np.where(made.units > 0, shares, 1.0 if keep_numbers else made.factors**2)
    # As they are, copies of a number count as often as there are.
    factors = made.factors * (1.0 if keep_numbers else layout.weight)
    factors = np.where(fixed, np.sqrt(np.nan_to_num(weight_of)) * scale, factors)
    if made.classes is not None:
        own_part = _spread_within(made, Z, A)
        factors = np.where(made.units > 0, own_part * made.units * layout.weight, factors)
        made = made._replace(units=made.units * (1.0 - own_part))
    variances = np.maximum((A**2).sum(axis=0), 1e-300)
    first = np.flatnonzero(np.diff(layout.column_of, prepend=-1))
    counted = np.add.reduceat(counts * variances, first) / np.add.reduceat(variances, first)
    return made._replace(factors=factors, counted=counted)


def _spread_within(made: PointMap, Z: np.ndarray, filled: np.ndarray) -> float:
    """By how much the own values of discrete columns count beside what classes lead to expect.

    Classes put rows on a few places, but the place of a row is known up to the error of its scores only. The
    values of its columns make up for this error.
    """
    discrete = made.units > 0
    _, state = made._state(Z)
    rest = (filled * made.units - state @ made._wide())[:, discrete]
    error = float(((made.axes.vectors * made.axes.shrink * made.units[:, None]) ** 2).sum())
    left = float(rest.var(axis=0).sum())
    return min(float(np.sqrt(error / left)), 1.0) if left > 0 else 0.0


def spread_rows(n: int, count: int) -> np.ndarray:
    """At most so many rows, evenly spaced."""
    return np.arange(n) if n <= count else np.linspace(0, n - 1, count).astype(np.int64)


def rows_to_fit(n: int, p: int) -> np.ndarray:
    """Rows that a map of p coordinates is learned from."""
    return spread_rows(n, max(FIT_CELLS // max(p, 1), CLASS_ROWS))


def _layout(A: np.ndarray, codes: Sequence[Code]) -> Layout:
    sizes = [len(code.names) for code in codes]
    column_of = np.repeat(np.arange(len(codes)), sizes)
    copy_of = copy_groups(A, column_of)
    weight = 1.0 / np.sqrt(np.bincount(copy_of)[copy_of])[column_of]
    categories = [code if isinstance(code, CategoryCode) else None for code in codes]
    pairs = list(zip(categories, sizes, strict=True))
    return Layout(
        column_of,
        copy_of[column_of],
        np.concatenate([np.full(size, c is not None) for c, size in pairs]),
        weight,
        np.concatenate([np.zeros(size) if c is None else c.rates for c, size in pairs]),
        np.concatenate([np.ones(size) if c is None else c.deviations for c, size in pairs]),
    )


def _better_account(
    Z: np.ndarray, filled: np.ndarray, axes: Axes, layout: Layout
) -> Classes | None:
    """Classes, if they predict a column better from the other columns than traits do; None for traits.

    Classes whose columns share q axes are q + 1 at least. Their number grows while what they leave
    unexplained falls by more than their parameters cost (Schwarz 1978).
    """
    few = spread_rows(len(Z), CLASS_ROWS)
    Z, scores = Z[few], (filled[few] @ axes.vectors) * axes.shrink
    known = ~np.isnan(Z)
    target = np.where(known, Z, 0.0) * layout.weight
    total = float((target**2).sum())

    def unexplained(guess: np.ndarray) -> float:
        return float(((target - guess)[known] ** 2).sum()) / total

    def classes_of(k: int) -> tuple[Classes, float]:
        start = KMeans(k, n_init=1, random_state=0).fit(scores).labels_
        classes = fit_classes(Z, start, layout)
        return classes, unexplained(predicted(Z, classes, layout) * layout.weight)

    k, penalty = len(axes.shrink) + 1, np.log(len(Z)) / len(Z)
    most = min(MAX_LEVELS, len(Z) // MIN_COUNT)
    best, lost = classes_of(k) if k <= most else (None, np.inf)
    if lost >= unexplained(from_other_columns(target, axes.vectors, layout.group)):
        return None
    least, n_worse = np.log(lost) + k * penalty, 0
    while n_worse < PATIENCE and k < most:
        k += 1
        classes, lost = classes_of(k)
        criterion = np.log(lost) + k * penalty
        if criterion < least:
            best, least, n_worse = classes, criterion, 0
        else:
            n_worse += 1
    return best
