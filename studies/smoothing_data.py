"""Data of the study of self-smoothing: from a given folder, otherwise from scikit-learn's digits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist, squareform

from studies.images import bundled_digits, first_per_class
from studies.loaders import (
    DISTANCES,
    FACES,
    PHOTOGRAPHS,
    load_berkeley_photographs,
    load_mpeg7_distances,
    load_orl_faces,
)

# Side in pixels of the squares over which photographs are averaged.
BLOCK = 4


class Items(NamedTuple):
    """Distances of the same items from several sources, with classes and images."""

    distances: dict[str, np.ndarray]
    classes: np.ndarray
    pixels: np.ndarray
    name: str


class GreyImage(NamedTuple):
    """Grey image with human label maps."""

    grey: np.ndarray
    maps: np.ndarray


def shapes(folder: Path | None, max_items: int | None) -> Items:
    """MPEG-7 by shape contexts, inner distances and height functions; otherwise digits by three metrics."""
    if folder is None or not (folder / DISTANCES).is_file():
        return digits(max_items)
    shapes = load_mpeg7_distances(folder)
    distances = {name.upper(): matrix for name, matrix in shapes.distances.items()}
    pixels = np.zeros((len(shapes.classes), 1, 1)) if shapes.masks is None else 1.0 - shapes.masks
    return _first_classes(Items(distances, shapes.classes, pixels, "MPEG-7"), max_items)


def digits(max_items: int | None) -> Items:
    """Digits of scikit-learn by Euclidean, city block and cosine distance."""
    images = first_per_class(bundled_digits(), max_items)
    distances = {
        name: squareform(pdist(images.points, name))
        for name in ("euclidean", "cityblock", "cosine")
    }
    return Items(distances, images.classes, 1.0 - images.pixels, "digits")


def faces(folder: Path | None, max_items: int | None) -> Items:
    """ORL at 16 by 16 pixels, each image standardised, by Euclidean distance; otherwise digits."""
    if folder is None or not (folder / FACES).is_file():
        items = digits(max_items)
        euclidean = {"euclidean": items.distances["euclidean"]}
        return items._replace(distances=euclidean, name="digits, one metric")
    pixels, classes = load_orl_faces(folder)
    rows, columns = (area_means(size, 16) for size in pixels.shape[1:])
    averaged = (rows @ pixels @ columns.T).reshape(len(pixels), -1)
    averaged = (averaged - averaged.mean(axis=1, keepdims=True)) / averaged.std(
        axis=1, keepdims=True
    )
    distances = {"euclidean": squareform(pdist(averaged))}
    return _first_classes(Items(distances, classes, pixels, "ORL"), max_items)


def has_photographs(folder: Path | None) -> bool:
    """Whether a folder contains the Berkeley images."""
    return folder is not None and (folder / PHOTOGRAPHS).is_file()


def photographs(folder: Path | None, max_items: int) -> Iterator[GreyImage]:
    """Berkeley images in grey with their human maps, downscaled; otherwise noisy images of three regions."""
    if folder is None or not has_photographs(folder):
        yield from (three_regions(seed) for seed in range(max_items))
        return
    for colors, maps in load_berkeley_photographs(folder, max_items):
        grey = colors.astype(np.float64) @ [0.299, 0.587, 0.114]
        height, width = (size // BLOCK * BLOCK for size in grey.shape)
        blocks = grey[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK)
        middle = BLOCK // 2
        yield GreyImage(blocks.mean(axis=(1, 3)), maps[:, middle:height:BLOCK, middle:width:BLOCK])


def three_regions(seed: int, shape: tuple[int, int] = (30, 40)) -> GreyImage:
    """A noisy image of a disc in front of two regions."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    center = rng.uniform(0.3, 0.7, 2) * shape
    disc = np.hypot(rows - center[0], columns - center[1]) < 0.25 * min(shape)
    truth = np.where(disc, 2, columns > rng.uniform(0.3, 0.7) * shape[1])
    grey = np.array([0.0, 100.0, 200.0])[truth] + 40.0 * rng.normal(size=shape)
    return GreyImage(grey, truth[None])


def area_means(size: int, n_parts: int) -> np.ndarray:
    """Weights (n_parts, size) that average pixels over equal parts of a line."""
    edges = np.linspace(0, size, n_parts + 1)
    left = np.maximum(edges[:-1, None], np.arange(size))
    right = np.minimum(edges[1:, None], np.arange(1, size + 1))
    return np.maximum(right - left, 0.0) * n_parts / size


def _first_classes(items: Items, max_items: int | None) -> Items:
    """All items of the first classes, up to a total number; everything by default."""
    if max_items is None or max_items >= len(items.classes):
        return items
    _, codes, counts = np.unique(items.classes, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    rank = np.concatenate([np.arange(count) for count in counts])
    n_classes = max(1, max_items // max(1, int(np.median(counts))))
    # Complete classes, because a fraction of each would leave nothing to retrieve.
    selected = (
        np.sort(order[codes[order] < n_classes]) if len(counts) > n_classes else order[rank < 1]
    )
    return Items(
        {name: matrix[np.ix_(selected, selected)] for name, matrix in items.distances.items()},
        items.classes[selected],
        items.pixels[selected],
        items.name,
    )
