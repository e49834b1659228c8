"""Real tables with classes: small ones with many columns, and planar sets of unusual shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vicinal._core.options import checked
from vicinal._core.scalar_checks import check_choice
from vicinal.datasets.folders import find_file, missing_file_error

# File of each table: a header, features, and the class as an integer in the last column; empty cells are
# missing values.
TABLES = {
    "breast_tissue": "breast_tissue.csv",
    "wine": "wine.csv",
    "glass": "glass.csv",
    "soybean": "soybean_307.csv",
    "vehicle": "vehicle.csv",
    "image_segmentation": "image_segmentation_2100.csv",
}
# OpenML names of the tables that are identical there.
OPENML_NAMES = {"breast_tissue": "breast-tissue", "glass": "glass", "vehicle": "vehicle"}
SHAPES = "shapes2d.npz"


@checked
def load_uci_table(
    name: str, folder: str | Path | None = None, *, download: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Load one of six small tables used to evaluate sparse codes [5].

    Parameters
    ----------
    name : {"breast_tissue", "wine", "glass", "soybean", "vehicle", "image_segmentation"}
        Name of the table.
    folder : path, optional
        Folder that contains the table, directly or in a subfolder ``uci``: a header, features, and the
        class as an integer in the last column; by default $VICINAL_DATA. Wine comes from scikit-learn
        if it is not there.
    download : bool, default=False
        Download the table from OpenML with scikit-learn if it is not in the folder. Soybean and image
        segmentation have different rows there and cannot be downloaded.

    Returns
    -------
    X : ndarray of shape (n, n_features)
        Raw features; missing values are NaN.
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
    if download and name in OPENML_NAMES:
        from sklearn.datasets import fetch_openml

        X, classes = fetch_openml(
            OPENML_NAMES[name], version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
        return X.astype(np.float64), np.unique(classes, return_inverse=True)[1]
    alternative = " Or pass download=True." if name in OPENML_NAMES else ""
    raise missing_file_error(TABLES[name], "features, the class last", folder, alternative)


def load_plane_shapes(name: str, folder: str | Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Load points in the plane or in space whose clusters have unusual shapes.

    Parameters
    ----------
    name : str
        Name of a set in the file, for instance "spiral", "jain", "flame", "compound" or "chainlink".
    folder : path, optional
        Folder that contains ``shapes2d.npz``: points under ``group/name``, classes under
        ``group/name.labels0``; by default $VICINAL_DATA.

    Returns
    -------
    X : ndarray of shape (n, n_features)
        Points.
    y : ndarray of int of shape (n,)
        Class of each point, 0 for noise.

    Examples
    --------
    >>> from vicinal.datasets import load_plane_shapes
    >>> X, y = load_plane_shapes("spiral")  # doctest: +SKIP
    """
    path = find_file(SHAPES, folder)
    if path is None:
        raise missing_file_error(
            SHAPES, "'group/name' points and 'group/name.labels0' classes", folder
        )
    with np.load(path) as arrays:
        keys = {key.split("/")[-1]: key for key in arrays.files if not key.endswith(".labels0")}
        check_choice(name, "name", tuple(keys))
        key = keys[name]
        return arrays[key].astype(np.float64), arrays[f"{key}.labels0"].astype(np.int64)
