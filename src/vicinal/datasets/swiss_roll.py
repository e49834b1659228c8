"""The Swiss roll: a flat sheet rolled up in space, with known geodesic distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.memory import require_memory
from vicinal._core.options import entry, random_generator
from vicinal._core.scalar_checks import check_count, check_real

if TYPE_CHECKING:
    from vicinal._core.types import RandomStateLike

# The roll of Tenenbaum, de Silva and Langford (2000): one and a half turns, with a width of one and a half
# times its outer radius.
_FIRST_ANGLE, _LAST_ANGLE = 1.5 * np.pi, 4.5 * np.pi
_WIDTH = 21.0


@entry
def make_swiss_roll(
    n_points: int = 1000,
    *,
    noise: float = 0.0,
    return_geodesics: bool = False,
    random_state: RandomStateLike = None,
) -> tuple[np.ndarray, ...]:
    """Uniform points on a rolled-up sheet, with isotropic Gaussian noise.

    The sheet is a rectangle, and rolling does not stretch it: the geodesic distance of two points is
    the Euclidean distance of their positions on the flat sheet.

    Parameters
    ----------
    n_points : int, default=1000
        Number of points.
    noise : float, default=0
        Standard deviation of the noise in each coordinate. Neighbouring turns are 2 pi apart.
    return_geodesics : bool, default=False
        Whether to return the matrix of true geodesic distances as well.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the positions on the sheet and of the noise.

    Returns
    -------
    X : ndarray of shape (n_points, 3)
        The points; the roll's axis is the second coordinate.
    sheet : ndarray of shape (n_points, 2)
        Their positions on the flat sheet before noise: arc length along the spiral, and position
        along the axis.
    geodesics : ndarray of shape (n_points, n_points)
        Exact distances on the sheet; only if ``return_geodesics``.

    Examples
    --------
    >>> from vicinal.datasets import make_swiss_roll
    >>> X, sheet = make_swiss_roll(100, random_state=0)
    >>> X.shape, sheet.shape
    ((100, 3), (100, 2))
    """
    n_points = check_count(n_points, "n_points")
    noise = check_real(noise, "noise", low=0.0, high=1e100)
    if return_geodesics:
        require_memory(8.0 * n_points**2, "the geodesic distances", "Use fewer points.")
    rng = random_generator(random_state)

    angles = np.linspace(_FIRST_ANGLE, _LAST_ANGLE, 2000)
    lengths = _arc_length(angles)
    # Interpolated angles are close to uniform in arc length; their arc lengths are exact.
    angle = np.interp(rng.uniform(lengths[0], lengths[-1], n_points), lengths, angles)
    along_axis = _WIDTH * rng.random(n_points)
    X = np.column_stack([angle * np.cos(angle), along_axis, angle * np.sin(angle)])
    X += noise * rng.standard_normal(X.shape)
    sheet = np.column_stack([_arc_length(angle) - lengths[0], along_axis])
    if not return_geodesics:
        return X, sheet
    from scipy.spatial.distance import cdist

    return X, sheet, cdist(sheet, sheet)


def _arc_length(angle: np.ndarray) -> np.ndarray:
    """Arc length of the spiral radius = angle, from its centre."""
    return (angle * np.sqrt(1.0 + angle**2) + np.arcsinh(angle)) / 2.0
