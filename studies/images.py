"""Images for the studies: from a given folder, otherwise the digits that come with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from studies.loaders import DIGITS, FACES, load_mnist, load_orl_faces

Loader = Callable[[Path], tuple[np.ndarray, np.ndarray]]


class Images(NamedTuple):
    """Grey images (n, height, width) from 0 to 1, their classes and their source."""

    pixels: np.ndarray
    classes: np.ndarray
    source: str

    @property
    def points(self) -> np.ndarray:
        return self.pixels.reshape(len(self.pixels), -1)


def handwritten(folder: Path | None, classes: tuple[int, ...], max_images: int | None) -> Images:
    """Handwritten digits of some classes; MNIST's test set if the folder has it."""
    images = _load_if_present(folder, DIGITS, load_mnist, "MNIST") or bundled_digits()
    selected = np.flatnonzero(np.isin(images.classes, classes))
    return first_per_class(
        Images(images.pixels[selected], images.classes[selected], images.source), max_images
    )


def faces(folder: Path | None, max_images: int | None) -> Images:
    """Faces of several persons, averaged over 4 by 4 pixels, if the folder has them; otherwise all digits."""
    images = _load_if_present(folder, FACES, load_orl_faces, "ORL faces")
    if images is None:
        return first_per_class(bundled_digits(), max_images)
    n, height, width = images.pixels.shape
    blocks = images.pixels[:, : height // 4 * 4, : width // 4 * 4]
    averaged = blocks.reshape(n, height // 4, 4, width // 4, 4).mean(axis=(2, 4))
    return first_per_class(images._replace(pixels=averaged), max_images)


def _load_if_present(folder: Path | None, name: str, load: Loader, source: str) -> Images | None:
    if folder is None or not (folder / name).is_file():
        return None
    return Images(*load(folder), source)


def bundled_digits() -> Images:
    """The digits that come with scikit-learn."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Images(digits.images / 16.0, digits.target.astype(np.int64), "digits of scikit-learn")


def first_per_class(images: Images, max_images: int | None) -> Images:
    """First images of each class, as many per class, up to a total number."""
    if max_images is None or max_images >= len(images.classes):
        return images
    order = np.argsort(images.classes, kind="stable")
    counts = np.bincount(images.classes)[np.unique(images.classes)]
    rank = np.concatenate([np.arange(count) for count in counts])
    selected = np.sort(order[np.argsort(rank, kind="stable")[:max_images]])
    return Images(images.pixels[selected], images.classes[selected], images.source)
