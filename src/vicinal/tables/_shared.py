"""The part of discrete columns that groups of rows explain, as continuous coordinates.

Categories put rows on a lattice, whose nodes look like clusters. Only what a category says about the latent
classes of its row (`_class_model`) is evidence of groups. So a row is placed at the mean categories of its
classes, weighted by their probabilities; columns of numbers keep their own coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vicinal.tables._class_model import ClassModel
from vicinal.tables._latent_classes import row_products


class SharedPart(NamedTuple):
    """Points of encoded rows: numbers as they are, discrete columns by what classes explain of them.

    Attributes
    ----------
    model : ClassModel
        Latent classes of the rows.
    units : ndarray (n_coordinates,)
        Root of the weight of each coordinate.
    kept : ndarray of int
        Coordinates that stay as they are.
    residual : float
        Factor of what classes leave of discrete columns. Without numbers, rows would still be on a lattice,
        finer than the uncertainty of their classes; the rest then makes up for this uncertainty.
    """

    model: ClassModel
    units: np.ndarray
    kept: np.ndarray
    residual: float

    def project(self, rows: np.ndarray) -> np.ndarray:
        """Points of completed rows.

        Classes of the given values alone are less certain the more values are missing, so that rows would be
        grouped by their number of missing values.
        """
        posterior = self.model.posterior(rows / self.units)
        parts = [rows[:, self.kept], row_products(posterior, self._places())]
        if self.residual:
            parts.append(self.residual * self._rest(rows, posterior))
        return np.ascontiguousarray(np.hstack(parts))

    def names(self, coordinates: Sequence[str]) -> list[str]:
        """Names of the coordinates of points, from those of encoded rows."""
        names = [coordinates[i] for i in self.kept]
        names += [f"shared {i + 1}" for i in range(self._places().shape[1])]
        if self.residual:
            names += [f"{coordinates[i]} rest" for i in self._replaced()]
        return names

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of points."""
        n_rest = len(self._replaced()) if self.residual else 0
        return len(self.kept) + self._places().shape[1] + n_rest

    def _replaced(self) -> np.ndarray:
        """Coordinates that are replaced by what classes explain."""
        return np.setdiff1d(np.arange(len(self.units)), self.kept)

    def _means(self) -> np.ndarray:
        """Mean of the replaced coordinates in each class."""
        replaced = self._replaced()
        return self.model.centers[:, replaced] * self.units[replaced]

    def _places(self) -> np.ndarray:
        """Means of the classes, in the fewest coordinates with the same distances."""
        means = self._means()
        left, strengths, _ = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
        kept = strengths > 1e-9 * max(strengths.max(initial=0.0), 1e-300)
        return left[:, kept] * strengths[kept]

    def _rest(self, rows: np.ndarray, posterior: np.ndarray) -> np.ndarray:
        """Replaced coordinates, less what classes explain."""
        return rows[:, self._replaced()] - row_products(posterior, self._means())


def fit_shared_part(
    model: ClassModel, rows: np.ndarray, weights: np.ndarray, as_they_are: np.ndarray
) -> SharedPart | None:
    """Shared part of discrete columns; None without any.

    ``rows`` are in units of the columns; columns ``as_they_are`` keep their coordinates.
    """
    replaced = model.discrete & ~as_they_are
    if not replaced.any():
        return None
    sizes = [len(own) for own in model.positions]
    units = np.repeat(np.sqrt(weights), sizes)
    part = SharedPart(model, units, np.flatnonzero(~np.repeat(replaced, sizes)), 0.0)
    complete = ~np.isnan(rows).any(axis=1)
    sampled = rows[complete] if complete.any() else np.nan_to_num(rows)
    posterior = model.posterior(sampled)
    means = part._means()
    explained = row_products(posterior, means)
    # Mean variance of the place of a row over its possible classes.
    second = row_products(posterior, (means**2).sum(axis=1, keepdims=True))[:, 0]
    uncertainty = float((second - (explained**2).sum(axis=1)).mean())
    # Squared differences of numbers are 1 on average, so their variance is a half.
    unique = 0.5 * float((weights * (1.0 - model.correlations() ** 2))[~replaced].sum())
    spread = float(part._rest(sampled * units, posterior).var(axis=0).sum())
    missing_spread = max(uncertainty - unique, 0.0)
    return part._replace(residual=float(np.sqrt(missing_spread / spread)) if spread > 0 else 0.0)
