"""Real images with classes or human label maps, and distances between shapes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import squareform

from vicinal._core.options import checked
from vicinal._core.scalar_checks import check_count
from vicinal.datasets.folders import find_file, missing_file_error
from vicinal.exceptions import MissingDependencyError

DIGITS, FACES = "mnist_test.npz", "orl_faces.npz"
DISTANCES, SILHOUETTES, PHOTOGRAPHS = "mpeg7_dist.npz", "mpeg7_shapes.npz", "bsds_half.npz"
N_TEST = 10_000


class ShapeDistances(NamedTuple):
    """Distances between the same shapes, by several descriptors.

    Attributes
    ----------
    distances : dict of ndarray of shape (n, n)
        One matrix per descriptor: "sc" shape contexts, "idsc" inner distances, "hf" height functions.
    classes : ndarray of int of shape (n,)
        Class of each shape.
    masks : ndarray of shape (n, 64, 64) or None
        Silhouettes, 1 inside, if the folder has ``mpeg7_shapes.npz``.
    """

    distances: dict[str, np.ndarray]
    classes: np.ndarray
    masks: np.ndarray | None


class Photograph(NamedTuple):
    """An image with label maps drawn by several people.

    Attributes
    ----------
    colors : ndarray of uint8 of shape (height, width, 3)
        RGB values.
    maps : ndarray of int of shape (n_people, height, width)
        Segment of each pixel, per person.
    """

    colors: np.ndarray
    maps: np.ndarray


@checked
def load_mnist(
    folder: str | Path | None = None, *, download: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Load the 10,000 MNIST test images of handwritten digits.

    Parameters
    ----------
    folder : path, optional
        Folder that contains ``mnist_test.npz`` (arrays X, n by 28 by 28 bytes, and y); by default
        $VICINAL_DATA.
    download : bool, default=False
        Download the images from OpenML with scikit-learn if they are not in the folder.

    Returns
    -------
    images : ndarray of shape (10000, 28, 28)
        Grey values from 0 to 1.
    y : ndarray of int of shape (10000,)
        The digits.

    Examples
    --------
    >>> from vicinal.datasets import load_mnist
    >>> images, y = load_mnist(download=True)  # doctest: +SKIP
    """
    images_and_labels = _read_images(DIGITS, folder)
    if images_and_labels is None and download:
        from sklearn.datasets import fetch_openml

        X, y = fetch_openml(
            "mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
        return X[-N_TEST:].reshape(-1, 28, 28) / 255.0, y[-N_TEST:].astype(np.int64)
    if images_and_labels is None:
        raise missing_file_error(DIGITS, "arrays X and y", folder, " Or pass download=True.")
    return images_and_labels


@checked
def load_orl_faces(
    folder: str | Path | None = None, *, download: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Load the ORL faces: ten images of each of forty people.

    Parameters
    ----------
    folder : path, optional
        Folder that contains ``orl_faces.npz`` (arrays X, n by height by width bytes, and y); by default
        $VICINAL_DATA.
    download : bool, default=False
        Download scikit-learn's version (64 by 64 pixels) if the images are not in the folder.

    Returns
    -------
    images : ndarray of shape (400, height, width)
        Grey values from 0 to 1.
    y : ndarray of int of shape (400,)
        Person in each image.

    Examples
    --------
    >>> from vicinal.datasets import load_orl_faces
    >>> images, y = load_orl_faces(download=True)  # doctest: +SKIP
    """
    images_and_labels = _read_images(FACES, folder)
    if images_and_labels is None and download:
        from sklearn.datasets import fetch_olivetti_faces

        faces = fetch_olivetti_faces()
        return faces.images.astype(np.float64), faces.target.astype(np.int64)
    if images_and_labels is None:
        raise missing_file_error(FACES, "arrays X and y", folder, " Or pass download=True.")
    return images_and_labels


def load_mpeg7_distances(folder: str | Path | None = None) -> ShapeDistances:
    """Load distances between the 1,400 MPEG-7 silhouettes (70 classes of 20), by three descriptors.

    Parameters
    ----------
    folder : path, optional
        Folder that contains ``mpeg7_dist.npz`` (condensed distances sc, idsc and hf, and labels); by
        default $VICINAL_DATA.

    Returns
    -------
    ShapeDistances
        Slightly negative matching costs of almost equal shapes are set to 0.

    Examples
    --------
    >>> from vicinal.datasets import load_mpeg7_distances
    >>> shapes = load_mpeg7_distances()  # doctest: +SKIP
    """
    path = find_file(DISTANCES, folder)
    if path is None:
        raise missing_file_error(
            DISTANCES, "condensed distances sc, idsc and hf, and labels", folder
        )
    with np.load(path) as arrays:
        distances = {
            name: squareform(np.maximum(arrays[name].astype(np.float64), 0.0))
            for name in ("sc", "idsc", "hf")
        }
        classes = arrays["labels"].astype(np.int64)
    masks = None
    silhouettes = find_file(SILHOUETTES, folder)
    if silhouettes is not None:
        with np.load(silhouettes) as arrays:
            masks = arrays["mask64"]
    return ShapeDistances(distances, classes, masks)


def load_berkeley_photographs(
    folder: str | Path | None = None, n_photographs: int | None = None
) -> list[Photograph]:
    """Load photographs of the Berkeley segmentation set with human label maps.

    Parameters
    ----------
    folder : path, optional
        Folder that contains ``bsds_half.npz`` (ids, files ``jpg_<id>``, maps ``seg_<id>``); by default
        $VICINAL_DATA.
    n_photographs : int, optional
        Load only this many; all by default.

    Returns
    -------
    list of Photograph
        Images and their label maps.

    Examples
    --------
    >>> from vicinal.datasets import load_berkeley_photographs
    >>> photographs = load_berkeley_photographs(n_photographs=5)  # doctest: +SKIP
    """
    if n_photographs is not None:
        n_photographs = check_count(n_photographs, "n_photographs")
    path = find_file(PHOTOGRAPHS, folder)
    if path is None:
        raise missing_file_error(PHOTOGRAPHS, "ids, jpg_<id> and seg_<id>", folder)
    try:
        from matplotlib.image import imread
    except ImportError as error:
        raise MissingDependencyError(
            "photographs need matplotlib: pip install 'vicinal[plot]'."
        ) from error

    with np.load(path) as arrays:
        return [
            Photograph(
                imread(io.BytesIO(arrays[f"jpg_{name}"].tobytes()), format="jpg"),
                arrays[f"seg_{name}"],
            )
            for name in arrays["ids"][:n_photographs]
        ]


def _read_images(name: str, folder: str | Path | None) -> tuple[np.ndarray, np.ndarray] | None:
    path = find_file(name, folder)
    if path is None:
        return None
    with np.load(path) as arrays:
        return arrays["X"] / 255.0, arrays["y"].astype(np.int64)
