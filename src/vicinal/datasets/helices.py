"""Helices: curves around a common axis, clusters that no plane separates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.options import entry, random_generator
from vicinal._core.scalar_checks import check_count, check_real

if TYPE_CHECKING:
    from vicinal._core.types import RandomStateLike


@entry
def make_helices(
    n_points: int = 300,
    *,
    n_curves: int = 3,
    turns: float = 1.5,
    height: float = 6.0,
    noise: float = 0.02,
    random_state: RandomStateLike = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Intertwined helices, with isotropic Gaussian noise.

    Parameters
    ----------
    n_points : int, default=300
        Total number of points; the sizes of the curves differ by at most one.
    n_curves : int, default=3
        Number of curves, rotated evenly around the same axis.
    turns : float, default=1.5
        Number of turns of a curve.
    height : float, default=6.0
        Extent along the axis; the radius is 1. At the same angle, neighbouring curves are
        ``height / (turns * n_curves)`` apart.
    noise : float, default=0.02
        Standard deviation of the noise in each coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the positions along the curves and of the noise.

    Returns
    -------
    X : ndarray of shape (n_points, 3)
        The points, curve by curve and upwards. Each curve is divided into equal segments with one
        point in each, so the gap between consecutive points is at most two segments.
    y : ndarray of shape (n_points,)
        Curve of each point.

    Examples
    --------
    >>> from vicinal.datasets import make_helices
    >>> X, y = make_helices(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 3), [0, 1, 2])
    """
    n_points = check_count(n_points, "n_points")
    n_curves = check_count(n_curves, "n_curves")
    turns = check_real(turns, "turns", low=1e-6, high=1e6)
    height = check_real(height, "height", low=0.0)
    noise = check_real(noise, "noise", low=0.0, high=1e100)
    rng = random_generator(random_state)

    y = np.arange(n_points) * n_curves // n_points
    sizes = np.bincount(y, minlength=n_curves)
    segment = np.arange(n_points) - (np.cumsum(sizes) - sizes)[y]
    position = (segment + rng.random(n_points)) / sizes[y]
    angle = 2.0 * np.pi * (turns * position + y / n_curves)
    X = np.column_stack([np.cos(angle), np.sin(angle), height * position])
    return X + noise * rng.standard_normal(X.shape), y
