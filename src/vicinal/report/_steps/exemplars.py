"""Typical and odd rows of each cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

LISTED = 5


class Exemplars(NamedTuple):
    """Rows to look at.

    Attributes
    ----------
    clusters : list of dict
        For each cluster the rows that fit it best (``typical``, lowest noise scores) and least
        (``odd``, highest), the best and the oddest first.
    noise : list of int
        The rows with the highest noise scores of all.
    """

    clusters: list[dict[str, Any]]
    noise: list[int]


def pick_exemplars(labels: np.ndarray, noise_score: np.ndarray) -> Exemplars:
    """Pick rows by their noise scores; of equal ones the first."""
    picked = []
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        order = members[np.argsort(noise_score[members], kind="stable")]
        # A cluster too small for two lists shows each row once.
        half = min(LISTED, len(order) // 2)
        picked.append(
            {
                "cluster": label,
                "typical": order[: max(half, 1)].tolist(),
                "odd": order[::-1][:half].tolist(),
            }
        )
    return Exemplars(picked, np.argsort(-noise_score, kind="stable")[:LISTED].tolist())
