"""Small labelled tables: from a given folder, otherwise those that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from studies.loaders import TABLES, load_uci_table

# Names in the paper.
SETS = {
    "BT": "breast_tissue",
    "Wine": "wine",
    "Glass": "glass",
    "Soybean": "soybean",
    "Vehicle": "vehicle",
    "Image": "image_segmentation",
}


class Labelled(NamedTuple):
    """Standardised features and the class of each point."""

    name: str
    points: np.ndarray
    classes: np.ndarray


def find_folder(folder: Path | None) -> Path | None:
    """Folder of the tables: the given one, or ``uci`` in it."""
    if folder is None:
        return None
    for path in (folder, folder / "uci"):
        if all((path / name).is_file() for name in TABLES.values()):
            return path
    raise FileNotFoundError(
        f"--data {folder} contains {', '.join(TABLES.values())} neither directly nor in uci/; omit the "
        "option to use the sets that come with scikit-learn."
    )


def read_sets(folder: Path | None, max_rows: int | None = None) -> list[Labelled]:
    """The six sets of the paper; without a folder, wine, breast cancer and digits of scikit-learn.

    Features are standardised, missing values are replaced by the mean of their feature, and constant
    features are dropped. Sets with more than ``max_rows`` rows are omitted.
    """
    path = find_folder(folder)
    if path is None:
        from sklearn import datasets

        loaders = {
            "Wine": datasets.load_wine,
            "Breast cancer": datasets.load_breast_cancer,
            "Digits": datasets.load_digits,
        }
        tables = {name: load(return_X_y=True) for name, load in loaders.items()}
    else:
        tables = {name: load_uci_table(table, path) for name, table in SETS.items()}
    return [
        Labelled(name, standardize(X), np.asarray(y, dtype=np.int64))
        for name, (X, y) in tables.items()
        if max_rows is None or len(y) <= max_rows
    ]


def standardize(X: np.ndarray) -> np.ndarray:
    """Standardise features; missing values become the mean, constant features are dropped."""
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    std = X.std(axis=0)
    is_varying = std > 1e-12 * np.abs(X).max(axis=0)
    return (X[:, is_varying] - X[:, is_varying].mean(axis=0)) / std[is_varying]
