"""Small labelled tables: from a given folder, otherwise those that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from vicinal.datasets.tables import TABLES, load_uci_table

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
    for place in (folder, folder / "uci"):
        if all((place / name).is_file() for name in TABLES.values()):
            return place
    raise FileNotFoundError(
        f"--data {folder} does not contain {', '.join(TABLES.values())} (also not in uci/); leave the option "
        "out to use the sets that come with scikit-learn."
    )


def read_sets(folder: Path | None, at_most: int | None = None) -> list[Labelled]:
    """The six sets of the paper; without a folder wine, breast cancer and digits of scikit-learn.

    Features have mean 0 and deviation 1, missing values are the mean of their feature, and features that
    are constant are left out. ``at_most`` leaves larger sets out.
    """
    place = find_folder(folder)
    if place is None:
        from sklearn import datasets

        loaders = {
            "Wine": datasets.load_wine,
            "Breast cancer": datasets.load_breast_cancer,
            "Digits": datasets.load_digits,
        }
        tables = {name: load(return_X_y=True) for name, load in loaders.items()}
    else:
        tables = {name: load_uci_table(table, place) for name, table in SETS.items()}
    return [
        Labelled(name, standardised(X), np.asarray(y, dtype=np.int64))
        for name, (X, y) in tables.items()
        if at_most is None or len(y) <= at_most
    ]


def standardised(X: np.ndarray) -> np.ndarray:
    """Standardised features without constant ones; missing values become the mean."""
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    deviations = X.std(axis=0)
    varies = deviations > 1e-12 * np.abs(X).max(axis=0)
    return (X[:, varies] - X[:, varies].mean(axis=0)) / deviations[varies]
