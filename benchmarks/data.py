"""Data of the benchmarks: generated points with known structure, and one image."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

N_CLASSES = 10
N_SEGMENTS = 6


def make_points(kind: str, n: int, d: int) -> np.ndarray:
    """The data of a case by its kind."""
    return MAKERS[kind](n, d)


def uniform(n: int, d: int) -> np.ndarray:
    """Points in the unit cube."""
    return np.random.default_rng(0).random((n, d))


def curved(n: int, d: int) -> np.ndarray:
    """An 8-dimensional sheet in d dimensions."""
    rng = np.random.default_rng(0)
    # Real tables with many columns have a much lower intrinsic dimension; noise makes rows distinct.
    latent = rng.standard_normal((n, 8))
    surface = np.tanh(latent @ rng.standard_normal((8, 64))) @ rng.standard_normal((64, d)) / 8
    return surface + 0.02 * rng.standard_normal((n, d))


def blobs(n: int, d: int) -> np.ndarray:
    """Ten overlapping Gaussian clusters; point i belongs to cluster ``classes(n)[i]``."""
    rng = np.random.default_rng(0)
    centers = 0.85 * rng.standard_normal((N_CLASSES, d))
    return centers[classes(n)] + rng.standard_normal((n, d))


def classes(n: int) -> np.ndarray:
    """True clusters of `blobs`."""
    return np.arange(n) % N_CLASSES


def roll(n: int, d: int) -> np.ndarray:
    """The Swiss roll, rolled up from ``sheet(n)``, in three dimensions."""
    along, across = sheet(n).T
    # Angle at which the spiral r = angle has this length: a few Newton steps.
    angle = np.sqrt(2 * along)
    for _ in range(30):
        root = np.sqrt(1 + angle**2)
        angle -= ((angle * root + np.arcsinh(angle)) / 2 - along) / root
    return np.column_stack([angle * np.cos(angle), across, angle * np.sin(angle)])


def sheet(n: int) -> np.ndarray:
    """Flat coordinates of `roll`, uniform on a rectangle."""
    return np.random.default_rng(0).random((n, 2)) * [80.0, 21.0] + [10.0, 0.0]


def photo(n: int, d: int) -> np.ndarray:
    """A colour image of about n pixels, 3 by 2: curved segments with shading, texture and noise."""
    rng = np.random.default_rng(0)
    height = round(np.sqrt(n * 321 / 481))
    width = n // height
    segments = photo_segments(height, width)
    y, x = np.mgrid[:height, :width] / width
    colors = rng.uniform(40, 215, (N_SEGMENTS, 3))[segments]
    shade = 18 * np.sin(2 * x + 3 * y) + 6 * np.sin(90 * x * (1 + segments)) * np.cos(70 * y)
    noisy = colors + shade[..., None] + 6 * rng.standard_normal(colors.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def photo_segments(height: int, width: int) -> np.ndarray:
    """True segments of `photo`: the nearest of a few seeds, with wavy borders."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:height, :width] / width
    wavy = np.stack([y + 0.04 * np.sin(9 * x), x + 0.05 * np.sin(8 * y)], axis=-1)
    seeds = rng.random((N_SEGMENTS, 2)) * [height / width, 1.0]
    return np.argmin(np.linalg.norm(wavy[:, :, None] - seeds, axis=-1), axis=2)


def half_cylinders(n: int, d: int) -> np.ndarray:
    """Two surfaces in noise, in three dimensions, see `surfaces`."""
    return surfaces(n)[0]


def surfaces(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A third of the points on each of two half-cylinders, a third noise; and the true labels."""
    from vicinal.datasets import make_half_cylinders

    return make_half_cylinders(n // 3, n - 2 * (n // 3), random_state=0)


def helices(n: int, d: int) -> np.ndarray:
    """Three intertwined curves, in three dimensions, see `curves`."""
    return curves(n)[0]


def curves(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on three helices, and the true labels."""
    from vicinal.datasets import make_helices

    return make_helices(n, random_state=0)


def directions(n: int, d: int) -> np.ndarray:
    """Unit vectors in random directions."""
    X = np.random.default_rng(0).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


MAKERS: dict[str, Callable[[int, int], np.ndarray]] = {
    "uniform": uniform,
    "curved": curved,
    "blobs": blobs,
    "roll": roll,
    "photo": photo,
    "half cylinders": half_cylinders,
    "directions": directions,
    "helices": helices,
}
