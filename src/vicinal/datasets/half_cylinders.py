"""Two interlocking half-cylinders in noise, the standard example of data perception."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.options import entry, random_generator
from vicinal._core.scalar_checks import check_count

if TYPE_CHECKING:
    from vicinal._core.types import RandomStateLike

HEIGHT = 3.0
SHIFT = (1.0, 0.5)
PADDING = 0.3


@entry
def make_half_cylinders(
    n_points: int = 800, n_noise: int = 800, *, random_state: RandomStateLike = None
) -> tuple[np.ndarray, np.ndarray]:
    """Points on two interlocking half-cylinders of radius 1 and height 3, and uniform noise.

    Parameters
    ----------
    n_points : int, default=800
        Number of points on each half-cylinder.
    n_noise : int, default=800
        Number of uniform points in the bounding box, extended by 0.3 on each side.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all points.

    Returns
    -------
    X : ndarray of shape (2 * n_points + n_noise, 3)
        The points, surface by surface, then the noise.
    labels : ndarray of int of shape (2 * n_points + n_noise,)
        0 and 1 for the surfaces, -1 for noise.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007, figure 1.

    Examples
    --------
    >>> from vicinal.datasets import make_half_cylinders
    >>> X, labels = make_half_cylinders(100, 50, random_state=0)
    >>> X.shape
    (250, 3)
    """
    n_points = check_count(n_points, "n_points")
    n_noise = check_count(n_noise, "n_noise", low=0)
    rng = random_generator(random_state)
    angles = rng.uniform(0.0, np.pi, (2, n_points))
    heights = rng.uniform(0.0, HEIGHT, (2, n_points))
    upper = np.column_stack([np.cos(angles[0]), np.sin(angles[0]), heights[0]])
    lower = np.column_stack(
        [np.cos(angles[1]) + SHIFT[0], SHIFT[1] - np.sin(angles[1]), heights[1]]
    )
    surfaces = np.concatenate([upper, lower])
    low, high = surfaces.min(axis=0) - PADDING, surfaces.max(axis=0) + PADDING
    X = np.concatenate([surfaces, rng.uniform(low, high, (n_noise, 3))])
    labels = np.repeat([0, 1, -1], [n_points, n_points, n_noise])
    return X, labels
