"""The part of discrete columns that they share with other columns, as continuous coordinates.

Categories put rows on a lattice, whose nodes look like clusters. Only what a category says about the factors
that columns share (`_factors`) is evidence of groups. So rows are placed by the factors that their completed
values lead to expect; columns of numbers keep their own coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.parallel import blocks as row_blocks
from vicinal.exceptions import InvalidValueError
from vicinal.tables._factors import shared_factors
from vicinal.tables._indicators import Indicators, fit_indicators, row_products
from vicinal.tables._modality import MIN_DISTINCT

ROWS_PER_BLOCK = 8192
# Squared length of the coordinate of a category.
CATEGORY_POWER = 0.5


class FactorModel(NamedTuple):
    """Indicators of columns, and their loadings on the shared factors.

    Attributes
    ----------
    positions : list of ndarray of int
        Coordinates of each column.
    indicators : list of Indicators
        Indicators of each column.
    loadings : list of ndarray (q, n_factors)
        Loadings of the indicators of each column.
    discrete : ndarray of bool (n_columns,)
        Columns of categories, or of few different numbers.
    """

    positions: list[np.ndarray]
    indicators: list[Indicators]
    loadings: list[np.ndarray]
    discrete: np.ndarray

    @property
    def n_factors(self) -> int:
        """Number of shared factors."""
        return self.loadings[0].shape[1]

    @property
    def correlations(self) -> np.ndarray:
        """Largest correlation of each column with a combination of the factors."""
        return np.array([np.linalg.norm(part, 2) if part.size else 0.0 for part in self.loadings])

    def expected(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected factors (n, r) of rows, given the values they have, and their mean covariance."""
        r = self.n_factors
        factors, covariance = np.empty((len(rows), r)), np.zeros((r, r))
        for start, stop in row_blocks(len(rows), ROWS_PER_BLOCK):
            part = rows[start:stop]
            precision = np.tile(np.eye(r), (len(part), 1, 1))
            evidence = np.zeros((len(part), r))
            for own, indicators, loadings in zip(
                self.positions, self.indicators, self.loadings, strict=True
            ):
                unique = np.eye(len(loadings)) - loadings @ loadings.T
                weighted = np.linalg.solve(unique, loadings)
                known = ~np.isnan(part[:, own[0]])
                precision += known[:, None, None] * (loadings.T @ weighted)
                evidence += row_products(indicators.encode(part[:, own]), weighted)
            inverse = np.linalg.inv(precision)
            factors[start:stop] = np.einsum("nij,nj->ni", inverse, evidence, optimize=False)
            covariance += inverse.sum(axis=0)
        return factors, covariance / max(len(rows), 1)


def fit_factors(rows: np.ndarray, column_of: np.ndarray, nominal: np.ndarray) -> FactorModel:
    """Shared factors of encoded rows, NaN where a value is missing, in units of the columns."""
    positions = [np.flatnonzero(column_of == j) for j in range(len(nominal))]
    indicators = [
        fit_indicators(rows[:, own], bool(is_nominal))
        for own, is_nominal in zip(positions, nominal, strict=True)
    ]
    encoded = [
        column.encode(rows[:, own]) for own, column in zip(positions, indicators, strict=True)
    ]
    known = ~np.isnan(rows[:, [own[0] for own in positions]])
    loadings = shared_factors(encoded, known)
    ends = np.cumsum([block.shape[1] for block in encoded])[:-1]
    discrete = [
        bool(is_nominal) or _n_distinct(rows[:, own[0]]) < MIN_DISTINCT
        for own, is_nominal in zip(positions, nominal, strict=True)
    ]
    return FactorModel(positions, indicators, np.split(loadings, ends), np.array(discrete))


def _n_distinct(values: np.ndarray) -> int:
    return len(np.unique(values[~np.isnan(values)]))


class SharedPart(NamedTuple):
    """Points of encoded rows: numbers as they are, discrete columns by their shared part.

    Attributes
    ----------
    model : FactorModel
        Shared factors of the columns.
    units : ndarray (n_coordinates,)
        Root of the weight of each coordinate.
    kept : ndarray of int
        Coordinates that stay as they are.
    residual : float
        Factor of what the shared part leaves of discrete columns. Without numbers, rows would still be on a
        lattice, finer than the uncertainty of their factors; the rest then makes up for this uncertainty.
    """

    model: FactorModel
    units: np.ndarray
    kept: np.ndarray
    residual: float

    def project(self, rows: np.ndarray) -> np.ndarray:
        """Points of completed rows.

        Factors expected from the given values alone are nearer to the mean the more values are missing, so
        that rows would be grouped by their number of missing values.
        """
        factors, _ = self.model.expected(rows / self.units)
        parts = [rows[:, self.kept], row_products(factors, self._scales())]
        if self.residual:
            parts.append(self.residual * self._rest(rows / self.units, factors))
        return np.ascontiguousarray(np.hstack(parts))

    def names(self, coordinates: Sequence[str]) -> list[str]:
        """Names of the coordinates of points, from those of encoded rows."""
        names = [coordinates[i] for i in self.kept]
        names += [f"shared {i + 1}" for i in range(self._scales().shape[1])]
        if self.residual:
            for j in self._columns():
                own = self.model.positions[j]
                width = len(self.model.indicators[j].mean)
                names += [f"{coordinates[own[0]]} rest {i + 1}" for i in range(width)]
        return names

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of points."""
        width = len(self.kept) + self._scales().shape[1]
        return width + sum(len(self.model.indicators[j].mean) for j in self._columns()) * bool(
            self.residual
        )

    def _columns(self) -> list[int]:
        """Columns that are replaced by their shared part."""
        kept = set(self.kept.tolist())
        return [j for j, own in enumerate(self.model.positions) if own[0] not in kept]

    def _maps(self) -> list[np.ndarray]:
        """From factors to the indicators of each replaced column, in its weight."""
        return [
            np.sqrt(CATEGORY_POWER)
            * self.units[self.model.positions[j][0]]
            * (self.model.loadings[j].T @ self.model.indicators[j].back)
            for j in self._columns()
        ]

    def _scales(self) -> np.ndarray:
        """From factors to coordinates with the distances of the indicators of all replaced columns."""
        joined = np.hstack(self._maps())
        left, strengths, _ = np.linalg.svd(joined, full_matrices=False)
        kept = strengths > 1e-9 * max(strengths.max(initial=0.0), 1e-300)
        return left[:, kept] * strengths[kept]

    def _rest(self, rows: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Indicators of the replaced columns, less what the factors explain."""
        parts = []
        for j in self._columns():
            own, indicators = self.model.positions[j], self.model.indicators[j]
            unexplained = indicators.encode(rows[:, own]) - row_products(
                factors, self.model.loadings[j].T
            )
            weight = np.sqrt(CATEGORY_POWER) * self.units[own[0]]
            parts.append(weight * row_products(unexplained, indicators.back))
        return np.hstack(parts)

    def to_json(self) -> dict[str, Any]:
        """The part as JSON."""
        columns = [
            {
                "knots": None if ind.knots is None else ind.knots.tolist(),
                "pooling": None if ind.pooling is None else ind.pooling.argmax(axis=1).tolist(),
                "mean": ind.mean.tolist(),
                "whitening": ind.whitening.tolist(),
                "back": ind.back.tolist(),
                "loadings": loadings.tolist(),
                "discrete": bool(discrete),
            }
            for ind, loadings, discrete in zip(
                self.model.indicators, self.model.loadings, self.model.discrete, strict=True
            )
        ]
        return {
            "columns": columns,
            "kept": self.kept.tolist(),
            "residual": self.residual,
            "n_factors": self.model.n_factors,
        }


def fit_shared_part(
    model: FactorModel, rows: np.ndarray, weights: np.ndarray, as_they_are: np.ndarray
) -> SharedPart | None:
    """Shared part of discrete columns; None without any, or without shared factors.

    ``rows`` are in units of the columns; columns ``as_they_are`` keep their coordinates.
    """
    replaced = model.discrete & ~as_they_are
    if not replaced.any() or not model.n_factors:
        return None
    sizes = [len(own) for own in model.positions]
    units = np.repeat(np.sqrt(weights), sizes)
    kept = np.flatnonzero(~np.repeat(replaced, sizes))
    part = SharedPart(model, units, kept, 0.0)
    complete = ~np.isnan(rows).any(axis=1)
    sampled = rows[complete] if complete.any() else np.nan_to_num(rows)
    factors, covariance = model.expected(sampled)
    uncertainty = sum(float(np.trace(m.T @ covariance @ m)) for m in part._maps())
    # Squared differences of numbers are 1 on average, so their variance is a half.
    unique = 0.5 * float((weights * (1.0 - model.correlations**2))[~replaced].sum())
    spread = float(part._rest(sampled, factors).var(axis=0).sum())
    missing_spread = max(uncertainty - unique, 0.0)
    return part._replace(residual=float(np.sqrt(missing_spread / spread)) if spread > 0 else 0.0)


def shared_part_from_json(
    state: Mapping[str, Any], sizes: Sequence[int], nominal: Sequence[bool], weights: np.ndarray
) -> SharedPart:
    """The shared part that `SharedPart.to_json` described; a wrong description raises an error."""
    ends = np.cumsum(sizes)
    positions = [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    r = int(state["n_factors"])
    indicators, loadings = [], []
    for record, size, is_nominal in zip(state["columns"], sizes, nominal, strict=True):
        arrays = {
            name: np.array(record[name], dtype=np.float64).reshape(-1, width)
            for name, width in [("loadings", r), ("back", len(record["mean"]))]
        }
        mean = np.array(record["mean"], dtype=np.float64)
        q = len(arrays["loadings"])
        whitening = np.array(record["whitening"], dtype=np.float64).reshape(len(mean), q)
        knots, pooling = None, None
        if is_nominal:
            groups = np.array(record["pooling"], dtype=np.int64)
            if groups.shape != (size,) or groups.min() < 0 or groups.max() >= len(mean):
                raise InvalidValueError("the categories of a column contradict each other")
            pooling = np.eye(len(mean))[groups]
        else:
            knots = np.array(record["knots"], dtype=np.float64)
            if knots.shape != mean.shape or not (np.diff(knots) > 0).all():
                raise InvalidValueError("the quantiles of a column contradict each other")
        finite = [mean, whitening, *arrays.values()]
        if arrays["back"].shape[0] != q or not all(np.isfinite(a).all() for a in finite):
            raise InvalidValueError("the shared part of a column has another shape than its values")
        if q and np.linalg.norm(arrays["loadings"], 2) >= 1.0:
            raise InvalidValueError("the loadings of a column are too large")
        indicators.append(Indicators(knots, pooling, mean, whitening, arrays["back"]))
        loadings.append(arrays["loadings"])
    kept = np.array(state["kept"], dtype=np.int64)
    residual = float(state["residual"])
    inside = kept.size == 0 or (kept.min() >= 0 and kept.max() < ends[-1])
    if r < 1 or not inside or len(np.unique(kept)) < len(kept) or not 0 <= residual < np.inf:
        raise InvalidValueError("the shared part of the columns is damaged")
    discrete = np.array([bool(record["discrete"]) for record in state["columns"]])
    model = FactorModel(positions, indicators, loadings, discrete)
    return SharedPart(model, np.repeat(np.sqrt(weights), sizes), kept, residual)
