"""Near-duplicates between the splits of a table, and near-duplicates with different labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal.duplicates.result import NearDuplicates


class Leakage(NamedTuple):
    """Rows whose near-duplicates are in another split.

    Attributes
    ----------
    splits : ndarray of str (n,)
        Split of each row; empty where a row has none.
    table : list of dict
        For each ordered pair of splits, the number of rows of the first (``rows``) that have a
        near-duplicate in the second.
    leaks : ndarray of bool (n, n_splits)
        Whether a row has a near-duplicate in each other split.
    names : ndarray of str (n_splits,)
        Names of the splits.
    """

    splits: np.ndarray
    table: list[dict[str, Any]]
    leaks: np.ndarray
    names: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Rows with a near-duplicate in another split."""
        return np.flatnonzero(self.leaks.any(axis=1))

    def described(self, row: int) -> str:
        """The other splits that contain a near-duplicate of a row."""
        return ", ".join(self.names[self.leaks[row]])


def find_leakage(duplicates: NearDuplicates, splits: np.ndarray) -> Leakage:
    """Rows whose near-duplicates are in another split; an empty split is missing."""
    names, codes = np.unique(splits, return_inverse=True)
    near = near_categories(duplicates, codes, len(names))
    near[np.arange(len(codes)), codes] = False
    known = names != ""
    near[splits == ""] = False
    leaks, names = near[:, known], names[known]
    table = [
        {
            "split": str(name),
            "other": str(names[j]),
            "rows": int(leaks[splits == name, j].sum()),
            "of": int((splits == name).sum()),
        }
        for name in names
        for j in range(len(names))
        if names[j] != name
    ]
    return Leakage(splits, table, leaks, names)


def conflicting_rows(duplicates: NearDuplicates, labels: np.ndarray) -> np.ndarray:
    """Rows with a near-duplicate of another label; rows without a label have none."""
    names, codes = np.unique(labels, return_inverse=True)
    near = near_categories(duplicates, codes, len(names))
    near[np.arange(len(codes)), codes] = False
    near[:, names == ""] = False
    return np.flatnonzero(near.any(axis=1) & (labels != ""))


def near_categories(duplicates: NearDuplicates, codes: np.ndarray, n_codes: int) -> np.ndarray:
    """Whether a row, or one of its near-duplicates, is in each category: an array (n, n_codes) of bool."""
    group, pairs = duplicates.distinct_rows, duplicates.distinct_pairs
    n = int(group.max()) + 1
    present = np.zeros((n, n_codes), dtype=bool)
    present[group, codes] = True
    ones = np.ones(2 * len(pairs), dtype=np.int32)
    ends = np.concatenate([pairs, pairs[:, ::-1]]).T
    links = sparse.csr_array((ones, (ends[0], ends[1])), shape=(n, n))
    return np.asarray(present | (links @ present.astype(np.int32) > 0))[group]
