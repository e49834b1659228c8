"""Latent classes of encoded rows, and what they say about each column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.tables._class_inputs import ClassInput, NumberInput, class_input
from vicinal.tables._latent_classes import Design, Mixture, fit_mixture, make_design
from vicinal.tables._modality import MIN_DISTINCT

# Smaller tables have no classes that could be told from chance.
MIN_ROWS = 20
# Rows that classes are estimated from, evenly spaced, and entries of their design.
MAX_ROWS, MAX_ENTRIES = 10_000, 5_000_000


class ClassModel(NamedTuple):
    """Latent classes of rows in units of the columns.

    Attributes
    ----------
    positions : list of ndarray of int
        Coordinates of each column.
    inputs : list of ClassInput
        How each column enters.
    mixture : Mixture
        The classes.
    centers : ndarray (k, n_coordinates)
        Mean coordinates of the rows of each class.
    discrete : ndarray of bool (n_columns,)
        Columns of categories, or of few different numbers.
    """

    positions: list[np.ndarray]
    inputs: list[ClassInput]
    mixture: Mixture
    centers: np.ndarray
    discrete: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.centers)

    def design(self, rows: np.ndarray) -> Design:
        """Design of rows, NaN where a value is missing."""
        return _design(rows, self.positions, self.inputs)

    def posterior(self, rows: np.ndarray) -> np.ndarray:
        """Probability (n, k) of each class, given the values of a row."""
        return self.mixture.posterior(self.design(rows).rows)

    def correlations(self) -> np.ndarray:
        """Largest correlation of each column with a combination of the classes."""
        design = self.design(np.empty((0, self.centers.shape[1])))
        prior, coefficients = np.exp(self.mixture.log_prior), self.mixture.coefficients
        squares, linear, _ = (coefficients[own] for own in design.numbers)
        within = (-0.5 / squares) @ prior
        means = -0.5 * linear / squares
        between = ((means - (means @ prior)[:, None]) ** 2) @ prior
        of_numbers = iter(np.sqrt(between / (between + within)).tolist())
        of_categories = iter(
            [_canonical(np.exp(coefficients[own]), prior) for own in design.columns]
        )
        return np.array(
            [
                max(next(of_numbers) for _ in own)
                if isinstance(entering, NumberInput)
                else next(of_categories)
                for own, entering in zip(self.positions, self.inputs, strict=True)
            ]
        )


def fit_classes(rows: np.ndarray, column_of: np.ndarray, nominal: np.ndarray) -> ClassModel | None:
    """Latent classes of encoded rows, NaN where a value is missing, in units of the columns.

    None if one class explains the rows best.
    """
    n = len(rows)
    positions = [np.flatnonzero(column_of == j) for j in range(len(nominal))]
    if n < MIN_ROWS or len(positions) < 2:
        return None
    inputs = [
        class_input(rows[:, own], bool(is_nominal))
        for own, is_nominal in zip(positions, nominal, strict=True)
    ]
    n_used = min(n, MAX_ROWS, max(MAX_ENTRIES // rows.shape[1], MIN_ROWS))
    used = rows[np.linspace(0, n - 1, n_used).astype(np.int64)]
    design = _design(used, positions, inputs)
    variances = [e.min_variance for e in inputs if isinstance(e, NumberInput)]
    mixture = fit_mixture(design, np.concatenate([*variances, np.empty(0)]))
    if len(mixture.log_prior) == 1:
        return None
    discrete = [
        bool(is_nominal) or _n_distinct(rows[:, own[0]]) < MIN_DISTINCT
        for own, is_nominal in zip(positions, nominal, strict=True)
    ]
    centers = _centers(used, mixture.posterior(design.rows))
    return ClassModel(positions, inputs, mixture, centers, np.array(discrete))


def _design(rows: np.ndarray, positions: list[np.ndarray], inputs: list[ClassInput]) -> Design:
    categories: list[np.ndarray] = []
    numbers = [np.empty((len(rows), 0))]
    for own, entering in zip(positions, inputs, strict=True):
        block = entering.encode(rows[:, own])
        (numbers if isinstance(entering, NumberInput) else categories).append(block)
    return make_design(categories, np.hstack(numbers))


def _centers(rows: np.ndarray, posterior: np.ndarray) -> np.ndarray:
    """Mean coordinates of the rows of each class that have them, with one average row added."""
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)
    means = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return (posterior.T @ filled + means) / (posterior.T @ known + 1.0)


def _canonical(probabilities: np.ndarray, prior: np.ndarray) -> float:
    """Largest canonical correlation of categories (c, k) with the classes."""
    marginal = probabilities @ prior
    scaled = probabilities * np.sqrt(prior) / np.sqrt(np.maximum(marginal, 1e-300))[:, None]
    values = np.linalg.svd(scaled, compute_uv=False)
    # The first is 1: both have the same total.
    return float(min(values[1], 1.0)) if len(values) > 1 else 0.0


def _n_distinct(values: np.ndarray) -> int:
    return len(np.unique(values[~np.isnan(values)]))
