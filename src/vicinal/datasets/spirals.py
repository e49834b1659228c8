"""Spirals: curves that pass close to themselves, where edges that are too long are easy to see."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.options import entry, random_generator
from vicinal._core.scalar_checks import check_count, check_real

if TYPE_CHECKING:
    from vicinal._core.types import RandomStateLike

# Arms start at this fraction of the outer radius; at the centre they would touch.
_INNER_RADIUS = 0.15


@entry
def make_spirals(
    n_points: int = 400,
    *,
    n_arms: int = 2,
    turns: float = 1.5,
    noise: float = 0.02,
    random_state: RandomStateLike = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Interleaved spiral arms around one centre, with isotropic Gaussian noise.

    Parameters
    ----------
    n_points : int, default=400
        Total number of points; the sizes of the arms differ by at most one.
    n_arms : int, default=2
        Number of arms, rotated evenly around the centre.
    turns : float, default=1.5
        Number of turns of an arm. Neighbouring turns are ``0.85 / (turns * n_arms)`` apart.
    noise : float, default=0.02
        Standard deviation of the noise in each coordinate; the outer radius of the spiral is 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the positions along the arms and of the noise.

    Returns
    -------
    X : ndarray of shape (n_points, 2)
        The points, arm by arm and from the centre outwards.
    y : ndarray of shape (n_points,)
        Arm of each point.

    Examples
    --------
    >>> from vicinal.datasets import make_spirals
    >>> X, y = make_spirals(100, n_arms=2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    n_points = check_count(n_points, "n_points")
    n_arms = check_count(n_arms, "n_arms")
    turns = check_real(turns, "turns", low=1e-6, high=1e6)
    noise = check_real(noise, "noise", low=0.0, high=1e100)
    rng = random_generator(random_state)

    y = np.arange(n_points) * n_arms // n_points
    position = rng.random(n_points)
    position = position[np.lexsort((position, y))]
    angle = _angle_at(position, turns)
    radius = _INNER_RADIUS + (1.0 - _INNER_RADIUS) * angle / (2.0 * np.pi * turns)
    rotated = angle + 2.0 * np.pi * y / n_arms
    X = radius[:, None] * np.column_stack([np.cos(rotated), np.sin(rotated)])
    return X + noise * rng.standard_normal(X.shape), y


def load_noisy_spiral() -> np.ndarray:
    """Load a noisy spiral of 300 points that ships with the package.

    It is the output of ``make_spirals(300, n_arms=1, turns=2, noise=0.05, random_state=2)``,
    rounded to six decimals and stored in a file, so that figures can be reproduced with any version
    of numpy.

    Returns
    -------
    ndarray of shape (300, 2)
        The points.

    Examples
    --------
    >>> from vicinal.datasets import load_noisy_spiral
    >>> load_noisy_spiral().shape
    (300, 2)
    """
    with (files("vicinal.datasets") / "noisy_spiral.csv").open() as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1)


def _angle_at(position: np.ndarray, turns: float) -> np.ndarray:
    """Angles at given fractions of the length of an arm."""
    angle = np.linspace(0.0, 2.0 * np.pi * turns, 2000)
    growth = (1.0 - _INNER_RADIUS) / angle[-1]
    speed = np.hypot(_INNER_RADIUS + growth * angle, growth)
    length = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2.0)])
    return np.interp(position * length[-1], length, angle)
