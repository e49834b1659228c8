"""Real tables with classes: small ones of many columns, and plane sets of odd shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vicinal._core.options import checked
from vicinal._core.scalar_checks import check_choice
from vicinal.datasets.folders import find_file, missing

# File of each table: a header, features, the class as an integer last; an empty cell is missing.
TABLES = {
    "breast_tissue": "breast_tissue.csv",
    "wine": "wine.csv",
    "glass": "glass.csv",
    "soybean": "soybean_307.csv",
    "vehicle": "vehicle.csv",
    "image_segmentation": "image_segmentation_2100.csv",
}
# Names at OpenML of those that are the same there.
AT_OPENML = {"breast_tissue": "breast-tissue", "glass": "glass", "vehicle": "vehicle"}
SHAPES = "shapes2d.npz"


@checked
def load_uci_table(
    name: str, folder: str | Path | None = None, *, download: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """One of six small tables on which sparse codes are judged [5].

    Parameters
    ----------
    name : {"breast_tissue", "wine", "glass", "soybean", "vehicle", "image_segmentation"}
        Which one.
    folder : path, optional
        Folder with the table, or with a folder ``uci`` that has it: a header, features, the class as an
        integer last; by default the one that the environment variable VICINAL_DATA names. Wine is
        taken from scikit-learn if it is not there.
    download : bool, default=False
        Fetch the table from OpenML, through scikit-learn, if it is not in the folder. Soybean and image
        segmentation have other rows there and are not fetched.

    Returns
    -------
    X : ndarray of shape (n, n_features)
        Features as they are; a missing value is NaN.
    y : ndarray of int of shape (n,)
        Class of each row.

    Examples
    --------
    >>> from vicinal.datasets import load_uci_table
    >>> X, y = load_uci_table("wine")
    >>> X.shape, len(set(y.tolist()))
    ((178, 13), 3)
    """
    check_choice(name, "name", tuple(TABLES))
    path = find_file(TABLES[name], folder) or find_file(f"uci/{TABLES[name]}", folder)
    if path is not None:
        table = np.genfromtxt(path, delimiter=",", skip_header=1)
        return table[:, :-1], table[:, -1].astype(np.int64)
    if name == "wine":
        from sklearn.datasets import load_wine

        return load_wine(return_X_y=True)
    if download and name in AT_OPENML:
        from sklearn.datasets import fetch_openml

        X, classes = fetch_openml(
            AT_OPENML[name], version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
        return X.astype(np.float64), np.unique(classes, return_inverse=True)[1]
    other = " Or fetch it by download=True." if name in AT_OPENML else ""
    raise missing(TABLES[name], "features, the class last", folder, other)


def load_plane_shapes(name: str, folder: str | Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A set of points in the plane, or in space, whose clusters have odd shapes.

    Parameters
    ----------
    name : str
        Name of a set in the file, for instance "spiral", "jain", "flame", "compound" or "chainlink".
    folder : path, optional
        Folder with ``shapes2d.npz``: points under ``group/name``, classes under ``group/name.labels0``; by
        default the one that the environment variable VICINAL_DATA names.

    Returns
    -------
    X : ndarray of shape (n, n_features)
        Points.
    y : ndarray of int of shape (n,)
        Class of each point, 0 for noise.
    """
    path = find_file(SHAPES, folder)
    if path is None:
        raise missing(SHAPES, "'group/name' points and 'group/name.labels0' classes", folder)
    with np.load(path) as arrays:
        keys = {key.split("/")[-1]: key for key in arrays.files if not key.endswith(".labels0")}
        check_choice(name, "name", tuple(keys))
        key = keys[name]
        return arrays[key].astype(np.float64), arrays[f"{key}.labels0"].astype(np.int64)
