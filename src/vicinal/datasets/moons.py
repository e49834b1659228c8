"""Two moons: two clusters that no straight line separates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.options import entry, random_generator
from vicinal._core.scalar_checks import check_count, check_real

if TYPE_CHECKING:
    from vicinal._core.types import RandomStateLike


@entry
def make_two_moons(
    n_points: int = 400, *, noise: float = 0.05, random_state: RandomStateLike = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two interlocking half circles, with isotropic Gaussian noise.

    Parameters
    ----------
    n_points : int, default=400
        Total number of points; if it is odd, the first moon has one more.
    noise : float, default=0.05
        Standard deviation of the noise in each coordinate; the moons have radius 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the positions along the moons and of the noise.

    Returns
    -------
    X : ndarray of shape (n_points, 2)
        The points, moon by moon.
    y : ndarray of shape (n_points,)
        Moon of each point, 0 or 1.

    Examples
    --------
    >>> from vicinal.datasets import make_two_moons
    >>> X, y = make_two_moons(100, random_state=0)
    >>> X.shape, int(y.sum())
    ((100, 2), 50)
    """
    n_points = check_count(n_points, "n_points")
    noise = check_real(noise, "noise", low=0.0, high=1e100)
    rng = random_generator(random_state)

    y = (np.arange(n_points) >= (n_points + 1) // 2).astype(np.int64)
    angle = np.pi * rng.random(n_points)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)])
    X = np.where(y[:, None] == 0, upper, lower)
    return X + noise * rng.standard_normal(X.shape), y
