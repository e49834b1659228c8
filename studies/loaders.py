"""Real data of the studies and benchmarks, read from a folder: by default that of $VICINAL_DATA."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import squareform

# Environment variable with the default folder.
VARIABLE = "VICINAL_DATA"
DIGITS, FACES = "mnist_test.npz", "orl_faces.npz"
DISTANCES, SILHOUETTES, PHOTOGRAPHS = "mpeg7_dist.npz", "mpeg7_shapes.npz", "bsds_half.npz"
SHAPES = "shapes2d.npz"
# Tables used to evaluate sparse codes [5]: a header, features, and the class as an integer in the last
# column; empty cells are missing values.
TABLES = {
    "breast_tissue": "breast_tissue.csv",
    "wine": "wine.csv",
    "glass": "glass.csv",
    "soybean": "soybean_307.csv",
    "vehicle": "vehicle.csv",
    "image_segmentation": "image_segmentation_2100.csv",
}


class ShapeDistances(NamedTuple):
    """Distances (n, n) between shapes by descriptor, their classes, and their silhouettes if present.

    The descriptors are "sc" shape contexts, "idsc" inner distances and "hf" height functions.
    """

    distances: dict[str, np.ndarray]
    classes: np.ndarray
    masks: np.ndarray | None


class Photograph(NamedTuple):
    """RGB image (height, width, 3) with label maps (n_people, height, width) drawn by several people."""

    colors: np.ndarray
    maps: np.ndarray


def load_mnist(folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The 10,000 MNIST test images, with grey values from 0 to 1, and their digits."""
    return _load_images(DIGITS, folder)


def load_orl_faces(folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The ORL faces, ten images of each of forty people, with grey values from 0 to 1, and the people."""
    return _load_images(FACES, folder)


def load_mpeg7_distances(folder: Path | None = None) -> ShapeDistances:
    """Distances between the 1,400 MPEG-7 silhouettes (70 classes of 20), by three descriptors."""
    path = find_file(DISTANCES, "condensed distances sc, idsc and hf, and labels", folder)
    with np.load(path) as arrays:
        # Matching costs of almost equal shapes may be slightly negative.
        distances = {
            name: squareform(np.maximum(arrays[name].astype(np.float64), 0.0))
            for name in ("sc", "idsc", "hf")
        }
        classes = arrays["labels"].astype(np.int64)
    masks = None
    if (path.parent / SILHOUETTES).is_file():
        with np.load(path.parent / SILHOUETTES) as arrays:
            masks = arrays["mask64"]
    return ShapeDistances(distances, classes, masks)


def load_berkeley_photographs(
    folder: Path | None = None, n_photographs: int | None = None
) -> list[Photograph]:
    """Photographs of the Berkeley segmentation set with human label maps; all, or the first ones."""
    from matplotlib.image import imread

    with np.load(find_file(PHOTOGRAPHS, "ids, jpg_<id> and seg_<id>", folder)) as arrays:
        return [
            Photograph(
                imread(io.BytesIO(arrays[f"jpg_{name}"].tobytes()), format="jpg"),
                arrays[f"seg_{name}"],
            )
            for name in arrays["ids"][:n_photographs]
        ]


def load_uci_table(name: str, folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Features of one of `TABLES`, with NaN for missing values, and the class of each row.

    The file is in the folder itself or in its subfolder ``uci``.
    """
    folder = data_folder(folder)
    tables = folder / "uci" if (folder / "uci").is_dir() else folder
    path = find_file(TABLES[name], "features, the class last", tables)
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    return table[:, :-1], table[:, -1].astype(np.int64)


def load_plane_shapes(name: str, folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Points in few dimensions whose clusters have unusual shapes, such as "spiral"; class 0 is noise."""
    path = find_file(SHAPES, "'group/name' points and 'group/name.labels0' classes", folder)
    with np.load(path) as arrays:
        (key,) = (key for key in arrays.files if key.split("/")[-1] == name)
        return arrays[key].astype(np.float64), arrays[f"{key}.labels0"].astype(np.int64)


def data_folder(folder: Path | None = None) -> Path:
    """The given folder, by default that of the environment variable."""
    if folder is None and not os.environ.get(VARIABLE):
        raise FileNotFoundError(f"no folder of data is known; set {VARIABLE} to one.")
    return folder or Path(os.environ[VARIABLE])


def find_file(name: str, content: str, folder: Path | None) -> Path:
    """Path of a file in the folder; an error says what the file must contain."""
    path = data_folder(folder) / name
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} does not contain {name} ({content}).")
    return path


def check_folder(folder: Path | None, *names: str) -> None:
    """Raise if the folder that was given to a study has none of the files that it reads."""
    if folder is not None and not any((folder / name).is_file() for name in names):
        raise FileNotFoundError(
            f"--data {folder} lacks {', '.join(names)}; the page of the study in docs/ "
            "describes them. Omit the option to use the digits of scikit-learn."
        )


def _load_images(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    path = find_file(name, "arrays X, n by height by width bytes, and y", folder)
    with np.load(path) as arrays:
        return arrays["X"] / 255.0, arrays["y"].astype(np.int64)
